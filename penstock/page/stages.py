"""What is told of each operator: its line, its arguments, and some of what it makes."""

from __future__ import annotations

import html
import reprlib
from collections.abc import Mapping
from typing import Any

from penstock.display.batch import batch_html
from penstock.display.cells import Look
from penstock.display.show import column
from penstock.graph.node import DataNode, OpNode
from penstock.optimize.plan import Plan
from penstock.page.graph import kinds, label, numbers, title

_LONGEST = 200  # letters of an argument's value
_PIXELS = 160
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _LONGEST
_SHORT.maxlist = _SHORT.maxtuple = 16


def stages_html(plan: Plan, data: Mapping[DataNode, Any], samples: int) -> str:
    """A part for each node. ``data``: lists of tensors, as far as there are any."""
    of, kind = numbers(plan), kinds(plan)
    return "".join(_stage(node, of, kind[node], data, plan, samples) for node in plan.nodes)


def _stage(
    node: OpNode, of: Mapping[OpNode, int], kind: str, data: Mapping[DataNode, Any], plan: Plan, samples: int
) -> str:
    parts = [
        f'<h3><span class="dot {kind}"></span>{html.escape(title(node))} <small>{html.escape(label(node))}</small>'
    ]
    outputs = [i for i, output in enumerate(plan.outputs) if output.source is node]
    parts += [f' <span class="badge">output {i}</span>' for i in outputs]
    parts.append("</h3>")
    if node.location:
        parts.append(f"<p><code>{html.escape(str(node.location))}</code></p>")
    parts.append(_arguments(node, of))
    known = [
        column(f"output {one.index}" if len(node.outputs) > 1 else "", data[one], samples)
        for one in node.outputs
        if one in data
    ]
    if known:
        parts.append(batch_html(known, Look(_PIXELS)))
    return f'<section class="stage" id="node-{of[node]}" tabindex="-1">{"".join(parts)}</section>'


def _arguments(node: OpNode, of: Mapping[OpNode, int]) -> str:
    rows = [(f"input {i}", _link(one, of)) for i, one in enumerate(node.inputs)]
    rows += [(name, _link(one, of)) for name, one in node.op.tensors.items()]
    rows += [(name, f"<code>{html.escape(_SHORT.repr(value))}</code>") for name, value in node.op.constants.items()]
    if not rows:
        return ""
    return "<dl>" + "".join(f"<dt>{html.escape(name)}</dt><dd>{value}</dd>" for name, value in rows) + "</dl>"


def _link(data: DataNode, of: Mapping[OpNode, int]) -> str:
    many = f"[{data.index}]" if len(data.source.outputs) > 1 else ""
    return f'<a href="#node-{of[data.source]}">{html.escape(title(data.source))}{many}</a>'
