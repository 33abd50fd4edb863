"""`penstock.plugin.numba.fn.numba_function`: a function of the user's that Numba compiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import _values, types
from penstock.custom.function import Calling
from penstock.custom.numba_loop import Kernel, Loop, plain_function
from penstock.errors import ArgumentError, ArgumentTypeError, FunctionError
from penstock.op import REQUIRED, Called, arg, op
from penstock.types import to_numpy_type

_MOST = 6  # inputs, and outputs


@op("_numba_function", devices=("cpu", "gpu"), inputs=(1, _MOST))
class NumbaFunction(Calling):
    """Runs a function that Numba compiles in its ``nopython`` mode, sample by sample, without the interpreter.

    ``run_fn(out0, out1, ..., in0, in1, ...)`` writes the outputs of a sample, which are NumPy arrays with undefined
    elements; its inputs are arrays that cannot be written to. Samples are worked on by as many threads as the pipeline
    has. With ``batch_processing=True`` it is called once for a batch, and each argument is a list of arrays.

    ``setup_fn(outs, ins)`` writes the shapes of the outputs of a whole batch: ``outs[output][sample][axis]``, of
    those of the inputs, ``ins[input][sample][axis]``. Without it each output has the shapes of the input of the same
    number.

    A function that is compiled already (``numba.njit``) is compiled anew from its source.

    With ``device="gpu"`` ``run_fn`` is compiled by ``numba.cuda`` to a kernel, which is launched for each sample with
    ``blocks`` and ``threads_per_block``, three numbers each, in the pipeline's CUDA stream. There is no
    ``batch_processing`` then. ``setup_fn`` runs on the CPU.

    Inputs: 1 to 6, of the types ``in_types`` and with ``ins_ndim`` axes. Outputs: as many as ``out_types``, 1 to 6.
    There is no FLOAT16, and no layout on outputs. The operator runs even if no output needs it. A pipeline with it
    cannot be serialized.

    Errors: ArgumentError where Numba cannot compile a function, with its text, which names the line. FunctionError from
    ``run`` for what a function raises, which is its ``__cause__``, and for inputs of other types or numbers of axes.
    MissingPackageError, an ImportError, where Numba is missing (``pip install penstock[numba]``).

    Example:
        >>> from penstock.plugin.numba.fn import numba_function
        >>> def transposed(outs, ins):
        ...     for out, given in zip(outs[0], ins[0]):
        ...         out[0], out[1] = given[1], given[0]
        >>> def transpose(out, given):
        ...     for y in range(given.shape[0]):
        ...         out[:, y] = given[y]
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return numba_function(
        ...         np.uint8([[1, 2, 3]]), run_fn=transpose, setup_fn=transposed, in_types=[types.UINT8], ins_ndim=[2],
        ...         out_types=[types.UINT8], outs_ndim=[2],
        ...     )
        >>> pipeline().run()[0].at(0).tolist()
        [[1], [2], [3]]
    """

    run_fn = arg(REQUIRED, "Writes the outputs of a sample, or a batch.", kind="any", to_kernel=False)
    setup_fn = arg(None, "Writes the shapes of the outputs of a batch.", kind="any", to_kernel=False)
    out_types = arg(REQUIRED, "The outputs' types, a list.", kind="any", to_kernel=False)
    in_types = arg(REQUIRED, "The inputs' types.", kind="any", to_kernel=False)
    outs_ndim = arg(REQUIRED, "How many axes the outputs have.", kind="integers", to_kernel=False)
    ins_ndim = arg(REQUIRED, "How many axes the inputs have.", kind="integers", to_kernel=False)
    batch_processing = arg(False, "Call it once for a batch, with lists of arrays.", to_kernel=False)
    blocks = arg(None, "On a GPU: blocks of the grid, along three axes.", kind="integers", to_kernel=False)
    threads_per_block = arg(None, "On a GPU: threads of a block.", kind="integers", to_kernel=False)

    def prepare(self) -> None:
        for name in ("run_fn", "setup_fn"):
            given = getattr(self, name)
            if not (callable(given) or (given is None and name == "setup_fn")):
                raise ArgumentTypeError(f"numba_function: {name}={given!r}: expected a function")
        self._outs = self._described("out", self.out_types, self.outs_ndim)
        self._ins = self._described("in", self.in_types, self.ins_ndim)
        if self.blocks is None and self.threads_per_block is None:
            self._loop = Loop(self.run_fn, self._outs, self._ins, self.batch_processing)
            return
        for name in ("blocks", "threads_per_block"):
            numbers = getattr(self, name)
            if numbers is None or len(numbers) != 3 or min(numbers) < 1:
                raise self.wrong(name, "expected three numbers of at least 1 for a kernel on the GPU")
        if self.batch_processing:
            raise self.wrong("batch_processing", "a kernel on the GPU is launched for each sample")
        self._kernel = Kernel(self.run_fn, self.blocks, self.threads_per_block)

    def num_outputs(self) -> int:
        if self.input_count != len(self._ins):
            raise ArgumentError(
                f"numba_function: in_types={self.in_types!r}: the operator has {self.input_count} inputs"
            )
        if self.setup_fn is None and len(self._outs) > len(self._ins):
            raise ArgumentError(
                f"numba_function: setup_fn=None: there are {len(self._outs)} outputs and {len(self._ins)} inputs, so "
                "not every output has the shape of an input"
            )
        return len(self._outs)

    def process(self, batch: Called, inputs: Sequence[Any]) -> None:
        for k, (tensors, (dtype, ndim)) in enumerate(zip(inputs, self._ins, strict=True)):
            if to_numpy_type(tensors.dtype) != dtype or tensors.ndim() != ndim:
                raise FunctionError(
                    f"input {k} is of type {tensors.dtype.name} and has {tensors.ndim()} axes, expected {dtype} and "
                    f"{ndim}, as in_types and ins_ndim say"
                )
        extents = self._extents(inputs, batch.size)
        if batch.device is None:
            rooms = [
                batch.room(k, dtype, one) for k, (one, (dtype, _)) in enumerate(zip(extents, self._outs, strict=True))
            ]
            self._loop.run(rooms, [tensors._rows() for tensors in inputs], batch.threads)
            return
        shapes = [[tuple(shape) for shape in one.tolist()] for one in extents]
        for k, samples in enumerate(self._kernel.run(shapes, self._outs, inputs, batch)):
            batch.give(k, samples)

    def _described(self, which: str, given: Any, axes: list[int]) -> list[tuple[np.dtype[Any], int]]:
        """Type and number of axes of each output or input."""
        kinds = list(given) if isinstance(given, (list, tuple)) else [given]
        name = f"{which}_types"
        try:
            dtypes = [np.dtype(to_numpy_type(_values.convert("dtype", kind))) for kind in kinds]
        except (TypeError, ValueError, KeyError) as e:
            raise ArgumentTypeError(
                f"numba_function: {name}={given!r}: expected a list of types such as types.UINT8"
            ) from e
        if types.FLOAT16 in kinds:
            raise self.wrong(name, "Numba has no FLOAT16 here")
        if not 1 <= len(dtypes) <= _MOST:
            raise self.wrong(name, f"expected 1 to {_MOST} types")
        if len(axes) != len(dtypes) or min(axes) < 0:
            raise self.wrong(f"{which}s_ndim", f"expected {len(dtypes)} numbers of axes, as {name} has types")
        return list(zip(dtypes, axes, strict=True))

    def _extents(self, inputs: Sequence[Any], size: int) -> list[Any]:
        """Shapes of the outputs' samples: of each output an array with a row for each."""
        if self.setup_fn is None:
            given = [tensors._rows()["shape"][:, : tensors.ndim()] for tensors in inputs[: len(self._outs)]]
            for k, (one, (_, ndim)) in enumerate(zip(given, self._outs, strict=True)):
                self._check_shapes(k, [tuple(one[0].tolist())], ndim)
            return given
        outs = [[np.zeros(ndim, np.int64) for _ in range(size)] for _, ndim in self._outs]
        ins = [[np.array(shape, np.int64) for shape in tensors.shape()] for tensors in inputs]
        plain_function(self.setup_fn)(outs, ins)
        found = []
        for k, (written, (_, ndim)) in enumerate(zip(outs, self._outs, strict=True)):
            shapes = [tuple(map(int, shape)) for shape in written]
            self._check_shapes(k, shapes, ndim)
            found.append(np.array(shapes, np.int64).reshape(size, ndim))
        return found

    def _check_shapes(self, k: int, shapes: list[tuple[int, ...]], ndim: int) -> None:
        wrong = [shape for shape in shapes if len(shape) != ndim or min(shape, default=0) < 0]
        if wrong:
            raise FunctionError(f"output {k} would have the shape {wrong[0]}, expected {ndim} axes")
