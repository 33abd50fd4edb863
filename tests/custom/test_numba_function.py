"""`plugin.numba.fn.numba_function`: compiled functions, beside DALI itself."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn, types
from tests.custom.beside_dali import compare, pictures, ragged
from tests.small import made
from tests.software_gpu.libraries import has_real_gpu

numba = pytest.importorskip("numba")
pytest.importorskip("nvidia.dali")


def inverted(out: Any, given: Any) -> None:
    out[:] = 255 - given


def inverted_batch(outs: Any, given: Any) -> None:
    for k in range(len(outs)):
        outs[k][:] = 255 - given[k] + given[0][0, 0, 0]


def transposed_shape(outs: Any, ins: Any) -> None:
    for out, given in zip(outs[0], ins[0]):  # noqa: B905
        out[0], out[1] = given[1], given[0]


def transposed(out: Any, given: Any) -> None:
    for y in range(given.shape[0]):
        for x in range(given.shape[1]):
            out[x, y] = given[y, x]


def sums_shape(outs: Any, ins: Any) -> None:
    for k in range(len(ins[0])):
        outs[0][k][0] = ins[0][k][0]


def sums(rows: Any, total: Any, table: Any, picture: Any) -> None:
    for y in range(table.shape[0]):
        rows[y] = table[y].sum() + picture[0, 0, 0]
    total[()] = table.sum() / 2


def described(types: Any, dtypes: dict[str, list[str]]) -> dict[str, Any]:
    return {name: [getattr(types, kind) for kind in kinds] for name, kinds in dtypes.items()}


UINT8 = {"in_types": ["UINT8"], "out_types": ["UINT8"]}
CASES: list[tuple[list[Any], dict[str, list[str]], dict[str, Any]]] = [
    ([pictures], UINT8, {"run_fn": inverted, "ins_ndim": [3], "outs_ndim": [3]}),
    ([pictures], UINT8, {"run_fn": inverted_batch, "ins_ndim": [3], "outs_ndim": [3], "batch_processing": True}),
    (
        [ragged],
        {"in_types": ["INT16"], "out_types": ["INT16"]},
        {"run_fn": transposed, "setup_fn": transposed_shape, "ins_ndim": [2], "outs_ndim": [2]},
    ),
    (
        [ragged, pictures],
        {"in_types": ["INT16", "UINT8"], "out_types": ["INT64", "FLOAT64"]},
        {"run_fn": sums, "setup_fn": sums_shape, "ins_ndim": [2, 3], "outs_ndim": [1, 0]},
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(3))
def test_as_dali_does(number: int) -> None:
    sources, dtypes, arguments = CASES[number]

    def define(fn: Any, theirs: bool) -> Any:
        if theirs:
            from nvidia.dali import types
            from nvidia.dali.plugin.numba.fn import numba_function
        else:
            from penstock import types  # type: ignore[no-redef]
            from penstock.plugin.numba.fn import numba_function
        inputs = [fn.external_source(source=source, batch=True, layout=None) for source in sources]
        return numba_function(*inputs, **described(types, dtypes), **arguments)

    compare(define)


def test_several_inputs_and_outputs() -> None:
    """DALI's setup functions see as many inputs as there are outputs, and it has no arrays without axes."""
    from penstock.plugin.numba import NumbaFunction

    _, dtypes, arguments = CASES[3]
    both = NumbaFunction(**described(types, dtypes), **arguments)
    rows, total = made(lambda: both(fn.external_source(ragged), fn.external_source(pictures))).run()
    for k, (table, picture) in enumerate(zip(ragged(0), pictures(0), strict=True)):
        np.testing.assert_array_equal(rows.at(k), table.sum(1).astype(np.int64) + picture[0, 0, 0])
        assert total.at(k) == table.sum() / 2


def test_on_several_threads() -> None:
    """Batches that are large enough for them: every sample once, whatever its thread."""
    from penstock.plugin.numba.fn.experimental import numba_function

    def source(i: int) -> Any:
        return [np.full((300 + k, 500), i + k, np.uint8) for k in range(5)]

    pipe = made(
        lambda: numba_function(
            fn.external_source(source), run_fn=numba.njit(inverted), in_types=types.UINT8, ins_ndim=2,
            out_types=types.UINT8, outs_ndim=2,
        ),
        batch_size=5, num_threads=3,
    )  # fmt: skip
    for i in range(4):
        (output,) = pipe.run()
        for k, given in enumerate(source(i)):
            np.testing.assert_array_equal(output.at(k), 255 - given)


