"""Penstock in TensorFlow: datasets for ``tf.data``, an operator for graphs, and an iterator that gives tensors."""

from penstock.frameworks import package

package("tensorflow", "tensorflow")

from penstock.plugin.base import LastBatchPolicy  # noqa: E402
from penstock.plugin.tf import experimental  # noqa: E402
from penstock.plugin.tf.dataset import (  # noqa: E402
    DALIDataset,
    dataset_compatible_tensorflow,
    dataset_distributed_compatible_tensorflow,
    dataset_inputs_compatible_tensorflow,
    dataset_options,
)
from penstock.plugin.tf.iterator import DALIGenericIterator, DALIRaggedIterator  # noqa: E402
from penstock.plugin.tf.operator import (  # noqa: E402
    DALIIterator,
    DALIIteratorWrapper,
    DALIRawIterator,
    serialize_pipeline,
)

__all__ = [
    "DALIDataset",
    "DALIGenericIterator",
    "DALIIterator",
    "DALIIteratorWrapper",
    "DALIRaggedIterator",
    "DALIRawIterator",
    "LastBatchPolicy",
    "dataset_compatible_tensorflow",
    "dataset_distributed_compatible_tensorflow",
    "dataset_inputs_compatible_tensorflow",
    "dataset_options",
    "experimental",
    "serialize_pipeline",
]
