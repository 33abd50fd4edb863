"""TensorCPU and TensorListCPU: what they share, what they keep alive, and what they say, against NumPy and DALI."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from penstock import types
from penstock.machine import native
from penstock.tensors import TensorCPU, TensorError, TensorIndexError, TensorListCPU
from penstock.tensors.arrays import DESCRIPTOR, describe

DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"]


class Owner:
    """What a finished iteration is to its tensors: its memory is gone when it is."""

    def __init__(self, arrays: list[np.ndarray[Any, Any]]):
        self.arrays = arrays


def native_list(arrays: list[np.ndarray[Any, Any]], layout: str = "", flags: int = 0) -> tuple[TensorListCPU, Any]:
    """A list as an executor makes it, and a weak reference to its owner."""
    owner = Owner(arrays)
    samples, _ = describe(arrays, layout, [f"{i}.jpg" for i in range(len(arrays))])
    return TensorListCPU._from_native(owner, samples, flags), weakref.ref(owner)


def pictures(n: int = 3, dtype: str = "f4") -> np.ndarray[Any, Any]:
    return np.arange(n * 24).reshape(n, 2, 3, 4).astype(dtype)


def shares(a: Any, b: np.ndarray[Any, Any]) -> bool:
    return np.asarray(a).ctypes.data == b.ctypes.data


def test_descriptors_are_those_of_the_native_library() -> None:
    assert DESCRIPTOR.itemsize == ctypes.sizeof(native.Tensor)
    offsets = {name: field.offset for name, field in vars(native.Tensor).items() if hasattr(field, "offset")}
    assert {name: DESCRIPTOR.fields[name][1] for name in DESCRIPTOR.names or ()} == offsets


@pytest.mark.parametrize("dtype", DTYPES)
def test_native_memory_is_shared(dtype: str) -> None:
    batch = pictures(3, dtype)
    tensors, _ = native_list(list(batch), "HWC", native.CONTIGUOUS | native.UNIFORM)
    assert tensors.dtype is types.to_dali_type(batch.dtype)
    assert tensors.shape() == [(2, 3, 4)] * 3
    assert (len(tensors), tensors.ndim(), tensors.layout(), tensors.is_dense_tensor()) == (3, 3, "HWC", True)
    np.testing.assert_array_equal(tensors.as_array(), batch)
    assert tensors.as_array().dtype == batch.dtype
    for i in (0, 2, -1, -3):
        np.testing.assert_array_equal(tensors.at(i), batch[i])
        assert shares(tensors.at(i), batch[i])
        assert shares(tensors[i], batch[i])
    assert shares(tensors.as_array(), batch)
    assert shares(tensors.as_tensor(), batch)
    assert tensors.data_ptr() == batch.ctypes.data
    assert tensors[1].data_ptr() == batch[1].ctypes.data
    tensors.at(1)[...] = 1
    assert (batch[1] == 1).all()


def test_samples_that_lie_apart_are_gathered_when_asked_for() -> None:
    arrays = [np.full((2, 2), i, np.int16) for i in range(4)]
    tensors, _ = native_list(arrays, "HW", native.UNIFORM)
    assert tensors.is_dense_tensor()
    np.testing.assert_array_equal(tensors.as_array(), np.stack(arrays))
    assert tensors.as_tensor().layout() == "NHW"
    assert tensors.as_reshaped_tensor([2, 8]).shape() == [2, 8]
    with pytest.raises(TensorError, match="lie apart"):
        tensors.data_ptr()


def test_samples_of_different_shapes() -> None:
    memory = np.arange(18, dtype=np.uint8)
    arrays = [memory[:12].reshape(3, 4), memory[12:].reshape(1, 6)]
    tensors, _ = native_list(arrays, "HW", native.CONTIGUOUS)
    assert tensors.shape() == [(3, 4), (1, 6)]
    assert not tensors.is_dense_tensor()
    for make in (tensors.as_array, tensors.as_tensor, lambda: np.asarray(tensors)):
        with pytest.raises(TensorError, match=r"sample 0 has \(3, 4\), sample 1 has \(1, 6\)"):
            make()
    flat = tensors.as_reshaped_tensor((2, 9))
    assert shares(flat, memory)
    assert flat.layout() == ""
    for wrong in ((2, 8), (-1,), (-2, -9)):
        with pytest.raises(TensorError, match="18 elements"):
            tensors.as_reshaped_tensor(wrong)


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.at(0),
        lambda t: t[0],
        lambda t: t[0:1],
        lambda t: np.asarray(t[1]),
        lambda t: t.as_array(),
        lambda t: t.as_tensor(),
        lambda t: t.as_reshaped_tensor([72]),
        lambda t: np.from_dlpack(t),
        lambda t: next(iter(t)),
        lambda t: TensorListCPU(t),
        lambda t: TensorListCPU([t[0], t[1]]),
    ],
)
def test_what_is_made_of_a_list_keeps_its_memory_alive(view: Any) -> None:
    tensors, owner = native_list(list(pictures()), "HWC", native.CONTIGUOUS | native.UNIFORM)
    kept = view(tensors)
    assert kept is not None
    del tensors
    gc.collect()
    assert owner() is not None
    del kept
    gc.collect()
    assert owner() is None


def test_frameworks_keep_memory_alive() -> None:
    torch = pytest.importorskip("torch")
    tensors, owner = native_list(list(pictures()), "HWC", native.CONTIGUOUS | native.UNIFORM)
    batch, sample = torch.from_dlpack(tensors), torch.from_dlpack(tensors[2])
    assert batch.data_ptr() == tensors.data_ptr()
    assert batch.shape == (3, 2, 3, 4)
    assert torch.equal(batch[2], sample)
    del tensors, batch
    gc.collect()
    assert owner() is not None
    del sample
    gc.collect()
    assert owner() is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_shares_every_type(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    array = pictures(1, dtype)[0]
    tensor = torch.from_dlpack(TensorCPU(array))
    assert tensor.data_ptr() == array.ctypes.data
    np.testing.assert_array_equal(tensor.numpy(), array)
    back = TensorCPU(tensor)
    assert shares(back, array)
    assert back.dtype is types.to_dali_type(array.dtype)
    assert torch.as_tensor(TensorCPU(array)).data_ptr() == array.ctypes.data


def test_torch_tensors_and_capsules_are_taken() -> None:
    torch = pytest.importorskip("torch")
    source = torch.arange(6.0).reshape(2, 3)
    assert TensorCPU(torch.utils.dlpack.to_dlpack(source)).data_ptr() == source.data_ptr()
    assert TensorListCPU(torch.utils.dlpack.to_dlpack(source)).shape() == [(3,), (3,)]
    assert TensorListCPU.from_dlpack_list([source, source], layout="AB")[1].data_ptr() == source.data_ptr()
    with pytest.raises(TypeError, match=r"cannot be shared|bfloat16"):
        TensorCPU(source.bfloat16())
    with pytest.raises(TensorError, match="not dense"):
        TensorCPU(source.T)


def test_zero_sized_samples_and_empty_lists() -> None:
    tensors, _ = native_list([np.empty((0, 3), np.float32)], "HW", 3)
    assert tensors.at(0).shape == (0, 3)
    assert tensors.as_array().shape == (1, 0, 3)
    assert np.asarray(TensorCPU(np.empty((0, 3), np.float16))).shape == (0, 3)
    for empty in (TensorListCPU([]), TensorListCPU._from_native(None, (native.Tensor * 0)(), 3)):
        assert (len(empty), empty.shape(), empty.ndim(), empty.dtype, empty.layout()) == (0, [], 0, types.NO_TYPE, "")
        assert empty.is_dense_tensor()
        assert empty.as_array().shape == (0,)
        assert list(empty) == []
        with pytest.raises(TensorError, match="empty list"):
            empty.as_tensor()
        with pytest.raises(TensorIndexError):
            empty.at(0)


def test_arrays_make_lists_without_copies() -> None:
    batch = pictures()
    for tensors in (TensorListCPU(batch, layout="HWC"), TensorListCPU(list(batch), layout="HWC")):
        assert shares(tensors.as_array(), batch)
        assert tensors.as_tensor().layout() == "NHWC"
        assert [t.layout() for t in tensors] == ["HWC"] * 3
    scalars = TensorListCPU(np.arange(3))
    assert scalars.shape() == [(), (), ()]
    assert scalars.at(1).shape == ()
    assert scalars.as_array().tolist() == [0, 1, 2]
    apart = TensorListCPU([batch[0], batch[2]])
    assert shares(apart.at(1), batch[2])
    together = TensorListCPU([batch[0], batch[2]], contiguous=True)
    assert together.data_ptr() not in (None, batch.ctypes.data)
    np.testing.assert_array_equal(together.as_array(), batch[[0, 2]])


def test_slices_share_memory() -> None:
    batch = pictures(5)
    tensors = TensorListCPU(batch, layout="HWC")
    part = tensors[1:3]
    assert isinstance(part, TensorListCPU)
    assert shares(part.as_array(), batch[1])
    assert part.layout() == "HWC"
    np.testing.assert_array_equal(tensors[::-2].as_array(), batch[::-2])
    np.testing.assert_array_equal(tensors[3:0:-1].as_array(), batch[3:0:-1])
    assert len(tensors[7:]) == 0
    part.set_layout("CHW")
    assert tensors.layout() == "HWC"


def test_a_list_of_a_list_shares_memory_and_has_its_own_layout() -> None:
    tensors = TensorListCPU(pictures(), layout="HWC")
    other = TensorListCPU(tensors, layout="DHW")
    assert (other.layout(), tensors.layout(), other.data_ptr()) == ("DHW", "HWC", tensors.data_ptr())
    assert other.as_cpu() is other


@pytest.mark.parametrize(
    ("samples", "error"),
    [
        ([np.zeros(2, "f4"), np.zeros(2, "f8")], "sample 1 is DALIDataType.FLOAT64"),
        ([np.zeros((2, 1)), np.zeros(2)], r"sample 1 has the shape \(2,\)"),
        ([TensorCPU(np.zeros((2, 1)), "HW"), TensorCPU(np.zeros((2, 1)), "WH")], "different layouts: HW, WH"),
        ([np.zeros((4, 4))[:, ::2]], "not dense"),
        ([np.zeros(2, np.complex64)], "complex64"),
        (np.array(3), "at least one axis"),
        ([np.zeros((1,) * 13)], "13 dimensions"),
        (np.zeros(3, ">i4"), "i4"),
    ],
)
def test_samples_that_make_no_list(samples: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        TensorListCPU(samples)


def test_layouts_name_each_axis() -> None:
    tensors, tensor = TensorListCPU(pictures()), TensorCPU(pictures())
    with pytest.raises(TensorError, match="'NHWC' names 4 axes, but the data has 3"):
        tensors.set_layout("NHWC")
    with pytest.raises(TensorError, match="'HWC' names 3 axes, but the data has 4"):
        tensor.set_layout("HWC")
    with pytest.raises(ValueError, match="layout"):
        TensorCPU(np.zeros(3), layout="HW")
    tensors.set_layout("HWC")
    tensor.set_layout("NHWC")
    assert (tensors[2].layout(), tensor.layout(), tensor.get_property("layout")) == ("HWC", "NHWC", "NHWC")
    tensors.set_layout(None)
    tensor.set_layout("")
    assert (tensors.layout(), tensor.layout()) == ("", "")


def test_sources_are_told() -> None:
    tensors, _ = native_list(list(pictures()), "HWC", 3)
    assert tensors.source_info() == ["0.jpg", "1.jpg", "2.jpg"]
    assert tensors[1].source_info() == tensors[1].get_property("source_info") == "1.jpg"
    assert tensors[::-1].source_info() == ["2.jpg", "1.jpg", "0.jpg"]
    assert TensorListCPU([tensors[2], tensors[0]]).source_info() == ["2.jpg", "0.jpg"]
    assert tensors[1].get_property("something") is None
    assert TensorCPU(np.zeros(1)).source_info() == ""


def test_reinterpret_keeps_the_bytes() -> None:
    array = np.array([[1, 2], [255, 128]], np.uint8)
    tensor, tensors = TensorCPU(array), TensorListCPU(array)
    for it in (tensor, tensors):
        it.reinterpret(types.INT8)
        assert it.dtype is types.INT8
        with pytest.raises(TensorError, match="another size"):
            it.reinterpret(types.FLOAT)
    assert np.asarray(tensor).tolist() == tensors.as_array().tolist() == [[1, 2], [-1, -128]]


def test_squeeze_drops_axes_of_extent_one() -> None:
    tensor = TensorCPU(np.zeros((1, 3, 1), np.float32), layout="HWC")
    assert not tensor.squeeze(1)
    assert tensor.squeeze(-1)
    assert (tensor.shape(), tensor.layout()) == ([1, 3], "HW")
    assert tensor.squeeze()
    assert (tensor.shape(), tensor.layout(), tensor.squeeze()) == ([3], "W", False)
    for wrong in (1, -2):
        with pytest.raises(TensorError, match=f"no axis {wrong}"):
            tensor.squeeze(wrong)


def test_copies_to_external_memory() -> None:
    arrays = [np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(6, 8, dtype=np.int32).reshape(1, 2)]
    expected = list(range(8))
    for tensors in (TensorListCPU(arrays), TensorListCPU(arrays, contiguous=True)):
        for destination in (lambda a: ctypes.c_void_p(a.ctypes.data), lambda a: a.ctypes.data, lambda a: a,
                            lambda a: a.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))):  # fmt: skip
            target = np.zeros(8, np.int32)
            tensors.copy_to_external(destination(target))
            assert target.tolist() == expected
    target = np.zeros((2, 3), np.int32)
    TensorCPU(arrays[0]).copy_to_external(target)
    np.testing.assert_array_equal(target, arrays[0])
    for wrong in (np.zeros(5, np.int32), ctypes.c_void_p(None), np.frombuffer(bytes(24), np.int32)):
        with pytest.raises(TensorError, match="destination"):
            TensorCPU(arrays[0]).copy_to_external(wrong)


def test_broadcast_repeats_one_tensor() -> None:
    tensor = TensorCPU(np.arange(6, dtype=np.uint8).reshape(2, 3), layout="HW")
    tensors = TensorListCPU.broadcast(tensor, 3)
    assert (len(tensors), tensors.layout(), tensors.is_dense_tensor()) == (3, "HW", True)
    assert {t.data_ptr() for t in tensors} == {tensor.data_ptr()}
    np.testing.assert_array_equal(tensors.as_array(), np.stack([np.asarray(tensor)] * 3))
    assert len(TensorListCPU.broadcast(tensor, 0)) == 0


def test_reset_empties_and_what_was_taken_stays() -> None:
    tensors, owner = native_list(list(pictures()), "HWC", 3)
    kept = tensors.at(1)
    tensors.reset()
    assert (len(tensors), tensors.dtype) == (0, types.NO_TYPE)
    assert owner() is not None
    assert kept[0, 0, 0] == 24
    del kept
    gc.collect()
    assert owner() is None


def test_the_array_protocol() -> None:
    array = pictures(1)[0]
    tensor = TensorCPU(array, layout="HWC")
    interface = tensor.__array_interface__
    assert (interface["shape"], interface["typestr"], interface["data"][0]) == ((2, 3, 4), "<f4", array.ctypes.data)
    assert shares(tensor.__array__(), array)
    assert not shares(tensor.__array__(copy=True), array)
    assert tensor.__array__(np.float64).dtype == np.float64
    assert np.array(tensor, dtype=np.int16).dtype == np.int16
    with pytest.raises(ValueError, match="without a copy"):
        tensor.__array__(np.float64, copy=False)
    with pytest.raises(ValueError, match="lie apart"):
        TensorListCPU([array, array]).__array__(copy=False)
    np.testing.assert_array_equal(np.asarray(TensorListCPU([array, array])), np.stack([array, array]))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes can have the buffer protocol from Python 3.12 on")
def test_the_buffer_protocol() -> None:
    array = pictures(1)[0]
    view = memoryview(TensorCPU(array))
    assert (view.shape, view.format, view.readonly) == ((2, 3, 4), "f", False)
    assert np.frombuffer(view, np.float32).ctypes.data == array.ctypes.data


def test_the_dlpack_protocol() -> None:
    array = pictures(1)[0]
    tensor = TensorCPU(array)
    assert tensor.__dlpack_device__() == (1, 0)
    assert shares(np.from_dlpack(tensor), array)
    assert shares(TensorCPU(tensor.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)), array)
    assert not shares(TensorCPU(tensor.__dlpack__(copy=True)), array)
    with pytest.raises(BufferError, match="stream"):
        tensor.__dlpack__(stream=1)
    with pytest.raises(BufferError, match=r"\(2, 0\)"):
        tensor.__dlpack__(dl_device=(2, 0))


def test_data_on_another_device_is_refused() -> None:
    class OnGPU:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, **_: Any) -> Any:
            raise AssertionError("not to be asked for")

    with pytest.raises(RuntimeError, match="copy it to the CPU"):
        TensorCPU(OnGPU())


def test_memory_that_must_not_be_written_stays_so() -> None:
    fixed = np.frombuffer(bytes(range(8)), np.uint8)
    assert not np.asarray(TensorCPU(fixed)).flags.writeable
    tensors = TensorListCPU([fixed, fixed])
    for array in (tensors.at(0), np.asarray(tensors[1]), tensors[:1].at(0)):
        assert not array.flags.writeable


@pytest.mark.parametrize("data", [b"abc", bytearray(b"abc"), memoryview(b"abc")], ids=["bytes", "bytearray", "view"])
def test_bytes_are_tensors_of_uint8(data: Any) -> None:
    tensor = TensorCPU(data)
    assert (tensor.dtype, tensor.shape(), np.asarray(tensor).tolist()) == (types.UINT8, [3], [97, 98, 99])


def test_numbers_and_lists_are_copied() -> None:
    assert TensorCPU([[1, 2], [3, 4]]).shape() == [2, 2]
    assert TensorCPU(2.5).shape() == []
    with pytest.raises(TypeError):
        TensorCPU(["a"])


def test_text_shows_what_there_is() -> None:
    tensor = TensorCPU(np.arange(6, dtype=np.uint8).reshape(2, 3), layout="HW")
    properties = 'dtype=DALIDataType.UINT8,\n    layout="HW",\n    device="cpu",\n    shape=(2, 3))'
    assert repr(tensor) == f"TensorCPU(\n    {properties}"
    assert str(tensor) == f"TensorCPU(\n    [[0 1 2]\n     [3 4 5]],\n    {properties}"
    batch = TensorListCPU(np.zeros((256, 224, 224, 3), np.uint8), layout="HWC")
    assert "num_samples=256" in repr(batch)
    assert len(str(batch)) < 3000
    assert "num_samples=0" in str(TensorListCPU([]))


def test_behaves_as_dali(random: np.random.Generator) -> None:
    dali = pytest.importorskip("nvidia.dali.tensors", reason="compares with DALI: pip install penstock[dali]")
    batch = random.integers(0, 255, (3, 2, 1, 4), np.uint8)

    def facts(tensors: Any, tensor: Any) -> list[Any]:
        lists = [tensors.shape(), len(tensors), tensors.ndim(), tensors.layout(), int(tensors.dtype),
                 tensors.is_dense_tensor(), tensors.data_ptr(), tensors.as_array().tolist(), tensors.at(1).tolist(),
                 tensors.as_tensor().shape(), tensors.as_tensor().layout(),
                 tensors.as_reshaped_tensor([6, 4]).shape(), tensors.as_reshaped_tensor([6, 4]).layout(),
                 tensors[-1].shape(), tensors[-1].layout(), [t.data_ptr() for t in tensors]]  # fmt: skip
        one = [tensor.shape(), tensor.ndim(), tensor.layout(), int(tensor.dtype), tensor.source_info(),
               tensor.get_property("layout"), tensor.get_property("x"), tensor.data_ptr(), tensor.squeeze(),
               tensor.shape(), tensor.layout(), np.asarray(tensor).tolist(), repr(tensor)]  # fmt: skip
        return lists + one

    ours = facts(TensorListCPU(batch, layout="HWC"), TensorCPU(batch[0], layout="HWC"))
    theirs = facts(dali.TensorListCPU(batch, layout="HWC"), dali.TensorCPU(batch[0], layout="HWC"))
    assert ours == theirs


@pytest.mark.parametrize(
    "attempt",
    [
        lambda m: m.TensorListCPU(np.zeros((2, 3)), layout="HW"),
        lambda m: m.TensorCPU(np.zeros((2, 3)), layout="H"),
        lambda m: m.TensorCPU(np.zeros((2, 4))[:, ::2]),
        lambda m: m.TensorCPU(np.zeros((2, 1, 3))).squeeze(4),
        lambda m: m.TensorListCPU([m.TensorCPU(np.zeros(2)), m.TensorCPU(np.zeros(3))]).as_tensor(),
        lambda m: m.TensorListCPU([m.TensorCPU(np.zeros(2)), m.TensorCPU(np.zeros(3))]).as_array(),
        lambda m: m.TensorListCPU(np.zeros((2, 3))).as_reshaped_tensor([5]),
        lambda m: m.TensorListCPU(np.zeros((2, 3))).at(2),
        lambda m: m.TensorListCPU(np.zeros((2, 3)))[2],
        lambda m: m.TensorListCPU([m.TensorCPU(np.zeros(2, "f4")), m.TensorCPU(np.zeros(2, "f8"))]),
        lambda m: m.TensorListCPU(np.array(1.0)),
    ],
)
def test_fails_where_dali_fails_and_as_it_does(attempt: Any) -> None:
    dali = pytest.importorskip("nvidia.dali.tensors", reason="compares with DALI: pip install penstock[dali]")
    from penstock import tensors

    with pytest.raises(Exception) as theirs:  # noqa: PT011 - the class is what is being found out
        attempt(dali)
    with pytest.raises(type(theirs.value)):
        attempt(tensors)
