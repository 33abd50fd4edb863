"""Says of a case and its difference whether it is a certain known one (known.py)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

import numpy as np

from tests.random.arguments import ODD
from tests.random.case import Call, Case
from tests.random.compare import RESIZES, Difference, differing
from tests.random.outcome import Array
from tests.random.reference import evaluated, reductions_right, sliced

REFUSED, VALUES = "only ours raises", "values"
Matches = Callable[[Case, Difference], bool]


COMPARISONS = ("operator.lt", "operator.le", "operator.gt", "operator.ge", "operator.eq", "operator.ne")
SUMS = tuple(f"reductions.{name}" for name in ("sum", "mean", "mean_square", "rms"))
REDUCTIONS = tuple(
    f"reductions.{name}" for name in ("max", "min", "sum", "mean", "mean_square", "rms", "std_dev", "variance")
)
SQUARES = ("reductions.mean_square", "reductions.rms")
HUES = ("hsv", "hue", "saturation", "color_twist")


def uses(case: Case, *operators: str) -> bool:
    return any(name in operators for name in case.operators())


def refused(*operators: str, text: str) -> Matches:
    """Only this library raises, with such a text."""
    return lambda case, found: (
        found.kind == REFUSED and uses(case, *operators) and re.search(text, found.detail) is not None
    )


def apart(case: Case, found: Difference) -> tuple[Array, Array]:
    """What differs, of ours and of DALI's."""
    pairs = list(zip(found.ours, found.dalis, strict=True))
    where = [differing(case, ours, dali) for ours, dali in pairs]
    return tuple(np.concatenate([p[i][w] for p, w in zip(pairs, where, strict=True)]) for i in (0, 1))  # type: ignore[return-value]


def few(case: Case, found: Difference, share: float) -> bool:
    """Whether no more than this share of the elements differs."""
    return len(apart(case, found)[0]) <= share * sum(array.size for array in found.ours)


def odd(case: Case) -> bool:
    """Whether a text, a fraction and the like is given for an argument that may be of another type."""
    given = {text for call in case.calls for text in call.given().values()}
    samples = [text for source in case.sources().values() for text in source.samples]
    return bool(given & set(ODD)) or any(f"np.array({o}, " in s or f"(int({o})" in s for s in samples for o in ODD)


def odd_values(case: Case, found: Difference) -> bool:
    numbers = found.kind == "class" and "OverflowError" in found.detail
    raised = found.error in ("ArgumentTypeError", "ArgumentRangeError") or "expected at least one value" in found.detail
    return odd(case) and (found.kind == REFUSED or numbers) and raised


def only_no_numbers(case: Case, found: Difference) -> bool:
    """Of DALI's."""
    return bool(np.all(np.isnan(apart(case, found)[1])))


def not_finite(case: Case, found: Difference) -> bool:
    """DALI's."""
    return not np.any(np.isfinite(apart(case, found)[1].astype(np.float64)))


def either_not_finite(case: Case, found: Difference) -> bool:
    """Ours or DALI's, wherever they differ."""
    ours, dali = (array.astype(np.float64) for array in apart(case, found))
    return not np.any(np.isfinite(ours) & np.isfinite(dali))


def beyond_the_type(case: Case, found: Difference) -> bool:
    """Ours is a limit of the type where the fill is beyond; behind that, whatever another operator makes of it."""
    fills = [call.given()["fill_values"] for call in case.calls if "fill_values" in call.given()]
    values = [v for text in fills for i in range(case.batch) for v in np.ravel(evaluated(case, i, (text,))[0])]
    if found.kind != VALUES or "fill_values" not in case.last.given():
        return found.kind == VALUES and any(not 0 <= v <= 127 for v in values)
    if found.ours[0].dtype.kind not in "iu":
        return False
    limits = np.iinfo(found.ours[0].dtype)
    outside = any(not limits.min <= v <= limits.max for v in values)
    return outside and bool(np.all(np.isin(apart(case, found)[0], [limits.min, limits.max])))


def without_numbers(case: Case) -> bool:
    """Whether a source has infinities or what is no number, such as halves of large numbers are."""
    arrays = [evaluated(case, i, (name,))[0] for name in case.sources() for i in range(case.batch)]
    return any(array.dtype.kind == "f" and not np.all(np.isfinite(array)) for array in map(np.asarray, arrays))


