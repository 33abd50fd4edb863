"""Expressions, slices, several inputs at once, and a pipeline that is written down and read."""

import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, math, newaxis, ops, pipeline_def, types


def data():
    return [np.arange(30, dtype=np.int16).reshape(5, 6) - 7 * k for k in range(3)]


@pipeline_def(batch_size=3, num_threads=1)
def expressions(device):
    x = fn.external_source(source=data, layout="HW")
    if device == "gpu":
        x = x.gpu()
    scaled = x * np.float32(0.5) + types.Constant(3).uint8() - (x // 4) % 3
    clipped = math.clamp(scaled, 0, 10) ** 2
    part = x[1:4, -2]
    raised = x[:, newaxis("C"), 2:]
    left, right = fn.flip([x[:, :, newaxis("C")], x[:, :, newaxis("C")] + types.Constant(1).int16()], horizontal=1)
    joined = fn.cat(left, right, axis=2)
    stats = fn.stack(fn.reductions.min(x), fn.reductions.max(x))
    return scaled, clipped, part, raised, joined, stats, x.shape(), (x > 3) & (x != 5)


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def serializable():
    x = fn.external_source(name="x", device="cpu", dtype=types.INT16, ndim=2)
    return fn.pad(ops.Cast(dtype=types.INT32)(x) * 3, fill_value=-1)


def main(folder, device):
    found = {}
    pipe = expressions(device, device_id=0 if device == "gpu" else None)
    pipe.build()
    for k, output in enumerate(pipe.run()):
        output = output.as_cpu() if hasattr(output, "as_cpu") else output
        found[f"expression {k}"] = [np.asarray(output.at(i)) for i in range(3)]
    text = serializable().serialize()
    pipe = dali.Pipeline.deserialize(text, batch_size=3, num_threads=1)
    pipe.build()
    pipe.feed_input("x", data())
    (output,) = pipe.run()
    found["serialized"] = [np.asarray(output.at(i)) for i in range(3)]
    return found
