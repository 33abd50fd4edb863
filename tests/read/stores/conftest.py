"""The servers that these tests read from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.read.stores import servers


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


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Web]:
    """A web server with faults."""
    pytest.importorskip("obstore", reason="needs obstore, by which web servers are read")
    monkeypatch.setenv("PENSTOCK_STORE_TIMEOUT", "2")
    monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "3")
    with servers.web() as one:
        yield one
