"""Functions on PyTorch's tensors as operators."""

import numpy as np
import torch
from nvidia.dali import fn
from nvidia.dali.pipeline import Pipeline, pipeline_def
from nvidia.dali.plugin.pytorch import TorchPythonFunction
from nvidia.dali.plugin.pytorch.fn import torch_python_function


def data():
    return [np.arange(12, dtype=np.uint8).reshape(3, 4), np.full((2, 2), 200, np.uint8)]


def in_torch(tensor):
    return torch.flip(tensor, dims=(1,)), tensor.sum(dim=0).to(torch.int32)


@pipeline_def(batch_size=2, num_threads=1, device_id=None, exec_async=False, exec_pipelined=False)
def functions():
    images = fn.external_source(source=data)
    return tuple(torch_python_function(images, function=in_torch, num_outputs=2))


def main(folder, device):
    pipe = functions()
    pipe.build()
    flipped, sums = pipe.run()
    for k, image in enumerate(data()):
        assert np.array_equal(flipped.at(k), image[:, ::-1])
        assert np.array_equal(sums.at(k), image.sum(0))
    add = TorchPythonFunction(function=lambda tensor: tensor + 1, num_outputs=1)
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, exec_async=False, exec_pipelined=False)
    with pipe:
        pipe.set_outputs(add(fn.external_source(source=data)))
    pipe.build()
    (more,) = pipe.run()
    assert np.array_equal(more.at(1), data()[1] + 1)
    return {"flipped": [np.asarray(flipped.at(k)) for k in range(2)]}
