"""Batches as NumPy's arrays: for scripts without a framework, and for those that have no iterator here."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from penstock.frameworks import NumPy
from penstock.plugin.base import BaseIterator, LastBatchPolicy
from penstock.plugin.classification import ClassificationIterator
from penstock.plugin.ragged import RaggedIterator

__all__ = ["DALIClassificationIterator", "DALIGenericIterator", "DALIRaggedIterator", "LastBatchPolicy"]


class DALIGenericIterator(BaseIterator[npt.NDArray[Any]]):
    """Gives the outputs of one or more pipelines as NumPy's arrays, as that of `penstock.plugin.pytorch` gives tensors.

    ``next(iterator)`` gives a list with one dictionary for each pipeline, from the names in ``output_map`` to arrays of
    shape ``(batch, *sample)`` with the type of the pipeline's output. They share the pipeline's memory, which is theirs
    as long as they live; outputs on a GPU are copied to the CPU. The arguments, epochs and errors are those of
    `penstock.plugin.pytorch.DALIGenericIterator`. (DALI has no such iterator.)

    Example:
        >>> from penstock.plugin.numpy import DALIGenericIterator
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 7, file_root=folder, name="Reader")[1]
        >>> iterator = DALIGenericIterator(
        ...     pipeline(), ["number"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
        ... )
        >>> [batch[0]["number"].ravel().tolist() for batch in iterator]
        [[0, 1, 2, 3], [4, 5, 6]]
    """

    backend = NumPy()


class DALIClassificationIterator(ClassificationIterator, DALIGenericIterator):
    """A `DALIGenericIterator` for pipelines with two outputs, which it names ``"data"`` and ``"label"``."""


class DALIRaggedIterator(RaggedIterator[npt.NDArray[Any]]):
    """A `DALIGenericIterator` for outputs whose samples differ in shape, too.

    Args:
        output_types: for each output, ``DENSE_TAG``: it is one array; ``SPARSE_LIST_TAG``: a list of arrays, one for
            each sample. None: all are dense. The other arguments are those of `DALIGenericIterator`.

    Raises:
        ArgumentError: another tag, or another number of tags than outputs.

    Example:
        >>> from penstock.plugin.numpy import DALIRaggedIterator
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.external_source(lambda: [np.zeros((2, 3)), np.zeros((5, 3))])
        >>> batch, = next(DALIRaggedIterator(pipeline(), ["boxes"], output_types=[DALIRaggedIterator.SPARSE_LIST_TAG]))
        >>> [boxes.shape for boxes in batch["boxes"]]
        [(2, 3), (5, 3)]
    """

    backend = NumPy()
