"""The plan in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.graph.node import OpNode
from penstock.optimize.plan import Plan, Scope, Where

_WHERE = {
    Where.IO: "on the threads that wait for files, sample by sample",
    Where.CPU: "on the worker threads, sample by sample",
    Where.GPU: "on the GPU, batch by batch",
    Where.PYTHON: "in Python, batch by batch",
}


def explain(plan: Plan, notes: Mapping[OpNode, Sequence[str]]) -> str:
    """One line per group of operators, in the order in which a sample meets them; ``notes`` on operators below."""
    lines = []
    for number, segment in enumerate(plan.segments, 1):
        lines.append(f"segment {number}, {_WHERE[segment.where]}:")
        early = [n for group in segment.groups for n in group if n in plan.early]
        late = [group for group in segment.groups if group[0] not in plan.early]
        if early:
            lines.append("  first, since shapes depend on it: " + ", ".join(_name(n) for n in early))
        for group in late:
            if len(group) > 1:
                pass_of = "kernel" if segment.where is Where.GPU else "pass over rows"
                if group[0] in plan.planes:
                    pass_of += ", from the JPEG decoder's planes of samples on"
                lines.append(f"  in one {pass_of}: " + " → ".join(_name(n) for n in group))
            else:
                lines.append("  " + _name(group[0]))
            if scope := plan.scopes.get(group[0]):
                lines[-1] += f", of samples for which {_words(scope)}"
            lines += [f"    {note}" for node in group for note in notes.get(node, ())]
    outputs = ", ".join(f"{o.source.op.name}[{o.index}]" for o in plan.outputs)
    lines.append(f"outputs: {outputs}")
    return "\n".join(lines)


def _name(node: OpNode) -> str:
    named = "" if node.name.startswith("__") else f" {node.name!r}"
    return node.op.name + named


def _words(scope: Scope) -> str:
    path = [f"{_name(s.source)} is {'true' if s.wanted else 'false'}" for s in scope.path()]
    return " and ".join(reversed(path))
