"""Scripts of 2018 to 2020 run with nothing changed but their imports, and do what they do in DALI."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, ops, types
from penstock.errors import ArgumentError, DeviceError, GraphError
from penstock.op import registry
from tests.small import made, ten_files, values

SCRIPTS = Path(__file__).parent / "old_scripts"
BATCH, COUNT = 4, 16
NORMALIZED = 0.02  # one step of a pixel, divided by the least standard deviation of ImageNet


def script(name: str, package: str = "penstock") -> ModuleType:
    """The script as a module, with that package in place of nvidia.dali."""
    path = SCRIPTS / f"{name}.py"
    module = ModuleType(f"{package}.{name}")
    exec(compile(path.read_text().replace("nvidia.dali", package), path, "exec"), vars(module))
    return module


@pytest.fixture(autouse=True)
def old_ways() -> Iterator[None]:
    """What these scripts do is deprecated, which some tests here are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def dali() -> None:
    pytest.importorskip("nvidia.dali", reason="DALI, whose results these are, is not installed")


@pytest.fixture(scope="module")
def photos(photographs: Path) -> str:
    """The photographs, with a list of names and labels beside the class folders."""
    folders = sorted(f for f in photographs.iterdir() if f.is_dir())
    lines = [f"{f.name}/{file.name} {label}" for label, f in enumerate(folders) for file in sorted(f.iterdir())]
    (photographs / "file_list.txt").write_text("\n".join(lines) + "\n")
    assert len(lines) == COUNT
    return str(photographs)


def batches(pipe: Any, count: int = 2) -> list[list[list[np.ndarray[Any, Any]]]]:
    """Batches, outputs, samples."""
    pipe.build()
    pipe.build()  # a cell of a notebook that is run again
    found = []
    for _ in range(count):
        outputs = [output.as_cpu() if hasattr(output, "as_cpu") else output for output in pipe.run()]
        found.append([[np.array(output.at(i)) for i in range(len(output))] for output in outputs])
    return found


