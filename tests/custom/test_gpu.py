"""Operators of one's own on a GPU: pixels in the kernels of chains, and what launches its own work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn, plugin_manager, types
from penstock.machine import kernels, libraries
from tests.custom import build, conftest
from tests.custom.test_example import SIZES, any_fn, normalized, pictures, run, source, strengths, toned
from tests.small import made
from tests.software_gpu.libraries import has_real_gpu

pytestmark = pytest.mark.usefixtures("software_gpu", "example")


def on_gpu(define: Any, **arguments: Any) -> list[Any]:
    return run(define, device_id=0, **arguments)


def same(found: list[Any], wanted: list[Any]) -> None:
    assert [(a.shape, a.dtype) for a in found] == [(a.shape, a.dtype) for a in wanted]
    assert [a.tobytes() for a in found] == [a.tobytes() for a in wanted]


def flipped(images: Any, gpu: bool) -> Any:
    return fn.flip(images.gpu() if gpu else images, horizontal=1)


def chain(gpu: bool) -> Any:
    twice = any_fn.sepia(any_fn.sepia(flipped(source(pictures()), gpu), strength=strengths()), strength=0.5)
    return fn.crop_mirror_normalize(twice, mean=[120.0] * 3, std=[60.0] * 3, dtype=types.FLOAT, output_layout="CHW")


def test_a_chain_is_one_kernel_and_gives_what_the_cpu_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = made(lambda: chain(True), batch_size=len(SIZES), device_id=0)
    pipe.build()
    assert "in one kernel: flip → sepia → sepia → crop_mirror_normalize" in pipe.explain()
    fused = on_gpu(lambda: chain(True))
    same(fused, run(lambda: chain(False)))
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    same(on_gpu(lambda: chain(True)), fused)


def test_the_source_is_shown() -> None:
    pipe = made(lambda: chain(True), batch_size=len(SIZES), device_id=0)
    pipe.run()
    text = pipe.explain(source=True)
    assert "namespace penstock_custom::op_sepia {" in text
    assert "struct Tone" in text


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.float32])
def test_alone_with_all_types(dtype: Any) -> None:
    arrays = [(a.astype(np.float64) - 100).astype(dtype) for a in pictures()]
    define = lambda gpu: any_fn.sepia(source(arrays).gpu() if gpu else source(arrays), strength=0.3)  # noqa: E731
    same(on_gpu(lambda: define(True)), run(lambda: define(False)))


def test_what_is_no_picture() -> None:
    rows = [np.random.default_rng(k).integers(0, 256, (300, 3), np.uint8) for k in range(3)]
    define = lambda gpu: any_fn.sepia(source(rows, None).gpu() if gpu else source(rows, None))  # noqa: E731
    same(on_gpu(lambda: define(True), batch_size=3), run(lambda: define(False), batch_size=3))


def test_frames() -> None:
    frames = [np.random.default_rng(k).integers(0, 256, (3, 5, 4, 3), np.uint8) for k in range(2)]

    def define(gpu: bool) -> Any:
        return any_fn.sepia(flipped(source(frames, "FHWC"), gpu), strength=0.5)

    same(on_gpu(lambda: define(True), batch_size=2), run(lambda: define(False), batch_size=2))


def test_behind_the_decoder(photographs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def decoded() -> Any:
        files, _ = fn.readers.file(file_root=str(photographs))
        return fn.decoders.image(files, device="mixed", output_type=types.RGB)

    def define() -> Any:
        return normalized(any_fn.sepia(decoded(), strength=0.7))

    pipe = made(define, batch_size=4, device_id=0)
    pipe.build()
    assert "image → sepia → crop_mirror_normalize" in pipe.explain()
    found = on_gpu(define, batch_size=4)
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    between = [toned(picture, 0.7) for picture in on_gpu(decoded, batch_size=4)]
    same(found, run(lambda: normalized(source(between)), batch_size=4))


ELEMENTS = r"""
#include <penstock/operator.hpp>
PENSTOCK_SHARED(Line, struct alignas(16) Line {
  float slope, offset;
  PENSTOCK_FN float operator()(float v) const { return v * slope + offset; }   // a comment
};)
struct Linear {
  using Functor = Line;
  static penstock::Declaration declare() {
    return penstock::Declaration("mine.linear", "A line.")
        .argument<double>("slope", "Its slope.", 1.0, penstock::per_sample)
        .argument<double>("offset", "Where it begins.", 0.0)
        .argument<penstock::DType>("dtype", "Of the output.", penstock::DType::none);
  }
  Line functor(const penstock::Sample& s) const {
    if (s.dtype("dtype") != penstock::DType::none) s.output(0).set_dtype(s.dtype("dtype"));
    return {float(s.number("slope")), float(s.number("offset"))};
  }
};
PENSTOCK_OPERATORS(Linear)
"""


@pytest.fixture
def linear(tmp_path: Path, registered: None) -> Any:
    plugin_manager.load_library(build.library(ELEMENTS, tmp_path / "linear.so"))
    return any_fn.mine.linear


def test_elements_of_any_shape(linear: Any) -> None:
    for shape in [(7,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (0, 3), ()]:
        data = np.random.default_rng(1).integers(0, 200, shape).astype(np.uint8)

        def define(gpu: bool, data: Any = data) -> Any:
            node = source([data], None)
            return linear(node.gpu() if gpu else node, slope=1.75, offset=-3, dtype=types.INT16)

        same(on_gpu(lambda d=define: d(True), batch_size=1), run(lambda d=define: d(False), batch_size=1))


@pytest.mark.parametrize("n", [1, 15, 1000, 3001])
def test_floats_become_integers_as_casts_do(linear: Any, n: int) -> None:
    random = np.random.default_rng(n)
    data = (random.standard_normal(n) * 200).astype(np.float32)
    data[::7] = np.round(data[::7]) + np.float32(0.5)
    data[::11] = random.choice(
        np.float32([np.nan, np.inf, -np.inf, 0.49999997, -0.5, 254.5, 255.5, 1e30]), len(data[::11])
    )
    for dtype in (types.UINT8, types.INT16, types.INT32, types.FLOAT16):
        wanted = run(lambda t=dtype: fn.cast(source([data], None), dtype=t), batch_size=1)
        same(run(lambda t=dtype: linear(source([data], None), dtype=t), batch_size=1), wanted)


def test_planes_go_through_a_chain(linear: Any) -> None:
    planes = [np.random.default_rng(k).integers(0, 256, (5, 8, 9), np.uint8) for k in range(2)]

    def define(gpu: bool) -> Any:
        return fn.flip(linear(flipped(source(planes, "CHW"), gpu), slope=0.5), vertical=1)

    same(on_gpu(lambda: define(True), batch_size=2), run(lambda: define(False), batch_size=2))


def broken_library(folder: Path, functor: str) -> Path:
    """One whose source for the GPU is another than that for the CPU."""
    table = r"""
