"""The graph as a drawing for Graphviz."""

from __future__ import annotations

import os

from penstock.optimize.plan import Plan

_COLORS = ("#cfe2f3", "#d9ead3", "#fff2cc", "#f4cccc", "#d9d2e9")


def write_dot(plan: Plan, filename: str | os.PathLike[str], *, show_tensors: bool, use_colors: bool) -> None:
    """Writes operators as boxes, fused ones in a common frame, and the values that pass between them as arrows."""
    ids = {node: f"n{i}" for i, node in enumerate(plan.nodes)}
    segment_of = {n: i for i, s in enumerate(plan.segments) for group in s.groups for n in group}
    lines = ["digraph pipeline {", "  node [shape=box, fontname=Helvetica];"]
    for i, segment in enumerate(plan.segments):
        for j, group in enumerate(segment.groups):
            if len(group) > 1:
                members = " ".join(f"{ids[n]};" for n in group)
                lines.append(f'  subgraph cluster_{i}_{j} {{ label="one pass over rows"; style=dashed; {members} }}')
    for node in plan.nodes:
        color = f', style=filled, fillcolor="{_COLORS[segment_of.get(node, 0) % len(_COLORS)]}"' if use_colors else ""
        lines.append(f'  {ids[node]} [label="{_quoted(node.op.name)}\\n{_quoted(node.name)}"{color}];')
        for data in node.sources():
            if show_tensors:
                tensor = f"{ids[data.source]}_{data.index}"
                lines += [
                    f'  {tensor} [shape=ellipse, label="{_quoted(data.name)}"];',
                    f"  {ids[data.source]} -> {tensor};",
                    f"  {tensor} -> {ids[node]};",
                ]
            else:
                lines.append(f'  {ids[data.source]} -> {ids[node]} [label="{data.index}"];')
    for i, output in enumerate(plan.outputs):
        lines += [f'  out{i} [shape=plaintext, label="output {i}"];', f"  {ids[output.source]} -> out{i};"]
    unique = list(dict.fromkeys(lines))
    with open(filename, "w", encoding="utf-8") as file:
        file.write("\n".join(unique) + "\n}\n")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
