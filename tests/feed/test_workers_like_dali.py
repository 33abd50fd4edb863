"""Sources with parallel=True beside DALI's: the same callable gives both the same samples, epochs and exceptions."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest

from tests.feed.dali_workers import CASES, trace
from tests.feed.sources import OURS, assert_same, pipeline
from tests.feed.worker_sources import Ends, numbered


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """DALI's traces of all cases."""
    pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    file, log = (tmp_path_factory.mktemp("dali") / name for name in ("traces", "log"))
    with log.open("w") as told:
        subprocess.run(
            [sys.executable, "-m", "tests.feed.dali_workers", file], stdout=told, stderr=told, start_new_session=True,
            timeout=120,
        )  # fmt: skip
    assert file.exists(), log.read_text()
    return pickle.loads(file.read_bytes())


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_what_workers_give(name: str, depth: int, theirs: Any) -> None:
    assert_same(trace(OURS, name, depth, "fork", []), theirs[name])


def test_what_spawned_workers_give(theirs: Any) -> None:
    assert_same(trace(OURS, "samples", 1, "spawn", []), theirs["spawn"])


REFUSED: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "no argument": (lambda: 0, {}, {}),
    "a copy": (lambda i: 0, {"no_copy": False}, {}),
    "no depth": (lambda i: 0, {"prefetch_queue_depth": 0}, {}),
    "depth without workers": (lambda i: 0, {"prefetch_queue_depth": 2, "parallel": False}, {}),
    "hint without workers": (lambda i: 0, {"bytes_per_sample_hint": 2, "parallel": False}, {}),
    "no hint": (lambda i: 0, {"bytes_per_sample_hint": 0}, {}),
    "no workers": (lambda i: 0, {}, {"py_num_workers": 0}),
    "no pickler": (lambda i: 0, {}, {"py_start_method": "spawn", "py_callback_pickler": 5}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, dali: Any) -> None:
    source, arguments, options = REFUSED[name]
    raised = []
    for lib in (OURS, dali):
        with pytest.raises(Exception) as caught:  # noqa: PT011  # the classes are compared below
            pipeline(
                lambda lib: lib.fn.external_source(source, **{"parallel": True, **arguments}), lib, **options
            ).build()
        raised.append(caught.value)
    assert isinstance(raised[0], type(raised[1])), raised


def test_a_function_of_a_module_by_value(dali: Any) -> None:
    from nvidia.dali import pickling as theirs

    from penstock import pickling as ours

    for module in (ours, theirs):
        assert module.pickle_by_value(numbered) is numbered
        del numbered.__dict__["_dali_pickle_by_value"]
        with pytest.raises(TypeError):
            module.pickle_by_value(Ends(3))
