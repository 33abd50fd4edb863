"""The names that kernels read are those that declarations have: of every operator, on every device.

That is checked wherever a plan is built, by the native library; here, no kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import DataNode, Pipeline, errors, fn, types
from penstock.graph.constants import ConstantOp
from penstock.machine import native
from penstock.op import Op, arg, op, registry
from penstock.ops import call
from tests.augment.test_sweep import CASES
from tests.cases import Samples
from tests.read.test_sweep import CASES as DATA_SETS

Make = Callable[[str], Any]  # from the device, nodes


def _read() -> tuple[DataNode, DataNode]:
    files, labels = fn.readers.file(files=["a.jpg", "b.jpg"])
    return files, labels


def _decoded(name: str, **arguments: Any) -> Make:
    return lambda device: call(registry.ops[name], (_read()[0],), {"device": device, **arguments})


def _on(device: str, data: DataNode) -> DataNode:
    return data.gpu() if device == "gpu" else data


def _there(device: str) -> DataNode:
    return _on(device, fn.cast(_read()[0], dtype=types.FLOAT))


def _function(name: str) -> Make:
    return lambda device: call(registry.ops[name], (_there(device),), {"function": abs, "device": device})


def _copy(out: Any, given: Any) -> None:
    out[:] = given


def _branches(device: str, merged: bool) -> Any:
    predicate = fn.random.coin_flip(dtype=types.BOOL)
    branches = fn._conditional.split(_there(device), predicate=predicate)
    return fn._conditional.merge(*branches, predicate=predicate) if merged else branches


# Those that the sweep's modules have no cases for.
OTHERS: dict[str, list[Make]] = {
    "decoders.audio": [lambda _: fn.decoders.audio(_read()[0], downmix=True, sample_rate=8000.0)],
    "decoders.image": [
        _decoded("decoders.image", jpeg_engine=engine, use_fast_idct=exact) for engine in ("cuda", "hardware", "cpu")
        for exact in (False, True)
    ],
    "decoders.video": [
        _decoded("decoders.video"), _decoded("decoders.video", start_frame=1, end_frame=5, stride=2),
        _decoded("decoders.video", frames=[1, 2], pad_mode="edge", fill_value=3),
    ],
    "decoders.image_crop": [_decoded("decoders.image_crop"), _decoded("decoders.image_crop", crop=(2, 3))],
    "decoders.image_random_crop": [_decoded("decoders.image_random_crop")],
    "decoders.image_slice": [
        _decoded("decoders.image_slice", start=[1, 1], shape=[2, 2]),
        _decoded("decoders.image_slice", start=[1], shape=[2], axes=[0]),
    ],
    "random_crop_generator": [lambda _: fn.random_crop_generator(types.Constant(np.int64([4, 6])))],
    "peek_image_shape": [lambda _: fn.peek_image_shape(_read()[0])],
    "decoders.numpy": [lambda _: fn.decoders.numpy(_read()[0])],
    "decoders.inflate": [
        lambda device: fn.decoders.inflate(_on(device, _read()[0]), shape=3),
        lambda device: fn.decoders.inflate(_on(device, _read()[0]), shape=3, chunk_sizes=[1], chunk_offsets=[0]),
    ],
    "_decoders.input_video": [lambda _: fn._decoders.input_video(_read()[0], *[_read()[1] for _ in range(2)])],
    "io.file.read": [lambda _: fn.io.file.read(_read()[0])],
    "_readers.coco_masks": [lambda _: fn._readers.coco_masks(*[_read()[1] for _ in range(6)])],
    "_readers.sequence_frames": [lambda _: fn._readers.sequence_frames(*_read())],
    "_readers.nemo_sound": [lambda _: fn._readers.nemo_sound(*_read())],
    "_conditional.split": [lambda device: _branches(device, False)],
    "_conditional.merge": [lambda device: _branches(device, True)],
    **{name: [_function(name)] for name in ("python_function", "dl_tensor_python_function", "_torch_python_function")},
    "_jax_function": [lambda _: _function("_jax_function")("cpu")],
    "_numba_function": [
        lambda _: call(
            registry.ops["_numba_function"], (_there("cpu"),),
            {"run_fn": _copy, "in_types": [types.FLOAT], "out_types": [types.FLOAT], "ins_ndim": [1], "outs_ndim": [1]},
        )
    ],
    "optical_flow": [lambda device: fn.optical_flow(_there(device), device=device)],
    "_arithmetic": [lambda device: 1 + _there(device) * 2],
    "_subscript": [lambda device: _there(device)[2:, None], lambda device: _there(device)[0]],
    "_shape": [lambda device: _there(device).shape(device=device)],
    "_property": [lambda device: _there(device).source_info(device=device)],
}  # fmt: skip


def _cases(schema: type[Op]) -> Iterator[Make]:
    for case in CASES:
        if registry.ops[case.op] is schema:

            def make(device: str, case: Any = case) -> Any:
                nodes = [s.node() for s in case.inputs]
                if device == "gpu":
                    nodes = [n if i in schema.cpu_inputs else n.gpu() for i, n in enumerate(nodes)]
                given = {k: v.node() if isinstance(v, Samples) else v for k, v in case.arguments.items()}
                return call(schema, tuple(nodes), {"device": device, **given})

            yield make


def _data_sets(schema: type[Op], folder: Path) -> Iterator[Make]:
    for i, case in enumerate(case for case in DATA_SETS if case.reader == schema.name):
        arguments = case.written(folder / str(i))
        yield lambda _, given=arguments: _listed(call(schema, (), given))  # type: ignore[misc]


def _listed(made: Any) -> Any:
    return [*made.values()] if isinstance(made, dict) else made


def has_kernel(schema: type[Op]) -> bool:
    return not schema.external and not issubclass(schema, ConstantOp)


ALL = {schema.name: schema for schema in registry.ops.values() if has_kernel(schema)}


@pytest.mark.parametrize("name", ALL)
def test_a_kernel_reads_what_is_declared(name: str, tmp_path: Path, software_gpu: None) -> None:
    schema = ALL[name]
    makers = [*OTHERS.get(name, []), *_cases(schema), *_data_sets(schema, tmp_path)]
    if name in ("_to_gpu", "_to_cpu"):
        makers.append(lambda _: _there("gpu").cpu())
    assert makers, "this operator is tried nowhere"
    for device in schema.devices:
        for make in makers:
            pipe = Pipeline(batch_size=2, num_threads=1, device_id=None if device == "cpu" else 0)
            with pipe:
                made = make(device)
                pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
            pipe.build()
            pipe.close()


class Plan:
    """A native plan of one node, made by hand."""

    def __init__(self) -> None:
        self._library = native.quick()
        self._handle = self._library.ps_plan_create()
        self._input = self._library.ps_plan_source(self._handle, 0)

    def argument(self, name: str, value: int) -> None:
        self._library.ps_arg_integers(self._handle, name.encode(), native.integers([value]), 1)

    def absent(self, name: str) -> None:
        self._library.ps_arg_none(self._handle, name.encode())

    def problem(self, kernel: str) -> str | None:
        """What is wrong with the node of these arguments; they are gone then."""
        made = self._library.ps_plan_node(self._handle, kernel.encode(), native.ints([self._input]), 1, 1, 0, 0, -1)
        if made >= 0:
            return None
        error = native.last_error()
        return str(error.message.decode())

    def __del__(self) -> None:
        self._library.ps_plan_destroy(self._handle)


def test_a_name_that_is_not_declared() -> None:
    plan = Plan()
    for name in ("horizontal", "vertical"):
        plan.argument(name, 1)
    assert plan.problem("flip") == "the kernel reads the argument 'depthwise', which is not declared"


def test_a_name_that_no_kernel_reads() -> None:
    plan = Plan()
    for name in ("horizontal", "vertical", "depthwise", "sideways", "askew"):
        plan.argument(name, 1)
    problem = plan.problem("flip")
    assert problem == "arguments are declared for the kernel 'flip' that it does not read: askew, sideways"


def test_a_name_that_is_declared_and_not_given() -> None:
    plan = Plan()
    for name in ("perm", "output_layout"):
        plan.absent(name)
    plan.argument("transpose_layout", 1)
    assert plan.problem("transpose") is None


def test_a_number_that_must_be_given() -> None:
    plan = Plan()
    for name in ("perm", "output_layout", "transpose_layout"):
        plan.absent(name)
    assert plan.problem("transpose") == "the argument 'transpose_layout' is needed, but it is not given"


def test_a_declaration_with_a_misspelt_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ops", dict(registry.ops))

    @op("misspelt_flip", kernel="flip")
    class Misspelt(Op):
        """A flip with a slip of the pen."""

        horizontal = arg(1, "Whether to flip left to right.", per_sample=True)
        vertcial = arg(0, "Whether to flip top to bottom.", per_sample=True)
        depthwise = arg(0, "Whether to flip front to back.", per_sample=True)

    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(call(Misspelt, (types.Constant(np.zeros((2, 2, 1), np.uint8), layout="HWC"),), {}))
    with pytest.raises(errors.PenstockError, match="misspelt_flip: the kernel reads the argument 'vertical', which"):
        pipe.build()
