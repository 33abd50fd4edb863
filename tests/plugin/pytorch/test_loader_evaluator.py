"""`plugin.pytorch.loader_evaluator`, beside DALI's."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from torch.utils.data import DataLoader  # noqa: E402

from penstock.errors import ArgumentError, GraphError  # noqa: E402
from penstock.plugin.pytorch import DALIGenericIterator  # noqa: E402
from penstock.plugin.pytorch.loader_evaluator import LoaderEvaluator  # noqa: E402
from tests.small import made, numbers, ten_files  # noqa: E402


def loader(count: int = 10) -> Any:
    return DataLoader(range(count), batch_size=4)  # type: ignore[arg-type]


def numbers_of(batches: Any) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


def test_as_dali_does(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    module = pytest.importorskip("nvidia.dali.plugin.pytorch.loader_evaluator", reason="needs DALI to compare with")
    found = []
    for cls in (LoaderEvaluator, module.LoaderEvaluator):
        for mode in ("log", "replay"):
            evaluator = cls(loader(), mode=mode)
            before = evaluator.get_metrics()
            batches = numbers_of(evaluator)
            evaluator.save_metrics()
            evaluator.save_metrics(str(tmp_path / "metrics"))
            saved = json.loads((tmp_path / "metrics").read_text())
            assert saved == evaluator.get_metrics()
            same = {key: value for key, value in saved.items() if "time" not in key}
            evaluator.print_summary()
            printed = [line for line in capsys.readouterr().out.splitlines() if "time" not in line]
            found.append((before, batches, len(evaluator), same, sorted(saved), printed))
    assert found[:2] == found[2:]


def test_the_time_that_batches_take_is_that_of_the_loader() -> None:
    def slow(batch: Any) -> Any:
        time.sleep(0.02)
        return batch

    evaluator = LoaderEvaluator(DataLoader(range(6), batch_size=2, collate_fn=slow))  # type: ignore[arg-type]
    for _ in evaluator:
        time.sleep(0.05)  # training is not counted
    metrics = evaluator.get_metrics()
    assert metrics["min_batch_time"] >= 0.02
    assert metrics["total_time"] - sum(metrics["batch_times"]) >= 0.15


def test_only_what_is_replayed_is_read() -> None:
    read: list[int] = []
    source = [4, 5, 6, 7]

    class Loader:
        def __len__(self) -> int:
            return 4

        def __iter__(self) -> Any:
            return (read.append(i) or i for i in source)  # type: ignore[func-returns-value]

    evaluator = LoaderEvaluator(Loader(), mode="replay", num_cached_batches=2)
    assert read == [4, 5]
    assert [list(evaluator), list(evaluator)] == [[4, 5, 4, 5]] * 2
    assert read == [4, 5]


def test_iterators_of_pipelines(tmp_path: Path) -> None:
    files = ten_files(tmp_path)
    it = DALIGenericIterator(made(lambda: numbers(files, pad_last_batch=True)), ["n"], reader_name="Reader")
    for mode in ("log", "replay"):
        evaluator = LoaderEvaluator(it, mode=mode, num_cached_batches=1)
        assert len(list(evaluator)) == len(evaluator)


def test_what_makes_no_sense() -> None:
    with pytest.raises(ArgumentError, match="mode='fast'"):
        LoaderEvaluator(loader(), mode="fast")
    with pytest.raises(ArgumentError, match="at least one"):
        LoaderEvaluator(loader(), mode="replay", num_cached_batches=0)
    with pytest.raises(GraphError, match="no batches to replay"):
        iter(LoaderEvaluator([], mode="replay"))
