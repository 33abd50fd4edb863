"""Exceptions on their way from a worker to the pipeline: as they are, with the lines that they passed."""

from __future__ import annotations

import pickle
import traceback

from penstock.errors import WorkerError
from penstock.graph.location import of_the_user

_WHERE = "in a worker process"


class RemoteError(Exception):
    """The cause of an exception that a source raised in a worker process: the traceback there."""

    def __init__(self, text: str):
        super().__init__(text if text.startswith(_WHERE) else f"{_WHERE}\n{text}")


def pack(error: BaseException) -> bytes:
    """An exception as bytes."""
    text = "".join(traceback.format_exception(type(error), error, of_the_user(error.__traceback__))).rstrip()
    kind, message = type(error).__qualname__, str(error)
    blob = b""
    if isinstance(error, Exception):  # sys.exit() in a worker is not to end the program
        try:
            blob = pickle.dumps(error)
            pickle.loads(blob)
        except Exception:
            blob = b""
    return pickle.dumps((blob, kind, message, text))


def unpack(data: bytes) -> BaseException:
    """The exception; a WorkerError with its text where it cannot be one here."""
    blob, kind, message, text = pickle.loads(data)
    error: BaseException | None = None
    if blob:
        try:
            error = pickle.loads(blob)
        except Exception:
            error = None
    if not isinstance(error, BaseException):
        error = WorkerError(f"the source raised {kind}: {message}")
    error.__cause__ = RemoteError(text)
    return error
