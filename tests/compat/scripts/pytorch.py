"""Batches for PyTorch."""

import numpy as np
import torch
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, DALIGenericIterator, LastBatchPolicy, feed_ndarray


@pipeline_def(num_threads=2)
def pipeline(folder, shard_id=0, num_shards=1):
    jpegs, labels = fn.readers.file(
        file_root=folder, name="Reader", shard_id=shard_id, num_shards=num_shards, pad_last_batch=True
    )
    images = fn.decoders.image(jpegs, output_type=types.RGB)
    images = fn.resize(images, resize_x=8, resize_y=6, interp_type=types.INTERP_NN)
    return fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW"), labels


def main(folder, device):
    where = {"batch_size": 5, "device_id": None}
    found = {}
    for policy in (LastBatchPolicy.FILL, LastBatchPolicy.PARTIAL, LastBatchPolicy.DROP):
        iterator = DALIGenericIterator(
            pipeline(folder, **where), ["data", "label"], reader_name="Reader", last_batch_policy=policy,
            auto_reset=True,
        )  # fmt: skip
        for epoch in range(2):
            batches = [batch[0]["label"].ravel().numpy() for batch in iterator]
            found[f"{policy.name} {epoch}"] = [np.concatenate(batches)]
            assert len(batches) == len(iterator)
    shards = [pipeline(folder, k, 2, **where) for k in range(2)]
    iterator = DALIClassificationIterator(shards, reader_name="Reader")
    first = next(iter(iterator))
    assert [sorted(one) for one in first] == [["data", "label"]] * 2
    assert first[0]["data"].shape == (5, 3, 6, 8)
    assert first[0]["data"].dtype == torch.float32
    found["shards"] = [one["label"].numpy() for one in first]
    pipe = pipeline(folder, **where)
    pipe.build()
    images, _ = pipe.run()
    target = torch.zeros(5, 3, 6, 8)
    feed_ndarray(images.as_tensor(), target)
    found["fed"] = [np.round(target.numpy() / 8)]
    assert np.array_equal(target.numpy(), images.as_array())
    return found
