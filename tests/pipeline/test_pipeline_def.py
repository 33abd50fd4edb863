"""`pipeline_def`: who gets which argument, what a definition may return, and what type checkers see of it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, pipeline_def, types
from penstock.errors import ArgumentTypeError, UnknownArgumentError
from penstock.pipeline import do_not_convert
from penstock.run.options import PipelineArguments

ROOT = Path(__file__).resolve().parents[2]
SMALL: dict[str, Any] = {"batch_size": 2, "num_threads": 1, "device_id": None}


def outputs(returned: Any) -> list[tuple[Any, Any]]:
    """Type and first sample of each output of a pipeline whose definition returns this."""
    define = pipeline_def(lambda: returned() if callable(returned) else returned, **SMALL)
    return [(output.dtype, output.at(0).tolist()) for output in define().run()]


def test_an_argument_of_the_function_is_the_functions() -> None:
    @pipeline_def(batch_size=1, num_threads=3, device_id=None)
    def pipeline(num_threads: int) -> Any:
        return np.uint8([num_threads])

    with pytest.warns(UserWarning, match=r"num_threads=42 goes to pipeline, not to Pipeline"):
        pipe = pipeline(num_threads=42)
    assert pipe.run()[0].at(0).tolist() == [42]
    assert pipe.num_threads == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pipeline(7).run()[0].at(0).tolist() == [7]


def test_any_keyword_is_refused() -> None:
    @pipeline_def(**SMALL)
    def pipeline(a: int = 0, **others: Any) -> Any:
        return np.uint8([a])

    with pytest.raises(ArgumentTypeError, match="takes any keyword") as caught:
        pipeline(a=1, b=3)
    assert isinstance(caught.value, TypeError)


def test_wrong_names_are_told_when_it_is_called() -> None:
    @pipeline_def(max_batch_size=1)  # type: ignore[call-overload]
    def decorated() -> Any:
        return np.uint8([0])

    with pytest.raises(UnknownArgumentError, match=r"'max_batch_size'.*batch_size(.|\n)*@pipeline_def\(max_batch"):
        decorated()
    with pytest.raises(TypeError, match="no argument 'batchsize'"):
        pipeline_def(lambda: np.uint8([0]))(batchsize=1)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("returned", "wanted"),
    [
        ([1.5, 2], [(types.FLOAT, [1.5, 2.0])]),
        ([1, 2], [(types.INT32, [1, 2])]),
        ([], [(types.FLOAT, [])]),
        ((1, 2.5), [(types.INT32, 1), (types.FLOAT, 2.5)]),
        (([58.395, 57.12], True), [(types.FLOAT, np.float32([58.395, 57.12]).tolist()), (types.BOOL, True)]),
        (np.arange(2), [(types.INT32, [0, 1])]),
    ],
)
def test_constants_as_outputs_are_dalis(returned: Any, wanted: Any) -> None:
    assert outputs(returned) == wanted
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    pipe = dali.pipeline_def(lambda: returned, **SMALL)()
    pipe.build()
    assert [(int(o.dtype), np.array(o.at(0)).tolist()) for o in pipe.run()] == wanted


def test_a_list_of_nodes_is_as_many_outputs() -> None:
    assert len(outputs(lambda: [fn.zeros(), fn.ones(), 3])) == 3


@pytest.mark.parametrize(
    "returned", ["abc", None, {"a": 1}, [[1, 2], [3, 4]], ([1], "b"), np.array("x"), np.array([1j]), object()]
)
def test_what_is_no_output(returned: Any) -> None:
    with pytest.raises(TypeError, match=r"output \d of the pipeline is"):
        outputs(returned)


def test_a_list_inside_the_outputs_is_told_as_such() -> None:
    with pytest.raises(TypeError, match=r"output 1 of the pipeline is .*`\*` before it"):
        outputs(lambda: (fn.zeros(), [fn.ones()]))


def test_integers_of_64_bits_that_do_not_fit() -> None:
    for value in (np.array([1 << 40]), 1 << 40, -(1 << 31) - 1, types.Constant(1 << 40)):
        with pytest.raises(OverflowError, match=r"output 0 .* does not fit"):
            outputs(lambda value=value: (value,))


def test_do_not_convert() -> None:
    def plain(x: int) -> int:
        return x

    assert do_not_convert(plain) is plain
    assert do_not_convert()(plain) is plain


def test_every_argument_has_a_type() -> None:
    parameters = dict(inspect.signature(Pipeline.__init__).parameters)
    parameters.pop("self")
    assert list(PipelineArguments.__annotations__) == [n for n in parameters if n in PipelineArguments.__annotations__]
    assert set(PipelineArguments.__annotations__) == set(parameters)


SNIPPET = """
from penstock import fn, pipeline_def
from penstock.graph.node import DataNode

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def pictures(root: str, size: int = 3) -> DataNode:
    return fn.zeros(shape=[size])

@pipeline_def
def plain(size: int) -> DataNode:
    return fn.zeros(shape=[size])

reveal_type(pictures("a"))
reveal_type(pictures("a").run())
pictures("a", size=2, batch_size=4, device_id=0)
pictures(root="a", seed=3)
pictures("a", prefetch_queue_depth=1, exec_pipelined=True)
plain(2, batch_size=1, num_threads=2, device_id=None)
pictures("a", sise=2)  # wrong
plain(3, prefetch_depth=2)  # wrong
pictures("a", prefetch_queue_depth="many")  # wrong

@pipeline_def(batchsize=2)  # wrong
def other() -> DataNode:
    return fn.zeros()
"""


def test_type_checkers_see_pipelines_and_mistakes(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="the type checker is not installed")
    script = tmp_path / "snippet.py"
    script.write_text(SNIPPET)
    # With what ./dev lint keeps, where it was run: the package and all that it imports take many times as long.
    options = ["--strict", "--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert 'note: Revealed type is "penstock.pipeline.pipeline.Pipeline"' in done.stdout, done.stdout + done.stderr
    tensors = r"tuple\[(\| |Union\[)?penstock.tensors.tensor_list.TensorListCPU.*, \.\.\.\]\""
    assert re.search(tensors, done.stdout), done.stdout
    found = {int(n) for n in re.findall(r"snippet\.py:(\d+): error", done.stdout)}
    wrong = {n for n, line in enumerate(SNIPPET.splitlines(), 1) if line.endswith("# wrong")}
    assert found == wrong, done.stdout
