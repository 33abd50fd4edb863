"""``python -m penstock doctor``: what this machine offers, and what is missing for what."""

from __future__ import annotations

import json
from typing import Any

from penstock.insight import cuda, probes
from penstock.insight.probes import Missing, Probe

_PROBES: dict[str, Probe] = {
    "versions": probes.versions,
    "processors": probes.processors,
    "memory": probes.memory,
    "pictures": probes.pictures,
    "sounds": probes.sounds,
    "stores": probes.stores,
    "gpus": cuda.gpus,
    "cuda libraries": cuda.cuda_libraries,
    "frameworks": probes.frameworks,
}


def examine() -> dict[str, Any]:
    """All that was found, by section, and ``"missing"``: a list of ``what``, ``without`` and ``fix``.

    A section that can't be found out, on whatever machine, holds an ``"error"``.

    Example:
        >>> sorted(examine())[:3]
        ['cuda libraries', 'frameworks', 'gpus']
    """
    missing: list[Missing] = []
    found: dict[str, Any] = {}
    for name, probe in _PROBES.items():
        try:
            found[name] = probe(missing)
        except Exception as e:  # a doctor does not fall ill
            found[name] = {"error": f"{type(e).__name__}: {e}"}
    found["missing"] = [vars(one) for one in missing]
    return found


def as_json(found: dict[str, Any]) -> str:
    """For programs."""
    return json.dumps(found, indent=2)


def as_text(found: dict[str, Any]) -> str:
    """For people."""
    lines = []
    for name, facts in found.items():
        if name == "missing":
            continue
        lines.append(name)
        for key, value in facts.items():
            text = ", ".join(f"{k}: {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            lines.append(f"  {key:24}{text}")
        lines.append("")
    if not found["missing"]:
        return "\n".join([*lines, "nothing is missing"])
    lines.append("missing")
    for one in found["missing"]:
        lines += [f"  {one['what']}", f"    {one['without']}", f"    {one['fix']}"]
    return "\n".join(lines)