#include <penstock/operator.h>
static void row(const void*, const float* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = from[i];
}
extern "C" PENSTOCK_EXPORT const penstock_library* penstock_operators(void) {
  static penstock_operator op{};
  op.size = sizeof op;
  op.kind = PENSTOCK_PIXEL;
  op.name = "broken";
  op.doc = "Broken.";
  op.least_inputs = op.most_inputs = op.num_outputs = 1;
  op.params_bytes = op.params_align = 4;
  op.row = row;
  op.device_source = FUNCTOR;
  op.device_type = "F";
  static const penstock_operator* const operators[] = {&op};
  static const penstock_library library = {PENSTOCK_OPERATOR_ABI, sizeof library, 1, 0, operators};
  return &library;
}
"""
    return build.library(table, folder / "broken.so", f'-DFUNCTOR="{functor}"')


@pytest.mark.parametrize(
    ("functor", "reason"),
    [
        ("struct F { float a; __device__ float operator()(float v) const { return nothing; } };", "nothing"),
        ("struct F { double a; __device__ float operator()(float v) const { return v; } };", "not that of the host"),
        ("struct G {};", "F"),
    ],
)
def test_source_that_does_not_compile(functor: str, reason: str, tmp_path: Path, registered: None) -> None:
    plugin_manager.load_library(broken_library(tmp_path, functor))
    (found,) = run(lambda: any_fn.broken(source([np.float32(2)], None)), batch_size=1)
    assert found == 2
    with pytest.raises(errors.DeviceError, match=f"broken: .*\n(.*\n)*.*{reason}"):
        on_gpu(lambda: any_fn.broken(source([np.float32(2)], None).gpu()), batch_size=1)


def test_nvrtc_takes_the_kernels(linear: Any, photographs: Path) -> None:
    """NVIDIA's own compiler, for a GPU that need not be here."""
    path = libraries.packaged("nvrtc")
    if path is None:
        pytest.skip("needs NVIDIA's compiler: pip install penstock[test]")

    def define() -> list[Any]:
        files, _ = fn.readers.file(file_root=str(photographs))
        images = fn.decoders.image(files, device="mixed", output_type=types.RGB)
        rows = source([np.zeros((7, 3), np.uint8)] * 2, None).gpu()
        planes = source([np.zeros((3, 7, 9), np.int16)] * 2, "CHW").gpu()
        resized = fn.resize(source([np.zeros((8, 9, 3), np.uint8)] * 2).gpu(), size=60)
        return [
            normalized(any_fn.sepia(images)),
            any_fn.sepia(rows),
            linear(fn.flip(linear(planes, slope=2.0))),
            linear(source([np.float16(1)] * 2, None).gpu(), dtype=types.UINT8),
            normalized(linear(any_fn.sepia(resized))),
        ]

    pipe = made(define, batch_size=2, device_id=0)
    pipe.run()
    sources = [text for text in pipe._prepared().kernels(lambda: None) if "penstock_custom" in text]
    kinds = ("PS_DECODED_KERNEL", "PS_ELEMENT_KERNEL", "PS_ROW_KERNEL", "PS_TILE_KERNEL")
    assert all(any(kind in text for text in sources) for kind in kinds)
    compiler = kernels.Nvrtc(path)
    for text in sources:
        assert compiler.compile(text, 90)


