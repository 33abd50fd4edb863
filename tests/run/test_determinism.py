"""For one seed, samples and pixels are the same however a pipeline runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import Pipeline, fn, types
from tests.small import made

EPOCHS = 2
PHOTOGRAPHS = 16
COUNT = EPOCHS * PHOTOGRAPHS

REFERENCE: dict[str, Any] = {"batch_size": 4, "num_threads": 2, "prefetch_queue_depth": 2}
READERS: dict[str, dict[str, Any]] = {
    "listed": {},
    "shuffled": {"random_shuffle": True},
    "over shards": {"shuffle_after_epoch": True},
    "second of two shards": {"random_shuffle": True, "num_shards": 2, "shard_id": 1},
    "sampled": {"sampler": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]},
}

Sample = tuple[tuple[str, tuple[int, ...], bytes], ...]


def graph(root: Path, **reader: Any) -> list[Any]:
    """All that is random, on a photograph of each sample."""
    files, labels = fn.readers.file(file_root=str(root), name="Reader", **reader)
    images = fn.decoders.image_random_crop(files, random_area=[0.2, 0.9])
    small = fn.resize(images, size=fn.random.uniform(range=[30.0, 60.0], shape=[2]), dtype=types.UINT8)
    colours = fn.color_twist(
        small,
        brightness=fn.random.uniform(range=[0.5, 1.5]),
        hue=fn.random.normal(stddev=20.0),
        saturation=fn.random.choice([0.0, 0.5, 2.0]),
    )
    turned = fn.rotate(colours, angle=fn.random.uniform(range=[-30.0, 30.0]), fill_value=7)
    cropped = fn.random_resized_crop(turned, size=[24, 24], random_area=[0.3, 1.0], dtype=types.UINT8)
    normalized = fn.crop_mirror_normalize(
        cropped, dtype=types.FLOAT, mean=[120.0], std=[60.0], mirror=fn.random.coin_flip(), output_layout="CHW",
        crop=(20, 20), crop_pos_x=fn.random.beta(alpha=2.0, beta=3.0),
    )  # fmt: skip
    noise = fn.random.normal(turned, stddev=3.0)
    return [labels, turned, normalized, normalized + fn.random.uniform(normalized), noise, fn.random.normal(seed=5)]


def samples_of(batch: Any) -> list[Sample]:
    """What a batch's samples are, to the last bit."""
    columns = [[output.at(i) for i in range(len(output))] for output in batch]
    return [tuple((str(a.dtype), a.shape, a.tobytes()) for a in row) for row in zip(*columns, strict=True)]


def samples(pipe: Pipeline) -> Iterator[Sample]:
    while True:
        yield from samples_of(pipe.run())


def some(pipe: Pipeline, count: int = COUNT) -> list[Sample]:
    return [sample for sample, _ in zip(samples(pipe), range(count), strict=False)]


@pytest.fixture(scope="module")
def expected(photographs: Path) -> dict[str, list[Sample]]:
    return {name: some(made(lambda: graph(photographs, **reader), **REFERENCE)) for name, reader in READERS.items()}  # noqa: B023


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "how",
    [
        {"batch_size": 1, "num_threads": 1, "prefetch_queue_depth": 1},
        {"batch_size": 3, "num_threads": 4, "prefetch_queue_depth": 4},
        {"batch_size": 8, "num_threads": 2, "prefetch_queue_depth": 3},
        {"batch_size": 32, "num_threads": 3, "exec_pipelined": False, "exec_async": False},
        {"exec_async": False},
        {"set_affinity": True},
    ],
    ids=str,
)
def test_however_it_runs(
    photographs: Path, expected: dict[str, list[Sample]], reader: str, how: dict[str, Any]
) -> None:
    pipe = made(lambda: graph(photographs, **READERS[reader]), **{**REFERENCE, **how})
    assert some(pipe) == expected[reader]


@pytest.mark.parametrize("batch_size", [1, 5])
def test_without_fusion(
    photographs: Path, expected: dict[str, list[Sample]], batch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    reader = READERS["shuffled"]
    assert some(made(lambda: graph(photographs, **reader), batch_size=batch_size)) == expected["shuffled"]


@pytest.mark.parametrize("reader", READERS)
def test_after_resets(photographs: Path, expected: dict[str, list[Sample]], reader: str) -> None:
    pipe = made(lambda: graph(photographs, **READERS[reader]), **{**REFERENCE, "prefetch_queue_depth": 4})
    found = []
    for number in range(COUNT // 4):
        found += samples_of(pipe.run())
        if number % 3 == 0:
            pipe.reset()
    assert found == expected[reader]


@pytest.mark.parametrize("reader", READERS)
def test_from_a_checkpoint_on(photographs: Path, expected: dict[str, list[Sample]], reader: str) -> None:
    """In another pipeline of another seed, batch size and depth, from the middle of either epoch."""
    pipe = made(lambda: graph(photographs, **READERS[reader]), **REFERENCE)
    for handed_out in range(4, COUNT, 4):
        pipe.run()
        if handed_out not in (4, 20):
            continue
        resumed = made(
            lambda: graph(photographs, **READERS[reader]), batch_size=3, prefetch_queue_depth=1, seed=99,
            checkpoint=pipe.checkpoint(),
        )  # fmt: skip
        assert some(resumed, COUNT - handed_out) == expected[reader][handed_out:]


def test_each_epoch_and_sample_has_random_numbers_of_its_own(expected: dict[str, list[Sample]]) -> None:
    for name, found in expected.items():
        assert len({sample[1:] for sample in found}) == COUNT, name
        for column in (2, 3, 4, 5):  # turned pictures may be alike: their labels are not
            assert len({sample[column] for sample in found}) == COUNT, (name, column)


def test_a_sample_has_the_same_pixels_in_whichever_shard_and_order_it_is_read(
    expected: dict[str, list[Sample]],
) -> None:
    def first_epoch(name: str, count: int) -> set[Sample]:
        return set(expected[name][:count])

    assert first_epoch("shuffled", PHOTOGRAPHS) == first_epoch("listed", PHOTOGRAPHS)
    assert first_epoch("over shards", PHOTOGRAPHS) == first_epoch("listed", PHOTOGRAPHS)
    assert first_epoch("second of two shards", PHOTOGRAPHS // 2) < first_epoch("listed", PHOTOGRAPHS)


def test_another_seed_gives_something_else(photographs: Path, expected: dict[str, list[Sample]]) -> None:
    found = some(made(lambda: graph(photographs, **READERS["listed"]), **REFERENCE, seed=2))
    assert [sample[0] for sample in found] == [sample[0] for sample in expected["listed"]]
    assert [sample[5] for sample in found] == [sample[5] for sample in expected["listed"]]  # with a seed of its own
    for column in (1, 2, 3, 4):
        assert not {sample[column] for sample in found} & {sample[column] for sample in expected["listed"]}


@pytest.mark.parametrize(
    "how",
    [{"batch_size": 1}, {"batch_size": 8, "num_threads": 4}, {"exec_pipelined": False, "exec_async": False}],
    ids=str,
)
def test_without_a_reader(how: dict[str, Any]) -> None:
    def define() -> list[Any]:
        return [fn.random.normal(shape=[3]), fn.random.uniform(range=[0, 9], dtype=types.INT32), fn.random.coin_flip()]

    assert some(made(define, **{**REFERENCE, **how}), 24) == some(made(define, **REFERENCE), 24)
