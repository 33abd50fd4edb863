"""AutoAugment: each sample gets one sub-policy of a policy, each of whose steps is done with a probability.

E. D. Cubuk and others, "AutoAugment: Learning Augmentation Policies from Data", arXiv:1805.09501, whose tables have the
policies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from penstock import fn, types
from penstock.auto_aug import augmentations as a
from penstock.auto_aug.core.augmentation import Augmentation
from penstock.auto_aug.core.magnitude import seed_of, signed_bin
from penstock.auto_aug.core.policy import Policy, Step
from penstock.auto_aug.core.select import select
from penstock.auto_aug.suites import Limits, arguments, check_data, shared, translations
from penstock.errors import ArgumentError
from penstock.graph.node import DataNode

_BINS = 11
_LIMITS = Limits(250, 1.0)
_ENHANCE: dict[str, Any] = {"mag_range": (0.1, 1.9), "randomly_negate": False, "mag_to_param": None}

# Augmentation, probability, bin; in pairs.
_IMAGE_NET = """
equalize .8 -  shear_y .8 4        | color .4 9      equalize .6 -  | color .4 1       rotate .6 8
solarize .8 3  equalize .4 -       | solarize .4 2   solarize .6 2  | color .2 0       equalize .8 -
equalize .4 -  solarize_add .8 3   | shear_x .2 9    rotate .6 8    | color .6 1       equalize 1 -
invert .4 -    rotate .6 0         | equalize 1 -    shear_y .6 3   | color .4 7       equalize .6 -
posterize .4 6 auto_contrast .4 -  | solarize .6 8   color .6 9     | solarize .2 4    rotate .8 9
rotate 1 7     translate_y .8 9    | solarize .8 4                  | shear_y .8 0     color .6 4
color 1 0      rotate .6 2         | equalize .8 -                  | equalize 1 -     auto_contrast .6 -
shear_y .4 7   solarize_add .6 7   | posterize .8 2  solarize .6 10 | solarize .6 8    equalize .6 -
color .8 6     rotate .4 5
"""
_REDUCED_CIFAR10 = """
invert .1 -        contrast .2 6      | rotate .7 2        translate_x .3 9   | sharpness .8 1   sharpness .9 3
shear_y .5 8       translate_y .7 9   | auto_contrast .5 - equalize .9 -      | shear_y .2 7     posterize .3 7
color .4 3         brightness .6 7    | sharpness .3 9     brightness .7 9    | equalize .6 -    equalize .5 -
contrast .6 7      sharpness .6 5     | color .7 7         translate_x .5 8   | equalize .3 -    auto_contrast .4 -
translate_y .4 3   sharpness .2 6     | brightness .9 6    color .2 8         | solarize .5 2
equalize .2 -      auto_contrast .6 - | equalize .2 -      equalize .6 -      | color .9 9       equalize .6 -
auto_contrast .8 - solarize .2 8      | brightness .1 3    color .7 0         | solarize .4 5    auto_contrast .9 -
translate_y .9 9   translate_y .7 9   | auto_contrast .9 - solarize .8 3      | equalize .8 -    invert .1 -
translate_y .7 9   auto_contrast .9 -
"""
_SVHN = """
shear_x .9 4  invert .2 -       | shear_y .9 8  invert .7 -     | equalize .6 -  solarize .6 6
invert .9 -   equalize .6 -     | equalize .6 - rotate .9 3     | shear_x .9 4   auto_contrast .8 -
shear_y .9 8  invert .4 -       | shear_y .9 5  solarize .2 6   | invert .9 -    auto_contrast .8 -
equalize .6 - rotate .9 3       | shear_x .9 4  solarize .3 3   | shear_y .8 8   invert .7 -
equalize .9 - translate_y .6 6  | invert .9 -   equalize .6 -   | contrast .3 3  rotate .8 4
invert .8 -                     | shear_y .7 6  solarize .4 8   | invert .6 -    rotate .8 4
shear_y .3 7  translate_x .9 3  | shear_x .1 6  invert .6 -     | solarize .7 2  translate_y .6 7
shear_y .8 4  invert .8 -       | shear_x .7 9  translate_y .8 3 | shear_y .8 5  auto_contrast .7 -
shear_x .7 2  invert .1 -
"""
_REDUCED_IMAGE_NET = """
posterize .4 8  rotate .6 9     | solarize .6 5  auto_contrast .6 - | equalize .8 -  equalize .6 -
posterize .6 7  posterize .6 6  | equalize .4 -  solarize .2 4      | equalize .4 -  rotate .8 8
solarize .6 3   equalize .6 -   | posterize .8 5 equalize 1 -       | rotate .2 3    solarize .6 8
equalize .6 -   posterize .4 6  | rotate .8 8    color .4 0         | rotate .4 9    equalize .6 -
equalize .8 -                   | invert .6 -    equalize 1 -       | color .6 4     contrast 1 8
rotate .8 8     color 1 2       | color .8 8     solarize .8 7      | sharpness .4 7 invert .6 -
shear_x .6 5    equalize 1 -    | color .4 0     equalize .6 -      | equalize .4 -  solarize .2 4
solarize .6 5   auto_contrast .6 - | invert .6 - equalize 1 -       | color .6 4     contrast 1 8
equalize .8 -   equalize .6 -
"""


def auto_augment(
    data: DataNode,
    policy_name: str = "image_net",
    shape: Any = None,
    fill_value: int | None = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
) -> DataNode:
    """Applies a policy of the paper's to each sample.

    - ``data``: HWC pictures or FHWC videos, UINT8.
    - ``policy_name``: "image_net", "reduced_image_net", "svhn" or "reduced_cifar10".
    - ``shape``: height and width, numbers or a node; translations are parts of it then, and pixels otherwise.
    - ``fill_value``: what is behind the picture's border; None: the border's pixels.
    - ``interp_type``: of warps: INTERP_LINEAR (default) or INTERP_NN.
    - ``max_translate_abs``: the longest translation in pixels, or of height and width; default 250.
    - ``max_translate_rel``: the longest as a part of the shape; default 1.
    - ``seed``: of all that is drawn.

    Raises ArgumentError for other policies, layouts that are not those, and a limit that does not go with ``shape``.

    >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    ... def pipeline():
    ...     files, labels = fn.readers.file(file_root=photos)
    ...     return auto_augment(fn.decoders.image(files), policy_name="svhn", seed=1)
    >>> pipeline().run()[0].dtype
    DALIDataType.UINT8
    """
    makers: dict[str, Callable[..., Policy]] = {
        "image_net": get_image_net_policy,
        "reduced_image_net": get_reduced_image_net_policy,
        "svhn": get_svhn_policy,
        "reduced_cifar10": get_reduced_cifar10_policy,
    }
    if policy_name not in makers:
        raise ArgumentError(f"auto_augment: policy_name={policy_name!r}: expected one of {', '.join(makers)}")
    given: dict[str, Any] = {}
    if policy_name != "reduced_image_net":  # which moves nothing
        given = {
            "use_shape": shape is not None,
            "max_translate_abs": max_translate_abs,
            "max_translate_rel": max_translate_rel,
        }
    return apply_auto_augment(makers[policy_name](**given), data, seed, **shared(shape, fill_value, interp_type))


def auto_augment_image_net(data: DataNode, *args: Any, **kwargs: Any) -> DataNode:
    """`auto_augment` with the policy "image_net", and its other arguments."""
    return auto_augment(data, "image_net", *args, **kwargs)


def apply_auto_augment(policy: Policy, data: DataNode, seed: int | None = None, **kwargs: Any) -> DataNode:
    """Applies a policy of your own to each sample.

    ``kwargs`` go to the augmentations that have arguments of these names.

    Raises ArgumentError for an argument that none of them has.
    """
    used = [step[0] for steps in policy.sub_policies for step in steps]
    check_data("auto_augment", data)
    given = arguments("apply_auto_augment", used, kwargs)
    chosen = fn.random.uniform(values=list(range(len(policy.sub_policies))), dtype=types.INT32, seed=seed_of(seed, 0))
    longest = max(len(steps) for steps in policy.sub_policies)
    drawn = [fn.random.uniform(range=[0.0, 1.0], seed=seed_of(seed, 1 + 2 * k)) for k in range(longest)]
    signs = [signed_bin(0, seed=seed_of(seed, 2 + 2 * k)).sign for k in range(longest)]

    def apply(steps: list[Step], data: DataNode) -> DataNode:
        for k, (augmentation, probability, magnitude) in enumerate(steps):
            done = partial(_step, augmentation, magnitude, policy.num_magnitude_bins, signs[k], given)
            if probability == 1:
                data = done(data)
            elif probability > 0:
                data = select(data, fn.cast(drawn[k] >= probability, dtype=types.INT32), [done, lambda part: part])
        return data

    functions = [partial(apply, steps) for steps in policy.sub_policies]
    made: DataNode = select(data, chosen, functions)
    return made


def _step(
    augmentation: Augmentation, magnitude: int | None, bins: int, sign: DataNode, given: Any, data: DataNode
) -> DataNode:
    if augmentation.mag_range is None:
        return augmentation(data, **given(augmentation))
    return augmentation(
        data, magnitude_bin=signed_bin(magnitude or 0, sign), num_magnitude_bins=bins, **given(augmentation)
    )


def get_image_net_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy found on ImageNet. With ``use_shape`` translations are parts of the argument ``shape``, up to
    ``max_translate_rel`` (default 1); else pixels, up to ``max_translate_abs`` (default 250)."""
    return _policy("ImageNetPolicy", _IMAGE_NET, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_cifar10_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy found on a part of CIFAR-10. The arguments are those of `get_image_net_policy`."""
    return _policy("ReducedCifar10Policy", _REDUCED_CIFAR10, use_shape, max_translate_abs, max_translate_rel)


def get_svhn_policy(use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None) -> Policy:
    """The policy found on SVHN. The arguments are those of `get_image_net_policy`."""
    return _policy("SvhnPolicy", _SVHN, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_image_net_policy() -> Policy:
    """The policy found on a part of ImageNet, which moves nothing."""
    return _policy("ReducedImageNetPolicy", _REDUCED_IMAGE_NET, False, None, None)


def _policy(name: str, text: str, use_shape: bool, most_pixels: Any, most_of_shape: Any) -> Policy:
    known = {
        **{x.name: x for x in translations(name, _LIMITS, use_shape, most_pixels, most_of_shape)},
        **{n: getattr(a, n) for n in ("shear_x", "shear_y", "rotate", "posterize", "solarize_add", "invert")},
        **{n: getattr(a, n).augmentation(**_ENHANCE) for n in ("brightness", "contrast", "color")},
        "sharpness": a.sharpness.augmentation(**{**_ENHANCE, "mag_to_param": a.sharpness_kernel_shifted}),
        "solarize": a.solarize.augmentation(mag_range=(0, 256)),
        "equalize": a.equalize,
        "auto_contrast": a.auto_contrast,
    }
    steps = []
    for part in text.replace("\n", "|").strip("|").split("|"):
        words = part.split()
        triples = zip(words[::3], words[1::3], words[2::3], strict=True)
        steps.append([(known[n], float(p), None if m == "-" else int(m)) for n, p, m in triples])
    return Policy(name, _BINS, steps)
