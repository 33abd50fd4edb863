"""Pages of the documentation that are made of declarations: one for each operator, their list, and the command line."""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock import _catalog, _signatures
from penstock.commands import commands, parser
from penstock.op import Argument, Op, registry
from tools.parity import operators

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\| `([\w.]+)`(?: \((.*)\))? \| !\[[^\]]*\]\((gallery/[^)]+)\) \|$", re.MULTILINE)
_EXAMPLE = re.compile(r"^Example(?:s)?:\n((?:(?: +.*)?\n?)+)", re.MULTILINE)


def gallery() -> dict[str, list[tuple[str, str]]]:
    """By operator, what the gallery shows of it: the arguments, and the picture's file."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, arguments, file in _ROW.findall((ROOT / "docs" / "gallery.md").read_text()):
        found.setdefault(name, []).append((arguments, file))
    return found


def group_of(name: str, cls: type[Op]) -> str:
    """The folder of its declaration, or what comes before the dot of its name."""
    parts = cls.__module__.split(".")
    return name.partition(".")[0] if "." in name else parts[2] if parts[1] == "augment" else parts[1]


def operator_page(name: str, cls: type[Op], pictures: Mapping[str, list[tuple[str, str]]]) -> str:
    """The page of one operator, as Markdown."""
    old = [alias for alias, other in registry.ops.items() if other is cls and alias != cls.name]
    facts = ["Runs on " + ", ".join(f"`{device}`" for device in cls.devices)]
    facts.append(f"as a class, `ops.{_catalog.class_name(name)}`")
    facts += ["old names " + ", ".join(f"`{alias}`" for alias in old)] if old else []
    parts = [f"# {name}", f"```python\nfn.{name}{_short(cls)}\n```", "; ".join(facts) + "."]
    if cls.deprecated:
        parts.append(f"Deprecated: {cls.deprecated}")
    parts.append(prose(inspect.cleandoc(cls.__doc__ or "")))
    shown = pictures.get(name, [])
    if shown:
        heads = ["the photograph", *(arguments or name for arguments, _ in shown)]
        files = ["gallery/photograph.webp", *(file for _, file in shown)]
        cells = "\n".join(f"![{head}](../{file})\n{head}\n" for head, file in zip(heads, files, strict=True))
        parts.append(f"## What it makes of a photograph\n\n{cells}")
    if cls.arguments:
        arguments = sorted(cls.arguments.values(), key=lambda a: (not a.required, a.name))
        parts.append("## Arguments\n\n" + "\n".join(map(_argument, arguments)))
    return "\n\n".join(parts) + "\n"


def _short(cls: type[Op]) -> str:
    """The signature, without what every operator takes, and what has no effect any more."""
    signature = _signatures.of_function(cls)
    hidden = {a.name for a in cls.arguments.values() if a.unused or a.deprecated}
    known = [p for p in signature.parameters.values() if p.name in cls.arguments or p.kind is not p.KEYWORD_ONLY]
    text = str(signature.replace(parameters=[p for p in known if p.name not in hidden]))
    text = re.sub(r"DALI\w+\.", "types.", text).replace("/, ", "").replace("/)", ")").replace(", )", ")")
    return text if len(text) < 70 else textwrap.fill(text, 84, subsequent_indent="    ", break_long_words=False)


def _argument(argument: Argument) -> str:
    notes = [argument.kind + ", or a node" * argument.per_sample]
    notes.append("required" if argument.required else f"default `{argument.default!r}`")
    text = argument.doc + (f" Without effect here: {argument.unused.rstrip('.')}." if argument.unused else "")
    text += f" Deprecated: {argument.deprecated.rstrip('.')}." if argument.deprecated else ""
    return f"`{argument.name}` ({', '.join(notes)})\n: {prose(text)}\n"


def prose(text: str) -> str:
    """A docstring as Markdown: double backticks are single ones, examples are code, names of operators are links."""
    examples: list[str] = []

    def keep(match: re.Match[str]) -> str:
        examples.append(textwrap.dedent(match[1]).strip())
        return "\0"

    kept = re.sub(r"(?<!`)``(?!`)(.+?)``", r"`\1`", _EXAMPLE.sub(keep, text + "\n"), flags=re.DOTALL)
    known = operators()

    def link(match: re.Match[str]) -> str:
        name = match[2]
        return f"[`{match[1]}`]({name}.md)" if name in known and "(" not in match[1] else match[0]

    kept = re.sub(r"`((?:fn\.)?([\w.]+))`", link, kept).replace("<", "&lt;").replace("*", r"\*")
    kept = re.sub(r"`[^`]+`", lambda m: m[0].replace("&lt;", "<").replace(r"\*", "*"), kept)
    for example in examples:
        kept = kept.replace("\0", f"\n```pycon\n{example}\n```\n", 1)
    return kept.strip()


def summary(cls: type[Op]) -> str:
    """The first sentence, as Markdown."""
    first = inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return prose(first.partition(". ")[0].rstrip(".") + ".").replace("|", r"\|")


def list_page() -> str:
    """All operators, by group, with the tree of the pages."""
    groups: dict[str, list[str]] = {}
    for name, cls in operators().items():
        groups.setdefault(group_of(name, cls), []).append(name)
    text = "Each has a page, made of its declaration: what it does, its arguments, and an example."
    parts = ["# All operators", text]
    for group, names in sorted(groups.items()):
        rows = [f"| [`{name}`]({name}.md) | {summary(operators()[name])} |" for name in names]
        parts.append(f"## {group}\n\n| | |\n| --- | --- |\n" + "\n".join(rows))
    tree = "\n".join(operators())
    parts.append(f"```{{toctree}}\n:hidden:\n\n{tree}\n```")
    return "\n\n".join(parts) + "\n"


def command_page() -> str:
    """What ``--help`` says of each command."""
    whole = parser()
    choices = next(a for a in whole._actions if isinstance(a, argparse._SubParsersAction)).choices
    parts = ["# The command line", "`python -m penstock COMMAND`; each has `--help`."]
    parts += [f"## {name}\n\n```text\n{choices[name].format_help().strip()}\n```" for name, _ in commands()]
    return "\n\n".join(parts) + "\n"


def pages() -> Iterator[tuple[str, str]]:
    """All pages that are made, by file."""
    pictures = gallery()
    yield "reference/index.md", list_page()
    for name, cls in operators().items():
        yield f"reference/{name}.md", operator_page(name, cls, pictures)
    yield "command-line.md", command_page()
