"""Batches for MXNet: for its modules, and for Gluon."""

from penstock.frameworks import package

package("mxnet", "mxnet")

from penstock.plugin.base import LastBatchPolicy  # noqa: E402
from penstock.plugin.mxnet.gluon import DALIGluonIterator  # noqa: E402
from penstock.plugin.mxnet.module import DALIClassificationIterator, DALIGenericIterator  # noqa: E402

__all__ = ["DALIClassificationIterator", "DALIGenericIterator", "DALIGluonIterator", "LastBatchPolicy"]
