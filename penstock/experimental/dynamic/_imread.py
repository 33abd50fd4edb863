"""Pictures from files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from penstock.experimental.dynamic._call import call_named
from penstock.experimental.dynamic._lazy import Lazy


def imread(filepaths: Any, /, *, device: Any = "cpu", **arguments: Any) -> Any:
    """Decodes a picture, or of a list of paths a batch of pictures.

    Args:
        filepaths: a path, a list of them, or a tensor or a batch of their bytes.
        device: where it is decoded.
        arguments: those of `decoders.image`.

    >>> import penstock.experimental.dynamic as ndd
    >>> import glob
    >>> picture = ndd.imread(sorted(glob.glob(photos + "/*/*.jpg"))[0])
    >>> picture.shape, picture.layout
    ((375, 500, 3), 'HWC')
    """
    if isinstance(filepaths, (str, bytes, os.PathLike)):
        names: Any = _bytes(filepaths)
    elif isinstance(filepaths, Lazy):
        names = filepaths
    else:
        names = [_bytes(path) for path in filepaths]
    return call_named("decoders.image", call_named("io.file.read", names), **arguments, **_on(device))


def _bytes(path: Any) -> Any:
    return np.frombuffer(os.fsencode(path), np.uint8).copy()


def _on(device: Any) -> dict[str, Any]:
    return {} if device is None else {"device": device}
