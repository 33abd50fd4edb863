"""State that is loaded into pipelines, fresh and running ones: the same samples and random numbers follow."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, pipeline_def
from penstock.errors import ArgumentError, GraphError
from tests.small import made, numbers, ten_files, values

Define = Callable[[], Any]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def of(pipe: Pipeline, batches: int) -> list[Any]:
    return [[values(output) for output in pipe.run()] for _ in range(batches)]


def definitions(files: list[str]) -> dict[str, Define]:
    def source(info: Any) -> Any:
        return np.array([info.idx_in_epoch, info.epoch_idx, info.iteration])

    def shuffled(epoch: int) -> Any:
        return np.random.default_rng(epoch).permutation(10)

    return {
        "a shuffled reader": lambda: numbers(files, random_shuffle=True),
        "a shuffled reader with its seed": lambda: numbers(files, random_shuffle=True, seed=8),
        "shuffled after epochs": lambda: numbers(files, shuffle_after_epoch=True),
        "one shard for good": lambda: numbers(files, num_shards=3, stick_to_shard=True, pad_last_batch=True),
        "shards in turn": lambda: numbers(files, num_shards=3, shard_id=2),
        "two readers": lambda: (numbers(files, random_shuffle=True), numbers(files[:7], name="other")),
        "random numbers": lambda: (numbers(files), fn.random.uniform(), fn.random.normal(seed=4)),
        "random numbers alone": lambda: (fn.random.coin_flip(), fn.random.choice(100), fn.random.beta()),
        "permutations": lambda: (numbers(files), fn.batch_permutation(), fn.batch_permutation(seed=3)),
        "permuted": lambda: fn.permute_batch(numbers(files), indices=fn.batch_permutation()),
        "a source of samples": lambda: fn.external_source(source, batch=False),
        "a source of batches": lambda: fn.external_source(lambda n: np.full((3, 1), n)),
        "a source of infos": lambda: fn.external_source(
            lambda info: np.full((3, 2), [info.iteration, info.epoch_idx]), batch_info=True
        ),
        "a sampler": lambda: numbers(files, sampler=[3, 1, 4, 1, 5, 9, 2]),
        "a sampler of epochs": lambda: numbers(files, sampler=shuffled),
    }  # fmt: skip


NAMES = list(definitions([str(n) for n in range(10)]))


def pipeline(define: Define, **arguments: Any) -> Pipeline:
    return made(define, **{"batch_size": 3, "seed": None, **arguments})


@pytest.mark.parametrize("name", NAMES)
def test_loading_goes_on_with_the_next_batch(name: str, files: list[str]) -> None:
    define = definitions(files)[name]
    pipe = pipeline(define)
    for _ in range(9):
        state = json.loads(json.dumps(pipe.state_dict()))
        fresh, running, given = pipeline(define), pipeline(define), pipeline(define, checkpoint=json.dumps(state))
        running.run()
        fresh.load_state_dict(state)
        running.load_state_dict(state)
        assert fresh.state_dict() == running.state_dict() == given.state_dict() == state
        pipe, expected = given, of(pipe, 3)
        assert of(fresh, 3) == of(running, 3) == expected
        pipe.run()
    assert len(json.dumps(state)) < 600


def test_another_depth_or_number_of_threads_goes_on_as_well(files: list[str]) -> None:
    define = definitions(files)["random numbers"]
    pipe = pipeline(define, prefetch_queue_depth=5)
    for _ in range(5):
        pipe.run()
    other = pipeline(define, prefetch_queue_depth=1, num_threads=4)
    other.load_state_dict(pipe.state_dict())
    assert of(other, 5) == of(pipe, 5)


def test_conditionals_go_on(files: list[str]) -> None:
    @pipeline_def(batch_size=3, num_threads=2, device_id=None, enable_conditionals=True)
    def branches() -> Any:
        number = numbers(files, random_shuffle=True)
        if fn.random.coin_flip() == 1:
            number = number + fn.random.uniform()
        else:
            number = number - fn.random.uniform(range=[2.0, 3.0], seed=2)
        return number

    pipe = branches()
    for _ in range(6):
        other = branches(checkpoint=pipe.state_dict())
        expected = of(pipe, 1)
        assert of(other, 1) == expected


def test_outputs_and_errors_of_before_stay(files: list[str]) -> None:
    pipe = made(lambda: numbers(files))
    (kept,) = pipe.run()
    pipe.load_state_dict(pipe.state_dict())
    assert values(kept) == [0, 1, 2, 3]
    assert of(pipe, 1) == [[[4, 5, 6, 7]]]


def test_a_source_that_ended_is_asked_as_before() -> None:
    def source(n: int) -> Any:
        if n == 3:
            raise StopIteration
        return np.full((2, 1), n)

    def define() -> Any:
        return fn.external_source(source)

    pipe = made(define, batch_size=2)
    of(pipe, 3)
    with pytest.raises(StopIteration):
        pipe.run()
    other = made(define, batch_size=2)
    other.load_state_dict(pipe.state_dict())
    with pytest.raises(StopIteration):
        other.run()
    for one in (pipe, other):
        one.reset()
        assert of(one, 1) == [[[0, 0]]]


def test_what_cannot_be_restored_is_warned_of() -> None:
    pipe = made(lambda: fn.external_source([np.zeros((1, 1))] * 3, name="list"), enable_checkpointing=True)
    with pytest.warns(UserWarning, match="the source of 'list' cannot be told where to go on"):
        pipe.build()
    told = made(lambda: fn.external_source(lambda n: np.zeros((1, 1))), enable_checkpointing=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told.build()


def test_replaced_samples_go_on(files: list[str], tmp_path: Path) -> None:
    """Those that were found broken are known behind a checkpoint, which is where the epoch is the same."""
    gone = [*files[:4], str(tmp_path / "gone"), *files[5:]]
    for action in ("skip", "replace"):

        def define(action: str = action) -> Any:
            return numbers(gone, random_shuffle=True, on_error=action)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pipe = made(define, batch_size=3)
            for _ in range(7):
                other = made(define, batch_size=3)
                other.load_state_dict(pipe.state_dict())
                assert of(pipe, 1) == of(other, 1)


# States that are refused.


def test_other_pipelines_are_told_apart(files: list[str]) -> None:
    def expect(define: Define, problem: str) -> None:
        pipe, other = pipeline(define, seed=1), pipeline(define, seed=1)
        assert of(pipe, 1) == of(other, 1)
        with pytest.raises(ArgumentError, match=problem):
            pipe.load_state_dict(state)
        assert of(pipe, 2) == of(other, 2)  # it stays where it was
        with pytest.raises(ArgumentError, match=problem):
            pipeline(define, checkpoint=json.dumps(state)).build()
        with pytest.raises(ArgumentError, match=problem):
            pipeline(define).load_state_dict(state)

    def random(coin_seed: int = 5) -> tuple[Any, Any]:
        return fn.random.uniform(), fn.random.coin_flip(seed=coin_seed)

    def source() -> Any:
        return fn.external_source(lambda n: np.full((3, 1), n), name="s")

    state = pipeline(lambda: (numbers(files), *random())).state_dict()
    cases: dict[str, Define] = {
        "with 2 operators that draw random numbers, and this one has 1: number 1 was 'random.coin_flip with seed 5', "
        "and is none here": lambda: (numbers(files), fn.random.uniform()),
        "number 0 was 'random.uniform', and is 'random.normal' here": lambda: (
            numbers(files), fn.random.normal(), fn.random.coin_flip(seed=5)
        ),
        "with seed 5', and is '.*with seed 6' here": lambda: (numbers(files), *random(6)),
        "readers.*: number 0 was 'Reader', and is 'R' here": lambda: (numbers(files, name="R"), *random()),
        "with 0 sources that are told what to give, and this one has 1: number 0 was none, and is 's' here": lambda: (
            source(), numbers(files), *random()
        ),
    }  # fmt: skip
    for problem, define in cases.items():
        expect(define, problem)


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a version": lambda s: s.update(penstock=2),
    "no version": lambda s: s.pop("penstock"),
    "a part more": lambda s: s.update(code="import os"),
    "a part missing": lambda s: s.pop("readers"),
    "a place before the first": lambda s: s["readers"].update(Reader=[0, -1]),
    "a place of three": lambda s: s["readers"].update(Reader=[0, 1, 2]),
    "a fraction": lambda s: s["readers"].update(Reader=[0, 1.5]),
    "names for numbers": lambda s: s["readers"].update(Reader=["a", "b"]),
    "a huge number": lambda s: s["readers"].update(Reader=[0, 10**30]),
    "readers of another type": lambda s: s.update(readers=[1]),
    "random numbers of another type": lambda s: s.update(random="uniform"),
    "shards out of order": lambda s: s["shards"].update(Reader=[[1, 0, 0, 0], [0, 0, 0, 0]]),
    "shards far apart": lambda s: s["shards"].update(Reader=[[0, 0, 0, 0], [1, 0, 10**9, 0]]),
    "no shards": lambda s: s["shards"].update(Reader=[]),
    "a stage of nobody": lambda s: s.update(stages={"Reader": [{"epoch": 0, "readers": []}]}),
    "a stage of another type": lambda s: s.update(stages={"Reader": [5]}),
    "an iterator's part": lambda s: s.update(iterator={"epoch": 1}),
    "broken samples": lambda s: s.update(broken={"Reader": {"drop": [1]}}),
    "a seed": lambda s: s.update(seed="1"),
    "a batch size": lambda s: s.update(batch_size=0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_states_are_refused(change: str, files: list[str]) -> None:
    pipe = made(lambda: numbers(files))
    pipe.run()
    sound = pipe.state_dict()
    state = copy.deepcopy(sound)
    CHANGES[change](state)
    with pytest.raises(ArgumentError, match="checkpoint"):
        pipe.load_state_dict(state)
    assert pipe.state_dict() == sound
    assert of(pipe, 1) == [[[4, 5, 6, 7]]]
    with pytest.raises(ArgumentError, match="checkpoint"):
        made(lambda: numbers(files), checkpoint=json.dumps(state)).build()


@pytest.mark.parametrize("state", [None, "text", b"{}", [1], 5])
def test_only_objects_are_loaded(state: Any, files: list[str]) -> None:
    pipe = made(lambda: numbers(files))
    with pytest.raises(ArgumentError, match=r"expected what state_dict\(\) gave"):
        pipe.load_state_dict(state)


def test_a_closed_pipeline_stays_closed(files: list[str]) -> None:
    pipe = made(lambda: numbers(files))
    state = pipe.state_dict()
    pipe.close()
    with pytest.raises(GraphError, match="the pipeline is closed"):
        pipe.load_state_dict(state)


def test_truncated_texts_are_refused(files: list[str]) -> None:
    text = made(lambda: numbers(files)).checkpoint()
    for end in range(0, len(text), 7):
        with pytest.raises(ArgumentError, match="checkpoint"):
            made(lambda: numbers(files), checkpoint=text[:end])
