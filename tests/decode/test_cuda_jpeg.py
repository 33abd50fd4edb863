"""JPEG by kernels of our own, with ``device="mixed"``: bit for bit what the CPU gives, and other decoders for the rest.

tests/native/jpeg_kernels_check.cpp tries the kernels themselves, on many more files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def, types
from penstock.decode import engines
from penstock.errors import ArgumentError, DecodeError, DeviceError
from penstock.machine import kernels, libraries
from tests.decode.pictures import Array, decode, jpeg, png, smooth, write

RANDOM = np.random.default_rng(12)
TAKEN = {
    "4:4:4": jpeg(smooth(RANDOM, 140, 91), subsampling="4:4:4"),
    "4:2:2": jpeg(smooth(RANDOM, 101, 70), subsampling="4:2:2"),
    "4:2:0": jpeg(smooth(RANDOM, 97, 123), subsampling="4:2:0", quality=95),
    "optimized": jpeg(smooth(RANDOM, 77, 63), optimize=True, quality=30),
    "restarts": jpeg(smooth(RANDOM, 90, 81), restart_marker_blocks=3),
    "RGB": jpeg(smooth(RANDOM, 60, 61), keep_rgb=True),
    "gray": jpeg(smooth(RANDOM, 90, 81, 1), "L"),
    "tiny": jpeg(smooth(RANDOM, 1, 1)),
    "narrow": jpeg(smooth(RANDOM, 3, 200)),
    "large": jpeg(RANDOM.integers(0, 256, (520, 610, 3), np.uint8), quality=95),
    **{f"turned {i}": jpeg(smooth(RANDOM, 70, 33), orientation=i) for i in range(2, 9)},
    "progressive": jpeg(smooth(RANDOM, 90, 81), progressive=True),
    "progressive 4:2:0": jpeg(smooth(RANDOM, 123, 97), progressive=True, subsampling="4:2:0", quality=95),
    "progressive gray": jpeg(smooth(RANDOM, 55, 81, 1), "L", progressive=True),
    "progressive restarts": jpeg(smooth(RANDOM, 90, 81), progressive=True, restart_marker_blocks=3),
    "progressive turned": jpeg(smooth(RANDOM, 70, 33), progressive=True, orientation=6),
}
LEFT = {
    "cmyk": jpeg(smooth(RANDOM, 90, 81, 4), "CMYK"),
    "png": png(RANDOM.integers(0, 256, (71, 80, 3)), 2, 8),
}


pytestmark = pytest.mark.usefixtures("software_gpu")


@pipeline_def(num_threads=2, device_id=0, seed=7, prefetch_queue_depth=2)
def pipeline(names: Sequence[str], make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    encoded, _ = fn.readers.file(files=names)
    return make(encoded, device="mixed", **arguments)


def decode_mixed(
    folder: Path,
    files: Sequence[bytes],
    make: Callable[..., Any] = fn.decoders.image,
    counts: dict[str, int] | None = None,
    **arguments: Any,
) -> list[Array]:
    """The first batch. ``counts`` gets how many files of a batch each engine decoded, how many were refused, and, if
    any did, how many had an index."""
    arguments.setdefault("jpeg_fancy_upsampling", True)
    more = dict(exec_async=False, exec_pipelined=False)  # one batch at a time
    with pipeline(write(folder, files), make, arguments, batch_size=len(files), **more) as pipe:
        (out,) = pipe.run()
        if counts is not None:
            with penstock.profile(pipe) as p:
                pipe.run()
            (decoded,) = p.figures.decoded.values()
            assert sum(decoded.files.values()) == len(files)
            assert sum(decoded.bytes.values()) == sum(map(len, files))
            counts |= {**{engine: n for engine, n in decoded.files.items() if n}, "refused": decoded.refused}
            counts |= {"indexed": decoded.indexed} if decoded.indexed else {}
        on_cpu = out.as_cpu()
    pipe.close()
    return [np.array(on_cpu.at(i)) for i in range(len(files))]


def assert_equal(ours: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(ours) == len(expected)
    for a, b in zip(ours, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_colours_and_orientations(tmp_path: Path, output_type: str) -> None:
    files, kind = [*TAKEN.values(), *LEFT.values()], getattr(types, output_type)
    counts: dict[str, int] = {}
    ours = decode_mixed(tmp_path, files, counts=counts, output_type=kind)
    assert_equal(ours, decode(tmp_path, files, output_type=kind))
    assert counts == {"cuda": len(TAKEN), "cpu": len(LEFT), "refused": 0}


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT"])
def test_other_types(tmp_path: Path, dtype: str, output_type: str) -> None:
    files, counts = [*TAKEN.values(), *LEFT.values(), *damaged()], dict[str, int]()
    arguments = dict(dtype=getattr(types, dtype), output_type=getattr(types, output_type))
    assert_equal(decode_mixed(tmp_path, files, counts=counts, **arguments), decode(tmp_path, files, **arguments))
    assert counts == {"cuda": len(TAKEN), "cpu": len(LEFT) + 2, "refused": 2}


windows = pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (fn.decoders.image_crop, dict(crop=(20, 31), crop_pos_x=0.3, crop_pos_y=0.8)),
        (fn.decoders.image_slice, dict(rel_start=(0.1, 0.2), rel_shape=(0.51, 0.4))),
        (fn.decoders.image_random_crop, dict(random_area=[0.1, 0.6])),
    ],
    ids=["crop", "slice", "random crop"],
)


@pytest.mark.parametrize("dtype", ["UINT8", "FLOAT"])
@windows
def test_windows(tmp_path: Path, make: Callable[..., Any], arguments: dict[str, Any], dtype: str) -> None:
    arguments = arguments | dict(dtype=getattr(types, dtype))
    files = [file for name, file in TAKEN.items() if name not in ("tiny", "narrow")]
    assert_equal(decode_mixed(tmp_path, files, make, **arguments), decode(tmp_path, files, make, **arguments))


def test_chroma_is_repeated_unless_asked_otherwise(tmp_path: Path) -> None:
    files = list(TAKEN.values())
    repeated = decode_mixed(tmp_path, files, jpeg_fancy_upsampling=False)
    assert_equal(repeated, decode_mixed(tmp_path, files, jpeg_fancy_upsampling=False, jpeg_engine="cpu"))


@pytest.mark.parametrize(
    "arguments",
    [
        dict(dtype=types.FLOAT, jpeg_engine="hardware"), dict(use_fast_idct=True),
        dict(jpeg_engine="cpu"), dict(hw_decoder_load=0.0), dict(hw_decoder_load=0.0, jpeg_engine="cuda"),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_cpu_decodes(tmp_path: Path, arguments: dict[str, Any]) -> None:
    files, counts = list(TAKEN.values()), dict[str, int]()
    ours = decode_mixed(tmp_path, files, counts=counts, **arguments)
    options = {name: value for name, value in arguments.items() if name in ("dtype", "use_fast_idct")}
    assert_equal(ours, decode(tmp_path, files, **options))
    assert counts == {"cpu": len(files), "refused": 0}


@pytest.mark.parametrize(("load", "share"), [(0.5, 5), (0.9, 9), (0.04, 0), (1.0, 10), (None, 10)])
def test_a_share_that_is_given_leaves_the_rest_to_the_cpu(tmp_path: Path, load: float | None, share: int) -> None:
    files, counts = [TAKEN["4:4:4"], LEFT["cmyk"]] * 10, dict[str, int]()
    ours = decode_mixed(tmp_path, files, counts=counts, hw_decoder_load=load)
    assert_equal(ours, decode(tmp_path, files))
    wanted = {"cuda": share, "cpu": 20 - share, "refused": 0}
    assert counts == {engine: n for engine, n in wanted.items() if n or engine == "refused"}


def damaged() -> list[bytes]:
    """Scans that only libjpeg makes something of: a restart marker with another number, bytes before one."""
    file = TAKEN["restarts"]
    at = file.index(b"\xff\xd2")
    return [file[: at + 1] + b"\xd5" + file[at + 2 :], file[:at] + b"\x55\x55\x55" + file[at:]]


def test_what_turns_out_broken_is_decoded_by_the_cpu(tmp_path: Path) -> None:
    files, counts = [TAKEN["4:2:0"], *damaged(), TAKEN["large"], TAKEN["gray"]], dict[str, int]()
    assert_equal(decode_mixed(tmp_path, files, counts=counts), decode(tmp_path, files))
    assert counts == {"cuda": 3, "cpu": 2, "refused": 2}


@pytest.mark.parametrize("on_error", ["raise", "replace"])
def test_a_batch_for_all_decoders(tmp_path: Path, on_error: str) -> None:
    """One in ten is CMYK, one in ten progressive, and one in twenty turns out broken: each goes to its decoder."""
    files = [jpeg(smooth(RANDOM, *RANDOM.integers(8, 90, 2)), subsampling=k % 3) for k in range(100)]
    for k in range(10):
        files[10 * k + 3] = LEFT["cmyk"]
        files[10 * k + 5] = TAKEN["progressive 4:2:0"]
    for k in range(5):
        files[20 * k + 7] = damaged()[k % 2]
    counts: dict[str, int] = {}
    assert_equal(decode_mixed(tmp_path, files, counts=counts, on_error=on_error), decode(tmp_path, files))
    assert counts == {"cuda": 85, "cpu": 15, "refused": 5}


@pytest.mark.parametrize("file", [TAKEN["large"][:-9000], TAKEN["large"][:-9000] + b"\xff\xd1" + bytes(99)], ids=len)
def test_what_is_broken_behind_a_window_does_not_matter(tmp_path: Path, file: bytes) -> None:
    """As on the CPU, which decodes no further than a window needs."""
    counts: dict[str, int] = {}
    whole = decode(tmp_path, [TAKEN["large"]])
    arguments: dict[str, Any] = dict(rel_start=(0.1, 0.05), rel_shape=(0.7, 0.5))
    ours = decode_mixed(tmp_path, [file], fn.decoders.image_slice, counts, **arguments)
    assert_equal(ours, decode(tmp_path, [file], fn.decoders.image_slice, **arguments))
    assert_equal(ours, [whole[0][26:286, 61:488]])
    assert counts == {"cuda": 1, "refused": 0}


@pytest.mark.parametrize(
    ("file", "message"),
    [(TAKEN["large"][:9000], "ends too early"), (TAKEN["4:2:0"][:300], "truncated|cannot be decoded|ends")],
    ids=["scan", "header"],
)
def test_a_broken_file_is_named_and_the_pipeline_goes_on(tmp_path: Path, file: bytes, message: str) -> None:
    good = [TAKEN["4:4:4"], TAKEN["4:2:0"], TAKEN["gray"]]
    names = write(tmp_path, [*good, good[0], file, good[2]])
    pipe = pipeline(names, fn.decoders.image, dict(jpeg_fancy_upsampling=True), batch_size=3)
    expected = decode(tmp_path / "good", good)
    for _ in range(2):
        (out,) = pipe.run()
        assert_equal([np.array(out.as_cpu().at(i)) for i in range(3)], expected)
        with pytest.raises(DecodeError, match=message) as caught:
            pipe.run()
        assert (caught.value.sample, caught.value.file) == (1, names[4])
    pipe.close()


@pytest.mark.filterwarnings("ignore:epoch 0")
@pytest.mark.parametrize("on_error", ["replace", "skip", "raise"])
def test_many_broken_files_in_a_batch(tmp_path: Path, on_error: str) -> None:
    """All are found at once, with the CPU's errors, and the others' pictures are right."""
    file = jpeg(smooth(RANDOM, 160, 120), quality=95)
    files = [file, *[jpeg(smooth(RANDOM, *RANDOM.integers(8, 90, 2))) for _ in range(43)]]
    for k in range(20):
        files.insert(3 * k, file[: -400 - k])
    names = write(tmp_path, files)

    @pipeline_def(batch_size=64, num_threads=2, seed=7, exec_async=False, exec_pipelined=False)
    def tolerant(device: str) -> Any:
        encoded, numbers = fn.readers.file(files=names, labels=list(range(64)), name="Reader")
        pictures = fn.decoders.image(encoded, device=device, on_error=on_error, jpeg_fancy_upsampling=True)
        return pictures, numbers

    by_cpu, mixed = tolerant("cpu", device_id=None), tolerant("mixed", device_id=0)
    if on_error == "raise":
        for pipe in (by_cpu, mixed):
            with pytest.raises(DecodeError, match="ends too early") as caught:
                pipe.run()
            assert (caught.value.sample, caught.value.file) == (0, names[0])
        return
    for ours, expected in zip(mixed.run(), by_cpu.run(), strict=True):
        assert_equal([np.array(x) for x in ours.as_cpu()], [np.array(x) for x in expected])
    listed = [[(s.index, s.file, str(s.error)) for s in pipe.broken_samples()] for pipe in (mixed, by_cpu)]
    assert listed[0] == listed[1]
    assert len(listed[0]) == 20
    assert "20 of them refused by the GPU's" in explained(mixed)[-1]


def explained(pipe: Pipeline) -> list[str]:
    """What the plan says of its decoder."""
    lines = pipe.explain().splitlines()
    at = lines.index("  decoders.image")
    return [line.strip() for line in lines[at + 1 :] if line.startswith("    ")]


@pytest.mark.parametrize(
    ("arguments", "variable", "engine"),
    [
        ({}, "", "own CUDA kernels (jpeg_engine='auto')"),
        ({}, "hardware", "nvJPEG for 65 % of the bytes (PENSTOCK_JPEG=hardware)"),
        ({}, "cpu", "CPU (PENSTOCK_JPEG=cpu)"),
        (dict(jpeg_engine="cuda"), "cpu", "own CUDA kernels (jpeg_engine='cuda')"),
        (dict(jpeg_engine="hardware", hw_decoder_load=1.0), "", "nvJPEG (jpeg_engine='hardware')"),
        (dict(hw_decoder_load=0.9), "", "own CUDA kernels for 90 % of the bytes (jpeg_engine='auto')"),
        (dict(hw_decoder_load=0), "cuda", "CPU (hw_decoder_load=0)"),
        (dict(dtype=types.FLOAT), "", "own CUDA kernels (jpeg_engine='auto')"),
        (
            dict(dtype=types.FLOAT, jpeg_engine="hardware"), "",
            "CPU (jpeg_engine='hardware', and nvJPEG decodes to UINT8, not to FLOAT)",
        ),
        (dict(use_fast_idct=True), "", "CPU (use_fast_idct=True)"),
        (dict(output_type=types.YCbCr), "", "own CUDA kernels (jpeg_engine='auto')"),
        (
            dict(output_type=types.YCbCr, jpeg_engine="hardware"), "",
            "CPU (jpeg_engine='hardware', and nvJPEG does not make YCbCr as DALI has it)",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_explain_says_who_decodes_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any], variable: str, engine: str
) -> None:
    monkeypatch.setenv("PENSTOCK_JPEG", variable)
    monkeypatch.setattr(libraries, "found", lambda name: name != "nvimgcodec")
    pipe = pipeline(write(tmp_path, [TAKEN["4:2:0"]]), fn.decoders.image, arguments, batch_size=1)
    others = "JPEG 2000, TIFF, lossless JPEG: CPU (nvImageCodec was not found); other formats: CPU"
    assert explained(pipe) == [f"JPEG: {engine}", others]
    pipe.close()


def test_what_a_missing_library_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise DeviceError("no compiler")

    names = write(tmp_path, [TAKEN["4:2:0"]])
    monkeypatch.setattr(kernels, "nvrtc", missing)
    without = "NVRTC was not found, so there are no kernels of our own"
    for found, engine in (
        (True, f"nvJPEG for 65 % of the bytes ({without})"),
        (False, "CPU ({}, and nvJPEG was not found)"),
    ):
        monkeypatch.setattr(libraries, "found", lambda name, found=found: found)
        engines._warn_without_libraries.cache_clear()
        with nullcontext() if found else pytest.warns(UserWarning, match="nvJPEG and nvImageCodec were not found"):
            pipe = pipeline(names, fn.decoders.image, {}, batch_size=1)
            assert explained(pipe)[0] == "JPEG: " + engine.format(without)
        pipe.close()


def test_counts_are_shown(tmp_path: Path) -> None:
    files = [TAKEN["4:2:0"], *damaged(), LEFT["png"], TAKEN["gray"]]
    names, more = write(tmp_path, files), dict(exec_async=False, exec_pipelined=False)
    with pipeline(names, fn.decoders.image, {}, batch_size=5, **more) as pipe:
        with penstock.profile(pipe) as p:
            pipe.run()
            pipe.run()
        size = sum(map(len, files[1:4])), len(files[0]) + len(files[4])
        cpu, cuda = (f"({2 * n / 1e6:.1f} MB" for n in size)
        text = f"CPU 6 files {cpu}, 4 of them refused by the GPU's); own CUDA kernels 4 files {cuda})"
        assert explained(pipe)[-1] == f"so far: {text}"
        assert f"files that decoders.image decoded {text}" in " ".join(str(p).split())
    pipe.close()
    assert len(explained(pipe)) == 2


@pytest.mark.parametrize("variable", [True, False], ids=["variable", "argument"])
def test_engines_that_there_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: bool) -> None:
    names, accepted = write(tmp_path, [TAKEN["4:2:0"]]), "expected one of 'auto', 'cuda', 'hardware', 'cpu'"
    if variable:
        monkeypatch.setenv("PENSTOCK_JPEG", "nvjpeg")
    wrong = "environment variable PENSTOCK_JPEG" if variable else r"decoders\.image: jpeg_engine"
    with pytest.raises(ArgumentError, match=f"{wrong}='nvjpeg': {accepted}") as caught:
        pipeline(names, fn.decoders.image, {} if variable else dict(jpeg_engine="nvjpeg"), batch_size=1).build()
    assert variable or "test_cuda_jpeg.py" in str(caught.value)


def test_one_large_picture_among_many_small_ones(tmp_path: Path) -> None:
    files = [jpeg(smooth(RANDOM, *RANDOM.integers(1, 40, 2))) for _ in range(200)]
    files.insert(50, jpeg(smooth(RANDOM, 3000, 2000), quality=60))
    assert_equal(decode_mixed(tmp_path, files), decode(tmp_path, files))
