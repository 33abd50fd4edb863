"""JPEG by kernels of our own, with ``device="mixed"``: bit for bit what the CPU gives, and other decoders for the rest.

tests/native/jpeg_kernels_check.cpp tries the kernels themselves, on many more files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import byref, c_int64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, pipeline_def, types
from penstock.errors import DecodeError
from penstock.run import native
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
}
LEFT = {
    "progressive": jpeg(smooth(RANDOM, 90, 81), progressive=True),
    "cmyk": jpeg(smooth(RANDOM, 90, 81, 4), "CMYK"),
    "png": png(RANDOM.integers(0, 256, (71, 80, 3)), 2, 8),
}


@pytest.fixture(autouse=True)
def engine(software_gpu: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_JPEG", "cuda")


def counts() -> tuple[int, int]:
    """How many files the kernels were given, and how many of them they left to the CPU."""
    given, left = c_int64(), c_int64()
    native.quick().ps_gpu_jpegs(byref(given), byref(left))
    return given.value, left.value


@pipeline_def(num_threads=2, device_id=0, seed=7, prefetch_queue_depth=2)
def pipeline(names: Sequence[str], make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    encoded, _ = fn.readers.file(files=names)
    return make(encoded, device="mixed", **arguments)


def decode_mixed(
    folder: Path,
    files: Sequence[bytes],
    make: Callable[..., Any] = fn.decoders.image,
    batches: int = 1,
    **arguments: Any,
) -> list[Array]:
    arguments.setdefault("jpeg_fancy_upsampling", True)
    with pipeline(write(folder, files), make, arguments, batch_size=len(files)) as pipe:
        for _ in range(batches):
            (out,) = pipe.run()
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
    given, left = counts()
    ours = decode_mixed(tmp_path, files, output_type=kind)
    assert_equal(ours, decode(tmp_path, files, output_type=kind))
    now_given, now_left = counts()
    batches, rest = divmod(now_given - given, len(TAKEN))
    assert batches >= 1  # others may have been prefetched
    assert rest == 0
    assert now_left == left


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (fn.decoders.image_crop, dict(crop=(20, 31), crop_pos_x=0.3, crop_pos_y=0.8)),
        (fn.decoders.image_slice, dict(rel_start=(0.1, 0.2), rel_shape=(0.51, 0.4))),
        (fn.decoders.image_random_crop, dict(random_area=[0.1, 0.6])),
    ],
    ids=["crop", "slice", "random crop"],
)
def test_windows(tmp_path: Path, make: Callable[..., Any], arguments: dict[str, Any]) -> None:
    files = [file for name, file in TAKEN.items() if name not in ("tiny", "narrow")]
    assert_equal(decode_mixed(tmp_path, files, make, **arguments), decode(tmp_path, files, make, **arguments))


def test_chroma_is_repeated_unless_asked_otherwise(tmp_path: Path) -> None:
    files = list(TAKEN.values())
    repeated = decode_mixed(tmp_path, files, jpeg_fancy_upsampling=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PENSTOCK_JPEG")
        assert_equal(repeated, decode_mixed(tmp_path, files, jpeg_fancy_upsampling=False, hw_decoder_load=0.0))


def test_other_types_are_decoded_by_the_cpu(tmp_path: Path) -> None:
    files, before = list(TAKEN.values()), counts()
    assert_equal(decode_mixed(tmp_path, files, dtype=types.FLOAT), decode(tmp_path, files, dtype=types.FLOAT))
    assert counts() == before


def damaged() -> list[bytes]:
    """Scans that only libjpeg makes something of: a restart marker with another number, bytes before one."""
    file = TAKEN["restarts"]
    at = file.index(b"\xff\xd2")
    return [file[: at + 1] + b"\xd5" + file[at + 2 :], file[:at] + b"\x55\x55\x55" + file[at:]]


def test_what_turns_out_broken_is_decoded_by_the_cpu(tmp_path: Path) -> None:
    files = [TAKEN["4:2:0"], *damaged(), TAKEN["large"], TAKEN["gray"]]
    _, left = counts()
    ours = decode_mixed(tmp_path, files, batches=3)
    assert counts()[1] - left >= 3 * 2
    assert_equal(ours, decode(tmp_path, files))


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


def test_one_large_picture_among_many_small_ones(tmp_path: Path) -> None:
    files = [jpeg(smooth(RANDOM, *RANDOM.integers(1, 40, 2))) for _ in range(200)]
    files.insert(50, jpeg(smooth(RANDOM, 3000, 2000), quality=60))
    assert_equal(decode_mixed(tmp_path, files), decode(tmp_path, files))
