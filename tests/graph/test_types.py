"""The enums, constants and conversions of penstock.types, against NumPy, PyTorch and DALI's own module."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import types
from penstock.types.constant import constant_array
from penstock.types.convert import saturate
from tests.small import made

NUMPY_TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"]
ENUMS = ["DALIDataType", "DALIImageType", "DALIInterpType"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def dali() -> Any:
    return pytest.importorskip("nvidia.dali.types", reason="compares with DALI: pip install penstock[dali]")


@pytest.mark.parametrize("name", ENUMS)
def test_enum_has_dali_names_and_numbers(dali: Any, name: str) -> None:
    theirs = {n: int(v) for n, v in getattr(dali, name).__members__.items() if not n.startswith("_")}
    assert {m.name: m.value for m in getattr(types, name)} == theirs


@pytest.mark.parametrize("name", ENUMS)
def test_enum_prints_as_dali_prints_it(dali: Any, name: str) -> None:
    for member in getattr(types, name):
        theirs = str(getattr(getattr(dali, name), member.name))
        assert str(member) == repr(member) == f"{member}" == theirs


def test_module_level_constants_are_dalis(dali: Any) -> None:
    enums = tuple(getattr(dali, name) for name in ENUMS)
    constants = {n: v for n, v in vars(dali).items() if n.isupper() or isinstance(v, (str, *enums))}
    constants = {n: v for n, v in constants.items() if not n.startswith("_")}
    assert len(constants) > 35
    for name, value in constants.items():
        ours = getattr(types, name)
        assert ours == value if isinstance(value, str) else int(ours) == int(value), name


def test_every_public_name_of_dali_is_there_but_for_helpers(dali: Any) -> None:
    theirs = {n for n, v in vars(dali).items() if not n.startswith("_") and type(v).__name__ != "module"}
    helpers = {"Enum", "unique", "dali_type_converters", "ConstantNode", "CUDAStream"}
    assert theirs - helpers - set(types.__all__) == set()


def test_members_are_integers_that_are_never_false() -> None:
    assert types.FLOAT == 9
    assert types.DALIDataType(8) is types.FLOAT16
    assert types.UINT8
    assert types.RGB
    assert pickle.loads(pickle.dumps(types.INTERP_CUBIC)) is types.INTERP_CUBIC
    assert f"{types.RGB:>20}" == "   DALIImageType.RGB"


@pytest.mark.parametrize("text", NUMPY_TYPES)
def test_numpy_types_go_there_and_back(text: str) -> None:
    dtype = np.dtype(text)
    found = types.to_dali_type(dtype)
    assert np.dtype(types.to_numpy_type(found)) == dtype
    assert types.to_dali_type(dtype.type) is found
    assert types.to_dali_type(dtype.name) is found
    assert types.to_dali_type(found) is found
    assert types.to_dali_type(int(found)) is found


def test_types_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"):
        assert types.to_dali_type(getattr(torch, dtype)) is types.to_dali_type(dtype)
    assert types.to_dali_type(torch.bool) is types.BOOL
    assert types.to_dali_type(torch.half) is types.FLOAT16
    with pytest.raises(TypeError, match="bfloat16"):
        types.to_dali_type(torch.bfloat16)


@pytest.mark.parametrize("name", ["float", "double", "half", "long", "short", "byte", "ubyte", "sbyte", "bool_"])
def test_names_mean_what_they_mean_to_dali(dali: Any, name: str) -> None:
    assert int(types.to_dali_type(name)) == int(dali.to_dali_type(name))


@pytest.mark.parametrize("wrong", [np.complex64, ">f4", np.dtype(">f4"), "x", int, None, 99, object(), np.dtype("S3")])
def test_other_types_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="no type that a tensor can have"):
        types.to_dali_type(wrong)


def test_no_numpy_type_for_strings() -> None:
    with pytest.raises(KeyError):
        types.to_numpy_type(types.STRING)


CONSTANTS: list[tuple[Any, Any]] = [
    (5, None), (True, None), (2.5, None), (5.5, "UINT8"), (300, "UINT8"), (2, "FLOAT"), (3, "BOOL"), (np.int8(3), None),
    (np.array(3, np.uint16), None), (np.float64(1.5), None), (np.bool_(True), None), (np.float16(1.5), "INT64"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "dtype"), CONSTANTS)
def test_scalar_constants_are_dalis(dali: Any, value: Any, dtype: str | None) -> None:
    ours = types.Constant(value, dtype=dtype and types.DALIDataType[dtype])
    theirs = dali.Constant(value, dtype=dtype and getattr(dali, dtype))
    assert isinstance(ours, types.ScalarConstant)
    assert (ours.value, type(ours.value), int(ours.dtype)) == (theirs.value, type(theirs.value), int(theirs.dtype))
    assert str(ours) == str(theirs)


@pytest.mark.parametrize("name", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                  "float16", "float32", "float64"])  # fmt: skip
def test_scalar_constants_convert(name: str) -> None:
    converted = getattr(types.Constant(1), name)()
    assert converted.dtype is types.to_dali_type(name)
    assert converted == types.ScalarConstant(1, converted.dtype)


def test_scalar_constants_become_numbers_of_their_own_kind_only() -> None:
    assert int(types.Constant(5)) == 5
    assert float(types.Constant(2.5)) == 2.5
    assert not types.Constant(0)
    for convert, value in ((int, 2.5), (bool, 2.5), (float, 5)):
        with pytest.raises(TypeError, match="DALIDataType"):
            convert(types.Constant(value))


def test_scalar_constants_compare_with_type() -> None:
    assert types.Constant(5) == types.Constant(5)
    assert types.Constant(5) != types.Constant(5).uint8()
    assert types.Constant(5) != types.Constant(6)


@pytest.mark.parametrize("wrong", ["a", None, 1j, [1]])
def test_scalar_constants_are_numbers(wrong: Any) -> None:
    with pytest.raises(TypeError, match="is a bool, an int or a float"):
        types.ScalarConstant(wrong)


def test_scalar_constants_have_numeric_types() -> None:
    with pytest.raises(TypeError, match=r"DALIDataType\.STRING"):
        types.ScalarConstant(1, types.STRING)


ARRAYS: list[dict[str, Any]] = [
    {"value": [1, 2, 3]},
    {"value": [1, 2.5, True]},
    {"value": [True, False]},
    {"value": []},
    {"value": [300, -5, 7], "dtype": "UINT8"},
    {"value": [2.5, 3.5, -7.0, 300.6, -0.5, 0.49], "dtype": "UINT8"},
    {"value": [2.5, 3.5, -7.5, 300.6], "dtype": "INT8"},
    {"value": [0, 5, 0.2, 0.5], "dtype": "BOOL"},
    {"value": 3, "shape": [2, 2]},
    {"value": [1, 2, 3, 4], "shape": [2, 2], "layout": "HW"},
    {"value": np.array([1.1, 2.2])},
    {"value": np.array([[1, 2], [3, 4]])},
    {"value": np.array([2**40]), "dtype": "INT64"},
    {"value": np.array([1.5], np.float16)},
    {"value": 5, "device": "cpu"},
]


@pytest.mark.parametrize("arguments", ARRAYS, ids=str)
def test_constant_arrays_are_dalis(dali: Any, arguments: dict[str, Any]) -> None:
    from nvidia.dali import pipeline_def

    wanted = {**arguments, **({"dtype": getattr(dali, arguments["dtype"])} if "dtype" in arguments else {})}

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline() -> Any:
        return dali.Constant(**wanted)

    pipe = pipeline()
    pipe.build()
    theirs = pipe.run()[0].at(0)
    dtype = types.DALIDataType[arguments["dtype"]] if "dtype" in arguments else None
    ours = constant_array(arguments["value"], dtype, arguments.get("shape"))
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


def test_constant_arrays_that_do_not_fit() -> None:
    with pytest.raises(OverflowError, match="does not fit int32"):
        constant_array(np.array([2**40]))
    with pytest.raises(ValueError, match=r"shape=\[2, 2\]: cannot be made of 3 values"):
        constant_array([1, 2, 3], shape=[2, 2])
    with pytest.raises(TypeError, match="made of numbers"):
        constant_array(["a"])
    np.testing.assert_array_equal(constant_array([types.BGR, types.GRAY]), np.array([1, 2], np.int32))


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([np.nan, np.inf, -np.inf], "u1", [0, 255, 0]),
        ([1e30, -1e30, 2.0**63, 5], "i8", [2**63 - 1, -(2**63), 2**63 - 1, 5]),
        (np.array([2**63, 5], np.uint64), "i8", [2**63 - 1, 5]),
        (np.array([2**63 + 5], np.uint64), "u8", [2**63 + 5]),
        ([-2, 5], "u8", [0, 5]),
        ([300, -129], "i1", [127, -128]),
        ([1e30, -1], "u8", [2**64 - 1, 0]),
    ],
)
def test_saturate_at_the_limits(values: Any, dtype: str, expected: list[int]) -> None:
    result = saturate(np.asarray(values), np.dtype(dtype))
    assert result.dtype == np.dtype(dtype)
    assert result.tolist() == expected


def test_layout_is_a_string() -> None:
    layout = types.TensorLayout("HWC")
    assert (layout, len(layout), str(layout), repr(layout)) == ("HWC", 3, "HWC", "TensorLayout('HWC')")
    assert layout == types.NHWC


def test_infos() -> None:
    info = types.SampleInfo(7, 3, 1, 0)
    assert (info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx) == (7, 3, 1, 0)
    assert types.BatchInfo(4, 2) == types.BatchInfo(iteration=4, epoch_idx=2)


def test_the_module_makes_nodes_where_nothing_else_is_imported() -> None:
    code = "import penstock.types as types; print(repr(types.Constant([1, 2], name='two')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.stdout.startswith("DataNode(name='two', device='cpu'"), done.stderr
    assert pickle.loads(pickle.dumps(types.Constant)) is types.Constant


def test_a_scalar_as_a_node() -> None:
    pipe = made(lambda: types.ConstantNode(None, 5, types.INT16, [2], "X", name="five"), batch_size=1)
    (output,) = pipe.run()
    assert output.as_array().tolist() == [[5, 5]]
    assert (output.dtype, output.layout()) == (types.INT16, "X")
    assert repr(types.CUDAStream(16)) == "CUDAStream(0x10)"
