"""A batch as HTML: a card for each sample, or a table where all outputs are plain values."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.display.cells import Box, Look, cell
from penstock.display.kinds import kind_of

Array = npt.NDArray[Any]

_STYLE = (Path(__file__).parent / "batch.css").read_text(encoding="utf-8")
_WIDE = ("picture", "mask", "frames", "spectrogram", "audio", "file")  # kinds of which a sample fills a card


@dataclass
class Column:
    """One output: the samples of it that are shown, as arrays.

    Attributes:
        sources: where each sample comes from, or "".
        total: samples of the batch.
        kind: one of `kinds.KINDS`; "": what the samples look like.
    """

    name: str
    samples: Sequence[Array]
    layout: str = ""
    sources: Sequence[str] = ()
    total: int = 0
    kind: str = ""

    @cached_property
    def look(self) -> str:
        """The kind: of the first sample that has elements, where it was not said."""
        return self.kind or next((kind_of(a, self.layout) for a in self.samples if a.size), "values")


@dataclass(frozen=True)
class Boxes:
    """Boxes of one output to be drawn over the pictures of another."""

    column: Column
    over: Column
    form: str = "ltrb"  # or "ltwh"
    labels: Column | None = None

    def of(self, sample: int) -> list[Box]:
        """Those of a sample."""
        corners = np.asarray(self.column.samples[sample], np.float64).reshape(-1, 4).copy()
        if self.form == "ltwh":
            corners[:, 2:] += corners[:, :2]
        names = self.labels.samples[sample].ravel().tolist() if self.labels else []
        return [Box(tuple(box), str(names[i]) if i < len(names) else "") for i, box in enumerate(corners.tolist())]


def batch_html(columns: Sequence[Column], look: Look, boxes: Sequence[Boxes] = ()) -> str:
    """The batch, with the style that it needs; the page around it may be light or dark."""
    count = max((len(column.samples) for column in columns), default=0)
    total = max((column.total for column in columns), default=0)
    if any(column.look in _WIDE for column in columns):
        body = "".join(_card(columns, i, look, boxes) for i in range(count))
        body = f'<div class="ps-cards">{body}</div>'
    else:
        body = _table(columns, count, look)
    more = f"<p><small>{count} of {total} samples</small></p>" if total > count else ""
    return f'<div class="penstock"><style>{_STYLE}</style>{body}{more}</div>'


def _card(columns: Sequence[Column], sample: int, look: Look, boxes: Sequence[Boxes]) -> str:
    parts = []
    for column in columns:
        if sample >= len(column.samples):
            continue  # an output of a branch has fewer
        over = [box for one in boxes if one.over is column for box in one.of(sample)]
        shown = cell(column.samples[sample], column.layout, column.look, replace(look, boxes=over))
        name = f"<b>{html.escape(column.name)}</b> " if column.name else ""
        parts.append(f'<div class="ps-cell">{name}{shown}</div>')
    source = next((c.sources[sample] for c in columns if sample < len(c.sources) and c.sources[sample]), "")
    title = f' title="{html.escape(source)}"' if source else ""
    name = html.escape(source.rpartition("/")[2])
    return f"<figure{title}>{''.join(parts)}<figcaption>{sample}{': ' * bool(name)}{name}</figcaption></figure>"


def _table(columns: Sequence[Column], count: int, look: Look) -> str:
    heads = "".join(f'<th scope="col">{html.escape(column.name)}</th>' for column in columns)
    rows = []
    for i in range(count):
        cells = [
            cell(c.samples[i], c.layout, c.look, look) if i < len(c.samples) else "" for c in columns
        ]  # an output of a branch has fewer
        rows.append(f'<tr><th scope="row">{i}</th>' + "".join(f"<td>{text}</td>" for text in cells) + "</tr>")
    return (
        '<div class="ps-scroll"><table><thead><tr><th scope="col">sample</th>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
