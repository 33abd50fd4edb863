"""`plugin.pytorch.experimental.proxy`: a pipeline that serves the workers of a DataLoader, beside DALI's."""

from __future__ import annotations

import os
import threading
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from torch.utils.data import Dataset, default_collate  # noqa: E402

from penstock import errors, fn  # noqa: E402
from penstock.plugin.pytorch.experimental import proxy  # noqa: E402
from tests.small import made  # noqa: E402

Pair = namedtuple("Pair", "first second")


class Numbers(Dataset):  # type: ignore[type-arg]
    """Items i, and what the transform makes of an array of i; raises for one of them."""

    def __init__(self, transform: Any, count: int = 10, broken: int = -1):
        self.transform, self.count, self.broken = transform, count, broken

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        made = self.transform(np.int32([i]))
        if i == self.broken:
            raise LookupError(f"item {i}")
        return i, made


class Sums(Numbers):
    def __getitem__(self, i: int) -> Any:
        total, difference = self.transform(b=np.float32(1), a=np.float32(i))
        return {"i": i, "of": Pair(total, [difference])}


def doubled() -> Any:
    return made(lambda: fn.external_source(name="x") * 2)


def seen(batches: Any) -> list[list[int]]:
    found = []
    for numbers, doubles in batches:
        assert isinstance(doubles, torch.Tensor)
        assert doubles.ravel().tolist() == [2 * n for n in numbers]
        found.append(numbers.tolist())
    return found


WANTED = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": 0},
        {"num_workers": 2},
        {"num_workers": 2, "persistent_workers": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("deterministic", [False, True])
def test_epochs(options: dict[str, Any], deterministic: bool) -> None:
    with proxy.DALIServer(doubled(), deterministic) as server:
        loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=4, **options)
        assert len(iter(loader)) == len(loader) == 3
        for _ in range(3):
            next(iter(loader))  # is left
            assert seen(loader) == WANTED
        assert not server._done, "batches that nobody wants are not kept"


def test_workers_that_are_spawned() -> None:
    """Takes seconds: each imports PyTorch."""
    with proxy.DALIServer(doubled()) as server:
        options = {"num_workers": 1, "multiprocessing_context": "spawn"}
        assert seen(proxy.DataLoader(server, Numbers(server.proxy), batch_size=4, **options)) == WANTED


def test_batches_and_epochs_are_dalis(monkeypatch: pytest.MonkeyPatch) -> None:
    dali: Any = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    import nvidia.dali.plugin.pytorch.experimental.proxy as theirs

    for name in ("range_push", "range_pop"):  # which PyTorch lacks without CUDA, and DALI needs
        monkeypatch.setattr(torch.cuda.nvtx, name, lambda *_: 0)
    pipe = dali.Pipeline(4, 1, None, prefetch_queue_depth=2)
    with pipe:
        pipe.set_outputs(dali.fn.external_source(name="x") * 2)
    found = []
    for lib, one in ((theirs, pipe), (proxy, doubled())):
        with lib.DALIServer(one) as server:
            loader = lib.DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=2, drop_last=True)
            found.append([[n.tolist(), x.tolist(), str(x.dtype)] for n, x in loader])
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_a_plain_loader_and_several_outputs() -> None:
    def define() -> Any:
        a, b = fn.external_source(name="a"), fn.external_source(name="b")
        return a + b, a - b

    with proxy.DALIServer(made(define)) as server:
        loader = torch.utils.data.DataLoader(Sums(server.proxy), batch_size=5, num_workers=1)
        with pytest.raises(errors.TensorError, match="a batch of 5 samples, but the pipeline's batch_size is 4"):
            server.produce_data(next(iter(loader)))
        loader = torch.utils.data.DataLoader(Sums(server.proxy), batch_size=4, num_workers=1)
        batch = server.produce_data(next(iter(loader)))
    assert batch["i"].tolist() == [0, 1, 2, 3]
    assert isinstance(batch["of"], Pair)
    assert batch["of"].first.tolist() == [1, 2, 3, 4]
    assert batch["of"].second[0].tolist() == [-1, 0, 1, 2]


