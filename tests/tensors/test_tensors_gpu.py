"""TensorGPU and TensorListGPU: what they tell, and what they share with other libraries.

The tests run on two GPUs in software, or on real ones. ``others`` is another library's stream.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

from penstock import types
from penstock.errors import ArgumentError, ArgumentTypeError, DeviceError, TensorError, TensorIndexError
from penstock.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU
from tests.cuda.gpu_streams import Gpu, Interface, as_if_on_cpu, back, look_into, tensor

DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"]


@pytest.fixture(scope="module", autouse=True)
def gpu(software_gpu: dict[str, str]) -> Gpu:
    return Gpu()


@pytest.fixture
def others(gpu: Gpu) -> int:
    return gpu.stream()


def pictures(n: int = 3, dtype: str = "f4") -> np.ndarray[Any, Any]:
    return np.arange(n * 24).reshape(n, 2, 3, 4).astype(dtype)


def on_gpu(array: Any, layout: str | None = None, device: int = 0) -> TensorListGPU:
    return TensorListCPU(array, layout)._as_gpu(device)


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(dtype: str) -> None:
    batch = pictures(3, dtype)
    tensors = on_gpu(batch, "HWC")
    assert tensors.dtype is types.to_dali_type(batch.dtype)
    np.testing.assert_array_equal(tensors.as_cpu().as_array(), batch)
    np.testing.assert_array_equal(back(tensors[1]), batch[1])
    assert back(tensors.as_tensor()).dtype == batch.dtype
    assert tensors.as_cpu().layout() == tensors[1].as_cpu().layout() == "HWC"


def test_what_is_told_is_what_the_cpus_tensors_tell() -> None:
    batch = np.random.default_rng(1).integers(0, 255, (3, 2, 1, 4), np.uint8)
    lists = TensorListCPU(batch, layout="HWC"), on_gpu(batch, "HWC")
    singles = TensorCPU(batch[0], layout="HWC"), tensor(batch[0], "HWC")
    facts = []
    for tensors, one in zip(lists, singles, strict=True):
        start = tensors.data_ptr()
        facts.append([tensors.shape(), len(tensors), tensors.ndim(), tensors.layout(), tensors.dtype,
                      tensors.is_dense_tensor(), tensors.source_info(), tensors.as_tensor().shape(),
                      tensors.as_tensor().layout(), tensors.as_tensor().data_ptr() - start,
                      tensors.as_reshaped_tensor([6, 4]).shape(), tensors.as_reshaped_tensor([6, 4]).layout(),
                      tensors[-1].shape(), tensors[-1].layout(), [t.data_ptr() - start for t in tensors],
                      tensors[2:0:-1].shape(), back(tensors[2:0:-1]).tolist(), repr(tensors), str(tensors),
                      one.shape(), one.ndim(), one.layout(), one.dtype, one.source_info(), one.get_property("layout"),
                      one.get_property("x"), repr(one), str(one), one.squeeze(), one.shape(), one.layout(),
                      one.squeeze(0), one.shape()])  # fmt: skip
    assert facts[0] == [f.replace("GPU", "CPU").replace("gpu", "cpu") if isinstance(f, str) else f for f in facts[1]]
    assert facts[0] != facts[1]


def test_names_are_dalis() -> None:
    dali = pytest.importorskip("nvidia.dali.tensors", reason="compares with DALI: pip install penstock[dali]")
    unbound = {"stream"}  # a tensor of ours is not tied to a stream
    for ours in (TensorGPU, TensorListGPU):
        theirs = {n for n in vars(getattr(dali, ours.__name__)) if not n.startswith("_")} - unbound
        assert theirs <= set(dir(ours))


def test_samples_of_different_shapes(others: int, gpu: Gpu) -> None:
    arrays = [np.arange(12, dtype="i2").reshape(3, 4), np.arange(12, 18, dtype="i2").reshape(1, 6)]
    tensors = on_gpu(arrays, "HW")
    assert tensors.shape() == [(3, 4), (1, 6)]
    assert not tensors.is_dense_tensor()
    for array, sample, copy in zip(arrays, tensors, tensors.as_cpu(), strict=True):
        np.testing.assert_array_equal(back(sample), array)
        np.testing.assert_array_equal(np.asarray(copy), array)
    for make in (tensors.as_tensor, tensors.__dlpack__, lambda: tensors.__cuda_array_interface__):
        with pytest.raises(TensorError, match=r"sample 0 has \(3, 4\), sample 1 has \(1, 6\)"):
            make()
    flat = tensors.as_reshaped_tensor((2, 9))
    assert flat.data_ptr() == tensors.data_ptr()
    np.testing.assert_array_equal(back(flat), np.arange(18).reshape(2, 9))
    for wrong in ((2, 8), (-1,), (-2, -9)):
        with pytest.raises(TensorError, match="18 elements"):
            tensors.as_reshaped_tensor(wrong)


def test_one_tensor_of_samples_that_lie_apart_is_a_copy() -> None:
    batch = pictures(4)
    tensors = on_gpu(batch, "HWC")
    apart = tensors[::-2]
    np.testing.assert_array_equal(back(apart.as_tensor()), batch[::-2])
    np.testing.assert_array_equal(apart.as_cpu().as_array(), batch[::-2])
    with pytest.raises(TensorError, match="lie apart"):
        apart.data_ptr()
    together = TensorListGPU([tensors[3], tensors[0], tensors[3]], contiguous=True)
    assert together.layout() == "HWC"
    assert together.data_ptr() == together.as_tensor().data_ptr() != tensors[3].data_ptr()
    np.testing.assert_array_equal(back(together.as_tensor()), batch[[3, 0, 3]])
    middle = tensors[1:3]
    assert middle.as_tensor().data_ptr() == tensors[1].data_ptr()


def test_lists_of_tensors_from_anywhere_on_a_gpu() -> None:
    first, second = tensor(pictures(1)[0], "HWC"), on_gpu(pictures(2))
    tensors = TensorListGPU([first, second[1], Interface(first, first.data_ptr(), (4, 3, 2), "<f4")])
    assert tensors.layout() == "HWC"
    assert [t.data_ptr() for t in tensors] == [first.data_ptr(), second[1].data_ptr(), first.data_ptr()]
    first = second = None
    gc.collect()
    expected = [pictures(1)[0], pictures(2)[1], pictures(1).reshape(4, 3, 2)]
    for got, wanted in zip(tensors.as_cpu(), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(got), wanted)
    with pytest.raises(DeviceError, match="GPUs 0 and 1"):
        TensorListGPU([tensors[0], TensorCPU(pictures(1)[0])._as_gpu(1)])
    for bad, error, message in [
        (np.zeros((2, 3, 4), "f8"), TypeError, "sample 1 is DALIDataType.FLOAT64"),
        (np.zeros((2, 3), "f4"), TensorError, r"sample 1 has the shape \(2, 3\)"),
    ]:
        with pytest.raises(error, match=message):
            TensorListGPU([tensors[0], tensor(bad)])
    with pytest.raises(TensorError, match="different layouts: CHW, HWC"):
        TensorListGPU([tensors[0], tensor(pictures(1)[0], "CHW")])


def test_empty_lists_and_samples_without_elements() -> None:
    hollow = on_gpu([np.empty((0, 3), np.float32), np.empty((2, 3), np.float32)], "HW")
    assert hollow.as_cpu().shape() == [(0, 3), (2, 3)]
    assert back(on_gpu([np.empty((0, 3), np.float32)] * 2).as_tensor()).shape == (2, 0, 3)
    assert back(tensor(np.empty((0, 3), np.float16))).shape == (0, 3)
    assert back(tensor(np.float32(2.5))) == 2.5
    nothing, part = (0, types.NO_TYPE, ""), (2, types.FLOAT, "HW")  # a part keeps what is known of the whole
    rows = TensorListGPU(tensor(np.empty((0, 3))))
    for empty, known in (
        (TensorListGPU(), nothing), (TensorListGPU([]), nothing), (on_gpu([]), nothing), (hollow[:0], part),
        (rows, (1, types.FLOAT64, "")),
    ):  # fmt: skip
        assert (len(empty), empty.shape(), (empty.ndim(), empty.dtype, empty.layout())) == (0, [], known)
        assert (empty.device_id(), empty.data_ptr(), len(empty.as_cpu()), list(empty)) == (-1, None, 0, [])
        with pytest.raises(TensorError, match="empty list"):
            empty.as_tensor()
        with pytest.raises(TensorIndexError):
            empty[0]


def test_views_have_their_own_layout_and_type() -> None:
    tensors = on_gpu(np.array([[1, 2], [255, 128]], np.uint8), "X")
    other, one = TensorListGPU(tensors, layout="Y"), TensorGPU(tensors[1], layout="Z")
    assert (tensors.layout(), other.layout(), one.layout(), tensors[1].layout()) == ("X", "Y", "Z", "X")
    for it in (other, one):
        it.reinterpret(types.INT8)
        with pytest.raises(TensorError, match="another size"):
            it.reinterpret(types.FLOAT)
    assert back(other).tolist() == [[1, 2], [-1, -128]]
    assert back(one).tolist() == [-1, -128]
    assert back(tensors).tolist() == [[1, 2], [255, 128]]
    with pytest.raises(TensorError, match="'HWC' names 3 axes, but the data has 1"):
        tensors.set_layout("HWC")
    tensors.set_layout(None)
    assert (tensors.layout(), other.layout(), other.data_ptr()) == ("", "Y", tensors.data_ptr())
    other.reset()
    assert len(other) == 0
    repeated = TensorListGPU.broadcast(one, 3)
    assert {t.data_ptr() for t in repeated} == {one.data_ptr()}
    assert back(repeated.as_tensor()).tolist() == [[-1, -128]] * 3


def test_sources_come_along() -> None:
    tensors = TensorListCPU(pictures())
    tensors._samples[1].source = b"b.jpg"
    moved = tensors._as_gpu()
    assert moved.source_info() == moved[:].source_info() == moved.as_cpu().source_info() == ["", "b.jpg", ""]
    assert moved[1].source_info() == moved[1].get_property("source_info") == moved[1].as_cpu().source_info() == "b.jpg"
    assert TensorListGPU([moved[1], moved[0]]).source_info() == ["b.jpg", ""]


def test_the_gpu_is_the_one_asked_for(gpu: Gpu) -> None:
    second = on_gpu(pictures(), device=1)
    assert (second.device_id(), second[1].device_id(), second.as_tensor().__dlpack_device__()) == (1, 1, (2, 1))
    assert TensorGPU(Interface(second, second.data_ptr() or 0, (24,), "<f4")).device_id() == 1
    np.testing.assert_array_equal(back(second), pictures())
    with pytest.raises(DeviceError, match="device_id=17: this machine has"):
        on_gpu(pictures(), device=17)


def test_numpy_is_told_where_to_go() -> None:
    tensors = on_gpu(pictures())
    for attempt in (lambda: np.asarray(tensors), lambda: np.array(tensors[0]), tensors.as_array):
        with pytest.raises(DeviceError, match=r"as_cpu\(\)"):
            attempt()
    np.testing.assert_array_equal(np.from_dlpack(tensors, device="cpu"), pictures())
    for taker in (TensorCPU, TensorListCPU):
        with pytest.raises(DeviceError, match="copy it to the CPU"):
            taker(tensors)


def test_only_what_is_on_a_gpu_is_taken() -> None:
    for data in (TensorCPU(pictures()), TensorCPU(pictures()).__dlpack__(), pictures()):
        with pytest.raises(DeviceError, match=r"_as_gpu\(\)"):
            TensorGPU(data)
    with pytest.raises(TypeError, match="neither __dlpack__ nor __cuda_array_interface__"):
        TensorListGPU("text")
    with pytest.raises(TensorError, match="at least one axis"):
        TensorListGPU(tensor(np.float32(1)).__dlpack__())


def test_the_cuda_array_interface(gpu: Gpu, others: int) -> None:
    batch = pictures()
    tensors = on_gpu(batch, "HWC")
    interface = tensors.__cuda_array_interface__
    wanted = {"shape": (3, 2, 3, 4), "typestr": "<f4", "strides": None, "version": 3, "stream": None}
    assert interface == {**wanted, "data": (tensors.data_ptr(), False)}
    got = gpu.read(others, interface["data"][0], batch.nbytes)
    gpu.synchronize(others)
    np.testing.assert_array_equal(got.view(np.float32).reshape(batch.shape), batch)
    shared = TensorListGPU(tensors.as_tensor())
    again = TensorListGPU(Interface(tensors, tensors.data_ptr() or 0, (3, 2, 3, 4), "<f4", strides=(96, 48, 16, 4)))
    for view in (shared, again):
        assert view.data_ptr() == tensors.data_ptr()
        np.testing.assert_array_equal(back(view), batch)


@pytest.mark.parametrize(
    ("others_array", "error", "message"),
    [
        ({"shape": (3, 4), "strides": (8, 2)}, TensorError, "not dense"),
        ({"shape": (2,), "typestr": "<c8"}, TypeError, "complex64"),
        ({"shape": (2,), "mask": object()}, TypeError, "masked"),
        ({"shape": (1,) * 13}, TensorError, "13 dimensions"),
    ],
)
def test_arrays_that_are_no_tensors(others_array: Any, error: Any, message: str) -> None:
    tensors = on_gpu(pictures())
    with pytest.raises(error, match=message):
        TensorGPU(Interface(tensors, tensors.data_ptr() or 0, **others_array))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 3)])
def test_dlpack_capsules(dtype: str, max_version: tuple[int, int] | None) -> None:
    batch = pictures(3, dtype)
    one = on_gpu(batch, device=1).as_tensor()
    capsule = one.__dlpack__(max_version=max_version)
    managed = look_into(capsule)
    t = managed.dl_tensor
    assert (t.data, t.device_type, t.device_id, t.byte_offset) == (one.data_ptr(), 2, 1, 0)
    assert t.shape[: t.ndim] == [3, 2, 3, 4]
    assert t.strides[: t.ndim] == [24, 12, 4, 1]
    code = {"u": 1, "i": 0, "f": 2, "b": 6}[batch.dtype.kind]
    assert (t.code, t.bits, t.lanes) == (code, batch.itemsize * 8, 1)
    assert hasattr(managed, "major") == (max_version is not None and max_version[0] == 1)
    if hasattr(managed, "major"):
        assert (managed.major, managed.flags) == (1, 0)
    address = one.data_ptr()
    del one
    shared = TensorListGPU(capsule)
    assert (shared.data_ptr(), shared.device_id()) == (address, 1)
    np.testing.assert_array_equal(back(shared), batch)
    with pytest.raises(TypeError, match="consumed already"):
        TensorGPU(capsule)


def test_dlpack_copies_and_devices() -> None:
    one = tensor(pictures())
    copy = one.__dlpack__(copy=True, max_version=(1, 0))
    assert look_into(copy).flags == 2
    assert look_into(copy).dl_tensor.data != one.data_ptr()
    np.testing.assert_array_equal(back(TensorGPU(copy)), pictures())
    assert look_into(one.__dlpack__(dl_device=(2, 0), copy=False)).dl_tensor.data == one.data_ptr()
    for device, copy in (((2, 1), None), ((1, 0), False), ((4, 0), None)):
        with pytest.raises(BufferError, match="cannot be given to DLPack's device"):
            one.__dlpack__(dl_device=device, copy=copy)
    with pytest.raises(ArgumentError, match="stream=0"):
        one.__dlpack__(stream=0)
    with pytest.raises(ArgumentTypeError, match="'fast' is no CUDA stream"):
        one.__dlpack__(stream="fast")


def test_dlpack_of_a_list_is_that_of_its_tensor() -> None:
    source, part = on_gpu(pictures()), on_gpu(pictures())[1]
    tensors = TensorListGPU.from_dlpack_list([source.as_tensor(), TensorCPU(pictures())._as_gpu()], layout="NHWC")
    assert tensors[0].data_ptr() == source.data_ptr()
    assert look_into(source.__dlpack__(stream=2)).dl_tensor.data == source.data_ptr()
    assert look_into(part.__dlpack__(-1)).dl_tensor.data == part.data_ptr()
    assert source.__dlpack_device__() == (2, 0)


def test_torch_and_numpy_take_capsules(software_gpu: dict[str, str]) -> None:
    if not software_gpu:
        pytest.skip("a real GPU's memory is not the host's")
    torch = pytest.importorskip("torch")
    tensors = on_gpu(pictures())
    shared = torch.from_dlpack(as_if_on_cpu(tensors.__dlpack__(max_version=(1, 0))))
    assert shared.data_ptr() == tensors.data_ptr()
    assert shared.tolist() == pictures().tolist()
    old = torch.from_dlpack(as_if_on_cpu(tensors[1].__dlpack__()))
    del tensors
    gc.collect()
    taken = [on_gpu(pictures()) for _ in range(3)]
    assert shared.data_ptr() not in [t.data_ptr() for t in taken]
    assert old.tolist() == shared[1].tolist() == pictures()[1].tolist()


def test_copies_to_external_memory(gpu: Gpu, others: int) -> None:
    arrays = [np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(6, 8, dtype=np.int32).reshape(1, 2)]
    for source in (on_gpu(arrays), TensorListGPU([tensor(a) for a in arrays])):
        for stream in (None, others, ctypes.c_void_p(others)):
            for pointer in (int, ctypes.c_void_p):
                target = tensor(np.zeros(8, np.int32))
                source.copy_to_external(pointer(target.data_ptr()), stream)
                assert back(target).tolist() == list(range(8))
    target = tensor(np.zeros((2, 3), np.int32))
    with gpu.blocked(others):
        source[0].copy_to_external(target.data_ptr(), others, non_blocking=True)
        assert back(target).sum() == 0
    gpu.synchronize(others)
    np.testing.assert_array_equal(back(target), arrays[0])
    with pytest.raises(ArgumentError, match="null pointer"):
        source.copy_to_external(ctypes.c_void_p(None))
