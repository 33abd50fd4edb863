"""Fusion groups that read the planes of samples which the JPEG decoder leaves: bit for bit what comes of pictures that
are written first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, backend, fn, pipeline_def, types
from penstock.errors import DecodeError
from tests.cuda.scripts import run_script
from tests.decode.pictures import Array, jpeg, png, smooth, write
from tests.decode.test_cuda_jpeg import LEFT, TAKEN, damaged

pytestmark = pytest.mark.usefixtures("software_gpu")
RANDOM = np.random.default_rng(31)


def with_sampling(file: bytes, factors: int, width: int, height: int) -> bytes:
    """The same blocks in another order: luma with other factors, of as many blocks, in a picture of as many MCUs."""
    at = file.index(b"\xff\xc0")
    size = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return file[: at + 5] + size + file[at + 9 : at + 11] + bytes([factors]) + file[at + 12 :]


SAMPLINGS = {
    "4:4:0": with_sampling(jpeg(smooth(RANDOM, 101, 70), subsampling="4:2:2"), 0x12, 70, 101),
    "4:1:1": with_sampling(jpeg(smooth(RANDOM, 96, 128), subsampling="4:2:0"), 0x41, 190, 63),
    "1x4": with_sampling(jpeg(smooth(RANDOM, 96, 128), subsampling="4:2:0"), 0x14, 47, 253),
}
COLOURED = {name: file for name, file in (TAKEN | SAMPLINGS).items() if name not in ("tiny", "narrow")}
BOTH = [*TAKEN.values(), *SAMPLINGS.values(), *LEFT.values()]
NORMALIZE: dict[str, Any] = dict(mean=[120.0, 110.0, 100.0], std=[60.0, 61.0, 62.0])
Make = Callable[[Any], Any]


def normalized(images: Any, **arguments: Any) -> Any:
    options: dict[str, Any] = {"mirror": fn.random.coin_flip(), "dtype": types.FLOAT16, **NORMALIZE, **arguments}
    return fn.crop_mirror_normalize(images, **options)


@pipeline_def(num_threads=2, device_id=0, seed=7, exec_async=False, exec_pipelined=False)
def pipeline(names: Sequence[str], make: Make, arguments: dict[str, Any]) -> Any:
    encoded, _ = fn.readers.file(files=names)
    options: dict[str, Any] = {"device": "mixed", "jpeg_fancy_upsampling": True} | arguments
    decoder = options.pop("decoder", fn.decoders.image)
    return make(decoder(encoded, **options))


class Run:
    """A pipeline's first batch, and what it says of itself."""

    def __init__(self, names: Sequence[str], make: Make, **arguments: Any) -> None:
        with pipeline(names, make, arguments, batch_size=len(names)) as pipe, penstock.profile(pipe) as p:
            (out,) = pipe.run()
            self.pictures = [np.array(out.as_cpu().at(i)) for i in range(len(names))]
            self.plan = pipe.explain(source=True)
        (decoded,) = p.figures.decoded.values()
        self.counts = {engine: n for engine, n in decoded.files.items() if n} | {"refused": decoded.refused}
        pipe.close()

    @property
    def joined(self) -> bool:
        """Whether the kernel ran that reads planes, and the one that writes pictures did not."""
        return "PS_DECODED_KERNEL" in self.plan

    @property
    def said(self) -> list[str]:
        return [line.strip() for line in self.plan.splitlines() if "decoder's planes" in line]


def unfused(monkeypatch: pytest.MonkeyPatch, names: Sequence[str], make: Make, **arguments: Any) -> list[Array]:
    with monkeypatch.context() as patch:
        patch.setenv("PENSTOCK_FUSE", "0")
        run = Run(names, make, **arguments)
    assert not run.joined
    assert not run.said
    return run.pictures