def of_pictures(**arguments: Any) -> Any:
    from penstock.plugin.numba.fn import numba_function

    given = {"run_fn": inverted, **described(types, UINT8), "ins_ndim": [3], "outs_ndim": [3], **arguments}
    return made(lambda: numba_function(fn.external_source(pictures), **given))


def test_failures() -> None:
    def raising(out: Any, given: Any) -> None:
        if given[0, 0, 0] > 5:
            raise ValueError("too bright")

    with pytest.raises(
        errors.FunctionError, match="numba_function: the function raised ValueError: too bright"
    ) as caught:
        of_pictures(run_fn=raising).run()
    assert type(caught.value.__cause__) is ValueError
    for arguments, text in [
        ({"in_types": [types.FLOAT]}, "input 0 is of type UINT8 and has 3 axes, expected float32 and 3"),
        ({"ins_ndim": [2]}, "input 0 is of type UINT8 and has 3 axes, expected uint8 and 2"),
        ({"setup_fn": lambda outs, ins: outs[0][0].fill(-1)}, "output 0 would have the shape"),
        ({"setup_fn": lambda outs, ins: 1 // 0}, "the function raised ZeroDivisionError"),
    ]:
        with pytest.raises(errors.FunctionError, match=text):
            of_pictures(**arguments).run()


def test_wrong_arguments() -> None:
    def nonsense(out: Any, given: Any) -> None:
        out[:] = given.no_such_thing

    for arguments, error, text in [
        ({"run_fn": 5}, errors.ArgumentTypeError, "numba_function: run_fn=5: expected a function"),
        ({"run_fn": nonsense}, errors.ArgumentError, "(?s)cannot compile it: .*no_such_thing.*test_numba_function.py"),
        ({"in_types": ["what"]}, errors.ArgumentTypeError, "in_types=.*expected a list of types"),
        ({"in_types": [types.FLOAT16]}, errors.ArgumentError, "Numba has no FLOAT16 here"),
        ({"ins_ndim": [3, 3]}, errors.ArgumentError, r"ins_ndim=\[3, 3\]: expected 1 numbers of axes"),
        ({**CASES[3][2], **described(types, CASES[3][1])}, errors.ArgumentError, "the operator has 1 inputs"),
        ({"out_types": [types.UINT8] * 2, "outs_ndim": [3, 3]}, errors.ArgumentError, "(?s)Numba cannot compile it"),
        ({"blocks": [1, 1]}, errors.ArgumentError, "blocks=.*expected three numbers"),
        (
            {"blocks": [1, 1, 1], "threads_per_block": [1, 1, 1], "batch_processing": True},
            errors.ArgumentError, "launched for each sample",
        ),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            of_pictures(**arguments)


def test_without_numba() -> None:
    """The plug-in says what brings it; the rest of the library does not need it."""
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from penstock import fn, errors\n"
        "try:\n    import penstock.plugin.numba\n"
        "except errors.MissingPackageError as e:\n    assert 'pip install penstock[numba]' in str(e), e\n"
        "else:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.getcwd()})


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    if not has_real_gpu():
        pytest.skip("needs an NVIDIA GPU")
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("needs Numba for CUDA")
    from penstock.plugin.numba.fn import numba_function

    def kernel(out: Any, given: Any) -> None:
        x, y = cuda.grid(2)
        if x < given.shape[0] and y < given.shape[1]:
            for c in range(given.shape[2]):
                out[x, y, c] = 255 - given[x, y, c]

    pipe = made(
        lambda: numba_function(
            fn.external_source(pictures).gpu(), run_fn=kernel, device="gpu", blocks=[2, 2, 1],
            threads_per_block=[4, 4, 1], ins_ndim=[3], outs_ndim=[3], **described(types, UINT8),
        ),
        device_id=0,
    )  # fmt: skip
    for i in range(3):
        np.testing.assert_array_equal(pipe.run()[0].as_cpu().as_array(), 255 - np.stack(pictures(i)))
