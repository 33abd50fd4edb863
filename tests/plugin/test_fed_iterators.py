"""Epochs of iterators over sources of one's own, beside DALI's."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock.errors import GraphError
from tests.plugin.fed_sources import BATCH, KINDS, MANY, OURS, SOURCES, Trace, batch, epochs, pipeline

pytestmark = pytest.mark.filterwarnings("ignore:Please set `reader_name`")

# Epochs of the source's own length; as long, shorter, longer, and such that end within a batch.
SIZES = [("FILL", s) for s in (-1, 6, 4, 5, 3, 8)]
SIZES += [("DROP", s) for s in (-1, 6, 5, 4, 3)] + [("PARTIAL", s) for s in (-1, 6, 5, 3, 7)]
RESETS = ["auto", "call", "loop"]
EPOCHS = 5


@pytest.fixture(scope="module")
def dali() -> Any:
    """DALI's modules under the names of ours."""
    plugin = pytest.importorskip("nvidia.dali.plugin.pytorch", reason="needs DALI and PyTorch to compare with")
    import nvidia.dali as package
    from nvidia.dali import fn

    return SimpleNamespace(Pipeline=package.Pipeline, fn=fn, plugin=plugin)


def assert_same(ours: Trace, dalis: Trace, case: Any) -> None:
    """Equal epochs, or exceptions that who catches DALI's catches; but for what DALI cannot go on with.

    DALI's iterator raises StopIteration for ever once a source has ended in the middle of an epoch of a ``size``, which
    it does if the source is shorter than that, and also if the epoch began in the middle of the source and so few
    batches are prefetched that its end was not known before. Ours goes on, whatever the depth.
    """
    assert len(ours) == len(dalis), case
    for k, (a, b) in enumerate(zip(ours, dalis, strict=True)):
        if isinstance(b, Exception):
            assert isinstance(a, type(b)), case
        elif a != b:
            assert a[: len(b)] == b, case
            assert not any(dalis[k + 1 :]), case
            assert all(ours[k:]), case
            return


