"""Reading, decoding and augmenting pictures: the first steps."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import Pipeline, pipeline_def


@pipeline_def
def decoded(folder, device):
    jpegs, labels = fn.readers.file(file_root=folder, name="Reader")
    images = fn.decoders.image(jpegs, device="mixed" if device == "gpu" else "cpu", output_type=types.RGB)
    return images, labels


@pipeline_def(seed=12)
def shuffled(folder):
    jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True, initial_fill=21)
    return fn.decoders.image(jpegs), labels


@pipeline_def
def augmented(folder, device):
    jpegs, labels = fn.readers.file(file_root=folder)
    images = fn.decoders.image(jpegs, device="mixed" if device == "gpu" else "cpu")
    images = fn.resize(images, resize_shorter=64.0, interp_type=types.INTERP_TRIANGULAR)
    turned = fn.rotate(images, angle=10.0, fill_value=0)
    normalized = fn.crop_mirror_normalize(
        turned,
        crop=(48, 56),
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
    )
    return normalized, labels.gpu() if device == "gpu" else labels


def by_hand(folder, **arguments):
    pipe = Pipeline(**arguments)
    with pipe:
        files, labels = fn.readers.file(file_root=folder, shard_id=1, num_shards=2, stick_to_shard=True)
        pipe.set_outputs(files, labels)
    pipe.build()
    return pipe


def on_cpu(output):
    return output.as_cpu() if hasattr(output, "as_cpu") else output


def main(folder, device):
    where = {"batch_size": 4, "num_threads": 2, "device_id": 0 if device == "gpu" else None}
    pipe = decoded(folder, device, **where)
    pipe.build()
    images, labels = pipe.run()
    images = on_cpu(images)
    found = {"pixels": [np.asarray(images.at(i)) for i in range(len(images))], "labels": [labels.as_array()]}
    assert images.layout() == "HWC"
    assert images.dtype == types.UINT8
    assert not images.is_dense_tensor() or len({tuple(s) for s in images.shape()}) == 1
    assert labels.is_dense_tensor()
    assert pipe.epoch_size("Reader") == pipe.reader_meta("Reader")["epoch_size"] == 16
    assert "Reader" in pipe.reader_meta()
    again, labels = shuffled(folder, **{**where, "device_id": None}).run()
    assert len(again) == 4
    assert labels.shape() == [(1,)] * 4
    normalized, labels = augmented(folder, device, **where).run()
    found["normalized"] = [np.asarray(on_cpu(normalized).as_tensor())]
    found["labels of the second"] = [np.asarray(on_cpu(labels).as_tensor())]
    pipe = by_hand(folder, batch_size=3, num_threads=1, device_id=None)
    sizes, numbers = pipe.run()
    found["bytes"] = [np.asarray(sizes.at(i)) for i in range(3)]
    found["labels of the shard"] = [numbers.as_array()]
    assert os.path.isdir(folder)
    return found
