"""The C++ of an operator of the user's: a library against penstock/operator.hpp around what the user has written."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from penstock.custom.definition import Definition, Kind, Parameter, Text

_FIELDS = {Kind.BOOL: "bool", Kind.INT: "int", Kind.FLOAT: "float", Kind.INTS: "int", Kind.FLOATS: "float"}
_GETTERS = {
    Kind.BOOL: "flag", Kind.INT: "integer", Kind.FLOAT: "number", Kind.STR: "text", Kind.DTYPE: "dtype",
    Kind.INTS: "integers", Kind.FLOATS: "numbers",
}  # fmt: skip
_CALLS = {
    "element": "float operator()(float v) const",
    "pixel": "void operator()(const float* in, float* out) const",
    "where": "void operator()(float x, float y, float& sx, float& sy) const",
}

_HEAD = """\
#include <cmath>
#include <penstock/operator.hpp>

namespace {
int whole_number(const char* name, int64_t v) {
  if (v != int(v)) throw std::invalid_argument(std::string(name) + ": " + std::to_string(v) + " is too large");
  return int(v);
}
template <class T> const std::vector<T>& of_count(const char* name, const std::vector<T>& v, size_t count) {
  if (v.size() != count)
    throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(count) + " numbers, got " +
                                std::to_string(v.size()));
  return v;
}
}  // namespace
"""


def key(definition: Definition) -> str:
    """What a library is kept by: all of its text but where that stands, so that lines before it may change."""
    texts = {name: replace(text, file="", line=1) for name, text in definition.texts.items()}
    return source(replace(definition, texts=texts), "@")


def source(definition: Definition, table_name: str) -> str:
    """The whole library. ``table_name``: what its table calls the operator."""
    functor = definition.form != "run"
    parts = [_HEAD]
    if functor:
        text = _functor(definition)
        parts += [text, _back()]
        if _shared(definition):
            of = "(const Functor*) { return"
            parts += [f'inline const char* penstock_name_of{of} "Functor"; }}\n']
            parts += [f"inline const char* penstock_source_of{of} {_literal(text)}; }}\n"]
    elif "header" in definition.texts:
        parts += [definition.texts["header"].marked(), _back()]
    parts += ["struct Operator {\n", _declare(definition, table_name)]
    parts += _functor_maker(definition) if functor else _general(definition)
    parts += ["};\n\nPENSTOCK_OPERATORS(Operator)\n"]
    return "".join(parts)


def functor_text(definition: Definition) -> str | None:
    """The functor for the GPU's compiler; None: it cannot have it."""
    return _functor(definition) if _shared(definition) else None


def _shared(definition: Definition) -> bool:
    """Whether the GPU's compiler can have the text, which knows no headers."""
    return not any("#include" in text.text for text in definition.texts.values())


def _functor(definition: Definition) -> str:
    """The struct, for this compiler and the GPU's."""
    form = definition.form
    body = definition.texts[form]
    plain = form == "element" and ";" not in body.text and "return" not in body.text
    fields = [f"  {_FIELDS[p.kind]} {p.name}{f'[{p.count}]' * bool(p.count)};\n" for p in _fields(definition)]
    fields += ["  float width, height;\n"] if form == "where" else []
    fields = fields or ["  int unused;\n"]  # a struct has bytes
    lines = [definition.texts["header"].marked() if "header" in definition.texts else ""]
    lines += ["struct Functor {\n", *fields, f"  PENSTOCK_FN {_CALLS[form]} {{\n"]
    if plain:
        lines += ["return (\n", Text(f"{body.text}\n)", body.file, body.line).marked(), ";\n"]
    else:
        lines += [body.marked()]
    return "".join([*lines, "  }\n};\n"])


def _fields(definition: Definition) -> list[Parameter]:
    return [p for p in definition.parameters if p.kind is not Kind.DTYPE]


def _declare(definition: Definition, table_name: str) -> str:
    lines = [f"return penstock::Declaration({_text(table_name)}, {_literal(definition.doc)})"]
    for p in definition.parameters:
        name, doc, flags = _text(p.name), _literal(p.doc), "penstock::per_sample" if p.per_sample else "0"
        if p.required:
            lines.append(f".required<{p.kind.value}>({name}, {doc}, {flags})")
        elif p.default is None:
            lines.append(f".optional<{p.kind.value}>({name}, {doc}, {flags})")
        else:
            lines.append(f".argument<{p.kind.value}>({name}, {doc}, {_value(p)}, {flags})")
    lines += [f".inputs({definition.inputs})", f".outputs({definition.outputs})", ".random()" * definition.random]
    chained = "\n        ".join(line for line in lines if line)
    return f"  static penstock::Declaration declare() {{\n    {chained};\n  }}\n"


def _value(p: Parameter) -> str:
    def one(value: Any) -> str:
        return _text(value) if isinstance(value, str) else repr(float(value)) if p.kind in _REAL else str(int(value))

    if p.kind in (Kind.INTS, Kind.FLOATS):
        return f"{p.kind.value}{{{', '.join(map(one, p.default))}}}"
    return f"{p.kind.value}({one(p.default)})"


