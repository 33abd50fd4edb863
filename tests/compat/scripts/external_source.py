"""Data of one's own: callables, iterators, generators, batches and samples, feeding, workers."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline, pipeline_def


class Batches:
    """An iterator of batches of pictures and labels."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at == 3:
            raise StopIteration
        self.at += 1
        images = [np.full((2 + i, 3, 1), 10 * self.at + i, np.uint8) for i in range(self.size)]
        return images, [np.array([self.at], np.int64)] * self.size


class Samples:
    """One sample after the other, by number, as workers want it."""

    def __call__(self, info):
        if info.iteration >= 2:
            raise StopIteration
        return np.full((2, 2), info.idx_in_epoch, np.float32), np.int32([info.idx_in_batch, info.iteration])


@pipeline_def(num_threads=1)
def of_batches(size, device):
    images, labels = fn.external_source(source=Batches(size), num_outputs=2, layout=["HWC", None], cycle="quiet")
    if device == "gpu":
        images = images.gpu()
    return fn.flip(images, vertical=1, horizontal=0), labels


def of_samples(parallel):
    @pipeline_def(num_threads=1, py_num_workers=1, py_start_method="fork")
    def define():
        return tuple(fn.external_source(source=Samples(), num_outputs=2, batch=False, parallel=parallel))

    return define


def on_cpu(output):
    return output.as_cpu() if hasattr(output, "as_cpu") else output


def main(folder, device, parallel=False):
    where = {"batch_size": 3, "device_id": 0 if device == "gpu" else None}
    found = {}
    pipe = of_batches(3, device, **where)
    pipe.build()
    for k in range(5):  # the fourth begins anew
        try:
            images, labels = pipe.run()
        except StopIteration:
            pipe.reset()
            images, labels = pipe.run()
        images = on_cpu(images)
        found[f"images {k}"] = [np.asarray(images.at(i)) for i in range(3)]
        found[f"labels {k}"] = [labels.as_array()]

    pipe = of_samples(parallel)(batch_size=3, device_id=None)
    if parallel:
        pipe.start_py_workers()
    pipe.build()
    for k in range(2):
        values, numbers = pipe.run()
        found[f"values {k}"] = [values.as_array(), numbers.as_array()]
    try:
        pipe.run()
        raise AssertionError("the source has ended")
    except StopIteration:
        pass

    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        node = fn.external_source(name="given", dtype=types.FLOAT, ndim=1)
        pipe.set_outputs(node * 2.0)
    pipe.build()
    pipe.feed_input("given", [np.float32([1, 2]), np.float32([3])])
    (doubled,) = pipe.run()
    found["fed"] = [np.asarray(doubled.at(i)) for i in range(2)]
    (doubled,) = pipe.run(given=np.float32([[1, 2, 3], [4, 5, 6]]))
    found["given to run"] = [doubled.as_array()]
    return found
