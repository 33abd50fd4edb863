"""Batches for TensorFlow, as tensors that share the pipelines' memory."""

from __future__ import annotations

from typing import Any

from penstock.frameworks import TensorFlow
from penstock.plugin.base import BaseIterator
from penstock.plugin.ragged import RaggedIterator


class DALIGenericIterator(BaseIterator[Any]):
    """Gives the outputs of one or more pipelines as tensors: for training loops in Python, as with ``GradientTape``.

    ``next(iterator)`` gives a list with one dictionary for each pipeline, from the names in ``output_map`` to tensors
    of shape ``(batch, *sample)`` on the device of the pipeline's output. Nothing is copied. The arguments, epochs and
    errors are those of `penstock.plugin.pytorch.DALIGenericIterator`, but for ``channels_last``, which is refused.
    (DALI has no such iterator.)

    Example:
        >>> from penstock.plugin.tf import DALIGenericIterator
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> iterator = DALIGenericIterator(pipeline(), ["number"], reader_name="Reader")
        >>> [batch[0]["number"].numpy().ravel().tolist() for batch in iterator]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    """

    backend = TensorFlow()


class DALIRaggedIterator(RaggedIterator[Any]):
    """As `DALIGenericIterator`, for outputs whose samples differ in shape, too: see that of `penstock.plugin.pytorch`.

    With ``SPARSE_COO_TAG`` an output is a ``tf.SparseTensor``.
    """

    backend = TensorFlow()
