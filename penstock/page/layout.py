"""Places for the nodes of a graph in a drawing: in layers, each below all that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.graph.node import OpNode

HEIGHT = 46  # of a box
_GAP, _BETWEEN = 18, 40  # between boxes of a layer, and between layers
_MARGIN = 12
_SWEEPS = 4


@dataclass(frozen=True)
class Place:
    """A box, by its upper left corner."""

    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        """From left to right."""
        return self.x + self.width / 2


def places(nodes: Sequence[OpNode], widths: Mapping[OpNode, float]) -> dict[OpNode, Place]:
    """Of nodes in topological order. No two boxes overlap."""
    layers = _layers(nodes)
    readers: dict[OpNode, list[OpNode]] = {node: [] for node in nodes}
    sources = {node: [data.source for data in node.sources()] for node in nodes}
    for node, read in sources.items():
        for source in read:
            readers[source].append(node)
    for sweep in range(_SWEEPS):  # each node to the middle of those above, then of those below
        near = sources if sweep % 2 == 0 else readers
        order = {node: i / max(len(layer), 1) for layer in layers for i, node in enumerate(layer)}
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            layer.sort(key=lambda n: sum(order[m] for m in near[n]) / len(near[n]) if near[n] else order[n])
            order.update({node: i / len(layer) for i, node in enumerate(layer)})
    wide = [sum(widths[n] for n in layer) + _GAP * (len(layer) - 1) for layer in layers]
    found = {}
    for number, layer in enumerate(layers):
        x = _MARGIN + (max(wide) - wide[number]) / 2
        for node in layer:
            found[node] = Place(x, _MARGIN + number * (HEIGHT + _BETWEEN), widths[node])
            x += widths[node] + _GAP
    return found


def _layers(nodes: Sequence[OpNode]) -> list[list[OpNode]]:
    """By the longest way from a node that reads nothing; those are just above the first that reads them."""
    depth: dict[OpNode, int] = {}
    for node in nodes:
        depth[node] = max((depth[data.source] + 1 for data in node.sources()), default=0)
    for node in nodes:
        below = [depth[other] for other in nodes if any(data.source is node for data in other.sources())]
        if not node.sources() and below:
            depth[node] = min(below) - 1
    layers: list[list[OpNode]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    return [layer for layer in layers if layer]


def extent(found: Mapping[OpNode, Place]) -> tuple[float, float]:
    """Width and height of the drawing."""
    width = max((place.x + place.width for place in found.values()), default=0) + _MARGIN
    return width, max((place.y for place in found.values()), default=0) + HEIGHT + _MARGIN
