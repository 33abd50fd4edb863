"""The servers that these tests read from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.read.stores import clouds, servers


@pytest.fixture(scope="session")
def _moto() -> Iterator[servers.S3]:
    pytest.importorskip("obstore", reason="needs obstore, by which object stores are read")
    pytest.importorskip("moto.server", reason="needs moto's server, which is an object store on loopback")
    one = servers.S3()
    yield one
    one.close()


@pytest.fixture
def s3(_moto: servers.S3, monkeypatch: pytest.MonkeyPatch) -> servers.S3:
    """A server that speaks S3; the environment says where it is."""
    for name, value in _moto.environment.items():
        monkeypatch.setenv(name, value)
    return _moto


@pytest.fixture(scope="session")
def _gs() -> Iterator[clouds.Google]:
    pytest.importorskip("obstore", reason="needs obstore, by which object stores are read")
    one = clouds.Google()
    yield one
    one.close()


@pytest.fixture(scope="session")
def _az() -> Iterator[clouds.Azure]:
    pytest.importorskip("obstore", reason="needs obstore, by which object stores are read")
    one = clouds.Azure()
    yield one
    one.close()


@pytest.fixture(params=["gs", "az"])
def cloud(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> clouds.Google | clouds.Azure:
    """Google's store, and Azure's; the environment says where it is."""
    one: clouds.Google | clouds.Azure = request.getfixturevalue(f"_{request.param}")
    for name, value in one.environment.items():
        monkeypatch.setenv(name, value)
    return one


@pytest.fixture
def way(cloud: clouds.Google | clouds.Azure, monkeypatch: pytest.MonkeyPatch) -> Iterator[clouds.Way]:
    """A way to it with faults, which the environment has instead."""
    with clouds.way(cloud) as one:
        for name, value in one.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PENSTOCK_STORE_TIMEOUT", "2")
        monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "3")
        yield one


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Web]:
    """A web server with faults."""
    pytest.importorskip("obstore", reason="needs obstore, by which web servers are read")
    monkeypatch.setenv("PENSTOCK_STORE_TIMEOUT", "2")
    monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "3")
    with servers.web() as one:
        yield one
