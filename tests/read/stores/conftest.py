"""The servers that these tests read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from tests.read.stores import clouds, servers

AnyStore = TypeVar("AnyStore", bound=servers.Store)


def _running(make: Callable[[], AnyStore]) -> Iterator[AnyStore]:
    pytest.importorskip("obstore", reason="needs obstore, by which object stores are read")
    one = make()
    yield one
    one.close()


@pytest.fixture(scope="session")
def _s3() -> Iterator[servers.S3]:
    pytest.importorskip("moto.server", reason="needs moto's server, which is an object store on loopback")
    yield from _running(servers.S3)


@pytest.fixture(scope="session")
def _gs() -> Iterator[clouds.Google]:
    yield from _running(clouds.Google)


@pytest.fixture(scope="session")
def _az() -> Iterator[clouds.Azure]:
    yield from _running(clouds.Azure)


@pytest.fixture
def named(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Gives a store by its scheme; the environment says where it is."""

    def store_of(scheme: str) -> Any:
        one: servers.Store = request.getfixturevalue(f"_{scheme}")
        for name, value in one.environment.items():
            monkeypatch.setenv(name, value)
        return one

    return store_of


@pytest.fixture
def s3(named: Callable[[str], Any]) -> servers.S3:
    """A server that speaks S3."""
    return named("s3")


@pytest.fixture(params=["gs", "az"])
def cloud(request: pytest.FixtureRequest, named: Callable[[str], Any]) -> clouds.Google | clouds.Azure:
    """Google's store, and Azure's."""
    return named(request.param)


@pytest.fixture(params=["s3", "gs", "az"])
def store(request: pytest.FixtureRequest, named: Callable[[str], Any]) -> servers.Store:
    """Each of the stores."""
    return named(request.param)


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