_REAL = (Kind.FLOAT, Kind.FLOATS)


def _functor_maker(definition: Definition) -> list[str]:
    lines = ["  using Functor = ::Functor;\n"]
    if definition.form == "where":
        lines += ["  static constexpr bool moves = true;  // a sampler\n"]
    if definition.channels:
        lines += [f"  static constexpr int channels = {definition.channels};\n"]
    lines += ["  Functor functor(const penstock::Sample& s) const {\n", _types(definition), "    Functor f{};\n"]
    for p in _fields(definition):
        lines.append(f"    {_filled(p)}\n")
    if definition.form == "where":
        lines += ["    f.height = float(s.input(0).shape(0)), f.width = float(s.input(0).shape(1));\n"]
    if "setup" in definition.texts:
        lines += [f"    [[maybe_unused]] auto& {p.name} = f.{p.name};\n" for p in _fields(definition)]
        lines += ["    {\n", definition.texts["setup"].marked(), _back(), "    }\n"]
    if definition.gives is not None:
        lines.append(f"    s.output(0).set_dtype(penstock::DType({int(definition.gives)}));\n")
    if any(p.name == "dtype" for p in definition.parameters):
        lines.append('    if (s.given("dtype")) s.output(0).set_dtype(s.dtype("dtype"));\n')
    return [*lines, "    return f;\n  }\n"]


def _filled(p: Parameter) -> str:
    name = _text(p.name)
    found = f"s.{_GETTERS[p.kind]}({name})"
    given = "" if p.required or p.default is not None else f"if (s.given({name})) "
    if p.count:
        kind = "int64_t" if p.kind is Kind.INTS else "double"
        element = f"whole_number({name}, v[i])" if p.kind is Kind.INTS else "float(v[i])"
        return (
            f"{given}{{ const auto v = of_count<{kind}>({name}, {found}, {p.count}); "
            f"for (int i = 0; i < {p.count}; i++) f.{p.name}[i] = {element}; }}"
        )
    value = f"whole_number({name}, {found})" if p.kind is Kind.INT else f"{_FIELDS[p.kind]}({found})"
    return f"{given}f.{p.name} = {value};"


def _types(definition: Definition) -> str:
    """That inputs are of the types that the operator takes."""
    if not definition.takes:
        return ""
    same = " && ".join(f"t != penstock::DType({int(t)})" for t in definition.takes)
    wanted = " or ".join(t.name for t in definition.takes)
    return (
        f"    for (int i = 0; i < s.num_inputs(); i++) {{\n      const penstock::DType t = s.input(i).dtype();\n"
        f'      if ({same}) throw std::invalid_argument("input " + std::to_string(i) + " is " + penstock::name_of(t) + '
        f'", expected {wanted}");\n    }}\n'
    )


def _general(definition: Definition) -> list[str]:
    names = [f"in{i}" for i in range(definition.inputs)], [f"out{i}" for i in range(definition.outputs)]
    unused = "    [[maybe_unused]] const"
    known = [f"{unused} penstock::Tensor {n} = s.input({i});\n" for i, n in enumerate(names[0])]
    known += [f"{unused} penstock::Tensor {n} = s.output({i});\n" for i, n in enumerate(names[1])]
    known += [f"{unused} penstock::Tensor &in = in0;\n"] * bool(names[0])
    known += [f"{unused} penstock::Tensor &out = out0;\n"]
    for p in definition.parameters:
        found = f"s.{_GETTERS[p.kind]}({_text(p.name)})"
        if p.count:
            found = f"of_count({_text(p.name)}, {found}, {p.count})"
        if not p.required and p.default is None:
            found = f"s.given({_text(p.name)}) ? {found} : {p.kind.value}()"
        known.append(f"{unused} {p.kind.value} {p.name} = {found};\n")
    lines = ["  void setup(const penstock::Sample& s) const {\n", _types(definition), *known]
    lines += [f"    {out}.like(in{min(k, definition.inputs - 1)});\n" for k, out in enumerate(names[1]) if names[0]]
    if "setup" in definition.texts:
        lines += ["    {\n", definition.texts["setup"].marked(), _back(), "    }\n"]
    lines += ["  }\n", "  void run(const penstock::Sample& s) const {\n", *known]
    return [*lines, "    {\n", definition.texts["run"].marked(), _back(), "    }\n  }\n"]


def _back() -> str:
    """What follows is made here again."""
    return '#line 1 "made by penstock.operator"\n'


def _text(value: str) -> str:
    """As a literal of C++: JSON's escapes are among those of C++."""
    return json.dumps(value, ensure_ascii=False)


def _literal(text: str) -> str:
    """The same of a long text, in pieces."""
    return " ".join(_text(text[i : i + 4000]) for i in range(0, len(text), 4000)) or '""'
