"""Functions that Numba has compiled, called for all samples of a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.errors import ArgumentError
from penstock.frameworks import package
from penstock.op import Called

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Array = np.ndarray[Any, Any]
Described = Sequence[tuple[np.dtype[Any], int]]  # type and number of axes of each
Shapes = Sequence[Sequence[tuple[int, ...]]]  # of each output's samples

_LARGE = 1 << 18  # bytes of outputs for which several threads are worth their start


def plain_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """What Numba has compiled as it was before."""
    return getattr(function, "py_func", function)


class Loop:
    """A loop over samples, compiled with the function in it, so that the interpreter is needed once for a batch.

    Raises ArgumentError where Numba cannot compile the function.
    """

    def __init__(self, function: Callable[..., Any], outs: Described, ins: Described, whole: bool):
        numba = package("numba", "numba")
        self._outs, self._ins, self._whole = outs, ins, whole
        self._pool: ThreadPoolExecutor | None = None
        tensors = [*outs, *ins]
        namespace = {
            "run": numba.njit(plain_function(function)), "carray": numba.carray, "at": address_as_pointer(numba),
            **{f"type{k}": dtype.type for k, (dtype, _) in enumerate(tensors)},
        }  # fmt: skip
        # A parameter for each: Numba has no loops over values of several types.
        views = [
            f"carray(at(addresses[{k}, i]), ({''.join(f'shape{k}[i, {d}], ' for d in range(ndim))}), type{k})"
            if ndim
            else f"carray(at(addresses[{k}, i]), (1,), type{k}).reshape(())"
            for k, (_, ndim) in enumerate(tensors)
        ]
        shapes = ", ".join(f"shape{k}" for k in range(len(tensors)))
        if whole:
            body = ", ".join(f"[{view} for i in range(first, last)]" for view in views)
            source = f"def loop(addresses, {shapes}, first, last):\n    run({body})\n"
        else:
            body = ", ".join(views)
            source = (
                f"def loop(addresses, {shapes}, first, last):\n    for i in range(first, last):\n        run({body})\n"
            )
        exec(source, namespace)
        array = numba.types.Array
        signature = (
            array(numba.types.intp, 2, "C"), *[array(numba.types.int64, 2, "C") for _ in tensors],
            numba.types.intp, numba.types.intp,
        )  # fmt: skip
        try:
            self._loop = numba.njit(signature, nogil=True)(namespace["loop"])
        except numba.core.errors.NumbaError as e:
            raise ArgumentError(f"numba_function: run_fn={function!r}: Numba cannot compile it: {e}") from e

    def run(self, outputs: Sequence[Array], inputs: Sequence[Array], threads: int) -> None:
        """Writes the outputs: all are given by descriptors of their samples (`penstock.tensors.arrays.DESCRIPTOR`)."""
        size = len(outputs[0])
        tensors = [*outputs, *inputs]
        data = np.array([rows["data"] for rows in tensors], np.uintp).view(np.intp)
        extents = [
            np.ascontiguousarray(rows["shape"][:, :ndim])
            for rows, (_, ndim) in zip(tensors, [*self._outs, *self._ins], strict=True)
        ]
        threads = min(threads, size)
        if self._whole or threads < 2 or self._bytes(extents) < _LARGE:
            self._loop(data, *extents, 0, size)
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # takes long to import

            self._pool = ThreadPoolExecutor(threads, "penstock-numba")
        ends: list[Any] = [size * k // threads for k in range(threads + 1)]
        parts = [self._pool.submit(self._loop, data, *extents, *ends[k : k + 2]) for k in range(threads)]
        wrong = [error for part in parts if (error := part.exception())]  # waits for all of them
        if wrong:
            raise wrong[0]

    def _bytes(self, extents: Sequence[Array]) -> int:
        """Of the outputs."""
        return sum(
            int(one.prod(1).sum()) * dtype.itemsize for one, (dtype, _) in zip(extents, self._outs, strict=False)
        )


class Kernel:
    """A kernel of the GPU, launched for each sample in the pipeline's stream."""

    def __init__(self, function: Callable[..., Any], blocks: Sequence[int], threads: Sequence[int]):
        self._cuda = package("numba.cuda", "numba")
        self._kernel = self._cuda.jit(plain_function(function))
        self._grid = tuple(blocks), tuple(threads)

    def run(self, shapes: Shapes, outs: Described, inputs: Sequence[Any], batch: Called) -> list[list[Any]]:
        """The outputs' samples, which are being computed."""
        cuda = self._cuda
        with cuda.gpus[batch.device]:
            stream = cuda.external_stream(batch.stream) if batch.stream else cuda.default_stream()
            outputs = [
                [cuda.device_array(shape, dtype, stream=stream) for shape in one]
                for one, (dtype, _) in zip(shapes, outs, strict=True)
            ]
            grid = (*self._grid, stream)
            for i in range(batch.size):
                given = [cuda.as_cuda_array(tensors[i], sync=False) for tensors in inputs]
                launch = self._kernel[grid]
                launch(*[one[i] for one in outputs], *given)
        return outputs


def address_as_pointer(numba: Any) -> Any:
    """A function of Numba's that makes a pointer of an address."""

    @numba.extending.intrinsic  # type: ignore[untyped-decorator]
    def pointer(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], numba.core.cgutils.voidptr_t)

        return numba.types.voidptr(address), generate

    return pointer
