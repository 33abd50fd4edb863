"""`penstock.show`: what outputs look like, and pages that hold what was given."""

from __future__ import annotations

import base64
import io
import re
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import Pipeline, errors, fn, pipeline_def
from penstock.display import pictures
from penstock.display.kinds import kind_of
from penstock.display.png import png
from penstock.tensors import TensorCPU, TensorListCPU


def images(page: str) -> list[np.ndarray[Any, Any]]:
    """The pictures of a page, as Pillow reads them."""
    found = re.findall(r'src="data:image/\w+;base64,([^"]+)"', page)
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))) for data in found]


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1), (5, 7, 3), (1, 1, 4), (300, 2, 3)])
def test_png_is_read_by_pillow(shape: tuple[int, ...], random: np.random.Generator) -> None:
    pixels = random.integers(0, 256, shape, np.uint8)
    with Image.open(io.BytesIO(png(pixels))) as picture:
        assert np.array_equal(np.asarray(picture), pixels.squeeze(2) if shape[2:] == (1,) else pixels)


@pytest.mark.parametrize(
    ("array", "layout", "kind"),
    [
        (np.zeros((40, 60, 3), np.uint8), "HWC", "picture"),
        (np.zeros((3, 40, 60), np.float32), "", "picture"),
        (np.zeros((3, 40, 60), np.float32), "CHW", "picture"),
        (np.arange(2400, dtype=np.uint8).reshape(40, 60), "", "picture"),
        (np.zeros((40, 60), np.int32), "", "mask"),
        (np.zeros((40, 60, 1), np.uint8), "HWC", "mask"),
        (np.zeros((80, 120), np.float32), "ft", "spectrogram"),
        (np.zeros((8, 20, 30, 3), np.uint8), "FHWC", "frames"),
        (np.zeros(4000, np.float32), "", "audio"),
        (np.zeros(3, np.float32), "", "values"),
        (np.zeros((9, 4), np.float32), "", "values"),
        (np.frombuffer(b"\xff\xd8\xff\xe0" + bytes(50), np.uint8), "", "file"),
        (np.float32(3), "", "values"),
        (np.zeros((0, 4), np.float32), "", "values"),
    ],
)
def test_kinds_are_told_by_looks(array: Any, layout: str, kind: str) -> None:
    assert kind_of(np.asarray(array), layout) == kind


def test_bytes_are_shown_as_they_are(random: np.random.Generator) -> None:
    batch = random.integers(0, 256, (3, 20, 30, 3), np.uint8)
    for given in (batch, list(batch), TensorListCPU(batch, layout="HWC"), (TensorListCPU(batch),)):
        shown = images(penstock.show(given).html)
        assert all(np.array_equal(a, b) for a, b in zip(shown, batch, strict=True))
    assert np.array_equal(images(TensorCPU(batch[0])._repr_html_())[0], batch[0])
    assert len(images(TensorListCPU(batch)._repr_html_())) == 3


def test_floats_by_their_range() -> None:
    ramp = np.linspace(0, 1, 256, dtype=np.float32).reshape(16, 16)
    for scale, shift, note in ((1, 0, "0 to 1"), (255, 0, ""), (4, -2, "-2 to 2, stretched")):
        made = pictures.picture(ramp * np.float32(scale) + np.float32(shift), 64)
        assert np.abs(made.pixels.astype(int) - np.rint(ramp * 255)).max() <= 1
        assert made.note == note
    assert pictures.picture(np.full((4, 4), np.nan, np.float32), 64).pixels.max() == 0


def test_large_pictures_are_means(random: np.random.Generator) -> None:
    large = random.integers(0, 256, (101, 64, 3), np.uint8)
    small = pictures.smaller(large, 50)
    assert small.shape == (34, 22, 3)
    assert np.array_equal(small[2, 3], np.rint(large[6:9, 9:12].astype(float).mean((0, 1))))
    assert np.array_equal(small[33, 21], np.rint(large[99:101, 63:64].astype(float).mean((0, 1))))


def test_labels_keep_their_colors() -> None:
    few, many = np.zeros((20, 20), np.int64), np.arange(400).reshape(20, 20) // 50
    few[10:] = 3
    one, other = pictures.mask(few, 10).pixels, pictures.mask(many, 10).pixels
    assert one.shape == (10, 10, 3)
    assert np.array_equal(one[9, 0], other[4, 0])  # both are 3
    assert len(np.unique(other.reshape(-1, 3), axis=0)) == 8


def test_powers_are_shown_in_decibels() -> None:
    spectrum = np.full((16, 32), 1e-6, np.float32)
    spectrum[2] = 10
    made = pictures.heat(spectrum, 64)
    assert made.note == "-70 to 0 dB"
    brightest = made.pixels.astype(int).sum((1, 2)).argmax()
    assert brightest == 13  # the first row is at the bottom


