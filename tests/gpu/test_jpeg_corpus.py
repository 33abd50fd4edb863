"""Thousands of JPEG files, sound and broken, through the kernels that decode them: pixels are libjpeg's, bit for bit,
and of a broken file the kernels make what the CPU makes of it, or leave it to the CPU.

On a real GPU many are tried, on one in software few. PENSTOCK_JPEG_PICTURES and PENSTOCK_JPEG_MUTANTS say how many, and
PENSTOCK_JPEG_SEED which: another seed makes other files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def, types
from penstock.arguments.decoded import Decoded
from penstock.decode.jpeg_index import build_index
from penstock.read.broken_samples import BrokenSample
from tests.decode.pictures import Array, exif, write
from tests.gpu.jpeg_corpus import Mutator, Sample, checksum, make_corpus

SEED = int(os.environ.get("PENSTOCK_JPEG_SEED", "1"))
FEW, MANY = (1000, 2000), (6000, 50_000)  # pictures and mutants
PART = 5000  # mutants of a data set: what a broken one costs grows with it
# From the upright picture to the stored one, by EXIF's orientation.
STORED: dict[int, Callable[[Array], Array]] = {
    1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
    5: lambda p: p.swapaxes(0, 1), 6: np.rot90, 7: lambda p: p[::-1, ::-1].swapaxes(0, 1),
    8: lambda p: np.rot90(p, -1),
}  # fmt: skip


@dataclass(frozen=True)
class Numbers:
    pictures: int
    mutants: int


@pytest.fixture(scope="module")
def numbers(software_gpu: dict[str, str]) -> Numbers:
    defaults = FEW if software_gpu else MANY
    names = ("PENSTOCK_JPEG_PICTURES", "PENSTOCK_JPEG_MUTANTS")
    return Numbers(*(int(os.environ.get(name, n)) for name, n in zip(names, defaults, strict=True)))


@pytest.fixture(scope="module")
def corpus(numbers: Numbers, tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "corpus.bin", numbers.pictures, SEED)


def arrays(batch: Any) -> list[Array]:
    on_cpu = batch.as_cpu()
    return [np.asarray(on_cpu.at(i)) for i in range(len(on_cpu))]


def with_orientation(sample: Sample, orientation: int) -> bytes:
    if orientation == 1:
        return sample.file
    body = b"Exif\0\0" + exif(orientation)
    return sample.file[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + sample.file[2:]


def index_of(names: list[str], folder: Path) -> str:
    return str(build_index(names, folder / "index")[0])


def random_windows(random: np.random.Generator, corpus: list[Sample], orientations: list[int]) -> Array:
    """x0, y0, x1, y1 in each upright picture."""
    sizes = [s.shape if o >= 5 else s.shape[::-1] for s, o in zip(corpus, orientations, strict=True)]
    first = [random.integers(0, size) for size in sizes]
    last = [random.integers(a + 1, np.add(size, 1)) for a, size in zip(first, sizes, strict=True)]
    return np.concatenate([first, last], 1).astype(np.int64)


@pytest.mark.parametrize("view", ["RGB", "BGR", "GRAY", "RGB, chroma repeated", "RGB, with an index"])
def test_pixels_are_those_of_libjpeg(
    tmp_path: Path, corpus: list[Sample], software_gpu: dict[str, str], view: str
) -> None:
    """Whole pictures and windows of them, in all orientations."""
    random = np.random.default_rng([SEED, len(view)])
    orientations = [int(random.integers(1, 9)) if random.random() < 0.4 else 1 for _ in corpus]
    windows = random_windows(random, corpus, orientations)
    names = write(tmp_path, [with_orientation(*pair) for pair in zip(corpus, orientations, strict=True)])
    batch_size = 50 if software_gpu else 512
    count = -(-len(names) // batch_size)
    places = (np.arange(count * batch_size) % len(names)).reshape(count, batch_size)
    kind = dict(output_type=getattr(types, view[:4].rstrip(",")), jpeg_fancy_upsampling="repeated" not in view)
    if "index" in view:
        kind["jpeg_index"] = index_of(names, tmp_path)

    @pipeline_def(batch_size=batch_size, num_threads=4, device_id=0, exec_async=False, exec_pipelined=False)
    def pipeline() -> Any:
        encoded, numbers = fn.readers.file(files=names, labels=list(range(len(names))))
        start, end = fn.external_source(lambda i: (windows[places[i], :2], windows[places[i], 2:]), num_outputs=2)
        options = dict(device="mixed", jpeg_engine="cuda", **kind)
        window = fn.decoders.image_slice(encoded, start=start, end=end, **options)
        return fn.decoders.image(encoded, **options), window, numbers

    with closing(pipeline()) as pipe, penstock.profile(pipe) as p:
        for at in places:
            pictures, parts, numbers = map(arrays, pipe.run())
            assert [int(n.item()) for n in numbers] == at.tolist()
            for i, picture, part in zip(at, pictures, parts, strict=True):
                sample, (x0, y0, x1, y1) = corpus[i], windows[i]
                stored = STORED[orientations[i]](picture[..., ::-1] if view == "BGR" else picture)
                expected = sample.repeated if "repeated" in view else sample.gray if view == "GRAY" else sample.rgb
                what = f"{names[i]}: {sample.name}, orientation {orientations[i]}"
                assert stored.shape[:2] == sample.shape, what
                assert checksum(stored) == expected, what
                np.testing.assert_array_equal(part, picture[y0:y1, x0:x1], f"{what}, window {windows[i]}")
    for_kernels = sum(corpus[i].is_for_kernels() for i in places.flat)
    for_index = sum(corpus[i].is_for_index() for i in places.flat)
    assert for_kernels > 0.9 * places.size
    assert len(p.figures.decoded) == 2
    for decoded in p.figures.decoded.values():
        assert {engine: n for engine, n in decoded.files.items() if n} == {
            "cuda": for_kernels, "cpu": places.size - for_kernels,
        }  # fmt: skip
        assert decoded.refused == 0
        assert decoded.indexed == (for_index if "index" in view else 0)


def tolerant(names: list[str], device: str, window: bool, index: str | None = None, **options: Any) -> Any:
    """Decodes what can be decoded; in the places of the other files there are some of these once more."""

    @pipeline_def(num_threads=4, seed=7, **options)
    def pipeline() -> Any:
        encoded, numbers = fn.readers.file(files=names, labels=list(range(len(names))), name="Reader")
        more: dict[str, Any] = {}
        if device == "mixed":
            more = dict(jpeg_engine="cuda", jpeg_fancy_upsampling=True, jpeg_index=index)
        if window:
            more |= dict(rel_start=(0.2, 0.3), rel_shape=(0.5, 0.5))
        make = fn.decoders.image_slice if window else fn.decoders.image
        return make(encoded, device=device, on_error="replace", **more), numbers

    return closing(pipeline())


def what_is_wrong(sample: BrokenSample) -> tuple[str | None, str]:
    """Without its place in a batch, which depends on when others were found."""
    return sample.file, str(sample.error).splitlines()[0]


def compare(
    names: list[str], made_of: list[Sample], batch_size: int, window: bool = False, index: str | None = None
) -> tuple[Decoded, int]:
    """Runs the CPU's pipeline beside the GPU's over an epoch: who decoded how many, and how many could not be."""
    with (
        tolerant(names, "cpu", window, device_id=None, batch_size=batch_size) as by_cpu,
        tolerant(names, "mixed", window, index, device_id=0, batch_size=batch_size) as mixed,
    ):
        with penstock.profile(mixed) as p:
            for _ in range(-(-len(names) // batch_size)):
                (ours, places), (expected, places_of_cpu) = (map(arrays, pipe.run()) for pipe in (mixed, by_cpu))
                np.testing.assert_array_equal(places, places_of_cpu)
                for a, b, place in zip(ours, expected, places, strict=True):
                    i = int(place.item())
                    assert np.array_equal(a, b), f"{names[i]}, made of {made_of[i].name}"
        listed = {s.index: what_is_wrong(s) for s in mixed.broken_samples()}
        assert listed == {s.index: what_is_wrong(s) for s in by_cpu.broken_samples()}
        (decoded,) = p.figures.decoded.values()
    return decoded, len(listed)


@pytest.mark.filterwarnings("ignore:epoch 0")
@pytest.mark.parametrize(
    ("window", "index"), [(False, False), (True, False), (True, True)], ids=["whole", "window", "window, index"]
)
def test_broken_files_are_what_the_cpu_makes_of_them(
    tmp_path: Path, corpus: list[Sample], numbers: Numbers, software_gpu: dict[str, str], window: bool, index: bool,
    monkeypatch: pytest.MonkeyPatch, record_property: Any,
) -> None:  # fmt: skip
    """Part by part, the files of one in the places of those before; where it fails, the files are still there."""
    limit = 1 << (17 if software_gpu else 18)  # a broken header may ask for much
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", str(limit))
    sound = [s for s in corpus if s.shape[0] * s.shape[1] <= limit]
    count = numbers.mutants // 4 if window else numbers.mutants
    mutator = Mutator(SEED + window + index)
    given = by_kernels = refused = wrong = 0  # files, the first three each time that they are decoded
    for first in range(0, count, PART):
        made_of = [sound[mutator.below(len(sound))] for _ in range(min(PART, count - first))]
        names = write(tmp_path, [mutator.mutate(sample, sound[mutator.below(len(sound))]) for sample in made_of])
        at = index_of(names, tmp_path) if index else None
        decoded, of_part = compare(names, made_of, 50 if software_gpu else 512, window, at)
        given += sum(decoded.files.values())
        by_kernels += decoded.files["cuda"]
        refused += decoded.refused
        wrong += of_part
    counts = (
        f"{count} files, of which {wrong} cannot be decoded; given {given} times: "
        f"kernels decoded {by_kernels} and refused {refused}"
    )
    record_property("broken files", {"CUDA JPEG": [given, by_kernels, given - by_kernels]})
    print(counts)
    assert by_kernels > 0.05 * given, counts
    assert refused > 0.05 * given, counts
    assert wrong > 0.05 * count, counts


@pytest.mark.filterwarnings("ignore:epoch 0")
def test_headers_that_promise_more_than_there_is(tmp_path: Path, corpus: list[Sample]) -> None:
    """Pictures of up to 20 megapixels, with the scans of small ones: left to the CPU, by their headers or when they are
    decoded. It refuses those without an end, and the files beside them are decoded.
    """
    random = np.random.default_rng(SEED)
    made_of = [s for s in corpus if s.is_for_kernels() and len(s.file) < 20_000][:40]
    files = [bytearray(s.file) for s in made_of]
    for k, file in enumerate(files):
        if k % 4 == 0:
            segments = made_of[k].segments
            at = sum(map(len, segments[: [part[1] for part in segments].index(0xC0)]))
            few = 8 * int((len(file) / 2) ** 0.5)  # so few blocks the scan might have
            height, width = (few, few) if k % 8 else random.integers(1000, [4000, 5000])
            file[at + 5 : at + 9] = int(height).to_bytes(2, "big") + int(width).to_bytes(2, "big")
        if k % 16 in (0, 4):
            del file[-2:]
    decoded, wrong = compare(write(tmp_path, [bytes(file) for file in files]), made_of, 8)
    assert wrong == 6
    assert decoded.refused >= 5
    assert decoded.files["cuda"] >= 30
