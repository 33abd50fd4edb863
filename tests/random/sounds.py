"""Inputs of operators on sound, and the arguments that these need."""

from __future__ import annotations

from collections.abc import Callable

from tests.random.arguments import Given
from tests.random.draw import Draw, Input

Made = tuple[list[Input], Given]


def signal(d: Draw, dtype: str = "float32", shape: tuple[int, ...] | None = None, layout: str = "") -> Input:
    """Noise within full scale; two samples at least, since DALI reads beyond shorter ones."""
    shape = shape or (d.choose([2, 17, 100, 999, 3000]),)
    largest = {"int8": 127, "int16": 30000, "int32": 2**30, "uint8": 255, "uint16": 60000}.get(dtype, 1)
    arrays = [f"noise({dtype!r}, {shape}, {d.whole(0, 999)}, {largest})" for _ in range(d.batch)]
    return Input(d.source(arrays, layout).name, shape, dtype, layout)


def transformed(d: Draw) -> Made:
    length = d.choose([8, 16, 60, 64, 77, 256])
    found: Given = {"window_length": str(length), "window_step": str(d.whole(1, 99))}
    if d.chance(0.5):
        found["nfft"] = str(length + d.choose([0, 1, 4, 40, 200]))
    found["window_fn"] = f"list(np.linspace(0, 1, {length}))" if d.chance(0.3) else "None"
    return [signal(d)], found


def spectrum(d: Draw) -> Input:
    layout = d.choose(["ft", "tf", ""])
    return signal(d, shape=(d.whole(3, 80), d.whole(1, 40)), layout=layout)


def in_bands(d: Draw) -> Made:
    found: Given = {"nfilter": str(d.whole(1, 60)), "sample_rate": f"{d.choose([8000.0, 16000.0, 44100.0])}"}
    found["freq_low"] = f"{d.choose([0.0, 20.0, 300.0])}"
    found["freq_high"] = f"{d.choose([0.0, 3800.0, 4000.0])}"
    return [spectrum(d)], found


def in_decibels(d: Draw) -> Made:
    return [spectrum(d)], {"cutoff_db": f"{d.number(-120, 0)}", "multiplier": d.choose(["10.0", "20.0"])}


def by_cosines(d: Draw) -> Made:
    kind = d.whole(1, 4)
    found: Given = {"axis": str(d.whole(0, 1)), "n_mfcc": str(d.whole(1, 90)), "dct_type": str(kind)}
    return [spectrum(d)], found | {"normalize": repr(kind > 1 and d.chance(0.5))}


def resampled(d: Draw) -> Made:
    x = signal(d, d.choose(["float32", "float32", "int8", "int16"]))
    way = d.choose([
        {"scale": f"{d.number(0, 3)}"},
        {"in_rate": "16000.0", "out_rate": f"{d.choose([8000.0, 22050.0, 44100.0])}"},
        {"out_length": str(d.whole(0, 2000))},
    ])  # fmt: skip
    kinds = d.choose([{}, {"dtype": "types.INT16"}, {"dtype": "types.FLOAT"}])
    return [x], {"quality": f"{d.whole(0, 100)}.0", **way, **kinds}


def filtered(d: Draw) -> Made:
    return [signal(d, d.choose(["float32", "float64", "int8", "int16", "int32", "uint8"]))], {}


def listened_to(d: Draw) -> Made:
    found: Given = {"window_length": d.choose(["1", "64", "256", "2048"]), "reset_interval": d.choose(["-1", "8192"])}
    found |= {"cutoff_db": f"{d.number(-60, -1)}", "reference_power": d.choose(["0.0", "0.1"])}
    return [signal(d, d.choose(["float32", "int16", "uint8"]))], found


def powers(d: Draw) -> Made:
    x = signal(d, shape=(d.whole(3, 40), d.whole(3, 40)))
    found: Given = {"axis": d.choose(["0", "1", "-1"])}
    return [x], found | ({"nfft": str(d.whole(3, 90))} if d.chance(0.6) else {})


SOUNDS: dict[str, Callable[[Draw], Made]] = {
    "audio_resample": resampled,
    "mel_filter_bank": in_bands,
    "mfcc": by_cosines,
    "nonsilent_region": listened_to,
    "power_spectrum": powers,
    "preemphasis_filter": filtered,
    "spectrogram": transformed,
    "to_decibels": in_decibels,
}
