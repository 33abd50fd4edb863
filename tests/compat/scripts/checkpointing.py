"""Going on where one was."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIGenericIterator


@pipeline_def(batch_size=4, num_threads=2, seed=3, enable_checkpointing=True)
def pipeline(folder, device):
    _jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True, shuffle_after_epoch=False, name="Reader")
    draw = fn.random.uniform(range=(0.0, 1.0), dtype=types.FLOAT)
    return fn.cast(labels, dtype=types.FLOAT) + draw, labels


def rest(pipe, batches):
    return [np.concatenate([np.asarray(o.as_tensor()).ravel() for o in pipe.run()]) for _ in range(batches)]


def main(folder, device):
    where = {"device_id": 0 if device == "gpu" else None}
    pipe = pipeline(folder, device, **where)
    pipe.build()
    rest(pipe, 3)
    state = pipe.checkpoint()
    expected = rest(pipe, 5)
    again = pipeline(folder, device, checkpoint=state, **where)
    again.build()
    for one, other in zip(expected, rest(again, 5), strict=True):
        assert np.array_equal(one, other)

    def iterator(**arguments):
        pipe = pipeline(folder, device, **where, **arguments)
        policy = LastBatchPolicy.PARTIAL
        return DALIGenericIterator(pipe, ["values", "labels"], reader_name="Reader", last_batch_policy=policy)

    first = iterator()
    for k, _ in enumerate(first):
        if k == 1:
            break
    state = first.checkpoints()[0]
    restored = iterator(checkpoint=state)
    batches = [batch[0]["labels"].numpy().ravel() for batch in restored]
    return {"how many are left": [np.array([len(batch) for batch in batches])]}
