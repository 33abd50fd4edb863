"""obstore's clients: one for each bucket or server."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from typing import Any, NamedTuple

from penstock import _settings
from penstock.errors import ArgumentError, ReadError
from penstock.read.stores.addresses import is_address, parsed

_MOST = 64  # clients that are kept: addresses with queries may each need one of their own
_PREFIXES = {"s3": "AWS_", "gs": "GOOGLE_", "az": "AZURE_"}  # of what the environment says of a store
_ENDPOINTS = (
    "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AWS_S3_ENDPOINT", "GOOGLE_BASE_URL",
    "AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT",
)  # fmt: skip
# What obstore would take from the environment itself if it were given no other options.
_OPTIONS = (
    "allow_http", "allow_invalid_certificates", "proxy_url", "proxy_ca_certificate", "proxy_excludes", "user_agent",
)  # fmt: skip


class Settings(NamedTuple):
    """How stores are asked: as many requests at a time, tries, seconds of silence, and what obstore is told."""

    requests: int = 64
    retries: int = 8
    seconds: float = 30.0
    environment: tuple[str, ...] = ()


settings = Settings()
_given: dict[str, Any] = {}
_made: dict[str, Any] = {}  # the oldest first
_lock = threading.Lock()


def library() -> Any:
    """The module obstore. ReadError where it is not installed."""
    try:
        import obstore
        import obstore.store
    except ImportError as error:
        raise ReadError("object stores are read through obstore: pip install penstock[stores]") from error
    return obstore


def use(root: str, store: Any) -> None:
    """Reads what lies under an address through a store of obstore's that you have made: with credentials, an endpoint
    or a proxy of its own, say. Without it, stores are made of the address, and configured by the environment.

    Args:
        root: ``"s3://bucket"``, or a web server, ``"https://host"``.
        store: such as ``obstore.store.S3Store("bucket", ...)``; None: as if none had been given.

    Errors: ArgumentError for what is no such address.

    Example:
        >>> import obstore.store, penstock
        >>> penstock.stores.use("s3://photographs", obstore.store.MemoryStore())
        >>> penstock.stores.use("s3://photographs", None)
    """
    if not is_address(root) or parsed(root).path:
        raise ArgumentError(f"stores.use: root={root!r}: expected a bucket or a server, such as 's3://bucket'")
    with _lock:
        _given.pop(parsed(root).root, None)
        if store is not None:
            _given[parsed(root).root] = store


def configure() -> None:
    """Takes over what the environment says now: for clients that are made from here on, if it is something else."""
    global settings
    names = sorted(name for name in os.environ if name.startswith((*_PREFIXES.values(), "AZURITE_")))
    found = Settings(
        int(_settings.STORE_REQUESTS.value()), int(_settings.STORE_RETRIES.value()),
        float(_settings.STORE_TIMEOUT.value()), tuple(f"{name}={os.environ[name]}" for name in names),
    )  # fmt: skip
    with _lock:
        if found != settings:
            _made.clear()
            settings = found


def client(root: str) -> Any:
    """What reads under a root. Raises ReadError."""
    with _lock:
        if root in _given:
            return _given[root]
        found = _made.get(root)
        if found is None:
            found = _made[root] = _new(root)
            if len(_made) > _MOST:
                del _made[next(iter(_made))]
        return found


def tag_of(meta: Any) -> bytes:
    """What changes with an object's contents, of what a store tells of it. Azure's lists have it without quotes, its
    answers with them.
    """
    return str(meta["e_tag"] or meta["last_modified"]).strip('"').encode()


def _new(root: str) -> Any:
    seconds, tries = settings.seconds, settings.retries
    options = _options(root) | {
        "connect_timeout": timedelta(seconds=seconds),
        "read_timeout": timedelta(seconds=seconds),
        "timeout": timedelta(days=1),
        "pool_max_idle_per_host": str(settings.requests),
    }
    if root.startswith("s3://") and not any(os.environ.get(n) for n in ("AWS_REGION", "AWS_DEFAULT_REGION")):
        region = {"region": "us-east-1"}
    else:
        region = {}
    waits = {"max_retries": tries, "retry_timeout": timedelta(seconds=(tries + 1) * (seconds + 15))}
    try:
        return library().store.from_url(root, client_options=options, retry_config=waits, **region)
    except ReadError:
        raise
    except Exception as error:
        raise ReadError(f"{root} cannot be read: {reason(error)}") from error


def _options(root: str) -> dict[str, Any]:
    """What the environment says of how a store is connected to. Servers without TLS are those that are said to be."""
    if root.startswith("http"):
        return {"allow_http": True} if root.startswith("http://") else {}
    prefix = _PREFIXES[root.partition(":")[0]]
    named = {option: os.environ.get(prefix + option.upper()) for option in _OPTIONS}
    found: dict[str, Any] = {option: value for option, value in named.items() if value}
    if any(name.startswith(prefix) and os.environ.get(name, "").startswith("http://") for name in _ENDPOINTS):
        found["allow_http"] = True
    return found


def reason(error: BaseException) -> str:
    """What went wrong, on one line: obstore's texts go on with what servers have answered."""
    text = str(error).split("\n")[0].split(": <?xml")[0].strip()
    return text or type(error).__name__
