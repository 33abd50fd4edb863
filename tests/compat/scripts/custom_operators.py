"""Functions in Python as operators, and the class API."""

import numpy as np
from nvidia.dali import fn, ops, types
from nvidia.dali.pipeline import Pipeline, pipeline_def


def data():
    return [np.arange(12, dtype=np.uint8).reshape(3, 4), np.full((2, 2), 200, np.uint8)]


def both(image):
    return 255 - image, np.float32([image.mean()])


def whole(images):
    return [image[::-1] for image in images]


@pipeline_def(batch_size=2, num_threads=1, device_id=None, exec_async=False, exec_pipelined=False)
def functions():
    images = fn.external_source(source=data)
    negative, mean = fn.python_function(images, function=both, num_outputs=2)
    turned = fn.python_function(images, function=whole, batch_processing=True)
    return negative, mean, turned


class WithClasses(Pipeline):
    """A pipeline of the first kind: operators are made in the constructor, and called in `define_graph`."""

    def __init__(self, batch_size, num_threads, device_id):
        super().__init__(batch_size, num_threads, device_id, exec_async=False, exec_pipelined=False, seed=9)
        self.source = ops.ExternalSource(source=data)
        self.double = ops.PythonFunction(function=lambda image: image * 2, num_outputs=1)
        self.cast = ops.Cast(dtype=types.FLOAT)
        self.chain = ops.Compose([self.cast, ops.reductions.Max(axes=[0, 1])])

    def define_graph(self):
        images = self.source()
        doubled = self.double(images)
        return doubled, self.chain(doubled)


def main(folder, device):
    found = {}
    pipe = functions()
    pipe.build()
    for name, output in zip(["negative", "mean", "turned"], pipe.run(), strict=True):
        found[name] = [np.asarray(output.at(i)) for i in range(2)]
    pipe = WithClasses(2, 1, None)
    pipe.build()
    for name, output in zip(["doubled", "most"], pipe.run(), strict=True):
        found[name] = [np.asarray(output.at(i)) for i in range(2)]
    return found
