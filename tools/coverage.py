"""`./dev coverage`: what of DALI's operators, arguments and devices is here, from the DALI that is installed.

Writes docs/coverage.md, which the tests compare: nothing goes missing, and nothing comes, without its being seen.
`--check` writes nothing and fails where it is not up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from penstock import _catalog  # noqa: E402
from penstock.op import Op, is_common, registry  # noqa: E402
from tools.dali_operators import names  # noqa: E402

RESULT = ROOT / "docs" / "coverage.md"
HEAD = """# What of DALI's operators is here

Written by `./dev coverage`, which compares the declarations here with those of DALI {version}: {operators} of {wanted}
names in `fn`, old ones among them, with {arguments} of their {wanted_arguments} arguments.
[operators.md](operators.md) says how far results may be apart.
"""


@dataclass(frozen=True)
class Operator:
    """What DALI declares."""

    name: str
    arguments: dict[str, bool]  # and whether there may be a value for each sample
    devices: tuple[str, ...]


@dataclass
class Coverage:
    """Lines of what is missing, by kind."""

    operators: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    per_sample: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    unused: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # by argument and reason: the operators
    counts: dict[str, int] = field(default_factory=dict)


def dalis() -> Iterator[Operator]:
    """All public operators."""
    from nvidia.dali import backend, fn

    schema_of: Any = vars(backend)["GetSchema"]
    for name in names(fn):
        function: Any = reduce(getattr, name.split("."), fn)
        schema = schema_of(function._schema_name)
        arguments = {a: schema.IsTensorArgument(a) for a in schema.GetArgumentNames()}
        yield Operator(name, arguments, tuple(schema.GetSupportedBackends()))


def covered() -> Coverage:
    """Every operator of DALI's against the registry."""
    _catalog.load()
    found = Coverage()
    all_operators = sorted(dalis(), key=lambda operator: operator.name)
    here = {o.name: registry.ops[o.name] for o in all_operators if o.name in registry.ops}
    found.operators = [o.name for o in all_operators if o.name not in here]
    for operator in all_operators:
        if operator.name in here:
            compare(operator, here[operator.name], found)
    wanted = sum(len(o.arguments) for o in all_operators if o.name in here)
    found.counts = {
        "operators": len(here),
        "wanted": len(all_operators),
        "arguments": wanted - len(found.arguments),
        "wanted_arguments": wanted,
    }
    return found


def compare(dali: Operator, ours: type[Op], found: Coverage) -> None:
    """Adds what is missing."""
    for name, per_sample in sorted(dali.arguments.items()):
        if is_common(ours, name):
            continue
        argument = ours.arguments.get(name)
        if argument is None:
            found.arguments.append(f"{dali.name}: {name}")
        elif per_sample and not argument.per_sample and not argument.unused:
            found.per_sample.append(f"{dali.name}: {name}")
        if argument is not None and argument.unused and dali.name == ours.name:
            found.unused.setdefault((name, argument.unused.rstrip(".")), []).append(dali.name)
    found.devices += [f"{dali.name}: {device}" for device in dali.devices if device not in ours.devices]


def text() -> str:
    """The whole document."""
    import nvidia.dali as dali

    found = covered()
    parts = [HEAD.format(version=dali.__version__, **found.counts)]
    for title, missing in (
        ("Operators that are not here", found.operators),
        ("Arguments that are not here", found.arguments),
        ("Arguments that take no value for each sample here", found.per_sample),
        ("Devices that are not here", found.devices),
    ):
        parts += [f"\n## {title}\n", *(f"- `{item}`" for item in missing or ()), *([] if missing else ["None."])]
    parts.append("\n## Arguments that are accepted, and change nothing\n")
    for (argument, reason), where in sorted(found.unused.items()):
        parts.append(f"- `{argument}` of {', '.join(f'`{operator}`' for operator in where)}: {reason}")
    return "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev coverage", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only look whether docs/coverage.md is up to date")
    if not parser.parse_args(arguments).check:
        RESULT.write_text(text())
        print(RESULT.read_text())
        return 0
    stale = not RESULT.exists() or RESULT.read_text() != text()
    if stale:
        print(f"{RESULT.relative_to(ROOT)} is not up to date: run ./dev coverage", file=sys.stderr)
    return stale


if __name__ == "__main__":
    sys.exit(main())
