"""Writes sounds of made-up spoken commands with a NeMo manifest: their paths, seconds and words.

A word is two or three vowels, each a buzz of a speaker's pitch through two resonances, with noise around it. What tells
words apart are their vowels; pitch, pace, loudness, noise and where in the file the word begins are the speaker's.
"""

from __future__ import annotations

import argparse
import json
import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt

# The two resonances of a vowel, in Hz.
VOWELS = {"a": (730, 1090), "e": (530, 1840), "i": (270, 2290), "o": (570, 840), "u": (300, 870)}
WORDS = ("ai", "ia", "eo", "oe", "ua", "iu", "aou", "eie")
Array = npt.NDArray[np.float64]


def spoken(word: str, random: np.random.Generator, rate: int, seconds: float) -> Array:
    """The word somewhere in so many seconds of noise, within -1 to 1."""
    pitch, pace, voice = random.uniform(90, 230), random.uniform(0.09, 0.15), random.uniform(0.92, 1.08)
    length = int(pace * rate)
    time = np.arange(length * len(word)) / rate
    phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.05 * np.sin(2 * np.pi * 4 * time))) / rate
    place = np.minimum(np.arange(len(time)) / length, len(word) - 1e-6)
    low, high = (np.interp(place, np.arange(len(word)) + 0.5, [VOWELS[v][i] * voice for v in word]) for i in (0, 1))
    sound = np.zeros(len(time))
    for harmonic in range(1, int(min(4000, rate / 2) / pitch)):
        frequency = harmonic * pitch
        strength = sum(np.exp(-(((frequency - middle) / 120) ** 2) / 2) for middle in (low, high)) + 0.02
        sound += strength * np.sin(harmonic * phase)
    sound *= random.uniform(0.2, 0.6) / np.max(np.abs(sound)) * np.sin(np.pi * np.linspace(0, 1, len(sound))) ** 0.5
    whole = random.normal(0, random.uniform(0.002, 0.02), int(seconds * rate))
    begin = int(random.integers(len(whole) - len(sound) + 1))
    whole[begin : begin + len(sound)] += sound
    return np.clip(whole, -1, 1)


def write_commands(folder: Path, count: int, rate: int = 16000, seconds: float = 0.6, seed: int = 0) -> None:
    """`count` files (NUMBER.wav, 16 bits, `rate` samples a second) and `manifest.json`: the same for the same seed."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(count):
        random = np.random.default_rng([seed, number])
        word = WORDS[number % len(WORDS)]
        path = folder / f"{number:05}.wav"
        sound = spoken(word, random, rate, seconds)
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(np.round(sound * 32767).astype("<i2").tobytes())
        lines.append(json.dumps({"audio_filepath": str(path.resolve()), "duration": len(sound) / rate, "text": word}))
    (folder / "manifest.json").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    write_commands(options.folder, options.count)


if __name__ == "__main__":
    main()