GENERAL = r"""
#include <dlfcn.h>
#include <penstock/operator.hpp>

#include <cstdlib>

using namespace penstock;

// Of the driver, so that no part of CUDA is needed to compile this.
using Copy = int (*)(unsigned long long, unsigned long long, size_t, void*);
static Copy copy_function(const char* name) {
  const char* path = std::getenv("PENSTOCK_CUDA_DRIVER");
  void* driver = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
  return driver ? reinterpret_cast<Copy>(dlsym(driver, name)) : nullptr;
}

// Each sample `times` times, one behind the other: on the CPU with run(), on a GPU by copies through scratch memory.
struct Repeat {
  static Declaration declare() {
    return Declaration("mine.repeat", "Repeats.")
        .inputs(1, 2)
        .cpu_input(1)
        .setup_reads(1)
        .argument<int64_t>("times", "How often.", 2, per_sample)
        .argument<std::string>("fails", "How.", "");
  }
  static int64_t times(const Sample& s) {
    return s.num_inputs() > 1 ? *s.input(1).data<int64_t>() : s.integer("times");
  }
  static size_t bytes(const Tensor& t) {
    return size_t(t.volume()) * visit(t.dtype(), [](auto zero) { return sizeof zero; });
  }
  void setup(const Sample& s) const {
    if (s.input(0).raw()) throw std::logic_error("setup() sees elements");
    s.output(0).like(s.input(0));
    s.output(0).set_shape({times(s), s.input(0).volume()});
  }
  void run(const Sample& s) const {
    const size_t n = bytes(s.input(0));
    for (int64_t i = 0; i < times(s); i++)
      std::memcpy(static_cast<char*>(s.output(0).raw()) + i * int64_t(n), s.input(0).raw(), n);
  }
  void run_gpu(const Batch& b) const {
    static const Copy copy = copy_function("cuMemcpyDtoDAsync_v2");
    if (!copy) throw std::runtime_error("no driver");
    if (b[0].text("fails") == "batch") throw std::runtime_error("the batch is wrong");
    if (b[0].text("fails") == "sample") throw SampleError(3, "this one is wrong");
    if (b[0].text("fails") == "nobody") throw SampleError(99, "somebody is wrong");
    if (b[0].text("fails") == "memory") b.scratch<char>(int64_t(1) << 60);
    for (int i = 0; i < b.size(); i++) {
      const Sample s = b[i];
      const size_t n = bytes(s.input(0));
      if (!n) continue;
      const auto between = reinterpret_cast<unsigned long long>(b.scratch<char>(int64_t(n)));
      const auto from = reinterpret_cast<unsigned long long>(s.input(0).raw());
      const auto to = reinterpret_cast<unsigned long long>(s.output(0).raw());
      int status = copy(between, from, n, b.stream());
      for (int64_t k = 0; k < times(s); k++) status |= copy(to + size_t(k) * n, between, n, b.stream());
      if (status) throw std::runtime_error("the driver refuses: " + std::to_string(status));
    }
  }
};
PENSTOCK_OPERATORS(Repeat)
"""


