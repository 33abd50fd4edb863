"""What a class or a function under `penstock.operator` says: arguments, and texts of C++ with their places."""

from __future__ import annotations

import ast
import enum
import inspect
import os
import re
import sys
import textwrap
import types as python_types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from penstock import _values, types
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.op import COMMON

FORMS = ("element", "pixel", "where", "run")
_TEXTS = (*FORMS, "setup", "header")
_WORDS = ("channels", "inputs", "outputs", "takes", "gives", "random", "python")
_NUMBERS = (bool, int, float)


@dataclass(frozen=True)
class Text:
    """C++, and where it stands: for the compiler's errors."""

    text: str
    file: str
    line: int

    def marked(self) -> str:
        """With a line for the compiler that says where it is from."""
        file = self.file.replace("\\", "\\\\").replace('"', '\\"')
        return f'#line {self.line} "{file}"\n{self.text}\n'


class Kind(enum.Enum):
    """Of an argument, as Python has it: its type there, and in C++ as `penstock::Declaration` has it."""

    BOOL = "bool"
    INT = "int64_t"
    FLOAT = "double"
    STR = "std::string"
    DTYPE = "penstock::DType"
    INTS = "std::vector<int64_t>"
    FLOATS = "std::vector<double>"


@dataclass(frozen=True)
class Parameter:
    """An argument of the operator."""

    name: str
    kind: Kind
    doc: str
    default: Any  # `inspect.Parameter.empty`: it must be given; None: it may be left out
    count: int = 0  # of numbers in a tuple; 0: it is one value, or a list

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def per_sample(self) -> bool:
        return self.kind not in (Kind.STR, Kind.DTYPE)


@dataclass(frozen=True)
class Definition:
    """An operator of the user's."""

    name: str
    doc: str
    file: str
    form: str
    parameters: tuple[Parameter, ...]
    texts: dict[str, Text]
    channels: int = 0
    inputs: int = 1
    outputs: int = 1
    takes: tuple[types.DALIDataType, ...] = ()
    gives: types.DALIDataType | None = None
    random: bool = False
    python: Callable[..., Any] | None = None  # the same for Numba


def of_class(cls: type, name: str) -> Definition:
    """What a class says: annotations are arguments, the other members are those of `penstock.operator`."""
    members = {k: v for k, v in vars(cls).items() if not (k.startswith("__") and k.endswith("__"))}
    for member in members:
        if member not in (*_TEXTS, *_WORDS) and member not in cls.__annotations__:
            raise ArgumentError(
                f"{name}: {member}={members[member]!r}: an operator has no such member; arguments have an annotation"
            )
    annotations = inspect.get_annotations(cls, eval_str=True)
    empty = inspect.Parameter.empty
    parameters = tuple(_parameter(name, k, kind, members.get(k, empty)) for k, kind in annotations.items())
    places = _places(cls)
    texts = {k: _text(name, k, members[k], *places(k)) for k in _TEXTS if k in members}
    words = {k: members[k] for k in _WORDS if k in members}
    words["python"] = getattr(words.get("python"), "__func__", words.get("python"))  # a staticmethod's
    return _checked(name, cls.__doc__ or "", _file(cls), parameters, texts, words)


def of_function(function: Callable[..., Any], name: str, words: dict[str, Any]) -> Definition:
    """What a function says: its parameters are arguments, and it returns the text of an element or a pixel."""
    signature = inspect.signature(function, eval_str=True)
    empty = inspect.Parameter.empty
    for one in signature.parameters.values():
        if one.annotation is empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise ArgumentTypeError(
                f"{name}: {one}: each parameter needs an annotation, such as {one.name}: float = 1.0"
            )
    parameters = tuple(_parameter(name, p.name, p.annotation, p.default) for p in signature.parameters.values())
    form = "pixel" if words.get("channels") else "element"
    returned = function(**{p.name: None for p in parameters})
    texts = {form: _text(name, form, returned, *_places(function)("return"))}
    return _checked(name, function.__doc__ or "", _file(function), parameters, texts, words)