def test_what_has_no_references_is_the_same_object() -> None:
    with proxy.DALIServer(doubled()) as server:
        plain: list[Any] = [{"x": (1, 2)}, torch.zeros(3), SimpleNamespace(y=4)]
        plain.append(plain)
        assert server.produce_data(plain) is plain
        batch = default_collate([server.proxy(np.int32([i])) for i in range(2)])
        around = SimpleNamespace(x=batch, again=batch, plain=plain)
        made = server.produce_data(around)
        assert made.plain is plain
        assert made.x is made.again
        assert made.x.tolist() == [[0], [2]]
        assert server.produce_data(around).x is made.x


def test_by_hand_in_any_order() -> None:
    with proxy.DALIServer(doubled()) as server:
        batches = [default_collate([server.proxy(np.int32([i]))]) for i in range(7)]
        assert [server.produce_data(batch).item() for batch in reversed(batches)] == [12, 10, 8, 6, 4, 2, 0]


def test_a_deterministic_server_has_the_same_random_numbers() -> None:
    def noise() -> list[float]:
        pipe = made(lambda: fn.external_source(name="x") + fn.random.uniform(), seed=5)
        with proxy.DALIServer(pipe, deterministic=True) as server:
            loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=2, num_workers=2)
            return [v for n, x in loader for v in (x[:, 0] - n).tolist()]

    assert noise() == noise()


def test_an_item_that_fails_fails_its_batch_alone() -> None:
    with proxy.DALIServer(doubled()) as server:
        batches = iter(proxy.DataLoader(server, Numbers(server.proxy, broken=5), batch_size=4, num_workers=1))
        assert next(batches)[0].tolist() == [0, 1, 2, 3]
        with pytest.raises(LookupError, match="item 5"):
            next(batches)
        assert seen(batches) == [[8, 9]]


def test_what_the_pipeline_raises_comes_with_its_batch() -> None:
    def define() -> Any:
        return fn.slice(np.int32([1, 2, 3]), fn.external_source(name="x"), [1], axes=[0], out_of_bounds_policy="error")

    with proxy.DALIServer(made(define)) as server:
        batches = [default_collate([server.proxy(np.int32([i]))]) for i in (1, 9, 2)]
        assert server.produce_data(batches[0]).tolist() == [[2]]
        with pytest.raises(errors.OperatorError, match="slice"):
            server.produce_data(batches[1])
        assert server.produce_data(batches[2]).tolist() == [[3]]


def test_a_server_that_does_not_run() -> None:
    server = proxy.DALIServer(doubled())
    batch = default_collate([server.proxy(np.int32([1]))])
    with pytest.raises(errors.GraphError, match="was not started"):
        server.produce_data(batch)
    server.start_thread()
    assert server.produce_data(batch).tolist() == [[2]]
    server.proxy._send = lambda run: setattr(run, "inputs", None)  # is lost on its way
    lost = default_collate([server.proxy(np.int32([1]))])
    threading.Timer(0.2, server.stop_thread).start()
    with pytest.raises(errors.StoppedError, match="was stopped"):
        server.produce_data(lost)


def test_a_loader_starts_and_stops_its_server() -> None:
    server = proxy.DALIServer(doubled())
    loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=4)
    assert seen(loader) == WANTED
    del loader
    assert not server._is_thread_running()


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="expected a Pipeline"):
        proxy.DALIServer(3)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="the pipeline has no inputs"):
        proxy.DALIServer(made(lambda: np.int32([1])))
    server = proxy.DALIServer(doubled())
    with pytest.raises(ValueError, match=r"Expected signature is: \(x\)"):
        server.proxy(1, 2)
    two = proxy.DALIServer(made(lambda: fn.external_source(name="b") + fn.external_source(name="a")))
    with pytest.raises(ValueError, match=r"\(\*, b, a\)"):
        two.proxy(1, 2)
    with pytest.raises(errors.GraphError, match="was not collated"):
        server.produce_data(server.proxy(1))
    one = server.proxy(np.int32([1]))
    with pytest.raises(errors.GraphError, match="each for another sample"):
        default_collate([one, one])


def test_the_pipeline_runs_in_the_process_that_trains() -> None:
    found = []

    def noted(x: Any) -> Any:
        found.append(os.getpid())
        return x

    pipe = made(lambda: fn.python_function(fn.external_source(name="x"), function=noted))
    with proxy.DALIServer(pipe) as server:
        for _ in proxy.DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=1):
            pass
    assert {*found} == {os.getpid()}
