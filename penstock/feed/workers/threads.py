"""Worker threads: for callables that let go of the GIL, and for Python without one."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from penstock.errors import WorkerError
from penstock.feed.workers.pool import GRACE, Pool
from penstock.feed.workers.tasks import Asked, Failed, Given, Setup, Task
from penstock.graph.location import of_the_user


class _Desk:
    """Where threads find tasks, and leave what they got. It does not keep the pool."""

    def __init__(self, setups: Sequence[Setup], workers: int):
        self.setups = setups
        self.change = threading.Condition()
        self.shared: deque[Task] = deque()
        self.own: list[deque[Task]] = [deque() for _ in range(workers)]
        self.done: dict[int, Given | Failed] = {}
        self.bell: queue.SimpleQueue[None] = queue.SimpleQueue()  # rung when something is done
        self.oldest = [0] * len(setups)  # the first task that is wanted, by source
        self.busy: dict[int, Task] = {}  # what the thread at each place is at
        self.threads: list[threading.Thread | None] = [None] * workers  # one that was given up finds another here
        self.closed = False

    def start(self, k: int, name: str) -> None:
        """A thread for place ``k``."""
        thread = threading.Thread(target=_serve, args=(self, k), name=f"{name}-{k}", daemon=True)
        self.threads[k] = thread
        thread.start()

    def put(self, task: Task, home: int | None) -> None:
        """Lets one have it."""
        with self.change:
            (self.shared if home is None else self.own[home]).append(task)
            self.change.notify_all()

    def get(self, k: int) -> Task | None:
        """The next task for place ``k``; None: the thread is to end."""
        with self.change:
            self.busy.pop(k, None)
            while not self.closed and self.threads[k] is threading.current_thread():
                for tasks in (self.own[k], self.shared):
                    if tasks:
                        self.busy[k] = tasks[0]
                        return tasks.popleft()
                self.change.wait()
        return None

    def leave(self, k: int, task: Task, result: Given | Failed) -> None:
        """Keeps what a thread got, unless it was given up."""
        if self.threads[k] is threading.current_thread():
            self.done[task.number] = result
            self.bell.put(None)

    def close(self) -> None:
        """Has all threads end."""
        with self.change:
            self.closed = True
            self.change.notify_all()


def _serve(desk: _Desk, k: int) -> None:
    sources = [Asked(setup) for setup in desk.setups]
    last = [0] * len(sources)
    while (task := desk.get(k)) is not None:
        if task.number >= desk.oldest[task.source] and task.number > last[task.source]:
            last[task.source] = 0 if desk.setups[task.source].indexed else task.number
            desk.leave(k, task, _result(sources[task.source], task))


def _result(source: Asked, task: Task) -> Given | Failed:
    try:
        return Given(source.give(task))
    except Exception as e:
        return Failed(e.with_traceback(of_the_user(e.__traceback__)))
    except BaseException as e:  # sys.exit() in a worker is not to end the program
        error = WorkerError(f"the source raised {type(e).__name__}: {e}")
        error.__cause__ = e
        return Failed(error)


class ThreadPool(Pool):
    """Threads of this process."""

    def __init__(self, setups: Sequence[Setup], workers: int, name: str = "penstock-source"):
        super().__init__(setups, workers)
        self._desk = _Desk(setups, workers)
        self._name = name
        for k in range(workers):
            self._desk.start(k, name)

    def put(self, task: Task) -> None:
        self._desk.put(task, self.home(task.source))

    def receive(self, timeout: float) -> bool:
        desk = self._desk
        if not desk.done:
            try:
                desk.bell.get(timeout=timeout)
            except queue.Empty:
                return False
        for number in list(desk.done):
            self.arrived(number, desk.done[number])
            desk.done.pop(number)
        return True

    def pass_over(self, source: int, number: int) -> None:
        self._desk.oldest[source] = number

    def leave_behind(self, numbers: Sequence[int]) -> str:
        names = []
        for k, task in list(self._desk.busy.items()):
            if task.number in numbers:
                names.append(f"{self._name}-{k}")
                self._desk.start(k, self._name)
                self.lose(k, f"thread {names[-1]} did not come back from a source")
        return f"worker thread {', '.join(names)}" if names else "no worker thread"

    def merge(self, parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else [sample for part in parts for sample in part]

    def close(self) -> None:
        self.closed.set()
        self._desk.close()
        for thread in self._desk.threads:
            if thread and thread is not threading.current_thread():
                thread.join(GRACE / self.workers)

    def __del__(self) -> None:
        if "_desk" in vars(self):
            self._desk.close()