def _checked(
    name: str, doc: str, file: str, parameters: tuple[Parameter, ...], texts: dict[str, Text], words: dict[str, Any]
) -> Definition:
    forms = [form for form in FORMS if form in texts]
    if len(forms) != 1:
        raise ArgumentError(f"{name}: expected one of {', '.join(FORMS)}, got {' and '.join(forms) or 'none'}")
    (form,) = forms
    for p in parameters:
        if p.name in (*COMMON, "seed", "s", "in", "out", "x", "y", "v", "width", "height"):
            raise ArgumentError(f"{name}: no argument can be called {p.name!r}: that is the name of something else")
        if form != "run" and not p.count and p.kind in (Kind.STR, Kind.INTS, Kind.FLOATS):
            raise ArgumentTypeError(f"{name}: {p.name}: the functor has numbers, and tuples of so many numbers, alone")
        if p.kind is Kind.DTYPE and form != "run" and p.name != "dtype":
            raise ArgumentTypeError(f"{name}: {p.name}: the one type that it may have is dtype, that of the output")
    for word, least, most in (("channels", 0, 16), ("inputs", 0, 64), ("outputs", 1, 64)):
        if word in words:
            words[word] = _values.whole_number(f"{name}: {word}", words[word], least)
            if words[word] > most:
                raise ArgumentError(f"{name}: {word}={words[word]}: expected {most} or less")
    if form != "run" and (words.get("inputs", 1), words.get("outputs", 1)) != (1, 1):
        raise ArgumentError(f"{name}: an operator with {form} has one input and one output")
    if (form == "pixel") != (words.get("channels", 0) >= 2):
        raise ArgumentError(f"{name}: channels={words.get('channels', 0)}: of a pixel 2 to 16, and of nothing else")
    if form in ("where", "run") and words.get("gives") is not None:
        raise ArgumentError(f"{name}: gives={words['gives']!r}: an operator with {form} has its own way to say it")
    takes = words.get("takes", ())
    words["takes"] = tuple(takes) if isinstance(takes, (list, tuple)) else (takes,)
    try:
        words["takes"] = tuple(types.DALIDataType(_values.convert("dtype", t)) for t in words["takes"])
        gives = words.get("gives")
        words["gives"] = None if gives is None else types.DALIDataType(_values.convert("dtype", gives))
    except (TypeError, ValueError) as e:
        raise ArgumentTypeError(f"{name}: takes and gives are types such as types.UINT8: {e}") from e
    return Definition(name, inspect.cleandoc(doc), file, form, parameters, texts, **words)


def _parameter(operator: str, name: str, annotation: Any, default: Any) -> Parameter:
    doc = "No text."
    if typing.get_origin(annotation) is Annotated:
        annotation, *notes = typing.get_args(annotation)
        doc = next((note for note in notes if isinstance(note, str)), doc)
    kind, count = _kind(annotation)
    if kind is None:
        raise ArgumentTypeError(
            f"{operator}: {name}: {annotation!r}: expected bool, int, float, str, types.DALIDataType, list[int], "
            "list[float], or a tuple of so many, such as tuple[float, float, float]"
        )
    if default is not inspect.Parameter.empty and default is not None:
        default = _default(operator, name, kind, count, default)
    return Parameter(name, kind, doc, default, count)


def _kind(annotation: Any) -> tuple[Kind | None, int]:
    plain: dict[Any, Kind] = {
        bool: Kind.BOOL, int: Kind.INT, float: Kind.FLOAT, str: Kind.STR, types.DALIDataType: Kind.DTYPE,
        list[int]: Kind.INTS, list[float]: Kind.FLOATS,
    }  # fmt: skip
    origin, members = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, python_types.UnionType):  # `| None`: it may be left out
        rest = [one for one in members if one is not type(None)]
        return _kind(rest[0]) if len(rest) == 1 else (None, 0)
    if origin is tuple and len(set(members)) == 1 and members[0] in (int, float):
        return (Kind.INTS if members[0] is int else Kind.FLOATS), len(members)
    return plain.get(annotation), 0


def _default(operator: str, name: str, kind: Kind, count: int, default: Any) -> Any:
    kinds = {
        Kind.BOOL: "boolean", Kind.INT: "integer", Kind.FLOAT: "number", Kind.STR: "string", Kind.DTYPE: "dtype",
        Kind.INTS: "integers", Kind.FLOATS: "numbers",
    }  # fmt: skip
    try:
        value = _values.convert(kinds[kind], default)
    except (TypeError, ValueError, OverflowError) as e:
        raise ArgumentTypeError(f"{operator}: {name}={default!r}: expected {_values.describe(kinds[kind])}") from e
    if count and len(value) != count:
        raise ArgumentError(f"{operator}: {name}={default!r}: expected {count} numbers")
    return value


def _text(operator: str, name: str, value: Any, file: str, line: int) -> Text:
    if isinstance(value, os.PathLike):
        path = Path(os.path.dirname(file), value)
        try:
            return Text(path.read_text(), str(path), 1)
        except OSError as e:
            raise ArgumentError(f"{operator}: {name}={str(value)!r}: cannot be read: {e}") from e
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{operator}: {name}={value!r}: expected C++, or the path of a file with it")
    return Text(value, file, line)


def _file(of: Any) -> str:
    try:
        return inspect.getsourcefile(of) or "<unknown>"
    except TypeError:  # of a class in a module that is no file
        return getattr(sys.modules.get(of.__module__), "__file__", None) or "<unknown>"


def _places(of: Any) -> Callable[[str], tuple[str, int]]:
    """Where a member's text begins, or what a function returns: file and line."""
    file = _file(of)
    found: dict[str, int] = {}
    try:
        lines, first = inspect.getsourcelines(of)
        (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return lambda member: (file, 1)
    for node in ast.walk(tree):
        names = (
            [t.id for t in node.targets if isinstance(t, ast.Name)] if isinstance(node, ast.Assign)
            else ["return"] if isinstance(node, ast.Return) else []
        )  # fmt: skip
        if names and (value := getattr(node, "value", None)) is not None:
            found.update(dict.fromkeys(names, first + value.lineno - 1))
    return lambda member: (file, found.get(member, first))


def snake_case(name: str) -> str:
    """``CropMore`` -> ``crop_more``; what is written so already stays."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
