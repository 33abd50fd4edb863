"""A source that workers ask, as many batches ahead as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.feed.poll import Poll

if TYPE_CHECKING:
    from penstock.feed.workers.pool import Pool
    from penstock.feed.workers.tasks import Request


class Ahead(Poll):
    """A source of which ``depth`` batches are asked for before they are needed.

    As long as it has no pool, it is asked where it is needed, as others are. Ctrl-C may come between any two steps: a
    batch is only left when the next one is asked for.
    """

    def __init__(self, source: Any, *, cycle: Any, batch: bool, batch_info: bool, depth: int, threads: bool):
        super().__init__(source, cycle=cycle, batch=batch, batch_info=batch_info)
        self.threads = threads
        self._depth = depth
        self._pool: Pool | None = None
        self._key = 0
        self._requests: list[Request] = []  # in the order in which they were sent
        self._done: tuple[tuple[int, int], Request] | None = None  # the last one that gave a batch, and for which place

    def attach(self, pool: Pool, key: int) -> None:
        """Lets the pool ask it, of which it is source ``key``."""
        self._pool, self._key = pool, key

    def restart(self, epoch: int) -> None:
        super().restart(epoch)
        self._done = None
        self._forget(lambda request: True)

    def take(self, batch_size: int, part: range | None = None) -> Any:
        if self._pool is None:
            return super().take(batch_size, part)
        self.let_go()
        if self._done:  # Ctrl-C came before it was kept
            return self._done[1].batch()
        if self.indexed:
            self._forget(lambda r: r.epoch != self.epoch or not 0 <= r.iteration - self.iteration <= self._depth)
        self._fill()
        request = self._next()
        try:
            self._pool.wait_for(request)
        except PenstockError:
            self._leave(request)
            raise
        failure = request.failure()
        if failure:
            self._leave(request)
            raise failure
        self._done = (self.epoch, self.iteration), request
        return request.batch()

    def let_go(self) -> None:
        if self._done and self._done[0] != (self.epoch, self.iteration):
            self._leave(self._done[1])
            self._done = None

    def _next(self) -> Request:
        if not self.indexed:
            return self._requests[0]
        return next(r for r in self._requests if r.place == (self.epoch, self.iteration))

    def _fill(self) -> None:
        """Asks for what comes next and `depth` batches behind it."""
        assert self._pool is not None
        known = {r.place for r in self._requests} if self.indexed else set()
        for k in range(self._depth + 1):
            place = self.epoch, self.iteration + k
            if place not in known if self.indexed else len(self._requests) <= k:
                self._requests.append(self._pool.request(self._key, *place))
        for request in self._requests:
            self._pool.send(request)

    def _leave(self, request: Request) -> None:
        if request in self._requests:
            self._requests.remove(request)
            if self._pool:
                self._pool.forget(request)

    def _forget(self, which: Any) -> None:
        for request in [r for r in self._requests if which(r)]:
            self._leave(request)
