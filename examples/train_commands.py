"""A small network learns to tell spoken commands apart: sounds by a NeMo manifest, mel bands, convolutions.

    python examples/train_commands.py

writes 1600 sounds of eight made-up words, each by another speaker (tools/sounds.py), and 400 by others to test it on.
At least 95 % of these are told right after 4 epochs, some minutes on two cores; if not, the status is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for `tools`; an installed penstock comes first

from examples.timing import LoaderTime
from penstock import DataNode, Pipeline, fn, pipeline_def, types
from penstock.plugin.base import LastBatchPolicy
from penstock.plugin.pytorch import DALIGenericIterator
from tools.sounds import WORDS, write_commands

RATE, SECONDS, BANDS = 16000.0, 0.6, 40
FRAMES = 68  # of 10 ms: a sound that is played 10 % slower has so many
LEAST = 95.0  # percent


@pipeline_def
def commands(folder: str, training: bool) -> tuple[DataNode, DataNode]:
    """Mel bands (1, 40 and 68) and the number of each sound in the manifest."""
    sound, number = fn.readers.nemo_asr(
        manifest_filepaths=[f"{folder}/manifest.json"], sample_rate=RATE, downmix=True, dtype=types.FLOAT,
        read_sample_rate=False, read_text=False, read_idxs=True, random_shuffle=training, name="Reader",
    )  # fmt: skip
    if training:
        sound = fn.audio_resample(sound, scale=fn.random.uniform(range=[0.9, 1.1]))
        sound = sound + fn.random.normal(sound, stddev=0.005)
    power = fn.spectrogram(fn.preemphasis_filter(sound), nfft=512, window_length=320, window_step=160)
    mels = fn.mel_filter_bank(power, sample_rate=RATE, nfilter=BANDS, freq_high=6000.0)
    decibels = fn.to_decibels(mels, multiplier=10.0, cutoff_db=-80.0)
    padded = fn.pad(fn.normalize(decibels, axes=[1]), axes=[1], shape=[FRAMES])
    return fn.expand_dims(padded, axes=[0]), number


def network() -> torch.nn.Module:
    """Three convolutions, each of which leaves half the bands and frames."""
    layers: list[torch.nn.Module] = []
    for inputs, outputs in ((1, 16), (16, 32), (32, 64)):
        convolution = torch.nn.Conv2d(inputs, outputs, 3, stride=2, padding=1)
        layers += [convolution, torch.nn.BatchNorm2d(outputs), torch.nn.ReLU()]
    pooled: list[torch.nn.Module] = [torch.nn.AdaptiveAvgPool2d((5, 4)), torch.nn.Flatten(), torch.nn.Dropout(0.3)]
    return torch.nn.Sequential(*layers, *pooled, torch.nn.Linear(64 * 20, len(WORDS)))


def batches(pipe: Pipeline) -> DALIGenericIterator:
    names = ["data", "number"]
    return DALIGenericIterator(
        pipe, names, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )


def words_of(numbers: torch.Tensor) -> torch.Tensor:
    """The manifest has the words by turns."""
    return numbers.reshape(-1).long() % len(WORDS)


def accuracy(model: torch.nn.Module, pipe: Pipeline) -> float:
    """Percent of the sounds that are told right."""
    model.eval()
    right = seen = 0
    with torch.no_grad():
        for (batch,) in batches(pipe):
            wanted = words_of(batch["number"])
            right += int((model(batch["data"]).argmax(1) == wanted).sum())
            seen += len(wanted)
    model.train()
    return 100 * right / seen


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1600, help="sounds to learn from (1600)")
    parser.add_argument("--epochs", type=int, default=4, help="epochs of training (4)")
    parser.add_argument("--least", type=float, default=LEAST, help=f"percent that must be told right ({LEAST:g})")
    parser.add_argument("--threads", type=int, default=2, help="of the pipeline")
    options = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_commands(folder / "train", options.count, seconds=SECONDS)
        write_commands(folder / "val", options.count // 4, seconds=SECONDS, seed=1)
        settings: dict[str, Any] = dict(batch_size=32, num_threads=options.threads, device_id=None, seed=1)
        pipe, val = (commands(str(folder / part), part == "train", **settings) for part in ("train", "val"))
        loader, times, model = batches(pipe), LoaderTime(pipe), network()
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        found = 0.0
        for epoch in range(1, options.epochs + 1):
            loss = torch.zeros(())
            for (batch,) in times.watched(loader):
                loss = torch.nn.functional.cross_entropy(model(batch["data"]), words_of(batch["number"]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            found = accuracy(model, val)
            print(f"epoch {epoch}: loss {float(loss.detach()):.3f}, {found:.1f} % of other speakers' words told right")
        print(times)
    print(f"{found:.1f} % told right, of which at least {options.least:g} % are expected")
    return int(found < options.least)


if __name__ == "__main__":
    sys.exit(main())
