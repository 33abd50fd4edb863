"""How strong an augmentation is: a bin of its range, and a sign."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock import fn, types
from penstock.errors import ArgumentError
from penstock.graph.node import DataNode


class SignedBin(NamedTuple):
    """A magnitude's bin, a number or a node, and a node that is 1 where the magnitude is negated, else 0."""

    bin: int | DataNode
    sign: DataNode


def signed_bin(
    magnitude_bin: int | DataNode, random_sign: DataNode | None = None, seed: int | None = None, shape: Any = None
) -> SignedBin:
    """A bin with a sign that is drawn here, for all samples, rather than in each branch that needs one.

    ``magnitude_bin``: from 0 to the number of bins less one. ``random_sign``: one of 0 and 1 for each sample; drawn,
    with ``seed``, unless it is given. ``shape``: of several bins in a sample.

    Raises ArgumentError for a ``shape`` beside a ``random_sign``.
    """
    if random_sign is None:
        random_sign = fn.random.uniform(values=[0, 1], dtype=types.INT32, seed=seed, shape=shape)
    elif shape is not None:
        raise ArgumentError(f"signed_bin: shape={shape!r} is that of signs that are drawn, and random_sign is given")
    return SignedBin(magnitude_bin, random_sign)


def seed_of(seed: int | None, place: int) -> int | None:
    """The seed of one of several operators that draw numbers, so that theirs differ."""
    return None if seed is None else (seed + 0x9E3779B9 * place) & 0x7FFFFFFF
