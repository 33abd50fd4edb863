"""The cases of all operators (tests/cases.py) as sequences, with arguments that have a value for each frame.

DALI says which arguments may have these: a case that gives one of them for each sample becomes one of sequences, whose
frames have the values of the samples by turns.
"""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

import numpy as np

from penstock.op import registry
from tests.cases import Array, Case, Samples


def of_frames(op: str) -> set[str]:
    """The arguments that DALI takes frame by frame; none where it is not installed."""
    try:
        import nvidia.dali.fn as dali_fn
        from nvidia.dali import backend
    except ImportError:
        return set()
    try:
        name = operator.attrgetter(op)(dali_fn)._schema_name
    except AttributeError:
        return set()
    schema: Any = vars(backend)["GetSchema"](name)
    return {a for a in schema.GetArgumentNames() if schema.IsTensorArgument(a) and schema.ArgSupportsPerFrameInput(a)}


def frame_counts(case: Case) -> list[int]:
    """Of each sample's sequence."""
    return [2 + i for i in range(case.count)]


def given(case: Case) -> set[str]:
    """Arguments of the case whose values become those of frames."""
    found = {k for k, v in case.arguments.items() if isinstance(v, Samples)} & of_frames(case.op)
    return {k for k in found if len({a.shape for a in case.arguments[k].arrays}) == 1}


def sequences(case: Case) -> Case:
    """With inputs of frames, which are the sample's picture moved along."""
    counts = frame_counts(case)

    def stacked(s: Samples) -> Samples:
        layout = s.layout or "**"[: s.arrays[0].ndim]
        made = [np.stack([moved(a, f) for f in range(n)]) for a, n in zip(s.arrays, counts, strict=True)]
        return Samples(tuple(made), "F" + layout)

    inputs = [stacked(s) if k == 0 or s.layout else s for k, s in enumerate(case.inputs)]
    arguments = dict(case.arguments)
    for name in given(case):
        arrays = case.arguments[name].arrays
        made = [np.stack([arrays[(i + f) % len(arrays)] for f in range(n)]) for i, n in enumerate(counts)]
        arguments[name] = Samples(tuple(made), "F***"[: 1 + arrays[0].ndim])
    return dataclasses.replace(case, inputs=tuple(inputs), arguments=arguments)


def moved(picture: Array, frame: int) -> Array:
    return np.roll(picture, 3 * frame, axis=0) if frame and picture.ndim else picture


def frames_as_samples(case: Case) -> Case:
    """The frames of all of a case's sequences, each as a sample of its own."""
    counts = frame_counts(case)

    def unstacked(s: Samples) -> Samples:
        if s.layout.startswith("F"):
            layout = s.layout[1:] if s.layout[1:].isupper() else ""
            return Samples(tuple(frame for a in s.arrays for frame in a), layout)
        return Samples(tuple(a for a, n in zip(s.arrays, counts, strict=True) for _ in range(n)), s.layout)

    arguments = {k: unstacked(v) if isinstance(v, Samples) else v for k, v in case.arguments.items()}
    return dataclasses.replace(case, inputs=tuple(map(unstacked, case.inputs)), arguments=arguments)


def framed(cases: list[Case]) -> list[Case]:
    """Those of the cases that can be, as sequences."""
    return [sequences(case) for case in cases if given(case) and can_be_frames(case)]


def can_be_frames(case: Case) -> bool:
    """Pictures that say what their axes are; transforms and points of any layout."""
    if any(s.layout.startswith("F") for s in case.inputs):
        return False
    pictures = registry.ops[case.op].__module__.split(".")[-1] not in ("transforms", "coord_transform")
    return bool(case.inputs and case.inputs[0].layout) if pictures else not any(s.layout for s in case.inputs)


def covering(cases: list[Case]) -> list[Case]:
    """Few of them, in which each operator has each of its arguments that are given by frames."""
    seen: set[tuple[str, str]] = set()
    chosen = []
    for case in sorted(cases, key=lambda c: -len(by_frame(c))):
        if more := {(case.op, name) for name in by_frame(case)} - seen:
            seen |= more
            chosen.append(case)
    return chosen


def by_frame(case: Case) -> set[str]:
    """The arguments that a case has for each frame."""
    return {k for k, v in case.arguments.items() if isinstance(v, Samples) and v.layout.startswith("F")}