def assert_equal(ours: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(ours) == len(expected)
    for i, (a, b) in enumerate(zip(ours, expected, strict=True)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(a, b, err_msg=f"sample {i}")


CHAINS: dict[str, Make] = {
    "resize": lambda i: fn.resize(i, resize_x=41, resize_y=70),
    "train": lambda i: normalized(fn.resize(i, resize_x=64, resize_y=48)),
    "random resized crop": lambda i: normalized(fn.random_resized_crop(i, size=(33, 45)), output_layout="HWC"),
    "larger": lambda i: fn.resize(i, size=(150, 333), dtype=types.FLOAT),
    "lanczos": lambda i: fn.resize(i, resize_x=60, resize_y=77, interp_type=types.INTERP_LANCZOS3),
    "nearest": lambda i: normalized(fn.resize(i, size=(37, 90), interp_type=types.INTERP_NN), pad_output=True),
    "crop, resize": lambda i: fn.resize(fn.crop(i, crop=(21, 30), crop_pos_x=0.9, crop_pos_y=0.2), size=(40, 40)),
    "flip, resize": lambda i: normalized(fn.resize(fn.flip(i, vertical=1), resize_x=50, resize_y=35)),
    "resize, crop, mirror": lambda i: fn.resize_crop_mirror(i, size=(80, 71), crop=(50, 37), mirror=1),
    "normalize": lambda i: normalized(i, crop=(29, 31), crop_pos_x=0.7, crop_pos_y=0.6),
    "whole, normalize": lambda i: normalized(i),
    "colours": lambda i: fn.flip(fn.brightness_contrast(i, brightness=1.3, contrast=0.8), horizontal=1),
    "slice": lambda i: fn.cast(i[3:27, 5:30], dtype=types.INT16),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    small = name not in ("crop, resize", "normalize", "slice")
    files = BOTH if small else [*COLOURED.values(), *LEFT.values()]
    names = write(tmp_path, files)
    run = Run(names, CHAINS[name])
    assert run.joined
    (line,) = run.said
    assert line.startswith("in one kernel, from the JPEG decoder's planes of samples on: decoders.image → ")
    assert run.counts == {"cuda": len(files) - len(LEFT), "cpu": len(LEFT), "refused": 0}
    assert_equal(run.pictures, unfused(monkeypatch, names, CHAINS[name]))
    assert_equal(run.pictures, Run(names, CHAINS[name], jpeg_engine="cpu").pictures)


@pytest.mark.parametrize("fancy", [True, False], ids=["interpolated", "repeated"])
@pytest.mark.parametrize("output_type", ["BGR", "GRAY", "YCbCr"])
def test_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_type: str, fancy: bool) -> None:
    options = dict(output_type=getattr(types, output_type), jpeg_fancy_upsampling=fancy)
    one = dict(mean=[100.0], std=[50.0])
    names, chain = write(tmp_path, BOTH), lambda i: normalized(fn.resize(i, resize_x=57, resize_y=43), **one)
    run = Run(names, chain, **options)
    assert run.joined
    assert_equal(run.pictures, unfused(monkeypatch, names, chain, **options))


@pytest.mark.parametrize(
    "options",
    [
        dict(decoder=fn.decoders.image_crop, crop=(20, 31), crop_pos_x=0.3, crop_pos_y=0.8),
        dict(decoder=fn.decoders.image_slice, rel_start=(0.1, 0.2), rel_shape=(0.51, 0.4)),
        dict(decoder=fn.decoders.image_random_crop, random_area=[0.1, 0.6]),
        dict(adjust_orientation=False),
    ],
    ids=["crop", "slice", "random crop", "as stored"],
)
@pytest.mark.parametrize("chain", ["train", "whole, normalize"])
def test_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chain: str, options: dict[str, Any]) -> None:
    names = write(tmp_path, [*COLOURED.values(), *LEFT.values()])
    run = Run(names, CHAINS[chain], **options)
    assert run.joined
    assert_equal(run.pictures, unfused(monkeypatch, names, CHAINS[chain], **options))


def test_a_batch_with_all_that_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused files, a picture of which too many rows would be made more than once, a share for the CPU."""
    large = jpeg(smooth(RANDOM, 1500, 1100), quality=70)
    files = [*BOTH, *damaged(), large, TAKEN["4:2:0"], png(RANDOM.integers(0, 256, (300, 280, 3)), 2, 8), *damaged()]
    names = write(tmp_path, files)
    run = Run(names, CHAINS["train"])
    assert run.joined
    assert run.counts == {"cuda": len(files) - 7, "cpu": 7, "refused": 4}
    expected = unfused(monkeypatch, names, CHAINS["train"])
    assert_equal(run.pictures, expected)
    for load in (0.01, 0.5):
        run = Run(names, CHAINS["train"], hw_decoder_load=load)
        assert run.joined
        assert_equal(run.pictures, expected)


@pytest.mark.parametrize(
    ("files", "chain", "options"),
    [
        (list(LEFT.values()), "train", {}),
        ([jpeg(smooth(RANDOM, 1500, 1100)), jpeg(smooth(RANDOM, 1400, 900))], "train", {}),
        ([TAKEN["gray"], TAKEN["4:2:0"]], "resize", dict(output_type=types.ANY_DATA)),
    ],
    ids=["no JPEG", "large pictures", "different numbers of channels"],
)
def test_batches_that_are_written_as_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[bytes], chain: str, options: dict[str, Any]
) -> None:
    names = write(tmp_path, files)
    run = Run(names, CHAINS[chain], **options)
    assert run.said
    assert not run.joined
    assert_equal(run.pictures, unfused(monkeypatch, names, CHAINS[chain], **options))


def two_readers(images: Any) -> Any:
    return fn.resize(images, size=(30, 30)) + fn.resize(images, size=(30, 30), interp_type=types.INTERP_CUBIC)


@pytest.mark.parametrize(
    ("chain", "options"),
    [
        (two_readers, {}),
        (lambda i: fn.rotate(i, angle=20.0, size=(50, 50)), {}),
        (CHAINS["train"], dict(jpeg_engine="hardware", hw_decoder_load=1.0)),
        (CHAINS["train"], dict(jpeg_engine="cpu")),
        (CHAINS["train"], dict(dtype=types.FLOAT)),
    ],
    ids=["read twice", "warped", "nvJPEG", "CPU", "FLOAT"],
)
def test_what_needs_pictures(tmp_path: Path, chain: Make, options: dict[str, Any]) -> None:
    run = Run(write(tmp_path, [TAKEN["4:4:4"], TAKEN["4:2:2"]]), chain, **options)
    assert not run.said
    assert not run.joined


def test_batches_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of different kinds, and several under way at a time; their memory is used again."""
    files = [*COLOURED.values(), *damaged(), *LEFT.values(), *LEFT.values()]
    names, epochs = write(tmp_path, files), 12
    options = dict(prefetch_queue_depth=3, exec_async=True, exec_pipelined=True, enable_memory_stats=True)

    def run() -> list[Array]:
        pipe = pipeline(names, CHAINS["random resized crop"], {}, batch_size=5, **options)
        found, held = [], []
        for _ in range(epochs):
            for _ in range(len(files) // 5):
                (out,) = pipe.run()
                found += [np.array(x) for x in out.as_cpu()]
            held.append(pipe.statistics()["memory"]["device"]["held"])
        pipe.close()
        assert 0 < held[-1] < 1.5 * held[epochs // 3]
        return found

    ours = run()
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    assert_equal(ours, run())


def test_a_broken_file_is_named_and_the_pipeline_goes_on(tmp_path: Path) -> None:
    good = [TAKEN["4:4:4"], TAKEN["4:2:0"], TAKEN["4:2:2"]]
    names = write(tmp_path, [*good, good[0], TAKEN["large"][:9000], good[2]])
    expected = Run(names[:3], CHAINS["resize"], jpeg_engine="cpu").pictures
    pipe: Pipeline = pipeline(names, CHAINS["resize"], {}, batch_size=3)
    for _ in range(2):
        (out,) = pipe.run()
        assert_equal([np.array(x) for x in out.as_cpu()], expected)
        with pytest.raises(DecodeError, match="ends too early") as caught:
            pipe.run()
        assert (caught.value.sample, caught.value.file) == (1, names[4])
    pipe.close()


@pytest.mark.parametrize(
    "chain",
    [
        lambda i: fn.random_resized_crop(i, size=(64, 64), random_area=[0.01, 0.02]),
        lambda i: normalized(fn.resize(fn.crop(i, crop=(150, 170)), size=(64, 64))),
        lambda i: normalized(i, crop=(150, 170)),
        lambda i: normalized(fn.flip(fn.brightness(i, brightness=1.2)), crop=(150, 170)),
        lambda i: fn.flip(i[300:450, 500:670], vertical=1),
    ],
    ids=["random resized crop", "crop, resize", "normalize", "brightness, flip, normalize", "slice"],
)
def test_only_what_a_crop_needs_is_decoded(tmp_path: Path, chain: Make) -> None:
    """The samples alone of whole pictures would take more memory. Lists of coefficients are as long as the scan is."""
    names = write(tmp_path, [jpeg(smooth(RANDOM, 1500, 1100), quality=5)] * 8)
    backend.ReleaseUnusedMemory()
    pipe = pipeline(names, chain, {}, batch_size=8, enable_memory_stats=True)
    pipe.run()
    assert pipe.statistics()["memory"]["device"]["held"] < 8 * 1500 * 1100 * 1.5
    assert "PS_DECODED_KERNEL" in pipe.explain(source=True)
    pipe.close()


SHORT_OF_MEMORY = """
    import penstock
    from penstock.errors import OutOfMemoryError
    @pipeline_def(batch_size=len(sys.argv) - 1, num_threads=2, device_id=0, exec_async=False, exec_pipelined=False)
    def made(engine):
        files, _ = fn.readers.file(files=sys.argv[1:])
        pictures = fn.decoders.image(files, device="mixed", jpeg_engine=engine, jpeg_fancy_upsampling=True)
        return fn.resize(pictures, size=(500, 500))
    found = []
    for engine in ("cuda", "cpu"):
        pipe = made(engine)
        try:
            with penstock.profile(pipe) as p:
                found.append(np.array(pipe.run()[0].as_cpu().as_array()))
            print(*[d.refused for d in p.figures.decoded.values()])
        except OutOfMemoryError:
            print("refused")
        pipe.close()
    print(len(found) < 2 or (found[0] == found[1]).all())
"""


def test_where_memory_is_short_the_cpu_decodes(tmp_path: Path, software_gpu: dict[str, str]) -> None:
    """Lists of the coefficients of noise take several times the memory of its pixels."""
    noise = RANDOM.integers(0, 256, (1100, 1500, 3), np.uint8)
    names = write(tmp_path, [jpeg(noise, quality=100)] * 2)
    found = run_script(SHORT_OF_MEMORY, software_gpu, *names, PENSTOCK_DEVICE_MEMORY="40M")
    assert found.split() == ["2", "0", "True"]


@pytest.mark.parametrize(("memory", "by_cpu"), [("38M", "refused"), ("51M", "0")])
def test_samples_take_less_memory_than_pixels(
    tmp_path: Path, software_gpu: dict[str, str], memory: str, by_cpu: str
) -> None:
    """Where there is not enough for the pictures, there is for the planes of all and the coefficients of two."""
    names = write(tmp_path, [jpeg(smooth(RANDOM, 1500, 1100), quality=60)] * 8)
    found = run_script(SHORT_OF_MEMORY, software_gpu, *names, PENSTOCK_DEVICE_MEMORY=memory)
    assert found.split() == ["0", by_cpu, "True"]


@pytest.mark.filterwarnings("ignore:epoch 0")
@pytest.mark.parametrize("on_error", ["replace", "skip"])
def test_broken_files_among_others(tmp_path: Path, on_error: str) -> None:
    """The batch is put together anew, with the same samples and reports as where the CPU decodes."""
    files = [*COLOURED.values(), *[TAKEN["large"][: -900 - k] for k in range(5)]]
    names = write(tmp_path, files)

    @pipeline_def(batch_size=len(files), num_threads=2, device_id=0, exec_async=False, exec_pipelined=False)
    def tolerant(engine: str) -> Any:
        encoded, numbers = fn.readers.file(files=names, labels=list(range(len(files))), name="Reader")
        options: dict[str, Any] = {"jpeg_engine": engine, "on_error": on_error, "jpeg_fancy_upsampling": True}
        return fn.resize(fn.decoders.image(encoded, device="mixed", **options), size=(30, 40)), numbers

    ours, expected = tolerant("cuda"), tolerant("cpu")
    for _ in range(2):
        for a, b in zip(ours.run(), expected.run(), strict=True):
            assert_equal([np.array(x) for x in a.as_cpu()], [np.array(x) for x in b.as_cpu()])
    listed = [[(s.index, s.file, str(s.error)) for s in pipe.broken_samples()] for pipe in (ours, expected)]
    assert listed[0] == listed[1]
    assert len(listed[0]) == 5
    assert "PS_DECODED_KERNEL" in ours.explain(source=True)