def test_boxes_lie_over_their_pictures() -> None:
    batch = np.zeros((2, 50, 100, 3), np.uint8)
    boxes = [np.array([[10, 5, 60, 30]], np.float32), np.zeros((0, 4), np.float32)]
    wanted = "left:10.00%;top:10.00%;width:50.00%;height:50.00%"
    page = penstock.show(batch, boxes, [np.array([7]), np.array([])], names=["a", "b", "c"], boxes="b", labels="c").html
    assert page.count('<span class="ps-box"') == 1
    assert wanted in page
    assert "<b>7</b></span>" in page
    relative = [np.array([[0.1, 0.1, 0.5, 0.5]], np.float32)] * 2
    page = penstock.show(batch, relative, kinds={1: "boxes"}, box_format="ltwh").html
    assert page.count(wanted) == 2


def test_sounds_can_be_listened_to() -> None:
    sound = np.sin(np.arange(8000) * 0.2).astype(np.float32)
    page = penstock.show([sound], sample_rate=8000).html
    (data,) = re.findall(r'src="data:audio/wav;base64,([^"]+)"', page)
    with wave.open(io.BytesIO(base64.b64decode(data))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (8000, 1, 8000)
        played = np.frombuffer(file.readframes(8000), "<i2") / 32767
    assert np.abs(played - sound).max() < 1e-4
    assert "<audio" not in penstock.show([sound]).html


def test_plain_values_are_a_table() -> None:
    page = penstock.show(np.arange(3), [np.frombuffer(b"<b>", np.uint8)] * 3, names=["x", "<y>"]).html
    assert re.findall(r'<th scope="col">(.*?)</th>', page) == ["sample", "x", "&lt;y&gt;"]
    assert page.count("<td>") == 6
    assert "&#x27;&lt;b&gt;&#x27;" in page


def test_limits() -> None:
    page = penstock.show(np.zeros((50, 600, 400, 3), np.uint8), samples=3, pixels=100)
    assert [picture.shape for picture in images(page.html)] == [(100, 67, 3)] * 3
    assert "3 of 50 samples" in page.html
    assert "3 of 50 samples, 1 outputs" in repr(page)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"boxes": 3}, "no output 3; there are images, numbers"),
        ({"boxes": "x"}, "no output 'x'"),
        ({"kinds": {0: "pictures"}}, "Did you mean 'picture'?"),
        ({"box_format": "xy"}, "expected one of ltrb, ltwh"),
        ({"samples": 0}, "expected 1 or more"),
        ({"boxes": 1}, "no groups of four numbers"),
    ],
)
def test_mistakes_are_explained(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(errors.ArgumentError, match=re.escape(said)):
        penstock.show(np.zeros((1, 9, 9, 3)), np.arange(1), names=["images", "numbers"], **arguments)


def test_a_pipeline_shows_its_batches(photographs: Path, tmp_path: Path) -> None:
    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def pipeline() -> Any:
        files, labels = fn.readers.file(file_root=str(photographs))
        return files, fn.resize(fn.decoders.image(files), size=40, name="small"), labels

    pipe = pipeline()
    assert "not built" in pipe._repr_html_()
    assert "<img" not in pipe._repr_html_()
    page = pipe.show(samples=2)
    assert pipe.handed_out() == 1
    assert re.findall(r"<b>(.*?)</b>", page.html)[:3] == ["readers.file[0]", "small", "readers.file[1]"]
    assert "00000.jpg" in page.html
    files = images(page.html)
    assert files[0].shape == (375, 500, 3)  # as it lies on the disk
    assert files[1].shape[0] == 40 or files[1].shape[1] == 40
    assert "small" in pipe._repr_html_()
    assert pipe.handed_out() == 1
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert "://" not in re.sub(r"data:[^\"]+", "", page.html)  # nothing from elsewhere


def test_debug_mode(photographs: Path) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None, debug=True)
    def pipeline() -> Any:
        files, labels = fn.readers.file(file_root=str(photographs))
        return fn.decoders.image(files), labels

    pipe = pipeline()
    assert len(images(pipe.show(pixels=64).html)) == 2
    assert "debug=True" in pipe._repr_html_()


def test_a_gpus_batch(software_gpu: None) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)
    with pipe:
        pipe.set_outputs(fn.random.uniform(range=[0.0, 1.0], shape=[20, 30, 3]).gpu())
    assert len(images(pipe.show().html)) == 2
    (batch,) = pipe.run()
    assert len(images(batch._repr_html_())) == 2
    assert len(images(batch[0]._repr_html_())) == 1


def test_dynamic_mode() -> None:
    import penstock.experimental.dynamic as ndd

    batch = ndd.batch([np.zeros((20, 30, 3), np.uint8)] * 2)
    assert len(images(batch._repr_html_())) == 2
    assert len(images(ndd.tensor(np.zeros((20, 30, 3), np.uint8))._repr_html_())) == 1
    assert len(images(penstock.show(batch).html)) == 2
