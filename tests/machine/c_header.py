"""A header of C as the C ABI's headers are written: a parser that refuses whatever it does not know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_NAME = r"[A-Za-z_]\w*"


@dataclass(frozen=True)
class Declared:
    """A parameter, a field or a result: its type without `const`: ``"char**"``, ``"char[16]"``, ``"function*"``."""

    type: str
    name: str = ""


@dataclass(frozen=True)
class Function:
    """A function, or the type of a pointer to one."""

    result: str
    parameters: tuple[Declared, ...]
    comment: str = ""  # that ends its last line


@dataclass
class Header:
    """What a header declares, by name."""

    constants: dict[str, int] = field(default_factory=dict)  # macros that are numbers
    enums: dict[str, dict[str, int]] = field(default_factory=dict)  # without a name: by the first constant
    structs: dict[str, list[Declared]] = field(default_factory=dict)
    handles: set[str] = field(default_factory=set)  # structs of which no more is known
    functions: dict[str, Function] = field(default_factory=dict)
    pointers: dict[str, Function] = field(default_factory=dict)  # types of pointers to functions


def parse(path: Path, known: dict[str, int] | None = None) -> Header:
    """Reads one. ``known``: macros of the headers that it includes. ValueError: there is something else in it."""
    found = Header()
    text = path.read_text()
    # Behind a function, the comment that begins on its line belongs to it: it says whether the function waits.
    comments = dict(re.findall(r"\b(ps_\w+)\([^;{}]*\);[ \t]*/\*(.*?)\*/", text, re.DOTALL))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.DOTALL)
    lines = []
    for line in text.splitlines():
        if define := re.match(rf"#define ({_NAME}) (-?\w+)\s*$", line):
            found.constants[define[1]] = _number(define[2], {**(known or {}), **found.constants})
        elif not re.match(rf"#(include|ifndef|endif|define {_NAME}$|define {_NAME} __attribute__)", line.rstrip()):
            lines.append(line)
    for statement in _statements(" ".join(lines)):
        _take(statement, found, known or {}, comments)
    return found


def _number(text: str, known: dict[str, int]) -> int:
    return known[text] if text in known else int(text, 0)


def _statements(text: str) -> list[str]:
    """They end at semicolons outside of braces."""
    statements, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == ";" and not depth:
            statements.append(" ".join(text[start:i].split()))
            start = i + 1
    if text[start:].strip():
        raise ValueError(f"no semicolon behind {text[start:].strip()!r}")
    return statements


def _take(statement: str, found: Header, known: dict[str, int], comments: dict[str, str]) -> None:
    if m := re.fullmatch(rf"enum ({_NAME})? ?\{{(.*)\}}", statement):
        values: dict[str, int] = {}
        for one in filter(None, map(str.strip, m[2].split(","))):
            name, _, value = map(str.strip, one.partition("="))
            values[name] = int(value, 0) if value else max(values.values(), default=-1) + 1
        found.enums[m[1] or next(iter(values))] = values
    elif m := re.fullmatch(rf"typedef struct (?:{_NAME} )?\{{(.*)\}} ({_NAME})", statement):
        numbers = {**known, **found.constants}
        found.structs[m[2]] = [one for part in m[1].split(";") if part.strip() for one in _fields(part, numbers)]
    elif m := re.fullmatch(rf"typedef struct ({_NAME}) ({_NAME})", statement):
        found.handles.add(m[2])
    elif m := re.fullmatch(rf"typedef (.*?)\(\*({_NAME})\)\((.*)\)", statement):
        found.pointers[m[2]] = Function(_type(m[1]), _parameters(m[3]))
    elif m := re.fullmatch(rf"PS_API (.*?)\b({_NAME})\((.*)\)", statement):
        found.functions[m[2]] = Function(_type(m[1]), _parameters(m[3]), comments.get(m[2], ""))
    elif not statement.startswith("PENSTOCK_EXPORT "):  # what others' libraries define
        raise ValueError(f"unknown: {statement!r}")


def _fields(text: str, numbers: dict[str, int]) -> list[Declared]:
    if "(" in text:
        return [_declared(text)]
    first, *others = text.split(",")
    declared = _declared(first)
    element = re.sub(r"[*\[].*", "", declared.type)
    found = [declared, *(Declared(element, other.strip()) for other in others)]
    return [_sized(one, numbers) for one in found]


def _sized(one: Declared, numbers: dict[str, int]) -> Declared:
    """With an array's length as part of the type."""
    m = re.fullmatch(rf"({_NAME})\[(\w+)\]", one.name)
    return Declared(f"{one.type}[{_number(m[2], numbers)}]", m[1]) if m else one


def _parameters(text: str) -> tuple[Declared, ...]:
    if text == "void":
        return ()
    text = re.sub(rf"{_NAME} ?\(\*({_NAME})\)\([^)]*\)", r"function* \1", text)
    return tuple(_declared(one) for one in text.split(","))


def _declared(text: str) -> Declared:
    text = " ".join(text.split())
    if m := re.fullmatch(rf".*\(\*({_NAME})\)\(.*\)", text):
        return Declared("function*", m[1])
    m = re.fullmatch(rf"((?:const |struct )*{_NAME}(?: ?const\b| ?\*)*) ?({_NAME}(?:\[\w+\])?)?", text)
    if not m:
        raise ValueError(f"unknown: {text!r}")
    return Declared(_type(m[1]), m[2] or "")


def _type(text: str) -> str:
    return re.sub(r"\b(const|struct)\b|\s", "", text)
