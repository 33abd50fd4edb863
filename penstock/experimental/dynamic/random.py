"""Random numbers: `RNG` says which ones a call of an operator draws. Operators that draw are here, too.

An operator that is called with ``rng=`` draws the numbers of that generator, else those of this thread's, which
`set_seed` sets. A call draws once: its samples' numbers follow from that, and are the same whenever it is computed.

>>> import penstock.experimental.dynamic as ndd
>>> ndd.random.set_seed(1234)
>>> a = ndd.random.uniform(range=[0.0, 1.0], shape=[3])
>>> ndd.random.set_seed(1234)
>>> b = ndd.random.uniform(range=[0.0, 1.0], shape=[3])
>>> bool((np.asarray(a) == np.asarray(b)).all())
True
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any

from penstock._values import whole_number
from penstock.errors import ArgumentError, ArgumentTypeError

_WORDS = 2  # of 32 bits, that a call draws: a key
_local = threading.local()


class RNG:
    """A generator: a seed, and how many numbers were drawn.

    Args:
        seed: a whole number, of which 64 bits count; None: another one each time.
        state: what `state` was of another one, which this one goes on as.

    >>> import penstock.experimental.dynamic as ndd
    >>> rng = ndd.random.RNG(seed=5)
    >>> _ = rng()
    >>> other = ndd.random.RNG(state=rng.state)
    >>> rng() == other()
    True
    """

    def __init__(self, seed: int | None = None, state: Any = None):
        self._drawn = 0
        if state is not None:
            if seed is not None:
                raise ArgumentError("RNG: seed and state cannot be given together")
            self.set_state(state)
        else:
            self.seed = int.from_bytes(os.urandom(8), "little") if seed is None else seed

    def __call__(self) -> int:
        """A random number of 32 bits, from 0."""
        text = f"rng {self._seed} {self._drawn}"
        self._drawn += 1
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")

    def key(self) -> int:
        """What a call of an operator draws: 64 bits."""
        return sum(self() << (32 * k) for k in range(_WORDS))

    @property
    def seed(self) -> int:
        """It can be set alone: the state tells more."""
        raise AttributeError("seed can only be set: state says where the generator is")

    @seed.setter
    def seed(self, value: int) -> None:
        self._seed, self._drawn = whole_number("RNG: seed", value) % 2**64, 0

    def advance(self, n: int) -> None:
        """As n calls."""
        self._drawn += whole_number("RNG.advance: n", n, least=0)

    def clone(self) -> RNG:
        """Another one that gives the same numbers from here on."""
        return RNG(state=self.state)

    @property
    def state(self) -> str:
        """Where it is, as a text: ``"SEED:DRAWN"``."""
        return f"{self._seed}:{self._drawn}"

    @state.setter
    def state(self, value: Any) -> None:
        self.set_state(value)

    def get_state(self, *, cuda_stream: Any = None) -> str:
        """As `state`."""
        return self.state

    def set_state(self, value: Any) -> None:
        """Goes to where another one was, whose `state` this is. ArgumentError for what is none."""
        seed, _, drawn = str(value).partition(":")
        if not (seed.isdecimal() and drawn.isdecimal()):
            raise ArgumentError(f"RNG: state={value!r}: expected what RNG.state gave")
        self._seed, self._drawn = int(seed) % 2**64, int(drawn)

    def __repr__(self) -> str:
        return f"RNG(state={self.state!r})"


def get_default_rng() -> RNG:
    """This thread's generator, which calls without ``rng=`` draw from."""
    if not hasattr(_local, "rng"):
        _local.rng = RNG()
    return _local.rng  # type: ignore[no-any-return]


def set_seed(seed: int) -> None:
    """Has this thread's generator begin anew, with this seed."""
    get_default_rng().seed = seed


def rng_of(given: Any) -> RNG:
    """The generator that a call draws from. ArgumentTypeError for what is none."""
    if given is None:
        return get_default_rng()
    if not isinstance(given, RNG):
        raise ArgumentTypeError(f"rng={given!r}: expected an RNG")
    return given
