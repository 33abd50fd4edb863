"""Data of one's own: an iterator that reads files, and a pipeline that is fed by it before each iteration."""

from random import Random

import numpy as np
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline


class ExternalInputIterator(object):  # noqa: UP004
    def __init__(self, batch_size, images_dir, epochs=None):
        self.images_dir = images_dir
        self.batch_size = batch_size
        self.epochs = epochs
        with open(self.images_dir + "/file_list.txt", "r") as f:  # noqa: UP015
            self.files = [line.rstrip() for line in f if line != ""]
        Random(5).shuffle(self.files)

    def __iter__(self):
        self.i = 0
        self.n = len(self.files)
        return self

    def __next__(self):
        batch = []
        labels = []
        if self.epochs is not None and self.i >= self.epochs * self.n:
            raise StopIteration
        for _ in range(self.batch_size):
            jpeg_filename, label = self.files[self.i % self.n].split(" ")
            f = open(self.images_dir + "/" + jpeg_filename, "rb")  # noqa: SIM115
            batch.append(np.frombuffer(f.read(), dtype=np.uint8))
            labels.append(np.array([int(label)], dtype=np.uint8))
            self.i = self.i + 1
            f.close()
        return (batch, labels)

    next = __next__


class ExternalSourcePipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, iterator, device="cpu"):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.iterator = iter(iterator)
        self.on_gpu = device == "gpu"
        self.input = ops.ExternalSource()
        self.input_label = ops.ExternalSource()
        self.decode = ops.ImageDecoder(device="mixed" if self.on_gpu else "cpu", output_type=types.RGB)
        self.res = ops.Resize(device=device, resize_x=240, resize_y=240)
        self.cast = ops.Cast(device=device, dtype=types.INT32)

    def define_graph(self):
        self.jpegs = self.input()
        self.labels = self.input_label()
        images = self.decode(self.jpegs)
        images = self.res(images)
        output = self.cast(images)
        return (output, self.labels.gpu() if self.on_gpu else self.labels)

    def iter_setup(self):
        (images, labels) = self.iterator.next()
        self.feed_input(self.jpegs, images)
        self.feed_input(self.labels, labels)
