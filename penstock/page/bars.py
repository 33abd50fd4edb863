"""A timeline as a drawing: a row for each thread, a bar for what it did without a pause."""

from __future__ import annotations

import html
from collections.abc import Iterator

from penstock.run.timeline import Bar, Timeline

_WIDTH, _ROW, _BAR = 1000, 26, 18
_COLORS = 12  # of names; page.css has them
_QUIET = ("wait",)  # which is no work
_SHORTEST = 4000  # of the width: shorter pauses are not drawn


def bars_html(found: Timeline) -> str:
    """The drawing with its legend."""
    used = [row for row in found.rows if any(bar.row == row for bar in found.bars)]
    start = min(bar.start for bar in found.bars)
    length = max(max(bar.end for bar in found.bars) - start, 1)
    names = list(dict.fromkeys(bar.name for bar in found.bars if bar.name not in _QUIET))
    colors = {name: f"c{i % _COLORS}" for i, name in enumerate(names)}
    legend = "".join(f'<li class="{color}">{html.escape(name)}</li>' for name, color in colors.items())
    drawn = []
    for place, row in enumerate(used):
        of_row = [bar for bar in found.bars if bar.row == row]
        for bar in merged(of_row, length // _SHORTEST):
            x, width = (bar.start - start) / length * _WIDTH, max((bar.end - bar.start) / length * _WIDTH, 0.3)
            said = f"{bar.name}: {(bar.end - bar.start) / 1e6:.2f} ms" + f", batch {bar.batch}" * (bar.batch >= 0)
            drawn.append(
                f'<rect class="{colors.get(bar.name, "quiet")}" x="{x:.2f}" y="{place * _ROW + 4}" '
                f'width="{width:.2f}" height="{_BAR}"><title>{html.escape(said)}</title></rect>'
            )
    labels = "".join(f"<li>{html.escape(found.rows[row])}</li>" for row in used)
    height = len(used) * _ROW
    return (
        f'<ul class="legend">{legend}<li class="quiet">waiting</li></ul>'
        '<p class="zoom"><label>zoom <input type="range" id="zoom" min="1" max="30" value="1"></label>'
        f" <span>{length / 1e6:.1f} ms</span></p>"
        f'<div class="rows"><ul>{labels}</ul>'
        '<div class="wide" tabindex="0" role="region" aria-label="Timeline">'
        f'<svg class="bars" id="bars" height="{height}" viewBox="0 0 {_WIDTH} {height}" preserveAspectRatio="none">'
        f"{''.join(drawn)}</svg></div></div>"
    )


def merged(bars: list[Bar], pause: int) -> Iterator[Bar]:
    """Bars of one row, with neighbours of one name and batch as one where no more than a ``pause`` is between them."""
    last: Bar | None = None
    for bar in sorted(bars, key=lambda bar: (bar.start, -bar.end)):
        if last and (bar.name, bar.batch) == (last.name, last.batch) and bar.start <= last.end + pause:
            last = Bar(last.row, last.name, last.start, max(last.end, bar.end), last.batch)
            continue
        if last:
            yield last
        last = bar
    if last:
        yield last
