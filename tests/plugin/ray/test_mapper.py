"""Pipelines over ray.data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="needs Ray: ./dev test frameworks ray has it")

from penstock import fn, pipeline_def, types  # noqa: E402
from penstock.errors import ArgumentError, DecodeError  # noqa: E402
from penstock.plugin.ray import Mapper  # noqa: E402


@pipeline_def(batch_size=5, num_threads=1, device_id=None)
def decoded() -> Any:
    images = fn.decoders.image(fn.external_source(name="bytes", no_copy=True), output_type=types.RGB)
    return fn.resize(images, size=(32, 48)), images


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def passed_on() -> Any:
    return fn.external_source(name="x", no_copy=True)


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def changed() -> Any:
    return fn.external_source(name="x", no_copy=True) + 1


def test_columns_of_files_become_columns_of_pictures(cluster: Any, photographs: Path) -> None:
    files = sorted(photographs.glob("*/*.jpg"))
    rows = ray.data.from_items([{"bytes": path.read_bytes(), "number": k} for k, path in enumerate(files)])
    mapped = rows.map_batches(
        Mapper, fn_constructor_args=[decoded, ["small", "whole"]], concurrency=2, batch_size=12, batch_format="numpy"
    ).drop_columns(["bytes"])
    found = {row["number"]: row for row in mapped.take_all()}
    assert sorted(found) == list(range(16))
    pipe = decoded()
    for k, path in enumerate(files):
        small, whole = pipe.run(bytes=[np.frombuffer(path.read_bytes(), np.uint8)])
        assert np.array_equal(found[k]["small"], small.at(0))
        assert np.array_equal(found[k]["whole"], whole.at(0))


def test_nothing_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on the way in nor on the way out."""
    batch = {"x": np.arange(40.0).reshape(10, 4)}
    batch["x"].flags.writeable = False  # as arrays of the object store are
    for definition, is_source in ((passed_on, True), (changed, False)):
        given: list[Any] = []
        mapper = Mapper(definition, ["y"])
        run = mapper._pipe.run
        monkeypatch.setattr(mapper._pipe, "run", lambda run=run, given=given: given.append(run()) or given[-1])
        parts = list(mapper(batch))
        assert [len(part["y"]) for part in parts] == [4, 4, 2]
        assert np.array_equal(np.concatenate([part["y"] for part in parts]), batch["x"] + (not is_source))
        if is_source:
            assert all(np.shares_memory(out.at(k), batch["x"]) for (out,) in given for k in range(len(out)))
        else:
            assert all(np.shares_memory(out.at(0), part["y"]) for (out,), part in zip(given, parts, strict=True))


def test_what_fails_leaves_nothing_behind(photographs: Path) -> None:
    mapper = Mapper(decoded, ["small", "whole"], {"bytes": "file"})
    good = next(photographs.glob("*/*.jpg")).read_bytes()
    with pytest.raises(DecodeError):
        list(mapper({"file": np.array([b"broken", *[good] * 9], object)}))
    parts = list(mapper({"file": np.array([good] * 2, object)}))
    assert [part["small"].shape for part in parts] == [(2, 32, 48, 3)]
    assert parts[0]["whole"].dtype == object or parts[0]["whole"].ndim == 4


def test_names_must_fit() -> None:
    with pytest.raises(ArgumentError, match=r"the pipeline's sources are \['bytes'\]"):
        Mapper(decoded, ["small", "whole"], {"file": "bytes"})
    with pytest.raises(ArgumentError, match="the pipeline has 2 outputs"):
        Mapper(decoded, ["small"])
