"""States of iterators, at any moment: what follows is what would have followed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, merge_states
from penstock.errors import ArgumentError
from penstock.plugin.base import LastBatchPolicy
from penstock.plugin.pytorch import DALIGenericIterator
from tests.plugin.plain_pipeline import ListIterator
from tests.small import made, numbers

torch = pytest.importorskip("torch")

SIZE = 11
Begin = Callable[..., Any]
Epochs = list[list[Any]]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "file").write_bytes(b"x")
    return [str(tmp_path / "file")] * SIZE


def beginner(
    files: list[str], policy: LastBatchPolicy, *, shards: tuple[int, ...] = (0,), num_shards: int = 1,
    pad: bool = False, sized: bool = False, **reader: Any,
) -> Begin:  # fmt: skip
    """A function that begins an iterator, of pipelines with these checkpoints."""

    def begin(checkpoints: Any = None) -> Any:
        pipes = []
        for k, shard in enumerate(shards):
            arguments = {"num_shards": num_shards, "shard_id": shard, "pad_last_batch": pad, **reader}
            more = {"checkpoint": checkpoints[k]} if checkpoints else {}
            pipes.append(made(lambda a=arguments: (numbers(files, **a), fn.random.uniform()), batch_size=3, **more))
        by = {"size": SIZE - 2} if sized else {"reader_name": "Reader"}
        return ListIterator(pipes, ["n", "random"], last_batch_policy=policy, **by)

    return begin


CASES: dict[str, dict[str, Any]] = {
    "one": {},
    "shuffled": {"random_shuffle": True},
    "padded": {"pad": True, "num_shards": 2},
    "a shard": {"num_shards": 3, "shards": (1,), "random_shuffle": True},
    "a shard for good": {"num_shards": 3, "shards": (2,), "stick_to_shard": True},
    "two shards": {"num_shards": 2, "shards": (0, 1)},
    "two of three": {"num_shards": 3, "shards": (2, 1), "pad": True, "random_shuffle": True},
    "a size": {"sized": True},
    "a sampler": {"sampler": [5, 3, 1, 7, 2, 2, 9]},
    "skipping": {"on_error": "skip"},
}


def epochs(it: Any, count: int) -> Epochs:
    return [list(it) for _ in range(count)]


@pytest.mark.filterwarnings("ignore:Please set `reader_name`")
@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("case", CASES)
def test_all_that_follows_is_the_same(case: str, policy: LastBatchPolicy, files: list[str]) -> None:
    begin = beginner(files, policy, **CASES[case])
    it, used = begin(), begin()
    for _ in range(2):
        done = False
        while not done:
            state = json.loads(json.dumps(it.state_dict()))
            checkpoints = it.checkpoints()
            given, fresh = begin(checkpoints), begin()
            fresh.load_state_dict(state)
            used.load_state_dict(state)  # wherever it was
            wanted = begin(checkpoints)
            follow = epochs(wanted, 3)
            assert len(given) == len(fresh) == len(used)
            assert epochs(given, 3) == epochs(fresh, 3) == epochs(used, 3) == follow
            try:
                batch = next(it)
            except StopIteration:
                done = True
            else:
                # What the resumed ones gave first is what the iterator itself gives.
                expected = follow[0][0] if follow[0] else None
                assert expected is None or batch == expected
        it.reset()


@pytest.mark.filterwarnings("ignore:Please set `reader_name`")
@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("case", CASES)
def test_an_iterator_goes_on_as_the_one_that_was_saved(case: str, policy: LastBatchPolicy, files: list[str]) -> None:
    """Also where an epoch was left in its middle, behind which shards begin anew."""
    begin = beginner(files, policy, **CASES[case])
    for moment in range(1, 9):
        it = begin()
        for step in range(moment):
            if step == 2:
                it.reset()
            if next(it, None) is None:
                it.reset()
        other = begin()
        other.load_state_dict(it.state_dict())
        if it.state_dict()["pipelines"][0]["iterator"]["batch"] == len(it):
            it.reset()  # behind the last batch another one goes on with the next epoch
        assert other.state_dict() == it.state_dict()
        rests = [[next(one, None) for _ in range(2)] for one in (it, other)]
        assert rests[0] == rests[1]


def test_behind_the_last_batch_the_next_epoch_follows(files: list[str]) -> None:
    begin = beginner(files, LastBatchPolicy.PARTIAL)
    it = begin()
    expected = epochs(begin(), 2)
    last = [it.state_dict() for _ in it]  # the state behind each batch
    ended = it.state_dict()
    for state in (last[-1], ended):
        other = begin()
        other.load_state_dict(state)
        assert list(other) == expected[1]
    other.load_state_dict(last[0])
    assert list(other) == expected[0][1:]


def test_a_refused_state_changes_nothing(files: list[str]) -> None:
    begin = beginner(files, LastBatchPolicy.FILL, shards=(0, 1), num_shards=2)
    it, same = begin(), begin()
    assert next(it) == next(same)
    state = it.state_dict()
    for wrong, problem in [
        (None, "expected what state_dict"),
        ({"penstock_iterator": 2, "pipelines": []}, "version of such states"),
        ({"penstock_iterator": 1, "pipelines": state["pipelines"][:1]}, "over 1 pipelines, this one has 2"),
        ({"penstock_iterator": 1, "pipelines": [state["pipelines"][0], 5]}, "expected an object|is not a state"),
        ({"penstock_iterator": 1, "pipelines": [state["pipelines"][0], {**state["pipelines"][1], "random": []}]},
         "number 0 was none, and is 'random.uniform' here"),
        ({"penstock_iterator": 1}, "an object with 'pipelines'"),
    ]:  # fmt: skip
        with pytest.raises(ArgumentError, match=problem):
            it.load_state_dict(wrong)
    assert epochs(it, 2) == epochs(same, 2)


def test_states_of_two_moments_are_no_state(files: list[str]) -> None:
    begin = beginner(files, LastBatchPolicy.FILL, shards=(0, 1), num_shards=2)
    it = begin()
    first = it.checkpoints()
    next(it)
    with pytest.raises(ArgumentError, match="not made at one moment"):
        begin([first[0], it.checkpoints()[1]])


def test_another_policy_goes_on_with_the_next_sample(files: list[str]) -> None:
    it = beginner(files, LastBatchPolicy.FILL)()
    next(it)
    other = beginner(files, LastBatchPolicy.PARTIAL)(it.checkpoints())
    assert [n for batch in other for n in batch[0]["n"]] == [*range(3, SIZE)]


def test_a_source_goes_on_in_its_epoch() -> None:
    def begin(checkpoint: Any = None) -> Any:
        def source(info: Any) -> Any:
            if info.iteration == 4:
                raise StopIteration
            return np.array([100 * info.epoch_idx + info.idx_in_epoch])

        pipe = made(lambda: fn.external_source(source, batch=False, name="s"), batch_size=2, checkpoint=checkpoint)
        return ListIterator(pipe, ["n"], auto_reset=True)

    it = begin()
    for _ in range(3):
        for k, batch in enumerate(it):
            other = begin(it.checkpoints()[0])
            if k < 3:
                assert next(iter(other)) == [{"n": [batch[0]["n"][1] + 1, batch[0]["n"][1] + 2]}]
    assert epochs(begin(it.checkpoints()[0]), 2) == epochs(it, 2)


def test_merged_states_of_iterators(files: list[str]) -> None:
    """Of two processes with an iterator each, for one iterator over three pipelines."""
    its = [beginner(files, LastBatchPolicy.PARTIAL, shards=(k,), num_shards=2)() for k in range(2)]
    got = [n for it in its for n in next(it)[0]["n"]]
    state = merge_states([it.state_dict() for it in its])
    one = beginner(files, LastBatchPolicy.PARTIAL, shards=(0, 1, 2), num_shards=3)()
    one.load_state_dict(state)
    got += [n for batch in one for arrays in batch for n in arrays["n"]]
    assert sorted(got) == [*range(SIZE)]


def test_through_torch_save(files: list[str]) -> None:
    pipe = made(lambda: numbers(files, random_shuffle=True), batch_size=3)
    it = DALIGenericIterator(pipe, ["n"], reader_name="Reader")
    next(it)
    kept = io.BytesIO()
    torch.save({"loader": it.state_dict()}, kept)
    kept.seek(0)
    another = made(lambda: numbers(files, random_shuffle=True), batch_size=3, seed=9)
    other = DALIGenericIterator(another, ["n"], reader_name="Reader")
    other.load_state_dict(torch.load(kept, weights_only=True)["loader"])
    for _ in range(3):
        assert next(it)[0]["n"].tolist() == next(other)[0]["n"].tolist()


# Beside DALI.


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("case", ["one", "padded", "a shard for good"])
@pytest.mark.parametrize("auto_reset", [False, True])
def test_what_follows_a_checkpoint_is_dalis(
    case: str, policy: LastBatchPolicy, auto_reset: bool, tmp_path: Path
) -> None:
    dali = pytest.importorskip("nvidia.dali")
    import nvidia.dali.plugin.pytorch as dali_pytorch

    files = []
    for n in range(SIZE):
        (tmp_path / f"{n:02}").write_bytes(b"x")
        files.append(str(tmp_path / f"{n:02}"))
    options = dict(CASES[case])
    shard = options.pop("shards", (0,))[0]
    reader = {"num_shards": options.get("num_shards", 1), "shard_id": shard,
              "stick_to_shard": True, "pad_last_batch": options.get("pad", False)}  # fmt: skip

    def theirs(checkpoint: Any = None) -> Any:
        pipe = dali.Pipeline(
            3, 1, None, seed=1, enable_checkpointing=True, checkpoint=checkpoint, prefetch_queue_depth=1
        )
        with pipe:
            pipe.set_outputs(dali.fn.readers.file(files=files, name="Reader", **reader)[1])
        policy_ = getattr(dali_pytorch.LastBatchPolicy, policy.name)
        return dali_pytorch.DALIGenericIterator(
            pipe, ["n"], reader_name="Reader", last_batch_policy=policy_, auto_reset=auto_reset
        )

    def ours(checkpoint: Any = None) -> Any:
        pipe = made(lambda: numbers(files, **reader), batch_size=3, checkpoint=checkpoint, enable_checkpointing=True)
        return DALIGenericIterator(pipe, ["n"], reader_name="Reader", last_batch_policy=policy, auto_reset=auto_reset)

    def epoch(it: Any) -> list[list[int]]:
        found = [batch[0]["n"].flatten().tolist() for batch in it]
        if not auto_reset:
            it.reset()
        return found

    # Behind an epoch that ends exactly, the next one begins with its first samples here, but not in DALI.
    exact = policy is not LastBatchPolicy.FILL and not reader["pad_last_batch"]
    for whole in range(1 if exact else 2):
        for batches in range(len(epoch(ours()))):
            both = []
            for begin in (theirs, ours):
                it = begin()
                for _ in range(whole):
                    epoch(it)
                for _ in range(batches):
                    next(it)
                both.append(begin(it.checkpoints()[0]))
            assert epoch(both[0]) == epoch(both[1]), (whole, batches)
