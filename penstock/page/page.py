"""The page as a whole."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock._version import __version__
from penstock.graph.node import DataNode
from penstock.optimize.plan import Plan
from penstock.page.bars import bars_html
from penstock.page.graph import graph_html
from penstock.page.stages import stages_html
from penstock.run.timeline import Timeline

_FOLDER = Path(__file__).parent


def page_of(
    plan: Plan,
    text: str,
    facts: Mapping[str, Any],
    bars: Timeline | None,
    data: Mapping[DataNode, Any],
    samples: int,
    notes: Mapping[str, Sequence[str]],
) -> str:
    """A page that needs nothing else.

    Args:
        plan: what runs.
        text: what `Pipeline.explain` says of it.
        facts: about the pipeline, in a line each.
        bars: the timeline; None: there is none.
        data: lists of tensors that nodes made.
        samples: of these that are shown.
        notes: what is to be said, in "timeline" and "stages".
    """

    def said(section: str) -> str:
        return "".join(f'<p class="note">{html.escape(line)}</p>' for line in notes.get(section, ()))

    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>" for name, value in facts.items())
    timeline = bars_html(bars) if bars and bars.bars else ""
    parts = {
        "graph": ("Graph", graph_html(plan)),
        "plan": ("Plan", f'<pre class="wide" tabindex="0" role="region" aria-label="Plan">{html.escape(text)}</pre>'),
        "timeline": ("Timeline", said("timeline") + timeline),
        "stages": ("Stages", said("stages") + stages_html(plan, data, samples)),
    }
    links = "".join(f'<a href="#{key}">{name}</a>' for key, (name, _) in parts.items())
    body = "".join(f'<section id="{key}"><h2>{name}</h2>{part}</section>' for key, (name, part) in parts.items())
    style, script = (_read(name) for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Pipeline</title><style>{style}</style></head><body>"
        f'<a class="skip" href="#graph">Skip to the graph</a><header><h1>Pipeline</h1><nav>{links}</nav></header>'
        f"<main><dl>{rows}</dl>{body}</main><footer>Penstock {__version__}</footer>"
        f"<script>{script}</script></body></html>\n"
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
