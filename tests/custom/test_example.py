"""The example of docs/custom-operators.md, through the whole library: fn and ops, checks, fusion, serialization."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import DataNode, Pipeline, errors, fn, ops, plugin_manager, types
from tests.custom.build import EXAMPLE, ROOT
from tests.small import made

Array = np.ndarray[Any, Any]
SIZES = [(40, 61), (33, 20), (7, 90), (64, 64), (1, 1)]
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]

# fn.roll and fn.sepia are there as soon as the library is loaded: no type checker can know them.
any_fn: Any = fn
any_ops: Any = ops


def pictures(seed: int = 1) -> list[Array]:
    random = np.random.default_rng(seed)
    return [random.integers(0, 256, (h, w, 3), np.uint8) for h, w in SIZES]


def source(arrays: list[Array], layout: str | None = "HWC") -> DataNode:
    return fn.external_source(lambda: arrays, batch=True, layout=layout)


def strengths() -> DataNode:
    return source([np.float32(k / (len(SIZES) - 1)) for k in range(len(SIZES))], None)


def run(define: Any, **arguments: Any) -> list[Array]:
    """All samples of the one output."""
    (output,) = made(define, **{"batch_size": len(SIZES), **arguments}).run()
    return [np.array(output.as_cpu().at(i)) for i in range(len(output))]


def toned(picture: Array, strength: float) -> Array:
    """What fn.sepia does, by NumPy: in float32, one operation after the other, rounded half away from zero."""
    r, g, b = (picture[..., k].astype(np.float32) for k in range(3))
    f, s = np.float32, np.float32(strength)
    grey = f(0.299) * r + f(0.587) * g + f(0.114) * b
    out = np.stack([r + s * (f(1.2) * grey - r), g + s * (f(1.0) * grey - g), b + s * (f(0.8) * grey - b)], -1)
    if picture.dtype == np.float32:
        return out
    info = np.iinfo(picture.dtype)
    return np.clip(np.trunc(out + np.copysign(f(0.5), out)), info.min, info.max).astype(picture.dtype)


def resized() -> DataNode:
    return fn.resize(source(pictures()), resize_x=48, resize_y=32)


def normalized(images: DataNode) -> DataNode:
    return fn.crop_mirror_normalize(images, crop=(24, 40), mean=MEAN, std=STD, dtype=types.FLOAT, output_layout="CHW")


def training() -> DataNode:
    return normalized(any_fn.sepia(resized(), strength=strengths()))


def test_sepia_joins_its_neighbours_in_one_pass(example: Path) -> None:
    pipe = made(training, batch_size=len(SIZES))
    pipe.build()
    assert "in one pass over rows: resize → sepia → crop_mirror_normalize" in pipe.explain()


def test_fused_as_numpy_has_it(example: Path) -> None:
    between = [toned(a, k / (len(SIZES) - 1)) for k, a in enumerate(run(resized))]
    wanted = run(lambda: normalized(source(between)))
    for a, b in zip(run(training), wanted, strict=True):
        assert a.tobytes() == b.tobytes()
    mean, std = (np.float32(v)[:, None, None] for v in (MEAN, STD))
    by_numpy = [((a[4:28, 4:44].transpose(2, 0, 1) - mean) / std) for a in between]
    np.testing.assert_allclose(np.stack(run(training)), np.stack(by_numpy), rtol=1e-5, atol=1e-5)


def test_from_files_to_a_batch(example: Path, photographs: Path) -> None:
    """With decoding, several batches and threads, and a strength that is drawn."""

    def define() -> list[DataNode]:
        files, _ = fn.readers.file(file_root=str(photographs), random_shuffle=True)
        strength = fn.random.uniform(range=[0.0, 1.0], seed=3)
        images = fn.decoders.image(files, device="cpu")
        small = fn.resize(images, resize_x=60, resize_y=50)
        again = fn.resize(fn.decoders.image(files, device="cpu"), resize_x=60, resize_y=50)
        return [small, strength, any_fn.sepia(again, strength=strength)]

    pipe = made(define, batch_size=4, num_threads=3)
    pipe.build()
    assert "in one pass over rows: decoders.image → resize → sepia" in pipe.explain()
    for _ in range(5):
        small, strength, found = (output.as_array() for output in pipe.run())
        for a, s, b in zip(small, strength, found, strict=True):
            np.testing.assert_array_equal(toned(a, s), b)


def test_fused_is_unfused(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fused = run(training)
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    assert [a.tobytes() for a in run(training)] == [a.tobytes() for a in fused]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float16, np.float32])
def test_sepia_takes_the_types_of_pictures(example: Path, dtype: Any) -> None:
    arrays = [(a.astype(np.float64) - 100).astype(dtype) for a in pictures()]
    for a, b in zip(run(lambda: any_fn.sepia(source(arrays), strength=0.75)), arrays, strict=True):
        if dtype == np.float16:
            np.testing.assert_array_equal(a, toned(b.astype(np.float32), 0.75).astype(np.float16))
        else:
            np.testing.assert_array_equal(a, toned(b, 0.75))


def test_frames_and_pictures_without_layout(example: Path) -> None:
    """What fits no row pipeline is done just so."""
    frames = [np.random.default_rng(k).integers(0, 256, (3, 5, 4, 3), np.uint8) for k in range(2)]
    found = run(lambda: any_fn.sepia(source(frames, "FHWC")), batch_size=2)
    assert all((a == toned(b, 1)).all() for a, b in zip(found, frames, strict=True))
    rows = [np.random.default_rng(k).integers(0, 256, (2000, 3), np.uint8) for k in range(2)]
    found = run(lambda: any_fn.sepia(source(rows, None)), batch_size=2)
    assert all((a == toned(b, 1)).all() for a, b in zip(found, rows, strict=True))
    nothing = [np.zeros((0, 4, 3), np.uint8)]
    assert run(lambda: any_fn.sepia(source(nothing)), batch_size=1)[0].shape == (0, 4, 3)


@pytest.mark.parametrize("threads", [1, 3])
def test_roll_with_an_argument_per_sample(example: Path, threads: int) -> None:
    by = [0, 3, -100, 64, 12]
    found = run(
        lambda: any_fn.roll(source(pictures()), by=source([np.int64(v) for v in by], None)), num_threads=threads
    )
    for a, b, n in zip(found, pictures(), by, strict=True):
        np.testing.assert_array_equal(a, np.roll(b, n, 1))


def test_roll_by_a_constant_and_as_an_object(example: Path) -> None:
    wanted = [np.roll(a, 5, 1) for a in pictures()]
    for define in (
        lambda: any_fn.roll(source(pictures()), by=5),
        lambda: any_ops.Roll(by=5)(source(pictures())),
        lambda: any_ops.Roll()(source(pictures()), by=5),
    ):
        assert all((a == b).all() for a, b in zip(run(define), wanted, strict=True))


def test_arguments_are_checked(example: Path) -> None:
    with pytest.raises(errors.UnknownArgumentError, match=r"sepia has no argument 'strenght'.*strength"):
        made(lambda: any_fn.sepia(resized(), strenght=1))
    with pytest.raises(errors.ArgumentTypeError, match=r"sepia: strength='much': expected a number"):
        made(lambda: any_fn.sepia(resized(), strength="much"))
    with pytest.raises(errors.ArgumentTypeError, match="sepia takes 1 input, got 2"):
        made(lambda: any_fn.sepia(resized(), resized()))
    with pytest.raises(errors.DeviceError, match="roll: device='gpu': this operator runs on 'cpu'"):
        made(lambda: any_fn.roll(resized(), device="gpu"))


def test_it_is_documented(example: Path) -> None:
    text = any_fn.roll.__doc__
    assert text.startswith("Shifts the columns of pictures")
    assert "by (integer, or a node, default 0): By how many" in text
    assert list(inspect.signature(any_fn.roll).parameters)[:2] == ["input", "by"]
    assert any_ops.Sepia.__doc__.startswith("Makes pictures look old.")


def failing() -> DataNode:
    by = source([np.float32(v) for v in (0, 1, 0.5, 7, 0)], None)
    return normalized(any_fn.sepia(resized(), strength=by))  # this line


def test_an_error_names_operator_sample_and_line(example: Path) -> None:
    with pytest.raises(errors.InputError) as caught:
        made(failing, batch_size=len(SIZES)).run()
    assert caught.value.sample == 3
    text = str(caught.value)
    assert text.startswith("sepia: strength: expected 0 to 1")
    assert "sample: 3 of the batch" in text
    assert "# this line" in text


def test_channels_that_do_not_fit(example: Path) -> None:
    for arrays, layout in (([np.zeros((4, 5, 1), np.uint8)], "HWC"), ([np.zeros((3, 5, 4), np.uint8)], "CHW")):
        with pytest.raises(errors.LayoutError, match="sepia: expected 3 channels as the last axis"):
            run(lambda arrays=arrays, layout=layout: any_fn.sepia(source(arrays, layout)), batch_size=1)
    with pytest.raises(errors.InputError, match="sepia: the input is UINT16: expected UINT8"):
        run(lambda: any_fn.sepia(source([np.zeros((4, 5, 3), np.uint16)])), batch_size=1)


def test_loading_again_does_nothing(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = any_fn.sepia
    plugin_manager.load_library(str(example))
    plugin_manager.load_library(os.fsencode(example))
    (tmp_path / "link.so").symlink_to(example)
    plugin_manager.load_library(tmp_path / "link.so")
    monkeypatch.chdir(example.parent)
    plugin_manager.load_library(example.name)
    assert any_fn.sepia is before


def test_the_same_operators_from_another_file_are_refused(example: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.so"
    copy.write_bytes(example.read_bytes())
    with pytest.raises(errors.PluginError, match=rf"copy.so: there cannot be an operator 'roll': .*of {example.name}"):
        plugin_manager.load_library(copy)


FIXED = """
import numpy as np
from penstock import Pipeline, plugin_manager
plugin_manager.load_library({library!r})
pipe = Pipeline.deserialize(filename={text!r})
print(*np.array(pipe.run()[0].at(0)).ravel().tolist())
"""


def fixed() -> DataNode:
    return any_fn.sepia(any_fn.roll(types.Constant(np.arange(24, dtype=np.uint8).reshape(2, 4, 3)), by=1), strength=0.5)


def test_a_text_makes_the_pipeline_again(example: Path, tmp_path: Path) -> None:
    pipe = made(fixed, batch_size=1)
    text = pipe.serialize(filename=tmp_path / "pipe.json")
    (wanted,) = run(fixed, batch_size=1)
    (again,) = Pipeline.deserialize(text).run()
    np.testing.assert_array_equal(again.as_array()[0], wanted)
    program = FIXED.format(library=str(example), text=str(tmp_path / "pipe.json"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == [str(v) for v in wanted.ravel()], done.stderr


def test_a_text_names_the_library_that_is_not_loaded(example: Path, tmp_path: Path) -> None:
    made(fixed, batch_size=1).serialize(filename=tmp_path / "pipe.json")
    program = f"from penstock import Pipeline; Pipeline.deserialize(filename={str(tmp_path / 'pipe.json')!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    error = done.stderr.splitlines()[-1]
    assert error.startswith("penstock.errors.ArgumentError: deserialize: operators[")
    assert f"an operator 'roll' of the library '{example.name}', which is not loaded" in error


def test_texts_of_built_in_operators_name_no_library(example: Path) -> None:
    operators = json.loads(made(fixed, batch_size=1).serialize())["operators"]
    assert [o["operator"] for o in operators if "library" in o] == ["roll", "sepia"]


def test_where_the_headers_are() -> None:
    folder = Path(penstock.get_include())
    assert (folder / "penstock" / "operator.hpp").is_file()
    words = [sys.executable, "-m", "penstock", "include"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == f"{folder}\n"


def _plain(text: str) -> str:
    """C++ without comments and spaces."""
    return "".join(line.partition("//")[0] for line in text.splitlines()).replace(" ", "")


def test_the_page_shows_the_example() -> None:
    shown = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs" / "custom-operators.md").read_text(), re.DOTALL)
    example = _plain((EXAMPLE / "operators.cpp").read_text())
    for start in ("#include", "PENSTOCK_SHARED"):
        (block,) = (text for text in shown if text.startswith(start))
        assert (
            _plain(block.partition("PENSTOCK_OPERATORS")[0].replace("#include <penstock/operator.hpp>", "")) in example
        )
