"""``on_error="skip"`` and ``"replace"``: batches without the broken samples, the same ones whatever happened before."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, DecodeError, OperatorError, ReadError
from tests.faults.interrupts import interrupted_at

COUNT, BROKEN = 11, (2, 3, 7, 9)
GOOD = [i for i in range(COUNT) if i not in BROKEN]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Pictures of their own heights: two are text files, one is cut off, one is missing."""
    names = [str(tmp_path / f"{i:02}.jpg") for i in range(COUNT)]
    for i, name in enumerate(names):
        noise = np.random.default_rng(i).integers(0, 255, (40 + i, 50, 3), np.uint8)
        Image.fromarray(noise).save(name)
    for i in (2, 3):
        Path(names[i]).write_text("no picture")
    data = Path(names[7]).read_bytes()
    Path(names[7]).write_bytes(data[: len(data) // 3])
    os.remove(names[9])
    return names


def pipeline(files: Sequence[str], on_error: str = "skip", device: str = "cpu", **options: Any) -> Pipeline:
    reader = {
        k: options.pop(k)
        for k in list(options)
        if k in ("shard_id", "num_shards", "random_shuffle", "stick_to_shard", "seed")
    }
    options = {"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 1, **options}
    pipe = Pipeline(**options)
    with pipe:
        data, label = fn.readers.file(files=files, name="Reader", on_error=on_error, **reader)
        images = fn.decoders.image(data, on_error=on_error, device="mixed" if device == "gpu" else "cpu")
        pipe.set_outputs(images, label)
    return pipe


def labels(pipe: Pipeline, batches: int, wrong: str = "ignore") -> list[int]:
    """The labels of so many batches; each picture must be its label's."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter(wrong)  # type: ignore[arg-type]
        for _ in range(batches):
            images, numbers = pipe.run()
            some = numbers.as_array().ravel().tolist()
            assert [shape[0] for shape in images.shape()] == [40 + label for label in some]
            found += some
    return found


@pytest.mark.parametrize(("batch_size", "threads", "depth"), [(1, 1, 1), (3, 2, 2), (4, 3, 4), (16, 2, 2)])
def test_samples_behind_move_up(batch_size: int, threads: int, depth: int, files: list[str]) -> None:
    pipe = pipeline(files, batch_size=batch_size, num_threads=threads, prefetch_queue_depth=depth)
    assert labels(pipe, 48 // batch_size) == [GOOD[i % len(GOOD)] for i in range(48 // batch_size * batch_size)]


@pytest.mark.parametrize("random_shuffle", [False, True])
def test_replaced_samples_are_the_same_for_all_batch_sizes(random_shuffle: bool, files: list[str]) -> None:
    shuffle = dict(random_shuffle=random_shuffle, seed=5)
    whole = pipeline(files, "replace", batch_size=COUNT, **shuffle)
    expected = labels(whole, 3)
    assert set(expected) == set(GOOD)
    same = [i for i in range(COUNT) if len({*expected[i::COUNT]}) == 1]
    assert random_shuffle or same == GOOD  # the others get another substitute in each epoch
    for batch_size, depth in ((1, 3), (3, 1), (4, 2)):
        pipe = pipeline(files, "replace", batch_size=batch_size, prefetch_queue_depth=depth, **shuffle)
        count = len(expected) // batch_size
        assert labels(pipe, count) == expected[: count * batch_size]


def test_shuffled_shards_lose_nothing_else(files: list[str]) -> None:
    seen = []
    for shard in range(3):
        pipe = pipeline(files, shard_id=shard, num_shards=3, random_shuffle=True, stick_to_shard=True, batch_size=1)
        epoch: list[int] = []
        while not {*epoch} & {*(batch := labels(pipe, 1))}:
            epoch += batch
        seen += epoch
    assert sorted(seen) == GOOD


def test_the_warning_names_the_files_at_the_end_of_the_epoch(files: list[str]) -> None:
    pipe = pipeline(files, batch_size=len(GOOD))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipe.run()
        assert len(caught) == 1
        pipe.run()
    (warning,) = caught
    assert warning.filename == __file__
    title, *lines = str(warning.message).splitlines()
    assert title == "epoch 0: 4 broken samples skipped:"
    assert [line.split(":")[0].strip() for line in lines] == [files[i] for i in BROKEN]
    assert "picture (starts with 'no pictu')" in lines[0]
    assert "ends too early" in lines[2]
    assert "No such file" in lines[3]
    found = sorted(pipe.broken_samples(), key=lambda s: s.index)
    assert [(s.reader, s.index, s.file, s.epoch, s.action) for s in found] == [
        ("Reader", i, files[i], 0, "skip") for i in BROKEN
    ]
    assert [type(s.error) for s in found] == [DecodeError, DecodeError, DecodeError, ReadError]
    assert "operator made at" in str(found[0].error)


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{i}.jpg") for i in range(31)]
    for name in names:
        Path(name).write_text("no picture")
    Image.new("RGB", (50, 40)).save(names[0])
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.readers.file(files=names)[0], on_error="skip"))
    with pytest.warns(UserWarning, match=r"epoch 0: 30 broken samples skipped") as caught:
        assert [s for o in pipe.run()[0].shape() for s in o] == [40, 50, 3] * 2
    assert str(caught[0].message).endswith("  and 10 more, see Pipeline.broken_samples()")


@pytest.mark.parametrize("when", [1, 3, 5])
@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_a_checkpoint_knows_them(on_error: str, when: int, files: list[str]) -> None:
    pipe = pipeline(files, on_error)
    labels(pipe, when)
    state = pipe.checkpoint()
    expected = labels(pipe, 5)
    assert labels(pipeline(files, on_error, checkpoint=state), 5) == expected


def test_after_a_reset_they_are_still_left_out(files: list[str]) -> None:
    pipe = pipeline(files, batch_size=2)
    assert labels(pipe, 2) == GOOD[:4]
    pipe.reset()
    assert labels(pipe, 1) == GOOD[4:6]
    pipe.start_epoch(2)
    assert labels(pipe, 3) == GOOD[:6]


def test_ctrl_c_while_samples_are_left_out(files: list[str]) -> None:
    finished, line = False, 0
    while not finished:
        line += 1
        pipe = pipeline(files, prefetch_queue_depth=3)
        pipe.build()
        outcome = interrupted_at(line, pipe.run)
        finished = outcome != "interrupted"
        handed_out = json.loads(pipe.checkpoint())["readers"]["Reader"][1]
        assert handed_out in (0, 3)
        assert labels(pipe, 2) == (GOOD * 2)[handed_out : handed_out + 6], f"line {line}"
    assert line > 100


def test_readers_side_by_side_stay_in_step(files: list[str]) -> None:
    pipe = Pipeline(batch_size=2, num_threads=2, device_id=None)
    with pipe:
        data, label = fn.readers.file(files=files, name="pictures", on_error="skip")
        _, same = fn.readers.file(files=[__file__] * COUNT, name="masks")
        _, other = fn.readers.file(files=[__file__] * 5, name="others")
        pipe.set_outputs(fn.decoders.image(data, on_error="skip"), label, same, other)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = [[o.as_array().ravel().tolist() for o in pipe.run()[1:]] for _ in range(6)]
    for k, numbers in enumerate((GOOD, GOOD, range(5))):
        assert [n for row in rows for n in row[k]] == [numbers[i % len(numbers)] for i in range(12)]
    assert {s.reader for s in pipe.broken_samples()} == {"pictures", "masks"}
    title, *lines = "\n".join(str(warning.message) for warning in caught).splitlines()
    assert title == "epoch 0: 4 broken samples skipped:"
    assert [line.split(":")[0].strip() for line in lines] == [files[i] for i in BROKEN]


def test_each_file_is_warned_of_once_whichever_reader_is_ahead(tmp_path: Path) -> None:
    few, many = [[str(tmp_path / f"{name}{i}") for i in range(count)] for name, count in (("few", 2), ("many", 6))]
    for name in few + many[:-1]:
        Path(name).write_text("x")
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None, exec_pipelined=False, exec_async=False)
    with pipe:
        pipe.set_outputs(*(fn.readers.file(files=names, on_error="skip")[0] for names in (few, many)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(16):
            pipe.run()
            if number == 1:  # found in an epoch that comes after the one in which the other reader's file is found
                os.remove(few[1])
    told = [str(warning.message).splitlines() for warning in caught]
    assert [title for title, _ in told] == ["epoch 0: 1 broken sample skipped:", "epoch 1: 1 broken sample skipped:"]
    assert [line.split(":")[0].strip() for _, line in told] == [many[-1], few[1]]


def test_pictures_are_decoded_on_a_gpu(files: list[str], software_gpu: dict[str, str]) -> None:
    pipe = pipeline(files, device="gpu", device_id=0)
    assert labels(pipe, 7) == [GOOD[i % len(GOOD)] for i in range(21)]


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_where_all_are_broken(on_error: str, files: list[str]) -> None:
    pipe = pipeline([files[i] for i in BROKEN], on_error)
    with pytest.raises(ReadError, match="epoch 0 has no sample that is not broken: all 4 are"):
        pipe.run()


def test_operators_that_were_not_told_so_raise(files: list[str]) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, _ = fn.readers.file(files=files, on_error="skip")
        pipe.set_outputs(fn.decoders.image(data))
    pipe.run()
    with pytest.raises(DecodeError, match=r"picture .starts with .no pictu"):
        pipe.run()
    with pytest.raises(DecodeError):  # and the next one is the batch behind it: 4 and 5 are good, 6 and 7 not
        [pipe.run() for _ in range(2)]


def test_other_failures_are_errors(files: list[str]) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, _ = fn.readers.file(files=files[:2], on_error="skip")
        images = fn.decoders.image(data, on_error="skip")
        pipe.set_outputs(fn.crop(images, crop=(1000, 1000)))
    with pytest.raises(OperatorError, match="crop"):
        pipe.run()
    assert pipe.broken_samples() == []


def test_what_comes_from_elsewhere_cannot_be_left_out() -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source(name="mine"), on_error="skip"))
    with pytest.raises(ArgumentError, match="on_error='skip': only what a reader gives can be left out"):
        pipe.build()
    with pytest.raises(ArgumentError, match="on_error='ignore'"), Pipeline(batch_size=1, num_threads=1):
        fn.readers.file(files=["a"], on_error="ignore")
