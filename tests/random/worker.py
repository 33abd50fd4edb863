"""A process that runs cases in one library: ``python -m tests.random.worker nvidia.dali`` or ``penstock``.

It gets them on its standard input, each as a pickle; pickles on its standard output, behind their lengths, answer them.
"""

from __future__ import annotations

import functools
import gc
import importlib
import operator
import os
import pickle
import resource
import sys
import warnings
from typing import Any

import numpy as np

from tests.random import data
from tests.random.outcome import Outcome, Output

MEMORY = 16 << 30  # bytes: a library that takes more than that fails, not the machine


def namespace(library: str) -> dict[str, Any]:
    root = importlib.import_module(library)
    parts = {name: importlib.import_module(f"{library}.{name}") for name in ("fn", "math", "tfrecord", "types")}
    # One batch is compared; the oracle makes no second one.
    pipeline = root.Pipeline if library == "penstock" else functools.partial(root.Pipeline, prefetch_queue_depth=1)
    own = {"Pipeline": pipeline, "newaxis": root.newaxis, **parts}
    return {"np": np, "operator": operator, **vars(data), **own}


def root_of_errors(library: str) -> type[BaseException]:
    """Of all that the library raises on purpose; DALI has no such class."""
    return importlib.import_module("penstock.errors").PenstockError if library == "penstock" else Exception


def run(text: str, scope: dict[str, Any], errors: type[BaseException]) -> Outcome:
    made = dict(scope)
    try:
        exec(text, made)
        outputs = tuple(Output(int(o.dtype), o.layout(), arrays(o)) for o in made["outputs"])
    except Exception as error:  # whatever it is, it is what the user would get
        classes = [cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins"]
        own = isinstance(error, errors)
        return Outcome(classes=tuple(classes), error=type(error).__name__, message=str(error), own=own)
    finally:
        made.clear()  # functions of the text refer to it: pipelines, and their threads, would wait for the collector
    return Outcome(outputs)


def arrays(output: Any) -> tuple[data.Array, ...]:
    return tuple(np.array(output.at(i)) for i in range(len(output)))


def arguments(fn: Any) -> dict[str, list[str]]:
    """The arguments that DALI's operators have, by the operators' names."""
    from nvidia.dali import backend

    from tools.dali_operators import names

    found = {}
    for name in names(fn):
        schema = backend.GetSchema(operator.attrgetter(name)(fn)._schema_name)
        found[name] = list(schema.GetArgumentNames())
    return found


def main() -> None:
    library = sys.argv[1]
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    scope, errors = namespace(library), root_of_errors(library)
    gc.freeze()  # modules stay: the collector need not go through them again and again
    while True:
        try:
            text = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer = run(text, scope, errors) if text else arguments(scope["fn"])
        packed = pickle.dumps(answer)
        answers.write(len(packed).to_bytes(8, "little") + packed)
        answers.flush()


if __name__ == "__main__":
    main()
