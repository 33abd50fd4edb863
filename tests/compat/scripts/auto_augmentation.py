"""Policies that choose augmentations, and one of one's own."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import augmentations as a
from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment
from nvidia.dali.auto_aug.core import Policy, augmentation


@augmentation(mag_range=(0.2, 0.6), mag_to_param=lambda magnitude: np.float32(magnitude), randomly_negate=False)
def darker(image, shift):
    """By the range's end, at most."""
    return fn.cast_like(fn.cast(image, dtype=types.FLOAT) * (1 - shift), image)


@augmentation
def negative(image, _):
    return 255 - image


def images():
    y, x, c = np.mgrid[:32, :40, :3]
    return [((x * 3 + y * 2 + c * 40 + k * 10) % 256).astype(np.uint8) for k in range(4)]


@pipeline_def(enable_conditionals=True, batch_size=4, num_threads=2, seed=5)
def pipeline(device, apply):
    data = fn.external_source(source=images, layout="HWC")
    if device == "gpu":
        data = data.gpu()
    return apply(data)


OWN = Policy("Own", num_magnitude_bins=11, sub_policies=[[(darker, 1.0, 10), (negative, 1.0, None)]])


def main(folder, device, random=True):
    choices = {
        "random rand": lambda data: rand_augment.rand_augment(data, n=1, m=9),
        "random trivial": lambda data: trivial_augment.trivial_augment_wide(data),
        "own": lambda data: auto_augment.apply_auto_augment(OWN, data),
        "darkest": lambda data: darker(data, magnitude_bin=10, num_magnitude_bins=11),
        "turned": lambda data: a.rotate.augmentation(
            mag_range=(0, 20), randomly_negate=False)(data, magnitude_bin=2, num_magnitude_bins=5, fill_value=7),
        "solar": lambda data: a.solarize(data, magnitude_bin=3, num_magnitude_bins=9),
    }  # fmt: skip
    found = {}
    if not random:
        choices = {name: apply for name, apply in choices.items() if not name.startswith("random")}
    if device == "gpu":  # kernels of all augmentations take a while
        choices = {name: choices[name] for name in ("own", "turned")}
    for name, apply in choices.items():
        pipe = pipeline(device, apply, device_id=0 if device == "gpu" else None)
        pipe.build()
        (output,) = pipe.run()
        output = output.as_cpu() if hasattr(output, "as_cpu") else output
        found[name] = [np.asarray(output.at(i)) for i in range(4)]
    return found