def without_pixels(case: Case) -> bool:
    """Whether a source has nothing in it."""
    return any(np.size(evaluated(case, i, (name,))[0]) == 0 for name in case.sources() for i in range(case.batch))


def scaled_by_zero(case: Case, found: Difference) -> bool:
    """DALI's are none, or what became of those as whole numbers: 0."""
    scales = [c.given()["scale"] for c in case.calls if c.operator == "crop_mirror_normalize" and "scale" in c.given()]
    if found.kind != VALUES or not np.any([evaluated(case, 0, (scale,))[0] == 0 for scale in scales]):
        return False
    dali = apart(case, found)[1]
    return bool(np.all(np.isnan(dali) if dali.dtype.kind == "f" else dali == 0))


def no_number_cast(case: Case, found: Difference) -> bool:
    """Ours is 0, or for an infinity the type's limit; DALI's the least number of this type or of one on the way, or
    what that is without a sign.
    """
    infinite = "inf" in case.text() or without_numbers(case)
    none = infinite or "nan" in case.text() or without_pixels(case)
    if found.kind != VALUES or not none or found.ours[0].dtype.kind not in "iu":
        return False
    ours, dali = apart(case, found)
    limits = np.iinfo(dali.dtype)
    mine = [0, limits.min, limits.max] if infinite else [0]
    least = [0, limits.min or 2**63, -(2**31), -(2**63)]
    return bool(np.all(np.isin(ours, mine)) and np.all(np.isin(dali.astype(np.float64), least)))


def first_column(case: Case, found: Difference) -> bool:
    """A window of a JPEG is one column wide, of which other operators may have made more."""
    decoders = ("decoders.image_slice", "decoders.image_crop")
    if found.kind != VALUES or not uses(case, *decoders) or not re.search("'(progressive|4:2:0)'", case.text()):
        return False
    pairs = zip(found.ours, found.dalis, strict=True)
    different = [ours for ours, dali in pairs if not np.array_equal(ours, dali)]
    return case.last.operator not in decoders or all(ours.shape[1] == 1 for ours in different)


def padded_to_nothing(case: Case, found: Difference) -> bool:
    """An extent of 0 is given."""
    shapes = [call.given()["shape"] for call in case.calls if call.operator == "pad" and "shape" in call.given()]
    return found.kind == "shape" and any(
        bool(np.any(np.trunc(evaluated(case, i, (text,))[0]) == 0)) for text in shapes for i in range(case.batch)
    )


def mirrored(case: Case, found: Difference) -> bool:
    """In another layout than HWC, of a source's or behind what makes CHW of it."""
    asked = any("mirror" in call.given() for call in case.calls if call.operator.endswith("resize_crop_mirror"))
    others = any(source.layout not in ("", "HWC") for source in case.sources().values())
    return found.kind == VALUES and asked and (others or uses(case, "crop_mirror_normalize"))


def two_filters(case: Case, found: Difference) -> bool:
    """One axis has the nearest pixel, the other one may have another filter."""
    for call in case.calls:
        given = call.given()
        filters = {given.get("min_filter", "LINEAR"), given.get("mag_filter", "LINEAR")}
        part = {"crop", "crop_w", "crop_h", "roi_start"} & set(given)
        fraction = any("." in text for name, text in given.items() if name == "size" or name.startswith("resize_"))
        if call.operator in RESIZES and (part or fraction) and "types.INTERP_NN" in filters and len(filters) > 1:
            return found.kind == VALUES
    return False


def crop_beyond(case: Case) -> bool:
    """Whether a crop is larger than what a picture is resized to."""
    given = next((call.given() for call in case.calls if call.operator in RESIZES), {})
    size, crop = (evaluated(case, 0, (given.get(name, "[999, 999]"),))[0] for name in ("size", "crop"))
    sizes, crops = (np.resize(np.ravel(n)[-2:].astype(np.float64), 2) for n in (size, crop))
    for axis, (resized, cropped) in enumerate((("resize_y", "crop_h"), ("resize_x", "crop_w"))):
        sizes[axis] = min(sizes[axis], *evaluated(case, 0, (given.get(resized, "999"),)), 999)
        crops[axis] = evaluated(case, 0, (given.get(cropped, "0" if "crop" not in given else f"{crops[axis]}"),))[0]
    return bool(np.any(crops > sizes))


