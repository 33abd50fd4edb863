"""Epochs of all readers and iterators against a model: each sample as often as promised, batches, and ``len()``.

The model knows nothing of the order within a shard. It says of each batch which places of which epoch it holds, and the
test sees to it that each place has one sample, and that the places of an epoch have them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, islice, product
from typing import Any

import pytest

from penstock.plugin.base import LastBatchPolicy
from tests.plugin.plain_pipeline import ListIterator, pipelines
from tests.small import made, numbers

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
SHUFFLES: list[dict[str, Any]] = [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}]
# Loops: all of an epoch, or as many batches until `break`.
STOPS = [None, None, 2, None, 1, None, None]

Place = tuple[int, int, int]  # shard, epoch, and number within the shard


class Model:
    """What the processes of a training get."""

    def __init__(self, size: int, shards: int, batch: int, policy: LastBatchPolicy, pad: bool, stick: bool) -> None:
        self.size, self.shards, self.batch = size, shards, batch
        self.policy, self.pad, self.stick = policy, pad, stick

    def shard(self, process: int, epoch: int) -> int:
        return process if self.stick else (process + epoch) % self.shards

    def part(self, shard: int) -> range:
        return range(self.size * shard // self.shards, self.size * (shard + 1) // self.shards)

    def places(self, process: int, epoch: int) -> list[Place]:
        shard = self.shard(process, epoch)
        return [(shard, epoch, k) for k in range(len(self.part(shard)))]

    def loops(self, process: int, stops: Sequence[int | None]) -> Iterator[tuple[int, list[list[Place]]]]:
        """Batches in the epoch of each loop, and those that the loop gets."""
        epoch, origin, done = 0, 0, 0  # since the origin no loop was left, and so many batches were read
        for stop in stops:
            while not (batches := self.epoch(process, epoch, origin, done)):
                epoch += 1
            yield len(batches), batches[:stop]
            epoch += 1
            done += len(batches)
            if stop is not None and stop < len(batches):
                origin, done = epoch, 0

    def epoch(self, process: int, epoch: int, origin: int, done: int) -> list[list[Place]]:
        places = self.places(process, epoch)
        sizes = [len(self.part(shard)) for shard in range(self.shards)]
        if self.policy is PARTIAL:
            return self.cut(places)
        if self.policy is DROP:
            return self.cut(places)[: min(sizes) // self.batch]
        if self.pad:
            most = len(self.cut(range(max(sizes)))) * self.batch
            return self.cut((places + [places[-1]] * most)[:most])
        # Until as many batches as the process needs that has most to read in all epochs since the origin.
        end = max(
            len(self.cut([p for e in range(origin, epoch + 1) for p in self.places(other, e)]))
            for other in range(self.shards)
        )
        stream = list(islice(chain.from_iterable(self.places(process, e) for e in count(origin)), end * self.batch))
        return self.cut(stream)[done:end]

    def cut(self, values: Sequence[Any]) -> list[list[Any]]:
        return [list(values[i : i + self.batch]) for i in range(0, len(values), self.batch)]


def check(model: Model, processes: list[Any], stops: Sequence[int | None], shuffled: bool) -> None:
    """Runs one iterator per shard, and compares."""
    found: dict[Place, int] = {}
    for process, iterator in enumerate(processes):
        for (length, places), stop in zip(model.loops(process, stops), stops, strict=True):
            loop = iter(iterator)
            assert len(iterator) == length
            batches = [batch[0]["n"] for batch in islice(loop, stop)]
            assert [len(batch) for batch in batches] == [len(batch) for batch in places]
            for place, sample in zip(chain(*places), chain(*batches), strict=True):
                assert found.setdefault(place, sample) == sample
    epochs = {epoch for _, epoch, _ in found}
    for epoch in epochs:
        samples = [sample for (_, e, _), sample in found.items() if e == epoch]
        assert len(set(samples)) == len(samples)
        assert set(samples) <= set(range(model.size))
    if not shuffled:
        assert all(sample == model.part(shard)[k] for (shard, _, k), sample in found.items())
    if model.policy is not DROP:  # the first epoch is read to its end
        assert {sample for (_, epoch, _), sample in found.items() if epoch == 0} == set(range(model.size))


def settings(shards: int, sizes: Sequence[int], batches: Sequence[int]) -> Iterator[tuple[Model, dict[str, Any]]]:
    for size, batch, policy, pad, stick, shuffle in product(
        sizes, batches, (FILL, DROP, PARTIAL), (False, True), (False, True), SHUFFLES
    ):
        if (stick and "shuffle_after_epoch" in shuffle) or (policy is DROP and size // shards < batch):
            continue  # refused, as other tests show
        sticks = stick or "shuffle_after_epoch" in shuffle  # which shuffles over all shards in each epoch
        reader = {"num_shards": shards, "pad_last_batch": pad, "stick_to_shard": stick, **shuffle}
        yield Model(size, shards, batch, policy, pad, sticks), reader


def options(model: Model) -> dict[str, Any]:
    return {"output_map": ["n"], "reader_name": "Reader", "last_batch_policy": model.policy}


@pytest.mark.parametrize("shards", range(1, 9))
def test_policies(shards: int) -> None:
    for model, reader in settings(shards, (8, 13), (1, 3, 4, 20)):
        iterators = [
            ListIterator(pipelines(model.size, model.batch, (shard,), **reader)[0], **options(model))
            for shard in range(shards)
        ]
        check(model, iterators, STOPS, "random_shuffle" in reader or "shuffle_after_epoch" in reader)


@pytest.mark.parametrize("shards", [1, 3, 8])
def test_pipelines(shards: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("files") / "file"
    file.write_bytes(b"x")
    for number, (model, reader) in enumerate(settings(shards, (13,), (1, 4))):
        iterators = [
            ListIterator(
                made(
                    lambda: numbers([str(file)] * 13, shard_id=shard, **reader),  # noqa: B023 - called at once
                    batch_size=model.batch,
                    prefetch_queue_depth=1 + number % 4,
                    num_threads=1,
                ),
                auto_reset=bool(number % 2),
                **options(model),
            )
            for shard in range(shards)
        ]
        check(model, iterators, STOPS[:4], "random_shuffle" in reader or "shuffle_after_epoch" in reader)
        for iterator in iterators:
            iterator._pipes[0].close()


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("shards", [1, 3])
def test_restored_pipelines_go_on_in_the_middle_of_an_epoch(
    policy: LastBatchPolicy, pad: bool, shards: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("files") / "file"
    file.write_bytes(b"x")

    def iterator(**arguments: Any) -> ListIterator:
        reader = {"num_shards": shards, "shard_id": shards - 1, "pad_last_batch": pad, "random_shuffle": True}
        pipe = made(lambda: numbers([str(file)] * 13, **reader), batch_size=4, **arguments)
        return ListIterator(pipe, ["n"], reader_name="Reader", last_batch_policy=policy)

    whole = iterator()
    expected = [[batch[0]["n"] for batch in whole] for _ in range(5)]
    whole = iterator()
    for epoch in range(3):
        length = len(whole)
        for number, batch in enumerate(whole):
            assert batch[0]["n"] == expected[epoch][number]
            resumed = iterator(checkpoint=whole.checkpoints()[0])
            assert len(resumed) == (length if number + 1 < length else len(expected[epoch + 1]))
            rest = [batch[0]["n"] for batch in resumed] if number + 1 < length else []
            assert rest == expected[epoch][number + 1 :]
            assert [batch[0]["n"] for batch in resumed] == expected[epoch + 1]
