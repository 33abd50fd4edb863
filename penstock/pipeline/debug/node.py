"""What operators return in debug mode: nodes that have their contents."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.eager.data import EagerNode, Tensors
from penstock.errors import NodeContentsError
from penstock.graph.node import Scope

if TYPE_CHECKING:
    from penstock.pipeline.debug.pipeline import PipelineDebug


class DataNodeDebug(EagerNode):
    """A node of a pipeline with ``debug=True``: a batch that can be looked at where it is made.

    >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, debug=True)
    ... def pipeline():
    ...     x = fn.external_source(lambda: np.float32([[1, 2], [3, 4]]))
    ...     print(x.get().as_array().sum(), np.asarray(x).shape, len(x))
    ...     return x * 2
    >>> doubled, = pipeline().run()
    10.0 (2, 2) 2
    >>> doubled.as_array().tolist()
    [[2.0, 4.0], [6.0, 8.0]]
    """

    def get(self) -> Tensors:
        """The batch: a TensorListCPU or TensorListGPU, of the memory that operators go on with.

        Whoever writes to it changes what later operators read. GraphError for a node of an iteration that is over, if
        nobody asked for it then.
        """
        return self.pipeline().contents(self)

    def pipeline(self) -> PipelineDebug:
        """The pipeline that is being run."""
        from penstock.pipeline.debug.pipeline import PipelineDebug

        scope = Scope.current()
        if not isinstance(scope, PipelineDebug):
            return PipelineDebug.of(self)
        return scope

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = np.asarray(self.get().as_cpu().as_array())
        return array.astype(dtype) if dtype is not None else array.copy() if copy else array

    def __len__(self) -> int:
        return len(self.get())

    def __iter__(self) -> Any:
        raise NodeContentsError(
            f"{self.name} cannot be iterated, as without debug=True: .get() has its samples, and [...] slices them"
        )

    def __str__(self) -> str:
        shown = textwrap.indent(str(self.get()), "    ")
        return f"{type(self).__name__}(name={self.name!r}, device={self.device!r},\n{shown})"

    __repr__ = __str__