def small(case: Case, found: Difference, part: float) -> bool:
    """Whether they differ by no more than this part of the largest number."""
    ours, dali = (array.astype(np.float64) for array in apart(case, found))
    largest = max(float(np.max(np.abs(array.astype(np.float64)), initial=1)) for array in found.dalis)
    return bool(np.all(np.abs(ours - dali) <= part * largest + 1))


def as_halves(case: Case, found: Difference) -> bool:
    """Whether they differ by roundings of 16-bit floats."""
    ours, dali = (array.astype(np.float64) for array in apart(case, found))
    return bool(np.all(np.abs(ours - dali) <= 2.0**-8 * np.max(np.abs(dali), initial=1)))


def beyond(case: Case, wholly: bool = False) -> bool:
    """Whether a region of a picture that is resized reaches over its border or lies there; true if it is not known."""
    call, source = case.last, case.sources().get(case.last.inputs[0])
    if source is None or len(case.calls) > 1:
        return True
    given = call.given()
    texts = (*(given.get(f"roi_{n}", "0") for n in ("start", "end")), call.inputs[0], given.get("roi_relative", "0"))
    for i in range(case.batch):
        start, end, array, relative = evaluated(case, i, texts)
        extents = [n for n, axis in zip(array.shape, source.layout or "HWC", strict=False) if axis in "DHW"]
        limits = np.asarray([1] if np.any(relative) else extents)
        first, last = np.minimum(start, end), np.maximum(start, end)
        if np.any((last <= 0) | (first >= limits)) if wholly else np.any((first < 0) | (last > limits)):
            return True
    return False


def steps(case: Case, found: Difference) -> bool:
    """Ours is NumPy's slice."""
    if found.kind not in ("shape", VALUES) or case.last.operator != "operator.getitem":
        return False
    if not re.search(r"slice\([^()]*, [^()]*, (-\d+|[2-9]|1\d+)\)", case.last.inputs[1]):
        return False
    return all(same(sliced(case, i), ours) for i, ours in enumerate(found.ours))


def same(a: Array, b: Array) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def signed_and_floats(case: Case, found: Difference) -> bool:
    """Negative whole numbers and floats, and ours is right: as floats of 32 bits, or of more."""
    if found.kind != VALUES or case.last.operator not in COMPARISONS:
        return False
    compared = getattr(operator, case.last.operator.removeprefix("operator."))
    for i, ours in enumerate(found.ours):
        pair = [np.asarray(operand) for operand in evaluated(case, i, case.last.inputs)]
        whole, floats = ([a for a in pair if a.dtype.kind in kinds] for kinds in ("iu", "f"))
        if len(whole) != 1 or len(floats) != 1:
            return False
        negative = np.broadcast_to(np.asarray(whole[0] < 0), ours.shape)
        wrong = ours != found.dalis[i]
        right = [compared(*(a.astype(kind) for a in pair)) for kind in (np.float32, np.float64)]
        if not np.all(negative[wrong]) or not any(np.array_equal(ours, r) for r in right):
            return False
    return True


def other_means(case: Case, found: Difference) -> bool:
    """The mean is none over the same axes, and ours is right."""
    means = {call.name: call.arguments for call in case.calls if call.operator == "reductions.mean"}
    wanted = [call for call in case.calls if call.operator in ("reductions.variance", "reductions.std_dev")]
    if not any(means.get(call.inputs[1]) != over(call) for call in wanted):
        return False
    if found.kind == REFUSED:
        return "the mean's shape is" in found.detail
    return found.kind == VALUES and case.last in wanted and reductions_right(case, found.ours)


def rounded(case: Case, found: Difference) -> bool:
    """From numbers beyond the 24 bits of a FLOAT."""
    names = ("reductions.variance", "reductions.std_dev", "normalize")
    return found.kind == VALUES and uses(case, *names) and large(case)


def large(case: Case) -> bool:
    return any(f", {2**31 - 1})" in text for source in case.sources().values() for text in source.samples)


def over(call: Call) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in call.arguments if name in ("axes", "axis_names"))


def several_mistakes(case: Case, found: Difference) -> bool:
    early = found.error in ("ArgumentTypeError", "OverflowError") or re.search("DALI (Type|Overflow)E", found.detail)
    return found.kind == "class" and ((odd(case) and bool(early)) or found.error == "DecodeError")


