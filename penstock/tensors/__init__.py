"""What pipelines give and take: one tensor, or one per sample of a batch, shared with NumPy and frameworks."""

from penstock.errors import TensorError, TensorIndexError
from penstock.tensors.tensor import TensorCPU
from penstock.tensors.tensor_gpu import TensorGPU
from penstock.tensors.tensor_list import TensorListCPU
from penstock.tensors.tensor_list_gpu import TensorListGPU

__all__ = ["TensorCPU", "TensorError", "TensorGPU", "TensorIndexError", "TensorListCPU", "TensorListGPU"]
