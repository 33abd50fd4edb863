"""Mistakes of users: each is an exception of the project's tree that names operator, argument, value, what is accepted,
and the user's own line. All operators are tried, as the registry has them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn, math, ops, pipeline_def, types
from penstock._catalog import class_name
from penstock.errors import (
    ArgumentError,
    ArgumentTypeError,
    DecodeError,
    DeviceError,
    OperatorError,
    PenstockError,
    ReadError,
    UnknownArgumentError,
)
from penstock.op import COMMON, Argument, Op, registry
from tests.small import made

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
OPERATORS = registry.public()
operators = pytest.mark.parametrize("name", sorted(OPERATORS))
HERE = Path(__file__).name


def function(name: str) -> Callable[..., Any]:
    found: Any = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def inputs(cls: type[Op]) -> list[Any]:
    return [fn.external_source(name=f"input_{i}") for i in range(cls.num_inputs[0])]


def mistake(name: str, given: list[Any], /, **arguments: Any) -> PenstockError:
    """What calling the operator so raises, which must name it and this line."""
    with pytest.raises(PenstockError) as caught:
        function(name)(*given, **arguments)
    error = caught.value
    assert str(error).startswith(name)
    assert re.search(rf"\n  operator made at .*{HERE}:\d+, in mistake: function\(name\)", str(error))
    assert (error.operator, HERE in (error.location or "")) == (name, True)
    return error


def arguments_of(cls: type[Op]) -> list[Argument]:
    return [argument for argument in cls.arguments.values() if argument.name not in cls.positional]


@operators
def test_unknown_argument(name: str) -> None:
    cls = OPERATORS[name]
    error = mistake(name, inputs(cls), zzyzx=1)
    assert isinstance(error, UnknownArgumentError)
    assert isinstance(error, (TypeError, KeyError))  # as Python and DALI have it
    assert "has no argument 'zzyzx'. It has" in str(error)
    assert all(argument in str(error) for argument in cls.arguments)


@operators
def test_misspelt_arguments(name: str) -> None:
    cls = OPERATORS[name]
    for argument in [*cls.arguments, "preserve", "device"]:
        middle = len(argument) // 2
        spelt = (
            argument[:middle] + argument[middle + 1 :],
            argument + "s",
            argument.title(),
            argument.replace("_", ""),
        )
        for wrong in (s for s in spelt if len(s) > 3 and s not in (*cls.arguments, *COMMON)):
            error = mistake(name, inputs(cls), **{wrong: 1})
            assert re.search(rf"Did you mean .*'{argument}'", str(error)), f"{wrong}: {error}"


@operators
def test_arguments_as_others_call_them(name: str) -> None:
    cls = OPERATORS[name]
    for argument in cls.arguments.values():
        for other in argument.aka:
            if other in cls.arguments:  # a group of arguments is shared with operators that have not this one
                continue
            error = mistake(name, inputs(cls), **{other: 1})
            assert re.search(rf"Did you mean .*'{argument.name}'", str(error)), f"{other}: {error}"


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("readers.file", "shuffle", ["random_shuffle"]),
        ("readers.file", "path", ["file_root"]),
        ("readers.file", "root", ["file_root"]),
        ("readers.file", "world_size", ["num_shards"]),
        ("resize", "width", ["resize_x"]),
        ("resize", "height", ["resize_y"]),
        ("resize", "interpolation", ["interp_type"]),
        ("crop", "crop_size", ["crop"]),
        ("crop_mirror_normalize", "stddev", ["std"]),
        ("normalize", "std", ["stddev"]),
        ("random.normal", "std", ["stddev"]),
        ("random.coin_flip", "p", ["probability"]),
        ("rotate", "degrees", ["angle"]),
        ("gaussian_blur", "kernel_size", ["window_size"]),
        ("random_resized_crop", "ratio", ["random_aspect_ratio"]),
        ("decoders.image", "devices", ["device"]),
    ],
)
def test_common_confusions(name: str, wrong: str, right: list[str]) -> None:
    error = mistake(name, inputs(OPERATORS[name]), **{wrong: 1})
    assert f"has no argument {wrong!r}. Did you mean {' or '.join(map(repr, right))}?" in str(error)


@operators
def test_wrong_type(name: str) -> None:
    cls, wrong = OPERATORS[name], object()
    for argument in (a for a in arguments_of(cls) if a.kind != "any"):
        error = mistake(name, inputs(cls), **{argument.name: wrong})
        assert isinstance(error, ArgumentTypeError)
        assert isinstance(error, TypeError)
        assert f"{name}: {argument.name}={wrong!r}: expected " in str(error)
        assert ("or a node with one value per sample" in str(error)) == argument.per_sample


@operators
def test_value_that_is_none_of_the_choices(name: str) -> None:
    cls = OPERATORS[name]
    wrong = {
        "string": "zzyzx",
        "dtype": types.STRING,
        "image_type": types.ANY_DATA,
        "interp_type": types.INTERP_GAUSSIAN,
    }
    for argument in (a for a in arguments_of(cls) if a.choices and a.kind in wrong):
        value = wrong[argument.kind]
        if value not in (argument.choices or ()):
            error = mistake(name, inputs(cls), **{argument.name: value})
            accepted = ", ".join(map(repr, argument.choices or ()))
            assert f"{name}: {argument.name}={value!r}: expected one of {accepted}" in str(error)


@operators
def test_node_where_none_may_be(name: str) -> None:
    cls = OPERATORS[name]
    for argument in arguments_of(cls):
        if argument.per_sample:
            error = mistake(name, inputs(cls), **{argument.name: fn.random.uniform().gpu()})
            assert isinstance(error, DeviceError)
            assert f"{name}: {argument.name} is on the GPU" in str(error)
            assert "use .cpu()" in str(error)
        else:
            error = mistake(name, inputs(cls), **{argument.name: fn.random.uniform()})
            assert isinstance(error, ArgumentTypeError)
            assert f"{name}: {argument.name} must be a constant, not a node" in str(error)


@operators
def test_wrong_device(name: str) -> None:
    cls = OPERATORS[name]
    for device in ("tpu", "cuda:0", 0):
        error = mistake(name, inputs(cls), device=device)
        assert isinstance(error, DeviceError)
        assert f"{name}: device={device!r}: this operator runs on " in str(error)
        assert all(repr(known) in str(error) for known in cls.devices)


@operators
def test_wrong_name(name: str) -> None:
    error = mistake(name, inputs(OPERATORS[name]), name=5)
    assert isinstance(error, ArgumentTypeError)
    assert f"{name}: name=5: expected a string" in str(error)


@operators
def test_wrong_number_of_inputs(name: str) -> None:
    cls = OPERATORS[name]
    least, most = cls.num_inputs
    for count in {least - 1, most + 1 + len(cls.positional)} - {-1}:
        error = mistake(name, [fn.random.uniform()] * count)
        assert isinstance(error, ArgumentTypeError)
        assert f"got {count}" in str(error)
        assert str(len(cls.positional) or (least if count < least else most)) in str(error)


@operators
def test_inputs_that_are_none(name: str) -> None:
    cls = OPERATORS[name]
    if cls.num_inputs[0]:
        for wrong in ("text", None, object(), [inputs(cls)[0], 1]):
            error = mistake(name, [wrong, *inputs(cls)[1:]])
            assert isinstance(error, ArgumentTypeError)
            assert f"{name}: input 0 is " in str(error)
            assert "expected a node, a number or an array of numbers" in str(error)


@operators
def test_required_arguments(name: str) -> None:
    cls = OPERATORS[name]
    required = [argument for argument in cls.arguments.values() if argument.required]
    if required:
        error = mistake(name, inputs(cls))
        assert any(f"{name}: the argument {a.name!r} is required: {a.doc}" in str(error) for a in required)


@operators
def test_classes_find_mistakes_where_they_are_made(name: str) -> None:
    """Not only when they are called."""
    cls: Any = ops
    for part in class_name(name).split("."):
        cls = getattr(cls, part)
    with pytest.raises(UnknownArgumentError, match=rf"(?s){name} has no argument 'zzyzx'.*{HERE}:\d+"):
        cls(zzyzx=1)


def test_nodes_in_a_list() -> None:
    images, x = fn.external_source(), fn.random.uniform()
    with pytest.raises(
        ArgumentTypeError, match=r"resize: size=\[.*\]: expected .*; fn\.stack makes one node of several"
    ):
        fn.resize(images, size=[x, x])


# Arguments of pipelines.


PIPELINE = [
    ("batchsize", "batch_size"), ("bs", "batch_size"), ("threads", "num_threads"), ("num_workers", "num_threads"),
    ("gpu", "device_id"), ("device", "device_id"), ("prefetch", "prefetch_queue_depth"), ("sed", "seed"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "right"), PIPELINE)
def test_unknown_arguments_of_pipelines(wrong: str, right: str) -> None:
    class Own(Pipeline):
        def __init__(self, **arguments: Any):
            super().__init__(4, **arguments)

    @pipeline_def(num_threads=1)
    def define(images: str) -> Any:
        return fn.random.uniform()

    def decorated(**arguments: Any) -> Any:
        return pipeline_def(**arguments)(lambda: 1)()

    for name, use in {
        "Pipeline": lambda **k: Pipeline(4, **k),
        "pipeline_def": decorated,
        "define": lambda **k: define("photos", **k),
    }.items():
        found = rf"(?s)^{name} has no argument '{wrong}'\. Did you mean .*'{right}'.*called at .*{HERE}:\d+"
        with pytest.raises(UnknownArgumentError, match=found):
            use(**{wrong: 1})
    with pytest.raises(UnknownArgumentError, match=f"Did you mean '{right}'"):
        Own(**{wrong: 1})


def test_arguments_of_the_function_are_suggested_too() -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def define(image_folder: str) -> Any:
        return fn.random.uniform()

    with pytest.raises(
        UnknownArgumentError, match=r"define has no argument 'image_foldr'\. Did you mean 'image_folder'"
    ):
        define(image_foldr="photos")


def test_wrong_values_of_pipelines_name_the_line() -> None:
    with pytest.raises(
        ArgumentError, match=rf"(?s)^Pipeline: batch_size=0: expected 1 or more\n  called at .*{HERE}:\d+"
    ):
        Pipeline(batch_size=0)


@pytest.mark.parametrize(
    ("wrong", "right"), [("reader", "reader_name"), ("epoch_size", "size"), ("stop_at_epoch", "last_batch_policy")]
)
def test_unknown_arguments_of_iterators(wrong: str, right: str) -> None:
    pytest.importorskip("torch")
    from penstock.plugin.pytorch import DALIClassificationIterator, DALIGenericIterator

    pipe = made(lambda: (fn.random.uniform(), fn.random.uniform()))
    for cls, more in ((DALIClassificationIterator, {}), (DALIGenericIterator, {"output_map": ["a", "b"]})):
        found = rf"(?s)^{cls.__name__} has no argument '{wrong}'\. Did you mean '{right}'.*called at .*{HERE}:\d+"
        with pytest.raises(UnknownArgumentError, match=found):
            cls(pipe, **more, **{wrong: 1})


# Mistakes that show when files are read, or batches computed.


def raises(kind: type[PenstockError], pipe: Callable[[], Any]) -> str:
    with pytest.raises(kind) as caught:
        pipe().run()
    text = str(caught.value)
    assert re.search(rf"\n  operator made at .*{HERE}:\d+", text), text
    return text


@pytest.fixture
def files(tmp_path: Path, photographs: Path) -> list[str]:
    """A photograph, the first half of it, and something else."""
    whole = next(iter(sorted(photographs.glob("*/*.jpg")))).read_bytes()
    for name, data in (("whole", whole), ("half", whole[: len(whole) // 2]), ("text", b"text" * 99), ("empty", b"")):
        (tmp_path / f"{name}.jpg").write_bytes(data)
    return [str(tmp_path / f"{name}.jpg") for name in ("whole", "half", "text", "empty")]


def read(*paths: str, **arguments: Any) -> Any:
    return fn.readers.file(files=list(paths), **arguments)[0]


@pytest.mark.parametrize("lazy", [False, True])
def test_missing_folder(lazy: bool, tmp_path: Path) -> None:
    text = raises(ReadError, lambda: made(lambda: fn.readers.file(file_root=tmp_path / "none", lazy_init=lazy)[0]))
    assert text.startswith(f"readers.file: file_root={str(tmp_path / 'none')!r}: cannot list ")
    assert os.strerror(2) in text


@pytest.mark.parametrize("lazy", [False, True])
def test_empty_data_set(lazy: bool, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "a.txt").write_text("no picture")
    text = raises(ArgumentError, lambda: made(lambda: fn.readers.file(file_root=tmp_path, lazy_init=lazy)[0]))
    assert text.startswith("readers.file: ")
    assert str(tmp_path) in text
    assert "no file" in text


def test_missing_file(tmp_path: Path, files: list[str]) -> None:
    gone = str(tmp_path / "gone.jpg")
    text = raises(ReadError, lambda: made(lambda: read(files[0], gone), batch_size=2))
    assert f"file: {gone}" in text or f"{gone!r}" in text or gone in text
    assert text.startswith("readers.file: ")
    assert os.strerror(2) in text


@pytest.mark.parametrize("which", ["text", "empty"])
def test_broken_file(which: str, files: list[str]) -> None:
    broken = next(f for f in files if f.endswith(f"{which}.jpg"))
    text = raises(DecodeError, lambda: made(lambda: fn.decoders.image(read(files[0], broken)), batch_size=2))
    assert text.startswith("decoders.image: ")
    assert f"\n  file: {broken}\n  sample: 1 of the batch" in text


RUN_TIME: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda x: fn.resize(fn.reshape(x, shape=[-1]), size=5), "resize", "1"),
    (lambda x: fn.crop(fn.reinterpret(x, layout="ABC"), crop=[2, 2]), "crop", "ABC"),
    (lambda x: fn.crop(x, crop=[2000, 20]), "crop", "2000"),
    (lambda x: fn.slice(x, start=[-5, 0], shape=[7, 7]), "slice", "-5"),
    (lambda x: fn.crop_mirror_normalize(x, mean=[1.0, 2.0]), "crop_mirror_normalize", "2"),
    (lambda x: fn.crop_mirror_normalize(x, output_layout="XY"), "crop_mirror_normalize", "XY"),
    (lambda x: fn.reshape(x, shape=[7, -1, 1]), "reshape", "7"),
    (lambda x: fn.transpose(x, perm=[0, 1]), "transpose", "[0, 1]"),
    (lambda x: fn.cat(x, x[:5], axis=1), "cat", "axis"),
    (lambda x: x + np.zeros((3, 7), np.uint8), "add", "(3, 7)"),
    (lambda x: x[5000], "subscript", "5000"),
    (lambda x: fn.rotate(x, angle=1, size=[-1, 5]), "rotate", "-1"),
    (lambda x: fn.gaussian_blur(x, window_size=4), "gaussian_blur", "4"),
    (lambda x: fn.hsv(x[..., :2], hue=1.0), "hsv", "2"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RUN_TIME)))
def test_data_that_does_not_fit(number: int, files: list[str]) -> None:
    """The operator, the value, the sample's file and the user's line are named."""
    make, name, value = RUN_TIME[number]
    text = raises(PenstockError, lambda: made(lambda: make(fn.decoders.image(read(files[0]))), batch_size=1))
    assert text.startswith(name)
    assert value in text
    if "\n  sample: " in text:  # some are found before there is a sample
        assert f"\n  file: {files[0]}" in text


NODES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x[1, "a"], r"x\[\.\.\.\]: 'a': expected a whole number"),
    (lambda x: x[..., ...], "more than one ellipsis"),
    (lambda x: x + "a", "add: an operand is a node, a number or an array of numbers, not 'a'"),
    (lambda x: math.sqrt("a"), "sqrt: an operand is a node, a number or an array of numbers, not 'a'"),
    (lambda x: x.shape(dtype=types.STRING), "shape: dtype=DALIDataType.STRING: expected one of DALIDataType.INT32"),
    (lambda x: x.shape(device="tpu"), "shape: device='tpu': expected 'cpu' or 'gpu'"),
    (lambda x: x.property("size"), "property: key='size': expected one of 'source_info', 'layout'"),
]


@pytest.mark.parametrize("number", range(len(NODES)))
def test_operations_on_nodes(number: int) -> None:
    use, wanted = NODES[number]
    with pytest.raises(PenstockError, match=rf"(?s){wanted}.*\n  operator made at .*{HERE}:\d+"):
        use(fn.external_source(name="x"))


def test_data_of_another_type(files: list[str]) -> None:
    text = raises(OperatorError, lambda: made(lambda: fn.decoders.image(np.zeros(5, np.float32)), batch_size=1))
    assert text.startswith("decoders.image: ")
    assert "float" in text.lower()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("crop: too large", "crop: too large"),
        ("crop has no argument 'x'.", "crop has no argument 'x'."),
        ("crop_w=3: too large", "crop: crop_w=3: too large"),
        ("cropping needs an axis", "crop: cropping needs an axis"),
    ],
)
def test_the_operator_is_named_once(text: str, shown: str) -> None:
    error = PenstockError(text)
    error.blame("crop", "train.py:3")
    assert str(error) == f"{shown}\n  operator made at train.py:3"


def test_tree_of_errors() -> None:
    """All are of one tree, and what Python's own would be, too."""
    own = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert all(issubclass(e, PenstockError) for e in own)
    documented = re.findall(r"(\w+Error)", errors.__doc__ or "")
    assert {e.__name__ for e in own} <= set(documented)