def other_channels(case: Case, found: Difference) -> bool:
    """A picture that is pasted has not ``n_channels`` channels."""
    wanted = {call.given().get("n_channels", "3") for call in case.calls if call.operator == "paste"}
    have = {text for source in case.sources().values() for text in re.findall(r", (\d+)\), ", " ".join(source.samples))}
    differs = found.kind == VALUES or (found.kind == REFUSED and "fill_value has" in found.detail)
    return differs and bool(wanted) and wanted != have


def node_of_axes(case: Case, found: Difference) -> bool:
    """Something else says what becomes of the axes, or what they are called."""
    given = [c.given() for c in case.calls if c.given().get("src_dims", "").startswith(("v", "np."))]
    others = any(name in arguments for arguments in given for name in ("layout", "shape", "rel_shape", "dtype"))
    return others and found.kind in ("shape", VALUES, "layout", REFUSED)


def whole_filler(case: Case, found: Difference) -> bool:
    """Ours is the filler."""
    if found.kind not in ("shape", VALUES) or case.last.operator != "full" or "shape" in case.last.given():
        return False
    fillers = [np.asarray(evaluated(case, i, case.last.inputs[:1])[0]) for i in range(len(found.ours))]
    return all(same(filler, ours) for filler, ours in zip(fillers, found.ours, strict=True))


def wrapping(case: Case, found: Difference) -> bool:
    """A type for the sums is given, or there are squares of numbers beyond 16 bits; ours is right."""
    call = case.last
    if found.kind != VALUES or call.operator not in SUMS or call.inputs[0] not in case.sources():
        return False
    whole = all(np.asarray(evaluated(case, i, call.inputs)[0]).dtype.kind in "iub" for i in range(len(found.ours)))
    wraps = "dtype" in call.given() or (large(case) and call.operator in SQUARES)
    return whole and wraps and reductions_right(case, found.ours)


def signed_resized(case: Case, found: Difference) -> bool:
    """What comes behind makes more of it than the 1 that resizing may be off by."""
    signed = any("'int16'" in text for source in case.sources().values() for text in source.samples)
    return found.kind == VALUES and signed and bool(set(RESIZES) & set(case.operators()[:-1]))


def resized_by(case: Case, found: Difference, filters: str, *arguments: str) -> bool:
    """With such a filter, and one of these arguments where there are any."""
    text = case.text()
    resized = [call for call in case.calls if call.operator in (*RESIZES, "random_resized_crop")]
    given = not arguments or any(name in call.given() for name in arguments for call in resized)
    return found.kind == VALUES and bool(resized) and given and filters in text


def nearest_beside_less_than_a_pixel(case: Case, found: Difference) -> bool:
    """Scales make one pixel of an axis, by the nearest filter among others."""
    scaled = uses(case, "tensor_resize") and resized_by(case, found, "INTERP_NN", "scales")
    return scaled and any(1 in array.shape for array in found.ours)


def several_fills(case: Case, found: Difference) -> bool:
    given = [call.given() for call in case.calls if call.operator == "crop_mirror_normalize"]
    return found.kind == VALUES and any("," in arguments.get("fill_values", "") for arguments in given)


def one_fill(case: Case, found: Difference) -> bool:
    """Where ours is the fill, or 0 without one."""
    given = [call.given() for call in case.calls if call.operator == "crop_mirror_normalize"]
    padded = any("pad_output" in arguments or "out_of_bounds_policy" in arguments for arguments in given)
    return found.kind == VALUES and padded and len(np.unique(apart(case, found)[0])) == 1


def without_sign(case: Case, found: Difference) -> bool:
    return found.kind == VALUES and uses(case, "audio_resample") and "uint" in case.text().lower()


def low_mels(case: Case, found: Difference) -> bool:
    """Where 1 + f / 700 is hardly more than 1."""
    given = [call.given() for call in case.calls if call.operator in ("mel_filter_bank", "mfcc")]
    rates = [evaluated(case, 0, (arguments.get("sample_rate", "44100"),))[0] for arguments in given]
    return found.kind == VALUES and "'htk'" in case.text() and any(rate < 200 for rate in rates)


def whole_sounds(case: Case, found: Difference) -> bool:
    """A file of floats is decoded to a type of whole numbers."""
    decoded = [call.given() for call in case.calls if call.operator == "decoders.audio"]
    whole = any(arguments.get("dtype") in ("types.INT16", "types.INT32") for arguments in decoded)
    return found.kind == VALUES and whole and re.search("'(FLOAT|DOUBLE)'", case.text()) is not None
