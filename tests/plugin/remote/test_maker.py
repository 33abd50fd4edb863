"""Pipelines that make batches for others: trainers get what pipelines of their own would have given, bit for bit."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, pipeline_def, types
from penstock.errors import ArgumentError, DecodeError, GraphError
from penstock.plugin.numpy import DALIGenericIterator, LastBatchPolicy
from penstock.plugin.remote.maker import Maker
from penstock.plugin.remote.units import Made, Unit
from penstock.run.told import Samples
from tests.plugin.remote.workers import Workers, remote


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=7)
def augmented(folder: str, on_error: str = "raise", shard_id: int = 0, num_shards: int = 1) -> Any:
    jpegs, labels = fn.readers.file(
        file_root=folder, random_shuffle=True, name="Reader", on_error=on_error, shard_id=shard_id,
        num_shards=num_shards,
    )  # fmt: skip
    images = fn.decoders.image_random_crop(jpegs, output_type=types.RGB, on_error=on_error)
    return fn.resize(images, size=(40, 40)), labels, fn.random.uniform(range=[0.0, 1.0])


def made_by(makers: list[Maker], **arguments: Any) -> Any:
    """An iterator over batches that these make."""
    draw = random.Random(1)
    workers = Workers(2, lambda unit: draw.choice(makers).make(unit), deaths=0.1)
    return iterator(remote(workers, makers[0].facts, **arguments))


def iterator(pipe: Any) -> Any:
    return DALIGenericIterator(
        pipe, ["images", "labels", "number"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
    )


def epochs(batches: Any, count: int = 2) -> list[list[np.ndarray]]:
    return [[batch[0][name] for name in ("images", "labels", "number")] for _ in range(count) for batch in batches]


def same(got: list[list[np.ndarray]], wanted: list[list[np.ndarray]]) -> bool:
    return len(got) == len(wanted) and all(
        np.array_equal(a, b) for x, y in zip(got, wanted, strict=True) for a, b in zip(x, y, strict=True)
    )


def several(definition: Callable[[], Pipeline], count: int = 2) -> list[Maker]:
    first = Maker(definition)
    return [first, *(Maker(definition, first.facts.state) for _ in range(count - 1))]


def test_batches_are_those_of_a_pipeline_of_ones_own(photographs: Path) -> None:
    makers = several(lambda: augmented(str(photographs)))
    for shard in range(2):
        own = epochs(iterator(augmented(str(photographs), shard_id=shard, num_shards=2)))
        assert same(epochs(made_by(makers, shard_id=shard, num_shards=2)), own)


def test_makers_take_over_the_seed_that_was_drawn(photographs: Path) -> None:
    makers = several(lambda: augmented(str(photographs), seed=None))
    assert makers[0].facts.seed == makers[1].facts.seed
    own = epochs(iterator(augmented(str(photographs), seed=makers[0].facts.seed)))
    assert same(epochs(made_by(makers)), own)


def test_states_are_those_of_pipelines(photographs: Path) -> None:
    """A state of either goes on in the other, with the seed that it has."""
    own = iterator(augmented(str(photographs), seed=11))
    next(own)
    state = own.state_dict()
    own.load_state_dict(state)  # or the loop would begin the next epoch
    rest = epochs(own, 1)
    far = made_by(several(lambda: augmented(str(photographs))))
    far.load_state_dict(state)
    assert same(epochs(far, 1), rest)
    far.load_state_dict(state)
    next(far)
    state = far.state_dict()
    back = iterator(augmented(str(photographs)))
    back.load_state_dict(state)
    assert same(epochs(back, 1), rest[1:])


@pytest.mark.parametrize("action", ["skip", "replace"])
def test_broken_files(action: str, photographs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "photographs"
    shutil.copytree(photographs, folder)
    for path in sorted(folder.glob("*/*.jpg"))[1:16:5]:
        path.write_bytes(b"\xff\xd8 broken")
    with pytest.warns(UserWarning, match="3 broken samples") as said:
        own = epochs(iterator(augmented(str(folder), action)))
    makers = several(lambda: augmented(str(folder), action))
    with pytest.warns(UserWarning, match="3 broken samples") as told:
        far = epochs(made_by(makers))
    assert same(far, own)
    assert {str(w.message) for w in told} == {str(w.message) for w in said}
    raising = made_by(several(lambda: augmented(str(folder))))
    with pytest.raises(DecodeError):
        epochs(raising)


def test_many_threads_may_ask(photographs: Path) -> None:
    maker = Maker(lambda: augmented(str(photographs)))

    def asked(k: int) -> Unit:
        indices = np.arange(k, k + 3) % 16
        return Unit(7 + k % 2, {"Reader": Samples(indices, np.full(3, k), indices)})  # with two seeds in turn

    def arrays(made: Made) -> list[np.ndarray]:
        assert made.failure is None
        return [data for _, data in made.outputs]

    expected = [arrays(maker.make(asked(k))) for k in range(12)]
    with ThreadPoolExecutor(8) as pool:
        got = [arrays(made) for made in pool.map(lambda k: maker.make(asked(k)), range(12))]
    assert same(got, expected)


def test_what_cannot_be_made_says_so(photographs: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"leave num_shards and shard_id out"):
        Maker(lambda: augmented(str(photographs), num_shards=2))
    fed = pipeline_def(batch_size=2, num_threads=1, device_id=None)(lambda: fn.external_source(name="x"))
    with pytest.raises(ArgumentError, match=r"has a reader.*no external sources"):
        Maker(fed)
    with pytest.raises(ArgumentError, match=r"returns a Pipeline, and it returned int"):
        Maker(lambda: 5)  # type: ignore[arg-type,return-value]
    maker = Maker(lambda: augmented(str(photographs)))
    made = maker.make(Unit(7, {"Reader": Samples(*[np.arange(5)] * 3)}))
    assert isinstance(made.failure, GraphError)
    (tmp_path / "a").mkdir()
    shutil.copy(next(photographs.glob("*/*.jpg")), tmp_path / "a")
    with pytest.raises(ArgumentError, match="samples=16"):  # on another machine the folder has other files
        Maker(lambda: augmented(str(tmp_path)), maker.facts.state)
