"""`operator`: an operator of one's own from a few lines of C++ in a Python script (docs/custom-operators.md)."""

from __future__ import annotations

import hashlib
import importlib
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

from penstock import _catalog
from penstock.custom import compiled, cpp, numba_library
from penstock.custom.definition import Definition, of_class, of_function, snake_case
from penstock.errors import ArgumentTypeError, PluginError
from penstock.graph.blame import Blame
from penstock.machine import compiler, operator_library
from penstock.op import registry

_loaded: dict[str, operator_library.OperatorOfLibrary] = {}  # by what the tables call them
_lock = threading.Lock()


@overload
def operator(definition: Callable[..., Any], /) -> Callable[..., Any]: ...
@overload
def operator(*, name: str = "", channels: int = 0, **words: Any) -> Callable[[Any], Callable[..., Any]]: ...
def operator(definition: Any = None, /, *, name: str = "", channels: int = 0, **words: Any) -> Any:
    """Makes an operator of a class, or of a function, that has C++ as text. It is used as a decorator.

    What it gives is the operator, as `fn` then has it, too; `ops` has its class. The C++ is compiled at once by the
    system's compiler, and kept in the user's cache (``PENSTOCK_CACHE``): the next process loads it.

    Annotations are the operator's arguments: ``bool``, ``int``, ``float`` and ``tuple[float, float]`` or longer, all of
    which calls may give as nodes, too, with a value for each sample; where there is no functor also ``str``,
    ``list[int]`` and ``list[float]``. ``Annotated[float, "What it does."]`` has the argument's text. One of these
    members says what the operator does, as C++ that knows the arguments by their names, or the path of a file with it
    (a `pathlib.Path`, beside the script):

    - ``element``: an expression, or statements that ``return``, of the float ``v``: each element by itself.
    - ``pixel``: statements that write the floats ``out[0]``, ``out[1]``... of ``in[0]``, ``in[1]``..., with
      ``channels``, from 2 to 16, which are the last axis.
    - ``where``: statements that write the floats ``sx`` and ``sy``: where in the input (HWC) the output's pixel at
      ``x``, ``y`` is found. 0.5 is the middle of the first pixel; there are ``width`` and ``height``. The operator has
      the arguments ``interp_type`` (INTERP_NN or INTERP_LINEAR), ``fill_value`` and ``mask``, as `fn.sphere` has.
    - ``run``: statements that fill `penstock::Tensor` ``out`` of ``in`` for one sample, on the CPU; with ``inputs`` and
      ``outputs`` other than 1 they are ``in0``, ``in1``..., ``out0``...

    The first three join their neighbours in one pass on CPUs, and in one kernel on GPUs. These may be added:

    - ``header``: C++ before all that, such as functions and tables; ``PENSTOCK_FN`` stands before functions. With
      ``#include`` in it, an operator is for CPUs alone.
    - ``setup``: statements for each sample, on the CPU, before: checks that throw ``std::invalid_argument``, changes of
      the arguments that a functor sees, and of ``run`` the shapes and types of outputs, as ``out.set_shape({3, 4},
      "HW")`` and ``out.set_dtype(penstock::DType::float32)``, which are those of the first input unless it says so.
      ``s`` is the `penstock::Sample`.
    - ``python``: a function with which Numba takes the compiler's place where there is none: of an element
      ``python(v, strength)``, which returns it; of a pixel ``python(out, in_, strength)``; of a position
      ``python(x, y, width, height, strength)``, which returns two.
    - ``takes``: types of inputs, such as ``[types.UINT8]``; others are refused. Without it, ``element`` and ``pixel``
      take UINT8, INT16, INT32, FLOAT16 and FLOAT, and ``where`` all but FLOAT16.
    - ``gives``: the output's type, instead of the input's. An argument ``dtype: types.DALIDataType = None`` leaves it
      to the call.
    - ``random = True``: the operator has the argument ``seed``, and ``s.random()`` a number for each sample.

    Args:
        definition: the class, or a function with these arguments as parameters that returns the text of an ``element``,
            or with ``channels`` that of a ``pixel``.
        name: what `fn` calls it, such as "mine.sepia"; "": the name of the class in snake case, or of the function.
        channels, words: of a function: ``header`` and others as a class has them.

    Raises ArgumentError for a definition that makes no operator, CompilerError (a PluginError) with the compiler's
    words, which name the line of the script, and PluginError where there is no compiler, and no ``python`` for
    Numba, or the name is taken. An operator that was made so before, in the same file, is replaced.

    Example:
        >>> import penstock
        >>> @penstock.operator
        ... class faded:
        ...     '''Blends values with grey.'''
        ...     amount: float = 0.5
        ...     element = "v + amount * (128.0f - v)"
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return faded(np.uint8([0, 100, 255]), amount=0.25)
        >>> pipeline().run()[0].at(0).tolist()
        [32, 107, 223]
    """
    if definition is None:
        return lambda one: _operator(one, name, channels, words)
    return _operator(definition, name, channels, words)


def _operator(definition: Any, name: str, channels: int, words: dict[str, Any]) -> Callable[..., Any]:
    shown = name or snake_case(getattr(definition, "__name__", "operator"))
    with Blame(shown, what="defined"):
        if isinstance(definition, type):
            if words or channels:
                given = ", ".join([*words, "channels"][: len(words) + bool(channels)])
                raise ArgumentTypeError(f"{shown}: {given}: of a class these are members")
            return _made(of_class(definition, shown))
        if not callable(definition):
            raise ArgumentTypeError(f"{shown}: {definition!r}: expected a class or a function")
        return _made(of_function(definition, shown, {**words, **({"channels": channels} if channels else {})}))


def _made(definition: Definition) -> Callable[..., Any]:
    fn, _ = importlib.import_module("penstock.fn"), importlib.import_module("penstock.ops")  # whose names must be known
    with _lock:
        known = registry.ops.get(definition.name)
        if known is None or known.library != _origin(definition):
            _catalog.check_free(definition.name, ())
        key = cpp.key(definition)
        digest = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()[:16]
        table_name = f"{definition.name.replace('.', '_')}_{digest}"
        found = _loaded.get(table_name) or _load(definition, key, table_name)
        _loaded[table_name] = found
        named = replace(found, name=definition.name)
        compiled.check(named)
        registry.ops.pop(definition.name, None)
        schema = compiled.declare(named, _origin(definition), f"custom.{table_name}")
        _catalog.put(schema)
    function: Callable[..., Any] = fn.function_of(schema, definition.name)
    return function


def _load(definition: Definition, key: str, name: str) -> operator_library.OperatorOfLibrary:
    if compiler.compiler() is None and not os.environ.get("CXX"):
        (found,) = operator_library.take(numba_library.library(definition, name))
        return found
    source = cpp.source(definition, name)
    path = compiler.library(source, key, name)
    try:
        (found,) = operator_library.load(str(path), False)
    except PluginError:  # a file that is damaged: made anew, once
        path.unlink(missing_ok=True)
        (found,) = operator_library.load(str(compiler.library(source, key, name)), False)
    return found


def _origin(definition: Definition) -> str:
    """What serialized pipelines and errors say that the operator is of."""
    return f"@penstock.operator of {definition.file.rpartition('/')[2]}"
