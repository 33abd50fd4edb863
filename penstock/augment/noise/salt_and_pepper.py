"""``fn.noise.salt_and_pepper``: single pixels turned white or black."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("noise.salt_and_pepper", kernel="noise_salt_and_pepper", contract="pixel", devices=("cpu", "gpu"))
class SaltAndPepper(Op):
    """Turns some pixels, drawn at random, into salt (white) or pepper (black).

    A pixel is changed with the probability ``prob``; a changed one is salt with the probability ``salt_vs_pepper``. The
    values of both are converted as by casts in C: fractions are cut off, and integers that do not fit keep their lower
    bits.

    Input: a tensor of any shape, layout and numeric type. The channels of a pixel are those along the axis C; without a
    layout, along the last axis; where a layout has no C, each element is a pixel. Output: the same shape, layout and
    type.

    Errors: OperatorError for an input of BOOL, and for probabilities below 0 or above 1.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.noise.salt_and_pepper(np.full((100, 100, 3), 7, np.uint8), prob=0.5)
        >>> sorted({tuple(pixel) for row in pipeline().run()[0].at(0).tolist() for pixel in row})
        [(0, 0, 0), (7, 7, 7), (255, 255, 255)]
    """

    random = True

    prob = arg(0.05, "Probability that a pixel is changed.", per_sample=True, aka=["p", "probability", "amount"])
    salt_vs_pepper = arg(0.5, "Probability that a changed pixel is salt.", per_sample=True)
    salt_val = arg(
        None,
        "What salt is; default: the largest integer of the input's type, 1 of floats.",
        kind="number",
        per_sample=True,
        aka=["salt_value"],
    )
    pepper_val = arg(
        None,
        "What pepper is; default: the smallest integer of the input's type, -1 of floats.",
        kind="number",
        per_sample=True,
        aka=["pepper_value"],
    )
    per_channel = arg(False, "Whether each channel is drawn by itself.")
