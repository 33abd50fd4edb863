"""`./dev bench custom`: functions of one's own beside DALI's, and operators of one's own beside built-in ones.

    ./dev bench custom                 both, into bench/results/custom.md
    ./dev bench custom functions       what a batch with a Python function costs
    ./dev bench custom operators       `penstock.operator` beside built-in operators that do the same

Pipelines have 64 samples and 2 threads. Their source gives the same arrays again and again. Contestants take turns in
one process; what is told is the median of the rounds.
"""

from __future__ import annotations

import functools
import importlib
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench import machine
from bench.report import Section, arguments, choose, has_dali, table, write
from bench.timing import BESIDE, beside, both_times, medians

BATCH, THREADS = 64, 2
SIZES = {"small (32x32)": 32, "large (512x512)": 512}


def _inverted(x: Any) -> Any:
    return 255 - x


def _batch_inverted(batch: Any) -> Any:
    return [255 - x for x in batch]


def _numba_inverted(out: Any, x: Any) -> None:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                out[i, j, k] = 255 - x[i, j, k]


def _capsules(batch: Any) -> Any:
    return batch


def _with_numba(library: str, x: Any) -> Any:
    uint8 = importlib.import_module(f"{library}.types").UINT8
    function = importlib.import_module(f"{library}.plugin.numba.fn").numba_function
    return function(x, run_fn=_numba_inverted, in_types=[uint8], out_types=[uint8], ins_ndim=[3], outs_ndim=[3])


def _with_jax(library: str, x: Any) -> Any:
    return importlib.import_module(f"{library}.plugin.jax.fn").jax_function(_inverted)(x)


def _fn(library: str) -> Any:
    return importlib.import_module(f"{library}.fn")


FUNCTIONS: dict[str, Callable[[str, Any], Any]] = {
    "none": lambda library, x: x,
    "python_function": lambda library, x: _fn(library).python_function(x, function=_inverted),
    "python_function, batch_processing": lambda library, x: _fn(library).python_function(
        x, function=_batch_inverted, batch_processing=True
    ),
    "dl_tensor_python_function": lambda library, x: _fn(library).dl_tensor_python_function(x, function=_capsules),
    "jax_function": _with_jax,
    "numba_function": _with_numba,
}


def _pipeline(library: str, size: int, define: Callable[[Any], Any]) -> Any:
    pictures = [np.random.default_rng(k).integers(0, 256, (size, size, 3), np.uint8) for k in range(BATCH)]
    package = importlib.import_module(library)
    pipe = package.Pipeline(batch_size=BATCH, num_threads=THREADS, device_id=None, prefetch_queue_depth=2)
    with pipe:
        pipe.set_outputs(define(_fn(library).external_source(lambda: pictures, layout="HWC", batch=True)))
    pipe.build()
    return pipe


def _turns(pipes: list[Any], rounds: int, seconds: float) -> list[list[float]]:
    """Of each round the milliseconds of a batch of each, by the clock, and then of all processors."""
    found = []
    for _ in range(rounds):
        times = [both_times(pipe.run, seconds) for pipe in pipes]
        found.append([1000 * one[k] for k in (0, 1) for one in times])
    return found


def _functions(rounds: int, seconds: float) -> Iterator[str]:
    libraries = ["penstock", *["nvidia.dali"] * has_dali()]
    rows = []
    for title, size in SIZES.items():
        for name, define in FUNCTIONS.items():
            pipes = [_pipeline(one, size, functools.partial(define, one)) for one in libraries]
            found = _turns(pipes, rounds, seconds)
            if len(libraries) > 1:
                rows.append([name, title, *beside([[1000 * ms for ms in one] for one in found])])
            else:
                clock, spent = (f"{1000 * ms:.0f}" for ms in medians(found))
                rows.append([name, title, clock, "", "", spent, "", ""])
            del pipes
    yield f"Microseconds of a batch of {BATCH} pictures, with their source, at {machine.load()}."
    yield ""
    yield from table(["function", "pictures", *BESIDE], rows)


def _operators(rounds: int, seconds: float) -> Iterator[str]:
    import penstock
    from penstock import fn, types

    operator: Any = penstock.operator  # a class that it decorates becomes a function, which type checkers overlook

    class Affine:
        multiplier: float = 1.0
        addend: float = 0.0
        element = "v * multiplier + addend"

    class Sphere:
        where = """
            const float dx = x - width / 2, dy = y - height / 2;
            const float times = sqrtf(dx * dx + dy * dy) / fmaxf(floorf(width / 2), floorf(height / 2));
            sx = width / 2 + times * dx;
            sy = height / 2 + times * dy;
        """

    bench_affine, bench_sphere = operator(name="bench.affine")(Affine), operator(name="bench.sphere")(Sphere)

    def contrasted(x: Any) -> Any:
        return fn.brightness_contrast(x, contrast=1.3, contrast_center=0.0, brightness_shift=-20.0 / 255)

    def normalized(x: Any) -> Any:
        return fn.crop_mirror_normalize(x, dtype=types.FLOAT, mean=[120.0] * 3, std=[60.0] * 3)

    pairs: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "element: brightness_contrast": (
            lambda x: bench_affine(x, multiplier=1.3, addend=-20.0),
            contrasted,
        ),
        "the same, before crop_mirror_normalize": (
            lambda x: normalized(bench_affine(x, multiplier=1.3, addend=-20.0)),
            lambda x: normalized(contrasted(x)),
        ),
        "where: sphere": (lambda x: bench_sphere(x), lambda x: fn.sphere(x)),
        "where: sphere, INTERP_LINEAR": (
            lambda x: bench_sphere(x, interp_type=types.INTERP_LINEAR),
            lambda x: fn.sphere(x, interp_type=types.INTERP_LINEAR),
        ),
    }  # fmt: skip
    rows = []
    for title, size in SIZES.items():
        for name, pair in pairs.items():
            found = _turns([_pipeline("penstock", size, define) for define in pair], rounds, seconds)
            own, built_in = medians(found)[:2]
            ratio = statistics.median(one[0] / one[1] for one in found)
            rows.append([name, title, f"{own:.2f}", f"{built_in:.2f}", f"{ratio:.2f}"])
    yield f"Milliseconds of a batch of {BATCH} pictures, with their source, at {machine.load()}."
    yield ""
    yield from table(["operator", "pictures", "of one's own", "built in", "ratio"], rows)


def main() -> None:
    parser = arguments("custom", "functions, operators", rounds=5, seconds=0.5)
    given = parser.parse_args()
    sections: dict[str, Section] = {
        "functions": ("Functions, beside DALI's", lambda: _functions(given.rounds, given.seconds)),
        "operators": ("penstock.operator, beside built-in operators", lambda: _operators(given.rounds, given.seconds)),
    }
    write("custom", "Operators of one's own", choose(parser, given.sections, sections) or sections, given.append)


if __name__ == "__main__":
    main()
