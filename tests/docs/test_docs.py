"""All examples in docstrings run, every operator has one, and the arguments are those of DALI."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import fn, ops, pipeline_def, types
from penstock.op import Op, registry
from penstock.read.listing import default_filters
from tests.decode.sounds import sounds_can_be_decoded, wav
from tests.read import record_files
from tests.read.tars import tar

OPERATORS = registry.public()
operators = pytest.mark.parametrize("name", sorted(OPERATORS))


def _examples() -> list[doctest.DocTest]:
    found = []
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if module.name in (fn.__name__, ops.__name__):  # their docstrings are made from the declarations
            continue
        try:
            imported = importlib.import_module(module.name)
        except ImportError as error:
            if error.name is None or error.name.split(".")[0] == "penstock":
                raise
            continue  # a plugin whose framework is not installed
        tests = [test for test in doctest.DocTestFinder().find(imported, module.name) if test.examples]
        made = {
            f"{module.name}.{name}"
            for name, value in vars(imported).items()
            if not inspect.ismodule(value) and hasattr(value, "schema")  # modules look for what was meant instead
        }
        found += [test for test in tests if test.name not in made]
    return found


@pytest.mark.parametrize("example", _examples(), ids=lambda test: test.name.removeprefix("penstock."))
def test_example_runs(
    example: doctest.DocTest, photographs: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """``photos`` and ``sounds`` are folders of class folders, ``folder`` holds the picture a.jpg, ``archive`` is a tar
    archive, ``video`` a video of 64x48 pixels, and ``records``, ``recordio``, ``caffe_lmdb`` and ``caffe2_lmdb`` are
    what readers of records read.
    """
    # What is loaded for a GPU is loaded once in a process.
    if any(word in e.source for e in example.examples for word in ("gpu(", '"gpu"', '"mixed"', "examine(")):
        request.getfixturevalue("software_gpu")
    (tmp_path / "a.jpg").write_bytes(next(photographs.glob("*/*.jpg")).read_bytes())
    (tmp_path / "a.tar").write_bytes(tar([(f"{i}.{e}", b"%d" % i) for i in range(4) for e in ("jpg", "cls")]))
    for i in range(2):
        (tmp_path / "sounds" / "a").mkdir(parents=True, exist_ok=True)
        (tmp_path / "sounds" / "a" / f"{i}.wav").write_bytes(wav(np.zeros((800, 1)), 8000))
    if "sounds" in "".join(e.source for e in example.examples) and not sounds_can_be_decoded():
        pytest.skip("needs libsndfile")
    folders = {"photos": str(photographs), "folder": str(tmp_path), "archive": str(tmp_path / "a.tar")}
    if any(word in e.source for e in example.examples for word in ("video]", "(video,")):
        pytest.importorskip("av", reason="PyAV, which makes videos for tests, is not installed")
        from tests.decode.videos import Clip, encoded

        (tmp_path / "a.mp4").write_bytes(encoded(Clip("libx264", "mp4", b=2)))
        folders["video"] = str(tmp_path / "a.mp4")
    folders |= {"sounds": str(tmp_path / "sounds"), **record_files.examples(tmp_path)}
    example.globs.update(folders, fn=fn, ops=ops, types=types, pipeline_def=pipeline_def, np=np)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(example, out=said.append, clear_globs=False)
    assert not said, "".join(said)


@operators
def test_docstring_has_its_parts(name: str) -> None:
    text = OPERATORS[name].__doc__ or ""
    for part in ("output", "errors:", "example:", ">>> "):
        assert part in text.lower(), f"the docstring of {OPERATORS[name]} says nothing of {part!r}"
    for argument in OPERATORS[name].arguments.values():
        assert argument.doc.endswith("."), f"{name}: {argument.name}: {argument.doc!r} is no sentence"


@operators
def test_function_and_class_are_documented(name: str) -> None:
    function: Any = fn
    for part in name.split("."):
        function = getattr(function, part)
    for argument in OPERATORS[name].arguments:
        assert f"    {argument} (" in (function.__doc__ or ""), f"{name}: {argument} is not in the docstring"


def test_an_argument_without_effect_says_why() -> None:
    unused = [(c, a) for c in OPERATORS.values() for a in c.arguments.values() if a.unused]
    assert unused
    for cls, argument in unused:
        assert not argument.to_kernel, f"{cls.name}: {argument.name} is said to be without effect"


# What every operator takes, see penstock/ops.py.
_COMMON = {"bytes_per_sample_hint", "preserve"}
# What DALI does not have.
_OWN = {
    "adjust_orientation",
    "color_matrix",
    "jpeg_engine",
    "jpeg_index",
    "on_error",
    "sampler",
    "verify_checksums",
    "video_engine",
}
# What DALI cannot do without.
_OPTIONAL = {"index_path"}
# Where DALI's class in Python has another default than the schema, and overrules it.
_OF_THE_CLASS = {("dl_tensor_python_function", "batch_processing"): True, ("external_source", "no_copy"): None}
# What is found when the pipeline is built, if it is not given.
_FOUND = {"file_filters": default_filters}


@operators
def test_arguments_are_those_of_dali(name: str) -> None:
    backend = pytest.importorskip("nvidia.dali.backend", reason="DALI, whose arguments these are, is not installed")
    function: Any = pytest.importorskip("nvidia.dali.fn")
    for part in name.split("."):
        function = getattr(function, part, None)
    if function is None or not hasattr(function, "_schema_name"):
        pytest.skip("not one of DALI's schemas")
    schema, cls = backend.GetSchema(function._schema_name), OPERATORS[name]
    assert cls.num_inputs == (schema.MinNumInput(), schema.MaxNumInput())
    theirs = set(schema.GetArgumentNames()) - _COMMON
    assert theirs <= set(cls.arguments)
    extras = set(cls.arguments) - theirs - _OWN
    if cls.positional:  # the schema is but a part of what DALI's function takes
        parameters = inspect.signature(function).parameters
        assert tuple(name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD) == cls.positional
        assert extras <= set(parameters)
    else:
        assert all(cls.arguments[extra].deprecated for extra in extras)  # of DALI's own past
    for argument in theirs:
        ours = cls.arguments[argument]
        assert ours.required == (not schema.IsArgumentOptional(argument) and argument not in _OPTIONAL), argument
        assert ours.per_sample == schema.IsTensorArgument(argument), argument
        if schema.HasArgumentDefaultValue(argument):
            default = ast.literal_eval(schema.GetArgumentDefaultValueString(argument))
            if (name, argument) in _OF_THE_CLASS:
                default = _OF_THE_CLASS[name, argument]
            if argument in _FOUND:
                assert ours.default is None
                assert set(default) <= set(_FOUND[argument]())
            else:
                assert _plain(ours.default) == _plain(default), argument


def _plain(value: Any) -> Any:
    """A list of one number is as good as the number; enums are their numbers."""
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    items = [pytest.approx(float(v), rel=1e-5) if isinstance(v, (bool, int, float)) else v for v in items]
    return items[0] if len(items) == 1 else items


def test_every_operator_is_a_subclass_with_a_name_of_its_own() -> None:
    for name, cls in OPERATORS.items():
        assert issubclass(cls, Op)
        assert OPERATORS[name].__module__.startswith("penstock."), name