@pytest.mark.parametrize(("kind", "cycle"), SOURCES)
def test_epochs_are_dalis(kind: str, cycle: Any, dali: Any) -> None:
    first = SOURCES.index((kind, cycle))
    for k, (policy, size) in enumerate(SIZES):
        depth, reset = 1 + (first + k) % 3, RESETS[(first + k // 3) % 3]
        ours, dalis = (
            epochs(lib, pipeline(lib, kind, cycle, depth), EPOCHS, reset, policy, size=size) for lib in (OURS, dali)
        )
        assert_same(ours, dalis, (policy, size, depth, reset, ours, dalis))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("reset", RESETS)
@pytest.mark.parametrize(("kind", "cycle"), [("reviving", None), ("list", "raise"), ("no argument", None)])
def test_every_epoch_of_a_source_that_begins_anew_has_its_batches(
    kind: str, cycle: Any, reset: str, depth: int
) -> None:
    found = epochs(OURS, pipeline(OURS, kind, cycle, depth), 6, reset, size=6)
    assert found == [[[[0, 1]], [[2, 3]], [[4, 5]]]] * 6


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_epochs_shorter_than_the_source_lose_nothing(size: int, depth: int) -> None:
    """Whatever the prefetch depth; DALI's do so if that is at least the epoch's batches."""
    found = epochs(OURS, pipeline(OURS, "list", "raise", depth), 8, "auto", size=size)
    read = np.ravel([batch for epoch in found for batch in epoch])
    assert read.tolist() == [i % 6 for i in range(len(read))]
    assert {len(epoch) for epoch in found} <= {size // BATCH, -(-size // BATCH)}


def test_a_source_shorter_than_the_size_ends_the_epoch_and_begins_the_next(dali: Any) -> None:
    ours, dalis = (epochs(lib, pipeline(lib, "reviving", None, 2), 4, "auto", size=10) for lib in (OURS, dali))
    assert ours == [[[[0, 1]], [[2, 3]], [[4, 5]]]] * 4
    assert dalis == [ours[0], [], [], []]


@pytest.mark.parametrize("as_samples", [False, True])
@pytest.mark.parametrize("size", [-1, 6, 4])
def test_sources_are_told_epochs_and_iterations_as_dalis_are(size: int, as_samples: bool, dali: Any) -> None:
    def source(info: Any) -> Any:
        if info.iteration >= 3:
            raise StopIteration
        place = np.int32([info.epoch_idx, info.iteration])
        return place if as_samples else np.stack([place] * BATCH)

    def trace(lib: Any) -> Trace:
        pipe = lib.Pipeline(BATCH, 1, None)
        with pipe:
            pipe.set_outputs(lib.fn.external_source(source, batch=not as_samples, batch_info=not as_samples))
        return epochs(lib, pipe, 4, "auto", size=size)

    assert trace(OURS) == trace(dali)


@pytest.mark.parametrize("policy", ["FILL", "DROP", "PARTIAL"])
@pytest.mark.parametrize("pipelines", [2, 3])
def test_size_of_several_pipelines_counts_as_in_dali(policy: str, pipelines: int, dali: Any) -> None:
    """With PARTIAL the pipelines that are not needed for ``size`` are left out of the last list."""

    def trace(lib: Any, size: int, padded: bool) -> Trace:
        pipes = []
        for k in range(pipelines):
            pipes.append(lib.Pipeline(BATCH, 1, None))
            with pipes[-1] as pipe:
                pipe.set_outputs(lib.fn.external_source([batch(i) + 100 * k for i in range(3)], cycle="raise"))
        return epochs(lib, pipes, 4, "auto", policy, size=size, last_batch_padded=padded)

    for size in (6 * pipelines, 6 * pipelines - 1, 5 * pipelines, 4 * pipelines + 1, 4 * pipelines, 3 * pipelines):
        for padded in (False, True):
            assert trace(OURS, size, padded) == trace(dali, size, padded), (size, padded)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(("kind", "cycle"), [("list", "raise"), ("reviving", None), ("index", None), ("list", "quiet")])
def test_sources_beside_a_reader(kind: str, cycle: Any, depth: int, dali: Any) -> None:
    """With DROP, DALI throws away what a source gives beside the batch that a reader cannot fill; here the reader
    leaves out such samples, and sources go on.
    """

    def trace(lib: Any, policy: str, files: int) -> Trace:
        make, options, _ = KINDS[kind]
        pipe = lib.Pipeline(BATCH, 1, None, prefetch_queue_depth=depth)
        with pipe:
            pad = policy != "FILL"
            _, labels = lib.fn.readers.file(
                files=[__file__] * files, labels=list(range(files)), name="Reader", pad_last_batch=pad
            )
            pipe.set_outputs(labels, lib.fn.external_source(make(), cycle=cycle, **options))
        return epochs(lib, pipe, EPOCHS, "auto", policy, names=("label", "n"), reader_name="Reader")

    for policy, files in [("FILL", 6), ("FILL", 5), ("FILL", 4), ("DROP", 6), ("DROP", 4), ("PARTIAL", 5)]:
        ours, dalis = trace(OURS, policy, files), trace(dali, policy, files)
        assert_same(ours, dalis, (policy, files, ours, dalis))


def test_a_reader_whose_epoch_a_source_cuts_short_begins_its_next_one() -> None:
    pipe = OURS.Pipeline(BATCH, 1, None)
    with pipe:
        _, labels = OURS.fn.readers.file(files=[__file__] * 8, labels=list(range(8)), name="Reader")
        pipe.set_outputs(labels, OURS.fn.external_source([batch(i) for i in range(3)], cycle="raise"))
    iterator = OURS.plugin.DALIGenericIterator(pipe, ["label", "n"], reader_name="Reader", auto_reset=True)
    for _ in range(3):
        assert [(d["label"].flatten().tolist(), d["n"].flatten().tolist()) for (d,) in iterator] == [
            ([0, 1], [0, 1]),
            ([2, 3], [2, 3]),
            ([4, 5], [4, 5]),
        ]


@pytest.mark.parametrize("size", [-1, 4])
@pytest.mark.parametrize("prepare", [True, False])
def test_without_data_the_constructor_says_so_if_it_prepares_a_batch(size: int, prepare: bool, dali: Any) -> None:
    def trace(lib: Any) -> Trace:
        pipe = lib.Pipeline(BATCH, 1, None)
        with pipe:
            pipe.set_outputs(lib.fn.external_source([]))
        return epochs(lib, pipe, 2, "auto", size=size, prepare_first_batch=prepare)

    ours, dalis = trace(OURS), trace(dali)
    assert_same(ours, dalis, (ours, dalis))
    assert isinstance(ours[0], GraphError) if prepare else ours == [[], []]


@pytest.mark.parametrize("size", [-1, 6, 4])
@pytest.mark.parametrize("auto_reset", [True, False, "yes", "no", None])
@pytest.mark.parametrize("prepare", [True, False])
def test_stop_iteration_comes_as_often_as_in_dali(size: int, auto_reset: Any, prepare: bool, dali: Any) -> None:
    def trace(lib: Any) -> Trace:
        iterator = lib.plugin.DALIGenericIterator(
            pipeline(lib, "reviving", None, 2),
            ["n"],
            size=size,
            auto_reset=auto_reset,
            prepare_first_batch=prepare,
            dynamic_shape=True,
        )
        found: Trace = [iterator.size]
        for _ in range(MANY):
            try:
                found.append(iterator.next()[0]["n"].flatten().tolist())
            except StopIteration:
                found.append("end")
        iterator.reset()
        iterator.reset()
        return [*found, iterator.next()[0]["n"].flatten().tolist()]

    assert trace(OURS) == trace(dali)


@pytest.mark.parametrize("policy", ["FILL", "DROP", "PARTIAL"])
def test_length_and_size_as_in_dali(policy: str, dali: Any) -> None:
    for size in (6, 5, 4, 3):
        ours, dalis = (
            lib.plugin.DALIGenericIterator(
                pipeline(lib, "list", "quiet", 2),
                ["n"],
                size=size,
                last_batch_policy=lib.plugin.LastBatchPolicy[policy],
                last_batch_padded=True,
            )
            for lib in (OURS, dali)
        )
        assert (len(ours), ours.size) == (len(dalis), dalis.size)
        assert len(list(ours)) == len(ours)


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": 0},
        {"output_map": ["n", "n"]},
        {"auto_reset": "reset"},
        {"last_batch_policy": "FILL"},
        {"size": 2, "reader_name": "Reader"},
        {"reader_name": "Reader", "last_batch_padded": True},
        {"pipelines": "two"},
        {"pipelines": None},
        {"size": 1, "last_batch_policy": "DROP"},
    ],
    ids=str,
)
def test_what_both_refuse(arguments: dict[str, Any], dali: Any) -> None:
    """DALI asserts much of it: its AssertionError says that it does not expect to be caught. Ours is a ValueError and a
    RuntimeError.
    """
    for lib in (OURS, dali):
        given: dict[str, Any] = {"pipelines": pipeline(lib, "list", None, 2), "output_map": ["n"], **arguments}
        if given["pipelines"] == "two":
            given["pipelines"] = [pipeline(lib, "list", None, 2), pipeline(lib, "list", None, 2)]
        if given.get("last_batch_policy") == "DROP":
            given["last_batch_policy"] = lib.plugin.LastBatchPolicy.DROP
        with pytest.raises((ValueError, RuntimeError, AssertionError)) as raised:
            lib.plugin.DALIGenericIterator(**given)
        assert lib is dali or (isinstance(raised.value, ValueError) and isinstance(raised.value, RuntimeError))


def test_size_where_there_is_a_reader_is_warned_of() -> None:
    def pipe(reader: bool) -> Any:
        made = OURS.Pipeline(BATCH, 1, None)
        with made:
            labels = OURS.fn.readers.file(files=[__file__] * 6, name="Reader")[1] if reader else batch(1)
            made.set_outputs(labels if reader else OURS.fn.external_source([batch(0)]))
        return made

    with pytest.warns(Warning, match="set `reader_name`"):
        OURS.plugin.DALIGenericIterator(pipe(True), ["n"], size=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OURS.plugin.DALIGenericIterator(pipe(False), ["n"], size=2)
        OURS.plugin.DALIGenericIterator(pipe(True), ["n"], reader_name="Reader")
