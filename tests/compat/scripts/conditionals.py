"""``if`` by what is in a sample."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types


def numbers():
    return [np.int32(i) for i in (3, -7, 0, 12, 5, -1)]


def rotate_or_not(image, direction):
    if direction == 1:
        return fn.flip(image, horizontal=1, vertical=0)
    else:
        return image


@pipeline_def(enable_conditionals=True, batch_size=6, num_threads=2)
def by_sign(device):
    x = fn.external_source(source=numbers)
    data = types.Constant(np.arange(24, dtype=np.uint8).reshape(4, 6, 1), layout="HWC", device=device)
    if x > 4:
        y = fn.cast(x, dtype=types.FLOAT) * 2.5
        changed = rotate_or_not(data, x % 2)
    elif x < 0:
        y = fn.cast(-x, dtype=types.FLOAT)
        changed = fn.flip(data, horizontal=0, vertical=1)
    else:
        y = types.Constant(0.5, dtype=types.FLOAT, device="cpu")
        changed = data
    both = x > 0 and x < 10
    either = x < -5 or not x > -1
    return y, changed, both, either


def main(folder, device):
    pipe = by_sign(device, device_id=0 if device == "gpu" else None)
    pipe.build()
    y, changed, both, either = pipe.run()
    if hasattr(changed, "as_cpu"):
        changed = changed.as_cpu()
    return {name: [np.asarray(o.at(i)) for i in range(6)] for name, o in
            {"y": y, "changed": changed, "both": both, "either": either}.items()}  # fmt: skip