def compare(own: Any, theirs: Any, allowed: list[float], on_average: float = 0.06) -> None:
    """Two batches of both: the same types and shapes, and no value further apart than the output's allows."""
    for mine, dalis in zip(batches(own), batches(theirs), strict=True):
        assert len(mine) == len(dalis) == len(allowed)
        for output, expected, most in zip(mine, dalis, allowed, strict=True):
            for one, other in zip(output, expected, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                apart = np.abs(one.astype(np.float64) - other)
                assert apart.max() <= most
                assert apart.mean() <= most * on_average


# The getting-started pipelines.


@pytest.mark.parametrize(("name", "allowed"), [("SimplePipeline", [0, 0]), ("RotatedSimplePipeline", [1, 0])])
def test_getting_started(name: str, allowed: list[float], photos: str, dali: None) -> None:
    own, theirs = (
        getattr(script("getting_started", p), name)(BATCH, 1, None, photos) for p in ("penstock", "nvidia.dali")
    )
    compare(own, theirs, allowed)


def test_one_photograph_in_several_ways(photos: str, dali: None) -> None:
    own, theirs = (
        script("getting_started", package).AugmentedPipeline(BATCH, 2, None, photos)
        for package in ("penstock", "nvidia.dali")
    )
    # The cast, flip, twist, brightness, hsv, warp, crop, normalized, labels; resize itself is up to 1 off.
    compare(own, theirs, [1, 1, 3, 2, 4, 2, 1, 1, 0])


def test_shuffled(photos: str) -> None:
    pipe = script("getting_started").ShuffledSimplePipeline(BATCH, 1, None, photos)
    labels = [int(label[0]) for _, output in batches(pipe, COUNT // BATCH) for label in output]
    assert sorted(labels) == sorted(list(range(8)) * 2)
    assert labels != sorted(labels)
    again = script("getting_started").ShuffledSimplePipeline(BATCH, 2, None, photos)
    assert labels == [int(label[0]) for _, output in batches(again, COUNT // BATCH) for label in output]


def test_random_rotation_is_by_the_drawn_angle(photos: str) -> None:
    """Each picture is turned by its own angle, which this script hands out, too."""
    rotated, _, angles = batches(script("getting_started").RandomRotatedSimplePipeline(BATCH, 1, None, photos), 1)[0]
    angles = [float(angle) for angle in angles]
    assert all(-10 <= angle < 10 for angle in angles)
    assert len(set(angles)) == BATCH
    originals = batches(script("getting_started").SimplePipeline(BATCH, 1, None, photos), 1)[0][0]
    for picture, original, angle in zip(rotated, originals, angles, strict=True):
        by_hand = made(lambda o=original, a=angle: fn.rotate(o, angle=a, fill_value=0), batch_size=1)
        np.testing.assert_array_equal(picture, by_hand.run()[0].at(0))


@pytest.mark.parametrize("name", ["RandomRotatedGPUPipeline", "HybridPipeline"])
def test_getting_started_on_the_gpu(name: str, photos: str, software_gpu: dict[str, str]) -> None:
    module = script("getting_started")
    on_gpu = getattr(module, name)(BATCH, 1, 0, photos)
    on_gpu.build()
    assert type(on_gpu.run()[0]).__name__ == "TensorListGPU"
    on_cpu = (module.SimplePipeline if name == "HybridPipeline" else module.RotatedSimplePipeline)(BATCH, 1, 0, photos)
    most = 64 if name == "HybridPipeline" else 1  # nvJPEG does not interpolate chroma, unless asked to
    compare(getattr(module, name)(BATCH, 1, 0, photos), on_cpu, [most, 0], on_average=0.02)


def test_one_photograph_in_several_ways_on_the_gpu(photos: str, software_gpu: dict[str, str]) -> None:
    module = script("getting_started")
    own, cpus = (module.AugmentedPipeline(BATCH, 2, 0, photos, device) for device in ("gpu", "cpu"))
    compare(own, cpus, [1, 1, 3, 2, 4, 3, 1, 1, 0])


def test_gpu_that_is_not_named(photos: str) -> None:
    pipe = script("getting_started").RandomRotatedGPUPipeline(BATCH, 1, None, photos)
    line = r".*operator made at .*getting_started\.py:\d+, in define_graph: .*images\.gpu\(\)"
    with pytest.raises(
        DeviceError, match=f"(?s)device_id=None: operators run on a GPU, so Pipeline must say on which{line}"
    ):
        pipe.build()


@pytest.mark.parametrize(
    ("name", "line"), [("RandomRotatedGPUPipeline", "images.gpu()"), ("HybridPipeline", "decode(jpegs)")]
)
def test_gpu_that_is_not_there(name: str, line: str, photos: str) -> None:
    """Without a driver; in a process of its own, since a driver is loaded once."""
    code = f"""
from tests.workloads.test_old_scripts import script
script("getting_started").{name}({BATCH}, 1, 0, {photos!r}).build()
"""
    variables = {k: v for k, v in os.environ.items() if k not in ("PENSTOCK_CUDA_DRIVER", "PENSTOCK_TEST_REAL_GPU")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=SCRIPTS.parents[2], capture_output=True, text=True,
        env={**variables, "PENSTOCK_CUDA_DRIVER": "/no/libcuda.so.1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "DeviceError" in done.stderr
    assert "no GPU can be used: NVIDIA's driver was not found" in done.stderr
    assert line in done.stderr.splitlines()[-1]


# Training on ImageNet.


def test_validation_pipeline(photos: str, dali: None) -> None:
    own, theirs = (
        script("imagenet", package).HybridValPipe(BATCH, 2, None, photos, 224, 256, dali_cpu=True)
        for package in ("penstock", "nvidia.dali")
    )
    compare(own, theirs, [NORMALIZED, 0])


def test_validation_pipeline_on_the_gpu(photos: str, software_gpu: dict[str, str]) -> None:
    pytest.importorskip("torch")
    module = script("imagenet")
    on_gpu, on_cpu = (module.HybridValPipe(BATCH, 2, 0, photos, 64, 72, dali_cpu=cpu) for cpu in (False, True))
    compare(on_gpu, on_cpu, [3 * NORMALIZED, 0], on_average=0.35)


@pytest.mark.parametrize("shards", [1, 3])
def test_training_loop(shards: int, photos: str) -> None:
    torch = pytest.importorskip("torch")
    module = script("imagenet")

    def epochs() -> list[Any]:
        pipe = module.HybridTrainPipe(BATCH, 2, 0, photos, 64, dali_cpu=True, shard_id=0, num_shards=shards)
        return module.train(pipe, BATCH, shards)

    first, second = epochs()
    assert [tuple(images.shape) for images, _ in first] == [(BATCH, 3, 64, 64)] * (4 if shards == 1 else 2)
    assert all(images.dtype == torch.float32 and target.dtype == torch.int64 for images, target in first)
    assert all(-2.2 < float(images.min()) < float(images.max()) < 2.7 for images, _ in first + second)
    if shards == 1:
        for epoch in (first, second):
            assert sorted(torch.cat([target for _, target in epoch]).tolist()) == sorted(list(range(8)) * 2)
        assert not torch.equal(first[0][0], second[0][0])
        assert all(torch.equal(a, b) for (a, _), (b, _) in zip(first, epochs()[0], strict=True))


def test_training_pipeline_on_the_gpu(photos: str, software_gpu: dict[str, str]) -> None:
    """The same random crops and flips as on the CPU, where pixels are a little different."""
    pytest.importorskip("torch")
    module = script("imagenet")
    on_gpu, on_cpu = (module.HybridTrainPipe(BATCH, 2, 0, photos, 64, dali_cpu=cpu) for cpu in (False, True))
    compare(on_gpu, on_cpu, [10 * NORMALIZED, 0], on_average=0.35)


def test_training_without_a_gpu_says_so(photos: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(DeviceError, match="device_id=None"):
        script("imagenet").HybridTrainPipe(BATCH, 2, None, photos, 64).build()


@pytest.mark.parametrize("area", [[1.0, 1.0], [1.0, 1.25]])
def test_random_resized_crop_of_the_whole_picture(area: list[float], photos: str, dali: None) -> None:
    """An area above 1 never fits, so that the largest window is taken in the end."""
    own, theirs = (
        script("imagenet", package).RandomResizedPipe(BATCH, 2, None, photos, 100, area)
        for package in ("penstock", "nvidia.dali")
    )
    compare(own, theirs, [1, 0])


def test_loader_that_subclasses_the_iterator(photos: str) -> None:
    torch = pytest.importorskip("torch")
    module = script("imagenet")
    pipe = module.RandomResizedPipe(BATCH, 2, None, photos, 32, [0.5, 1.25])
    loader = module.DALIDataloader(pipe, COUNT, BATCH)
    assert len(loader) == COUNT // BATCH
    for _ in range(2):
        seen = [(tuple(images.shape), labels.squeeze().tolist()) for images, labels in loader]
        assert seen == [((BATCH, 32, 32, 3), [2 * i, 2 * i, 2 * i + 1, 2 * i + 1]) for i in range(4)]
    assert torch is not None


# Data of one's own.


def external(package: str, photos: str, device_id: int | None = None, **arguments: Any) -> Any:
    module = script("external_input", package)
    pipe: Any = module.ExternalSourcePipeline(
        BATCH, 2, device_id, module.ExternalInputIterator(BATCH, photos, epochs=2), **arguments
    )
    return pipe


def test_external_source(photos: str, dali: None) -> None:
    compare(external("penstock", photos), external("nvidia.dali", photos), [1, 0])


def test_external_source_ends_with_its_iterator(photos: str) -> None:
    pipe = external("penstock", photos)
    labels = [label for batch in batches(pipe, 8) for label in batch[1]]
    assert sorted(int(label[0]) for label in labels) == sorted(list(range(8)) * 4)
    with pytest.raises(StopIteration):
        pipe.run()


def test_external_source_on_the_gpu(photos: str, software_gpu: dict[str, str]) -> None:
    compare(external("penstock", photos, 0, device="gpu"), external("penstock", photos), [16, 0], on_average=0.05)


# What DALI warns of.


def warned(use: Callable[[], Any]) -> list[tuple[type[Warning], str, str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        use()
    return [(w.category, str(w.message), w.filename) for w in caught]


OLD: list[tuple[Callable[[Any], Any], str]] = [
    (lambda p: p.ops.Uniform(range=[0.0, 1.0])(), "random.uniform"),
    (lambda p: p.ops.CoinFlip(probability=0.5)(), "random.coin_flip"),
    (lambda p: p.ops.NormalDistribution()(), "random.normal"),
    (lambda p: p.fn.uniform(), "random.uniform"),
    (lambda p: p.fn.file_reader(files=["a"]), "readers.file"),
    (lambda p: p.fn.image_decoder(source(p)), "decoders.image"),
    (lambda p: p.fn.image_decoder_random_crop(source(p)), "decoders.image_random_crop"),
    (lambda p: p.fn.fast_resize_crop_mirror(source(p), size=8, crop=[4, 4]), "resize_crop_mirror"),
    (lambda p: p.fn.transform_translation(offset=[1, 2]), "transforms.translation"),
    (lambda p: p.fn.shapes(source(p)), "shape"),
    (lambda p: p.fn.experimental.decoders.image(source(p)), "decoders.image"),
    (lambda p: p.ops.CropMirrorNormalize(output_dtype=p.types.FLOAT), "dtype"),
    (lambda p: p.ops.CropMirrorNormalize(image_type=p.types.RGB), "image_type"),
    (lambda p: p.fn.crop(source(p), crop=[2, 2], output_dtype=p.types.FLOAT), "dtype"),
    (lambda p: p.fn.rotate(source(p), angle=1, output_dtype=p.types.FLOAT), "dtype"),
    (lambda p: p.fn.resize(source(p), size=5, image_type=p.types.RGB), "image_type"),
    (lambda p: p.fn.decoders.image(source(p), split_stages=True), "split_stages"),
    (lambda p: p.Pipeline(1, 1, None, max_streams=2), "max_streams"),
    (lambda p: p.Pipeline(1, 1, None, experimental_exec_dynamic=False), "exec_dynamic"),
    (lambda p: p.Pipeline(1, 1, None, seed=-1), "None"),
    (lambda p: p.Pipeline(1, 1, None).batch_size, "max_batch_size"),
]


def source(package: Any) -> Any:
    return package.fn.external_source(name="source", ndim=3)


@pytest.mark.parametrize("number", range(len(OLD)))
def test_warns_as_dali_does(number: int) -> None:
    """Of the same category, naming what to use instead, and about the user's own line."""
    import penstock

    dali = pytest.importorskip("nvidia.dali", reason="DALI, whose warnings these are, is not installed")
    use, replacement = OLD[number]

    def inside(package: Any) -> Callable[[], Any]:
        def define() -> None:
            with package.Pipeline(1, 1, None):
                use(package)

        return define

    theirs, own = warned(inside(dali)), warned(inside(penstock))
    assert [category for category, *_ in own] == [category for category, *_ in theirs]
    assert all(replacement in message and file == __file__ for _, message, file in own)
    assert any(replacement in message for _, message, _ in theirs)


def test_warnings_of_iterators_and_drawings(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from penstock.plugin.pytorch import DALIGenericIterator

    pipe = made(fn.random.uniform)
    expected = [(Warning, "fill_last_batch is deprecated: use last_batch_policy", __file__)]
    assert warned(lambda: DALIGenericIterator(pipe, ["x"], size=8, fill_last_batch=False)) == expected
    expected = [(DeprecationWarning, "save_graph_to_dot_file: show_ids is deprecated: it has no effect", __file__)]
    assert warned(lambda: pipe.save_graph_to_dot_file(tmp_path / "graph.dot", show_ids=True)) == expected


NAMES = {name: cls for name, cls in registry.ops.items() if not name.startswith("_")}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_what_is_deprecated_is_what_dali_deprecates(name: str) -> None:
    backend = pytest.importorskip("nvidia.dali.backend", reason="DALI, whose schemas these are, is not installed")
    function: Any = pytest.importorskip("nvidia.dali.fn")
    for part in name.split("."):
        function = getattr(function, part, None)
    if not hasattr(function, "_schema_name"):
        pytest.skip("not one of DALI's schemas")
    schema, cls = backend.GetSchema(function._schema_name), NAMES[name]
    assert schema.IsDeprecated() == (name != cls.name or cls.deprecated is not None)
    theirs = [argument for argument in schema.GetArgumentNames() if argument in cls.arguments]
    assert {a for a in theirs if cls.arguments[a].deprecated} == {a for a in theirs if schema.IsDeprecatedArg(a)}


@pytest.mark.parametrize("name", sorted(name for name, cls in NAMES.items() if name != cls.name))
def test_old_names_say_the_new_ones(name: str) -> None:
    function: Any = fn
    for part in name.split("."):
        function = getattr(function, part)
    inputs = [fn.external_source() for _ in range(NAMES[name].num_inputs[0])]

    def use() -> None:
        with contextlib.suppress(ArgumentError):  # some arguments are needed
            function(*inputs)

    instead = NAMES[name].deprecated or f"use fn.{NAMES[name].name}"
    assert warned(use) == [(DeprecationWarning, f"fn.{name} is deprecated: {instead}", __file__)]


def test_newer_names_do_not_warn() -> None:
    use = [
        fn.random.uniform,
        lambda: fn.cast(1.0, dtype=types.INT32),
        lambda: Pipeline(1, 1, None, seed=3).max_batch_size,
    ]
    assert [w for u in use for w in warned(u)] == []


def test_decoders_of_2018(photos: str) -> None:
    """Those from before `ImageDecoder`, which DALI does not have any more."""

    def decoded(decoder: Any) -> Any:
        def define() -> Any:
            return decoder(output_type=types.RGB)(ops.FileReader(file_root=photos)()[0])

        return made(define, seed=5).run()[0]

    for old, new in ((ops.HostDecoder, ops.ImageDecoder), (ops.HostDecoderRandomCrop, ops.ImageDecoderRandomCrop)):
        for one, other in zip(decoded(old), decoded(new), strict=True):
            np.testing.assert_array_equal(np.array(one), np.array(other))
    (category, message, _), *_ = warned(lambda: decoded(ops.nvJPEGDecoder))[1:]
    assert (category, message) == (DeprecationWarning, "ops.nvJPEGDecoder is deprecated: use fn.decoders.image")


# Serialized pipelines.


def everything(photos: str) -> Any:
    jpegs, labels = fn.readers.file(file_root=photos, random_shuffle=True, name="Reader")
    images = fn.decoders.image(jpegs)
    resized = fn.resize(images, size=[30, 40], interp_type=types.INTERP_TRIANGULAR)
    shifted = (resized + np.float32([1, 2, 3]))[2:, ::-1] * fn.random.uniform(range=[0.5, 1.0])
    flip = fn.random.coin_flip(probability=0.5)
    return fn.crop_mirror_normalize(resized, mirror=flip, dtype=types.FLOAT16, mean=[1.0, 2, 3]), shifted, labels


def test_a_pipeline_goes_through_json(photos: str, tmp_path: Path) -> None:
    pipe = made(lambda: everything(photos), seed=7)
    text = pipe.serialize(filename=tmp_path / "pipeline.json")
    assert (tmp_path / "pipeline.json").read_bytes() == text
    expected = batches(pipe)
    other = Pipeline(batch_size=4, num_threads=1, device_id=None, seed=7)
    other.deserialize_and_build(text)
    for again in (Pipeline.deserialize(text), Pipeline.deserialize(filename=tmp_path / "pipeline.json"), other):
        assert again.epoch_size("Reader") == COUNT
        for wanted, got in zip(expected, batches(again), strict=True):
            for one, two in zip(wanted, got, strict=True):
                assert all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    smaller = Pipeline.deserialize(text, batch_size=3, num_threads=1)
    assert (smaller.max_batch_size, smaller.num_threads, smaller.seed) == (3, 1, 7)
    assert len(smaller.run()[0]) == 3


def test_errors_of_a_deserialized_pipeline_name_the_line_of_the_original(tmp_path: Path) -> None:
    files = ten_files(tmp_path)
    text = made(lambda: fn.decoders.image(fn.readers.file(files=files)[0])).serialize()
    with pytest.raises(Exception, match=rf"decoders\.image: (?s:.*){re.escape(Path(__file__).name)}:\d+.*made\(lambda"):
        Pipeline.deserialize(text).run()


def test_fed_sources_are_serialized_but_callables_are_not() -> None:
    pipe = Pipeline.deserialize(made(lambda: fn.external_source(name="x", dtype=types.INT32) * 2).serialize())
    assert values(pipe.run(x=np.int32([1, 2]))[0]) == [2, 4]
    with pytest.raises(GraphError, match=r"external_source .*source=.* cannot be serialized"):
        made(lambda: fn.external_source(lambda i: [i])).serialize()


@pytest.mark.parametrize("text", ["", "{}", b"\xff\xfe", '{"penstock_pipeline": 99}', "[1]"])
def test_other_texts_are_no_pipelines(text: Any) -> None:
    with pytest.raises(ArgumentError, match=r"is not what Pipeline\.serialize\(\) gave|give either"):
        Pipeline.deserialize(text)


def test_define_graph_may_be_given_to_serialize() -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    again = Pipeline.deserialize(pipe.serialize(define_graph=lambda: fn.cast(2.6, dtype=types.INT32)))
    assert values(again.run()[0]) == [3, 3]


# Names that old scripts import.


def test_imports_of_old_scripts() -> None:
    torch = pytest.importorskip("torch")
    from penstock.backend import TensorGPU, TensorListGPU
    from penstock.plugin.base_iterator import LastBatchPolicy
    from penstock.plugin.pytorch import feed_ndarray, to_torch_type

    assert LastBatchPolicy.PARTIAL is not None
    assert {TensorGPU.__name__, TensorListGPU.__name__} == {"TensorGPU", "TensorListGPU"}
    for dtype, theirs in to_torch_type.items():
        assert types.to_dali_type(theirs) is dtype
    (output,) = made(lambda: np.float32([[1, 2], [3, 4]]), batch_size=2).run()
    target = torch.empty(2, 2, 2)
    assert feed_ndarray(output, target) is target
    assert target.tolist() == [[[1, 2], [3, 4]]] * 2
    assert feed_ndarray(output[0], torch.empty(2, 2)).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match=r"shape \(2, 2, 2\) and torch\.float32 does not go into"):
        feed_ndarray(output, torch.empty(4, 2))
    with pytest.raises(ValueError, match="not contiguous"):
        feed_ndarray(output[0], torch.empty(2, 4)[:, ::2])


def test_things_that_have_nothing_to_do_any_more() -> None:
    pipe = made(lambda: fn.random.uniform())
    pipe.start_py_workers()
    pipe.enable_api_check(False)
    pipe.build()
    assert types.PipelineAPIType.BASIC.value == 0
    assert (types.NCHW, types.NHWC) == ("CHW", "HWC")
