"""Signatures of operators, as `inspect.signature` and completion show them."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter, Signature
from typing import Any

from penstock.op import Op

_MANY_INPUTS = 8  # more are shown as *inputs
_COMMON = {"device": None, "name": None, "preserve": False, "bytes_per_sample_hint": 0}


def of_function(schema: type[Op]) -> Signature:
    """Of an operator in `fn`: its inputs, then its arguments."""
    return Signature([*_inputs(schema), *_positional(schema), *_keywords(schema, required=True)])


def of_class(schema: type[Op]) -> Signature:
    """Of an operator's class in `ops`, which takes arguments alone; a required one may still come with the call."""
    return Signature([*_positional(schema), *_keywords(schema, required=False)])


def of_object(schema: type[Op]) -> Signature:
    """Of an object of such a class: its inputs, and all arguments again."""
    return Signature([*_inputs(schema), *_positional(schema), *_keywords(schema, required=False)])


class ClassAndObject:
    """As a class's ``__signature__``: that of its constructor, and for its objects that of their call."""

    def __get__(self, instance: object, owner: Any) -> Signature:
        return of_class(owner.schema) if instance is None else of_object(owner.schema)


def _inputs(schema: type[Op]) -> Iterator[Parameter]:
    least, most = schema.num_inputs
    if most > _MANY_INPUTS:
        yield Parameter("inputs", Parameter.VAR_POSITIONAL)
        return
    for i in range(most):
        yield Parameter(
            "input" if most == 1 else f"input_{i}",
            Parameter.POSITIONAL_ONLY,
            default=Parameter.empty if i < least else None,
        )


def _positional(schema: type[Op]) -> Iterator[Parameter]:
    for name in schema.positional:
        yield Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=schema.arguments[name].default)


def _keywords(schema: type[Op], *, required: bool) -> Iterator[Parameter]:
    for a in sorted(schema.arguments.values(), key=lambda a: (not a.required, a.name)):
        if a.name not in schema.positional:
            given = required and a.required
            yield Parameter(a.name, Parameter.KEYWORD_ONLY, default=Parameter.empty if given else a.default)
    for name, default in _COMMON.items():
        if name not in schema.arguments:
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default)


def of_call(schema: type[Op]) -> Signature:
    """Of an operator in dynamic mode: that of `fn`, the size of the batch, and where its random numbers come from."""
    known = of_function(schema)
    more = [Parameter("batch_size", Parameter.KEYWORD_ONLY, default=None)]
    if schema.random:
        more.append(Parameter("rng", Parameter.KEYWORD_ONLY, default=None))
    hidden = ("preserve", "name", "bytes_per_sample_hint", "seed")
    kept = [p for p in known.parameters.values() if p.name not in hidden]
    return Signature([*kept, *(p for p in more if p.name not in known.parameters)])
