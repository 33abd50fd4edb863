"""`penstock.show`: batches in notebooks, and as pages."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock._suggest import suggestion
from penstock._values import whole_number
from penstock.display.batch import Boxes, Column, batch_html
from penstock.display.cells import Look
from penstock.display.kinds import KINDS
from penstock.errors import ArgumentError

_FORMS = ("ltrb", "ltwh")
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Penstock</title><style>:root {{ color-scheme: light dark; }} body {{ margin: 12px; }}</style></head>
<body>{}</body></html>
"""


class Shown:
    """A batch that was made to be looked at: notebooks show it, and `save` writes it as a page."""

    def __init__(self, html: str, text: str):
        self.html = html
        self._text = text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<{self._text}: a notebook shows it, and save() writes a page>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a page that needs nothing else."""
        Path(path).write_text(_PAGE.format(self.html), encoding="utf-8")


def column(name: str, data: Any, most: int, kind: str = "") -> Column:
    """Of a list of tensors, a tensor, a batch of dynamic mode, or arrays: its first samples, copied to the CPU."""
    if hasattr(data, "evaluate"):  # of dynamic mode: shows a list of tensors
        data = data._value()
    if hasattr(data, "as_cpu"):
        layout = data.layout()
        if hasattr(data, "is_dense_tensor"):
            some = data[:most].as_cpu()
            return Column(name, list(map(np.asarray, some)), layout, some.source_info(), len(data), kind)
        one = data.as_cpu()  # a tensor is one sample
        return Column(name, [np.asarray(one)], layout, [one.source_info()], 1, kind)
    samples = [np.asarray(sample) for sample in data[:most]]
    return Column(name, samples, "", (), len(data), kind)


def html_of(data: Any, samples: int = 8) -> str:
    """What notebooks show of a tensor or a list of tensors."""
    return batch_html([column("", data, samples)], Look())


def show(
    *outputs: Any,
    names: Sequence[str] = (),
    samples: int = 8,
    pixels: int = 256,
    kinds: Mapping[str | int, str] | None = None,
    boxes: str | int | Sequence[str | int] = (),
    over: str | int | None = None,
    box_format: str = "ltrb",
    labels: str | int | None = None,
    sample_rate: float | None = None,
) -> Shown:
    """Shows batches side by side, sample by sample: pictures, masks, frames, spectrograms, sounds, files, plain values.

    What an output is follows from its type, shape and layout. Boxes look like any other numbers, so ``boxes`` says
    which outputs are such. A page carries all that it shows: it needs no other file, and no network.

    Args:
        outputs: what `Pipeline.run` gives; also arrays with samples along the first axis, and lists of arrays.
        names: of the outputs; default: their numbers. All arguments that name outputs take numbers, too.
        samples: of each batch that are shown.
        pixels: the longest edge of a picture. Larger ones are shown smaller.
        kinds: what outputs are whose looks deceive, such as ``{"labels": "mask"}``: "picture", "mask", "frames",
            "spectrogram", "audio", "file", "boxes" or "values".
        boxes: the outputs that are boxes, to be drawn over pictures.
        over: the output with these pictures; default: the first one.
        box_format: "ltrb", or "ltwh" with widths and heights; in pixels, or in parts of the edges.
        labels: the output with a label for each box.
        sample_rate: of sounds, in Hz, to listen to them.

    Errors: ArgumentError for outputs that there are not, and for other values that make no sense.

    Example:
        >>> import penstock
        >>> page = penstock.show(np.zeros((2, 4, 6, 3), np.uint8), np.array([7, 8]), names=["images", "labels"])
        >>> page
        <2 of 2 samples, 2 outputs: a notebook shows it, and save() writes a page>
        >>> page.save(folder + "/batch.html")
    """
    most = whole_number("show: samples", samples, least=1)
    whole_number("show: pixels", pixels, least=8)
    if box_format not in _FORMS:
        raise ArgumentError(f"show: box_format={box_format!r}: expected one of {', '.join(_FORMS)}")
    outputs = tuple(one for each in outputs for one in (each if isinstance(each, tuple) else (each,)))
    titles = [*names, *map(str, range(len(names), len(outputs)))] if len(outputs) > 1 or names else [""]
    said = {_number(which, titles, len(outputs)): kind for which, kind in (kinds or {}).items()}
    for kind in said.values():
        if kind not in KINDS:
            raise ArgumentError(f"show: kinds: {kind!r}: expected one of {', '.join(KINDS)}{suggestion(kind, KINDS)}")
    given = [boxes] if isinstance(boxes, (str, int)) else list(boxes)
    with_boxes = dict.fromkeys([*(_number(one, titles, len(outputs)) for one in given), *_those(said, "boxes")])
    columns = [
        column(title, output, most, "values" if i in with_boxes else said.get(i, ""))
        for i, (title, output) in enumerate(zip(titles, outputs, strict=False))
    ]
    drawn = []
    if with_boxes:
        below = columns[_number(over, titles, len(outputs))] if over is not None else _first_picture(columns)
        named = columns[_number(labels, titles, len(outputs))] if labels is not None else None
        drawn = [Boxes(columns[i], below, box_format, named) for i in with_boxes]
        for one in drawn:
            if any(np.asarray(sample).size % 4 for sample in one.column.samples):
                raise ArgumentError(f"show: boxes: the output {one.column.name} has no groups of four numbers")
    html = batch_html(columns, Look(pixels, sample_rate), drawn)
    shown = max((len(each.samples) for each in columns), default=0)
    total = max((each.total for each in columns), default=0)
    return Shown(html, f"{shown} of {total} samples, {len(columns)} outputs")


def _those(said: Mapping[int, str], kind: str) -> list[int]:
    return [number for number, each in said.items() if each == kind]


def _number(which: str | int, names: Sequence[str], count: int) -> int:
    """Of an output, by its name or number."""
    if isinstance(which, str) and which in names[:count]:
        return list(names).index(which)
    if isinstance(which, int) and not isinstance(which, bool) and 0 <= which < count:
        return which
    raise ArgumentError(f"show: there is no output {which!r}; there are {', '.join(names[:count]) or count}")


def _first_picture(columns: Sequence[Column]) -> Column:
    for each in columns:
        if each.look in ("picture", "mask", "spectrogram"):
            return each
    raise ArgumentError("show: boxes are drawn over pictures, and no output looks like one: say by over= which it is")
