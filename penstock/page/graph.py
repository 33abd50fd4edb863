"""The graph as a drawing: a box for each operator, which leads to what is told of it below."""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping

from penstock.graph.node import OpNode
from penstock.optimize.plan import Plan, Where, is_data
from penstock.page.layout import HEIGHT, Place, extent, places

_PER_LETTER, _AROUND = 7.6, 26  # of a box's width
_KINDS = {Where.IO: "io", Where.CPU: "cpu", Where.GPU: "gpu", Where.PYTHON: "python"}
LEGEND = {
    "io": "threads that wait for files",
    "cpu": "worker threads",
    "gpu": "GPU",
    "python": "Python",
    "data": "data",
}


def numbers(plan: Plan) -> dict[OpNode, int]:
    """By which the page calls nodes."""
    return {node: i for i, node in enumerate(plan.nodes)}


def title(node: OpNode) -> str:
    """The operator."""
    return node.op.name.lstrip("_")


def label(node: OpNode) -> str:
    """The name that users gave it, or where it runs."""
    return node.device if node.name.startswith("__") else f"{node.name} ({node.device})"


def kinds(plan: Plan) -> dict[OpNode, str]:
    """Which threads work on a node: a key of `LEGEND`."""
    found = {n: _KINDS[segment.where] for segment in plan.segments for group in segment.groups for n in group}
    return {node: "data" if is_data(node) else found.get(node, "cpu") for node in plan.nodes}


def joined(plan: Plan) -> set[tuple[OpNode, OpNode]]:
    """Neighbours in one pass: what goes between them never lies in memory."""
    groups = [group for segment in plan.segments for group in segment.groups]
    return {pair for group in groups for pair in itertools.pairwise(group)}


def graph_html(plan: Plan) -> str:
    """The drawing with its legend."""
    of, kind, fused = numbers(plan), kinds(plan), joined(plan)
    widths = {n: _AROUND + _PER_LETTER * max(len(title(n)), len(label(n)), 8) for n in plan.nodes}
    at = places(plan.nodes, widths)
    width, height = extent(at)
    lines = [
        _line(at[data.source], at[node], (data.source, node) in fused, argument=i >= len(node.inputs))
        for node in plan.nodes
        for i, data in enumerate(node.sources())
    ]
    outputs = {data.source for data in plan.outputs}
    boxes = [_box(node, at[node], of, kind[node], node in outputs) for node in plan.nodes]
    used = [f'<li class="{name}">{text}</li>' for name, text in LEGEND.items() if name in kind.values()]
    if fused:
        used.append('<li class="fused">in one pass: nothing between them lies in memory</li>')
    return (
        f'<ul class="legend">{"".join(used)}</ul>'
        '<div class="wide" tabindex="0" role="region" aria-label="Graph of the pipeline">'
        f'<svg class="graph" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f"{''.join(lines)}{''.join(boxes)}</svg></div>"
    )


def _line(above: Place, below: Place, fused: bool, *, argument: bool) -> str:
    top, bottom = above.y + HEIGHT, below.y
    bend = max(16, (bottom - top) / 2)
    path = f"M{above.middle:.1f} {top:.1f}C{above.middle:.1f} {top + bend:.1f} "
    path += f"{below.middle:.1f} {bottom - bend:.1f} {below.middle:.1f} {bottom:.1f}"
    kind = "fused" if fused else "argument" if argument else "data"
    return f'<path class="line {kind}" d="{path}"/>'


def _box(node: OpNode, at: Place, of: Mapping[OpNode, int], kind: str, output: bool) -> str:
    name, below = html.escape(title(node)), html.escape(label(node))
    said = html.escape(f"{title(node)}, {label(node)}" + ", an output" * output)
    return (
        f'<a class="node {kind}{" output" * output}" href="#node-{of[node]}" aria-label="{said}">'
        f'<rect x="{at.x:.1f}" y="{at.y}" width="{at.width:.1f}" height="{HEIGHT}" rx="8"/>'
        f'<text x="{at.middle:.1f}" y="{at.y + 20}">{name}</text>'
        f'<text class="small" x="{at.middle:.1f}" y="{at.y + 36}">{below}</text></a>'
    )
