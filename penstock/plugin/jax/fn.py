"""Operators of functions that are written with JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from penstock.custom.jax_function import JaxFunction
from penstock.ops import call

__all__ = ["jax_function"]


def jax_function(
    function: Callable[..., Any] | None = None, num_outputs: int = 1,
    output_layouts: str | tuple[str, ...] | list[str] | None = None, sharding: Any = None, device: str | None = None,
    preserve: bool = True,
) -> Callable[..., Any]:  # fmt: skip
    """Makes an operator of a function from JAX's arrays to JAX's arrays. It can be used as a decorator.

    The function gets whole batches, with the samples along the first axis, so the samples of each input must have one
    shape. It may be transformed by JAX, as by ``jax.jit`` and ``jax.vmap``. The operator takes and returns as many
    nodes as the function takes and returns arrays.

    Args:
        function: what is called; None: a decorator is returned that has the other arguments.
        num_outputs: how many arrays the function returns: one, or a tuple or list of several; of 0 it may return
            anything, and the operator returns an empty list.
        output_layouts: the layout of the samples of all outputs, or one for each of the first. An output without one
            has that of the input of the same number, if they have as many axes.
        sharding: a `jax.sharding.Sharding`: the function then gets global arrays, of which this process has its batch.
            There must be one local device.
        device: where inputs and outputs are: "cpu", "gpu", or None, where the inputs are.
        preserve: call it even if no output of the pipeline needs it.

    The function runs on a thread of the pipeline's own, batch after batch, as that of `fn.python_function` does; on a
    GPU JAX's streams and the pipeline's wait for each other. JAX's arrays never change, so they may be kept.

    Errors: FunctionError from ``run`` for whatever the function raises, which is its ``__cause__``, where the samples
    of an input have several shapes, and where it returns another number of arrays or of samples, or what is no
    ``jax.Array``. MissingPackageError, an ImportError, where JAX is missing (``pip install penstock[jax]``).

    Example:
        >>> import penstock.plugin.jax as dax
        >>> @dax.fn.jax_function
        ... def flip_horizontal(images):
        ...     return images[:, :, ::-1]
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return flip_horizontal(np.uint8([[[1], [2]]]))
        >>> pipeline().run()[0].as_array()[1].tolist()
        [[[2], [1]]]
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def operator(*inputs: Any) -> Any:
            arguments = {
                "function": function, "num_outputs": num_outputs, "output_layouts": output_layouts,
                "sharding": sharding, "device": device, "preserve": preserve,
            }  # fmt: skip
            return call(JaxFunction, inputs, {k: v for k, v in arguments.items() if v is not None})

        return operator

    return decorated if function is None else decorated(function)
