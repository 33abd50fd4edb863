"""Whole pipelines over broken files: each is decoded or refused by itself, and the pipeline goes on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import DecodeError, ReadError
from tests.decode.pictures import Array, write
from tests.fuzz.seeds import SEEDS

OPERATORS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "image": (fn.decoders.image, dict(output_type=types.ANY_DATA)),
    "image, 16 bits": (fn.decoders.image, dict(dtype=types.UINT16, output_type=types.YCbCr)),
    "crop": (fn.decoders.image_crop, dict(crop=(1, 1), crop_pos_x=1.0, crop_pos_y=0.3)),
    "random crop": (fn.decoders.image_random_crop, dict(seed=3)),
    "slice": (fn.decoders.image_slice, dict(rel_start=(0.2, 0.6), rel_shape=(0.5, 0.4))),
    "shape": (fn.peek_image_shape, {}),
}


def broken(file: bytes, random: np.random.Generator) -> bytes:
    """With some bits turned over, bytes set, or a part cut out or off; most of it near the beginning."""
    data = bytearray(file)
    at = int(random.integers(0, min(len(data), 300) if random.random() < 0.7 else len(data)))
    kind = random.integers(0, 4)
    if kind == 0:
        del data[at:]
    elif kind == 1:
        del data[at : at + int(random.integers(1, 20))]
    elif kind == 2:
        data[at] = int(random.choice([0, 1, 0x7F, 0xFF]))
    else:
        data[at] ^= 1 << int(random.integers(0, 8))
    return bytes(data)


@pytest.fixture(scope="module", params=[2, pytest.param(12, marks=pytest.mark.fuzz)])
def files(request: pytest.FixtureRequest) -> list[bytes]:
    """Sound, broken (so many of each seed) and empty ones, and text."""
    random = np.random.default_rng(8)
    seeds = list(SEEDS.values())
    made = [broken(file, random) for file in seeds for _ in range(request.param)]
    mixed = [*made, *seeds[::4], b"", b"\xff\xd8", b"This is a text.\n" * 9]
    return [mixed[i] for i in random.permutation(len(mixed))]


@pytest.fixture(autouse=True)
def few_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", str(1 << 20))


def build(names: Sequence[str], operator: str, on_error: str, **options: Any) -> Pipeline:
    make, arguments = OPERATORS[operator]
    pipe = Pipeline(device_id=None, seed=5, **options)
    with pipe:
        data, label = fn.readers.file(files=names, name="Reader", on_error=on_error)
        pipe.set_outputs(make(data, on_error=on_error, **arguments), label)
    return pipe


def samples(pipe: Pipeline) -> Iterator[tuple[int, Array]]:
    """Of one batch: labels and what was decoded."""
    images, labels = pipe.run()
    for i in range(len(labels)):
        yield int(np.asarray(labels.at(i)).item()), np.array(images.at(i))


def one_by_one(names: Sequence[str], operator: str) -> tuple[dict[int, Array], dict[int, str]]:
    """What is decoded, and why the others are not."""
    good, bad, named = {}, {}, {}
    pipe = build(names, operator, "raise", batch_size=1, num_threads=2, prefetch_queue_depth=2)
    for i in range(len(names)):
        try:
            ((label, image),) = samples(pipe)
        except (DecodeError, ReadError) as e:
            bad[i], named[i] = str(e), e.file
        else:
            assert label == i
            good[i] = image
    assert named == {i: names[i] for i in bad}
    return good, bad


@pytest.mark.parametrize("operator", OPERATORS)
def test_skipping_leaves_out_just_what_is_an_error(tmp_path: Path, files: list[bytes], operator: str) -> None:
    """The samples of batches are those of single files, pixel by pixel, in every epoch; a missing file is one more."""
    names = [*write(tmp_path, files[:-1]), str(tmp_path / "missing"), *write(tmp_path / "last", files[-1:])]
    good, bad = one_by_one(names, operator)
    assert len(good) > len(files) // 8
    assert len(bad) > len(files) // 8
    pipe = build(names, operator, "skip", batch_size=16, num_threads=3, prefetch_queue_depth=2)
    expected = sorted(good)
    epochs = 1 if operator == "random crop" else 2  # in another epoch another window, which may be broken or not
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [sample for _ in range(epochs * len(good) // 16) for sample in samples(pipe)]
    assert [label for label, _ in found] == [expected[i % len(expected)] for i in range(len(found))]
    for label, image in found:
        np.testing.assert_array_equal(image, good[label])
    skipped = {s.index for s in pipe.broken_samples() if s.epoch == 0}
    assert skipped == set(bad) if epochs > 1 else skipped <= set(bad)


def test_batches_of_an_external_source(files: list[bytes]) -> None:
    """A batch with a broken file is an error that names the first such sample, and the next one is decoded."""
    arrays = [np.frombuffer(file, np.uint8) for file in files]
    batches = [arrays[i : i + 2] for i in range(0, len(arrays) - 1, 2)]
    pipe = Pipeline(batch_size=2, num_threads=2, device_id=None, prefetch_queue_depth=2)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source(source=iter(batches), cycle=False)))
    single = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with single:
        single.set_outputs(fn.decoders.image(fn.external_source(source=([array] for array in arrays))))

    def outcome(pipe: Pipeline) -> list[Array] | None:
        try:
            (out,) = pipe.run()
        except DecodeError:
            return None
        return [np.array(out.at(i)) for i in range(len(out))]

    whole = 0
    for _ in batches:
        alone = [outcome(single), outcome(single)]
        together = outcome(pipe)
        assert (together is None) == any(image is None for image in alone)
        if together is not None:
            whole += 1
            for image, expected in zip(together, alone, strict=True):
                assert expected is not None
                np.testing.assert_array_equal(image, expected[0])
    assert whole > 5
    with pytest.raises(StopIteration):
        pipe.run()
