"""Inputs of operators on boxes, points, masks and sequences, and the arguments that these need."""

from __future__ import annotations

from collections.abc import Callable

from tests.random.arguments import Given
from tests.random.draw import Draw, Input, numbers, picture, tensor

PLACES = ("in_anchors", "shapes", "out_anchors")
Made = tuple[list[Input], Given]


def given(d: Draw, samples: str) -> Input:
    """The same array in each sample."""
    return Input(d.source([samples] * d.batch).name, (), "", "")


def boxes(d: Draw) -> tuple[Input, int]:
    """Left, top, right, bottom."""
    n = d.whole(0, 4)
    starts = [[d.number(0, 0.5), d.number(0, 0.5)] for _ in range(n)]
    rows = [[*start, *(round(v + d.number(0.05, 0.4), 5) for v in start)] for start in starts]
    return given(d, f"np.array({rows}, np.float32).reshape(-1, 4)"), n


def labels(d: Draw, n: int) -> Input:
    return given(d, f"np.arange({n}, dtype=np.int32)")


def pasted(d: Draw) -> Made:
    return [boxes(d)[0]], {"ratio": f"{d.number(1, 3)}"}


def rotated(d: Draw) -> Made:
    x, n = boxes(d)
    found: Given = {"angle": f"{d.number(-180, 180)}", "input_shape": f"[{d.whole(1, 99)}, {d.whole(1, 99)}]"}
    if d.chance(0.2):
        found["bbox_layout"] = d.choose(["'xyWH'", "'xyXY'"])
    if d.chance(0.3):
        found |= {"size": f"[{d.whole(1, 99)}, {d.whole(1, 99)}]"} if d.chance(0.3) else {"keep_size": "True"}
    if d.chance(0.3):
        found["remove_threshold"] = f"{d.number(0, 0.9)}"
    return [x] if d.chance(0.5) else [x, labels(d, n)], found


def encoded(d: Draw) -> Made:
    x, n = boxes(d)
    anchors = [[d.number(0, 0.5), d.number(0, 0.5), d.number(0.5, 1), d.number(0.5, 1)] for _ in range(d.whole(1, 5))]
    found: Given = {"anchors": repr([v for row in anchors for v in row])}
    if d.chance(0.3):
        found |= {"offset": "True", "means": "[0.1, 0.0, 0.2, 0.5]", "stds": "[0.1, 0.2, 0.5, 1.0]"}
    if d.chance(0.3):
        found["criteria"] = f"{d.number(0, 1)}"
    return [x, labels(d, n)], found


def cropped(d: Draw) -> Made:
    """What never fails, since of DALI's windows no other outputs can be compared; and few numbers, so that it ends."""
    x, n = boxes(d)
    found: Given = {"total_num_attempts": "50", "thresholds": "[0.0]", "scaling": "[1.0, 1.0]"}
    return [x] if d.chance(0.5) else [x, labels(d, n)], found


def flipped(d: Draw) -> Made:
    n = d.whole(1, 3)
    layout = {"layout": repr("".join(d.some("xyz"[:n], n)))} if d.chance(0.3) else {}
    return [given(d, numbers(d, (d.whole(0, 5), n), -9, 9))], layout


def rearranged(d: Draw) -> Made:
    x = picture(d, layouts=("FHWC", "FHWC", "FHWC", ""))
    return [x], {"new_order": repr([d.whole(0, max(0, x.shape[0] - 1 + d.chance(0.05))) for _ in range(d.whole(1, 4))])}


def placed(d: Draw) -> Made:
    """Where a window goes that is within a picture, and has what is to be seen."""
    n = d.whole(1, 3)
    starts, shapes = [d.whole(0, 9) for _ in range(n)], [d.whole(0, 9) for _ in range(n)]
    ends = {"roi_end": repr([a + b for a, b in zip(starts, shapes, strict=True)])}
    found = {"roi_start": repr(starts)} | (ends if d.chance(0.5) else {"roi_shape": repr(shapes)})
    found["crop_shape"] = repr([d.whole(0, 20) for _ in range(n)])
    return [], found | ({"in_shape": repr([d.whole(20, 40) for _ in range(n)])} if d.chance(0.5) else {})


def put_together(d: Draw) -> Made:
    x = picture(d, ("uint8", "int16", "float32"), ("HWC",))
    found: Given = {"in_ids": repr([d.whole(0, d.batch - 1)])} if d.chance(0.4) else {}
    for name in d.some(PLACES, d.whole(0, 2)):  # nodes, since DALI takes no lists for them
        found[name] = d.repeated(f"np.int32([[{d.whole(0, 2)}, {d.whole(0, 2)}]])")
    return [x], found | {"output_size": f"[{d.whole(50, 60)}, {d.whole(50, 60)}]"}


def chosen(d: Draw) -> Made:
    polygons = [[k, 2 * k, 2 * k + d.whole(0, 3)] for k in range(4)]
    inputs = [f"np.array({d.some(range(4), d.whole(0, 4))}, np.int32)", f"np.int32({polygons})"]
    return [given(d, text) for text in (*inputs, numbers(d, (9, 2), 0, 9))], {}


def labelled(d: Draw) -> Made:
    shape = tuple(d.whole(1, 9) for _ in range(d.whole(1, 3)))
    return [given(d, f"noise({d.choose(['uint8', 'int16', 'int32'])!r}, {shape}, {d.whole(0, 99)}, 3)")], {}


def mask(d: Draw) -> Made:
    shape = tuple(d.whole(1, 9) for _ in range(d.whole(1, 3)))
    return [given(d, f"noise({d.choose(['uint8', 'int16', 'float32'])!r}, {shape}, {d.whole(0, 99)}, 3)")], {}


DETECTION: dict[str, Callable[[Draw], Made]] = {
    "bbox_paste": pasted,
    "bbox_rotate": rotated,
    "box_encoder": encoded,
    "coord_flip": flipped,
    "multi_paste": put_together,
    "per_frame": lambda d: ([tensor(d, 1)], {}),
    "random_bbox_crop": cropped,
    "roi_random_crop": placed,
    "segmentation.random_mask_pixel": mask,
    "segmentation.random_object_bbox": labelled,
    "segmentation.select_masks": chosen,
    "sequence_rearrange": rearranged,
}
