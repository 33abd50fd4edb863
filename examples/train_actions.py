"""A small network learns which action a video shows: clips of a folder, decoded, cropped, and seen in time and space.

    python examples/train_actions.py

writes 400 videos of eight actions (something moves left, right, up or down, turns, grows, shrinks; tools/videos.py,
which needs `pip install av`), and 200 others to test it on. At least 90 % of their clips are told right after 6 epochs,
half a minute on two cores; if not, the status is 1.
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
from tools.videos import ACTIONS, write_actions

CLIP, STRIDE = 8, 2  # frames
SIDE = 48  # pixels
LEAST = 90.0  # percent


@pipeline_def
def clips(folder: str, training: bool) -> tuple[DataNode, DataNode]:
    """Clips (3 colours, 8 frames, 48 x 48) and the action's number: the rank of its folder."""
    frames, action = fn.experimental.readers.video(
        file_root=folder, sequence_length=CLIP, stride=STRIDE, step=5, random_shuffle=training, name="Reader"
    )
    frames = fn.resize(frames, resize_y=SIDE + 6 * training)
    place: dict[str, Any] = {}
    if training:  # no mirroring: it would make "right" of "left"
        place = {"crop_pos_x": fn.random.uniform(range=[0.3, 0.7]), "crop_pos_y": fn.random.uniform(range=[0.0, 1.0])}
    frames = fn.crop_mirror_normalize(
        frames, crop=(SIDE, SIDE), dtype=types.FLOAT, output_layout="CFHW", mean=[96.0] * 3, std=[64.0] * 3, **place
    )
    return frames, action


def network() -> torch.nn.Module:
    """Three convolutions in time and space, each of which leaves half of both."""
    layers: list[torch.nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 64)):
        convolution = torch.nn.Conv3d(inputs, outputs, 3, stride=2, padding=1)
        layers += [convolution, torch.nn.BatchNorm3d(outputs), torch.nn.ReLU()]
    flat: list[torch.nn.Module] = [torch.nn.AdaptiveAvgPool3d((1, 3, 3)), torch.nn.Flatten(), torch.nn.Dropout(0.2)]
    return torch.nn.Sequential(*layers, *flat, torch.nn.Linear(64 * 9, len(ACTIONS)))


def batches(pipe: Pipeline) -> DALIGenericIterator:
    names = ["clip", "action"]
    return DALIGenericIterator(
        pipe, names, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )


def accuracy(model: torch.nn.Module, pipe: Pipeline) -> float:
    """Percent of the clips that are told right."""
    model.eval()
    right = seen = 0
    with torch.no_grad():
        for (batch,) in batches(pipe):
            wanted = batch["action"].reshape(-1).long()
            right += int((model(batch["clip"]).argmax(1) == wanted).sum())
            seen += len(wanted)
    model.train()
    return 100 * right / seen


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=400, help="videos to learn from (400)")
    parser.add_argument("--epochs", type=int, default=6, help="epochs of training (6)")
    parser.add_argument("--least", type=float, default=LEAST, help=f"percent that must be told right ({LEAST:g})")
    parser.add_argument("--threads", type=int, default=2, help="of the pipeline")
    options = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_actions(folder / "train", options.count)
        write_actions(folder / "val", options.count // 2, seed=1)
        settings: dict[str, Any] = dict(batch_size=16, num_threads=options.threads, device_id=None, seed=1)
        pipe, val = (clips(str(folder / part), part == "train", **settings) for part in ("train", "val"))
        loader, times, model = batches(pipe), LoaderTime(pipe), network()
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        found = 0.0
        for epoch in range(1, options.epochs + 1):
            loss = torch.zeros(())
            for (batch,) in times.watched(loader):
                loss = torch.nn.functional.cross_entropy(model(batch["clip"]), batch["action"].reshape(-1).long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            found = accuracy(model, val)
            print(f"epoch {epoch}: loss {float(loss.detach()):.3f}, {found:.1f} % of other videos' clips told right")
        print(times)
    print(f"{found:.1f} % told right, of which at least {options.least:g} % are expected")
    return int(found < options.least)


if __name__ == "__main__":
    sys.exit(main())