@pytest.fixture(scope="module")
def repeat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = build.library(GENERAL, tmp_path_factory.mktemp("general") / "general.so", "-ldl")
    restoring = conftest._restoring()
    next(restoring)
    plugin_manager.load_library(path)
    yield any_fn.mine.repeat
    next(restoring, None)


def repeated(repeat: Any, gpu: bool, **arguments: Any) -> Any:
    times = source([np.int64(k) for k in range(len(SIZES))], None)
    images = flipped(source(pictures()), gpu)
    return repeat(images, times=times, **arguments) + np.uint8(1)


def test_a_batch_on_a_gpu(repeat: Any) -> None:
    found = on_gpu(lambda: repeated(repeat, True))
    same(found, run(lambda: repeated(repeat, False)))
    for k, (a, b) in enumerate(zip(found, pictures(), strict=True)):
        np.testing.assert_array_equal(a, np.tile(b[:, ::-1].ravel(), (k, 1)) + np.uint8(1))


def test_an_input_on_the_cpu(repeat: Any) -> None:
    data = np.arange(4, dtype=np.float32)
    (found,) = on_gpu(lambda: repeat(source([data], None).gpu(), source([np.int64(3)], None)), batch_size=1)
    np.testing.assert_array_equal(found, np.tile(data, (3, 1)))


@pytest.mark.parametrize(
    ("fails", "kind", "sample", "reason"),
    [
        ("batch", errors.OperatorError, None, "the batch is wrong"),
        ("sample", errors.OperatorError, 3, "this one is wrong"),
        ("nobody", errors.OperatorError, None, "somebody is wrong"),
        ("memory", errors.OutOfMemoryError, None, "the system refused memory"),
    ],
)
def test_what_fails_on_a_gpu(fails: str, kind: type[Exception], sample: int | None, reason: str, repeat: Any) -> None:
    with pytest.raises(errors.OperatorError, match=rf"^mine\.repeat: {reason}") as caught:
        on_gpu(lambda: repeated(repeat, True, fails=fails))
    assert type(caught.value) is kind
    assert caught.value.sample == sample
    assert "repeat(images, times=times" in str(caught.value.location)


CUDA = r"""
#include <penstock/operator.hpp>

__global__ void square(const float* from, float* to, int64_t n) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] * from[i];
}

struct Square {
  static penstock::Declaration declare() { return penstock::Declaration("mine.square", "Squares."); }
  void setup(const penstock::Sample& s) const { s.output(0).like(s.input(0)); }
  void run_gpu(const penstock::Batch& b) const {
    for (int i = 0; i < b.size(); i++) {
      const int64_t n = b[i].input(0).volume();
      if (n)
        square<<<unsigned((n + 255) / 256), 256, 0, b.stream<cudaStream_t>()>>>(
            b[i].input(0).data<float>(), b[i].output(0).data<float>(), n);
    }
    if (const cudaError_t error = cudaGetLastError()) throw std::runtime_error(cudaGetErrorString(error));
  }
};
PENSTOCK_OPERATORS(Square)
"""


def cuda_library(folder: Path) -> Path:
    """Compiled by NVIDIA's compiler, with its run-time library inside."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc")
    (folder / "square.cu").write_text(CUDA)
    build.run(
        nvcc, "-std=c++17", "-O2", "-shared", "-Xcompiler", "-fPIC,-fvisibility=hidden", "-I",
        Path(kernels.__file__).parents[1] / "include", folder / "square.cu", "-o", folder / "square.so",
    )  # fmt: skip
    return folder / "square.so"


def test_a_library_with_kernels_of_its_own_loads_without_a_gpu(tmp_path: Path, registered: None) -> None:
    plugin_manager.load_library(cuda_library(tmp_path))
    with pytest.raises(errors.DeviceError, match=r"mine\.square: device='cpu': this operator runs on 'gpu'"):
        made(lambda: any_fn.mine.square(np.float32(1), device="cpu"))


@pytest.mark.gpu
def test_kernels_of_ones_own(tmp_path: Path, registered: None) -> None:
    if not has_real_gpu() or os.environ.get("PENSTOCK_CUDA_DRIVER"):
        pytest.skip("needs an NVIDIA GPU")
    plugin_manager.load_library(cuda_library(tmp_path))
    arrays = [np.random.default_rng(k).standard_normal(1000 * k).astype(np.float32) for k in range(4)]
    found = on_gpu(lambda: any_fn.mine.square(source(arrays, None).gpu()) + 1, batch_size=4)
    for a, b in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(a, b * b + np.float32(1))
