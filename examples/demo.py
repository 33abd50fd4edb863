"""`./dev demo`: a folder of photographs becomes training batches, and a small network learns from them.

Ends with how fast it was, the plan that ran, where the time went, and a contact sheet of one augmented batch.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for `tools`; an installed penstock comes first

from penstock import DataNode, Pipeline, fn, pipeline_def, types
from penstock.plugin.base import LastBatchPolicy
from penstock.plugin.pytorch import DALIGenericIterator
from tools.photographs import Style, write_folder

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
SIZE = 128
console = Console()


@pipeline_def
def train(root: str) -> tuple[DataNode, DataNode]:
    jpegs, labels = fn.readers.file(file_root=root, random_shuffle=True, name="Reader")
    images = fn.decoders.image_random_crop(jpegs, output_type=types.RGB)
    images = fn.resize(images, resize_x=SIZE, resize_y=SIZE)
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD, mirror=fn.random.coin_flip()
    )
    return images, labels


def network(classes: int) -> torch.nn.Module:
    """Four convolutions and a linear layer: learns these eight subjects in a few epochs on a CPU."""
    layers: list[torch.nn.Module] = []
    for channels_in, channels_out in ((3, 16), (16, 32), (32, 64), (64, 64)):
        layers += [
            torch.nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1),
            torch.nn.BatchNorm2d(channels_out),
            torch.nn.ReLU(inplace=True),
        ]
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, classes))


def progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, TextColumn("{task.fields[note]}"), console=console)


def write_photographs(root: Path, count: int) -> None:
    if root.exists():
        return
    with progress() as bar:
        task = bar.add_task("writing photographs", total=count, note="")
        for _ in write_folder(root, count, Style()):
            bar.advance(task)


def train_network(loader: DALIGenericIterator, images: int, epochs: int, classes: int) -> dict[str, float]:
    """Trains and returns seconds per epoch: waiting for data, and in the network."""
    model = network(classes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    seconds = {"waiting for data": 0.0, "training": 0.0}
    with progress() as bar:
        for epoch in range(1, epochs + 1):
            task = bar.add_task(f"epoch {epoch} of {epochs}", total=images, note="")
            right = seen = 0
            clock = time.perf_counter()
            for batch in loader:
                now = time.perf_counter()
                seconds["waiting for data"] += now - clock
                data, labels = batch[0]["data"], batch[0]["label"].squeeze(-1).long()
                scores = model(data)
                loss = torch.nn.functional.cross_entropy(scores, labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                right += int((scores.argmax(1) == labels).sum())
                seen += len(labels)
                note = f"loss {float(loss.detach()):.2f}, {100 * right / seen:.0f} % right"
                bar.update(task, completed=seen, note=note)
                clock = time.perf_counter()
                seconds["training"] += clock - now
    return {name: value / epochs for name, value in seconds.items()}


def contact_sheet(images: torch.Tensor, path: Path, columns: int = 8) -> None:
    """Writes a batch (NCHW, normalised) as one picture, its colours as they were."""
    pixels = images.permute(0, 2, 3, 1).numpy() * np.array(STD, np.float32) + np.array(MEAN, np.float32)
    pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    rows = len(pixels) // columns
    grid = pixels[: rows * columns].reshape(rows, columns, *pixels.shape[1:])
    Image.fromarray(np.concatenate(np.concatenate(grid, axis=1), axis=1)).save(path)


def where_time_went(pipe: Pipeline, spent: dict[str, float]) -> Iterator[Table]:
    statistics = pipe.statistics()
    table = Table("operator", "samples", "microseconds a sample")
    for row in statistics["operators"].values():
        seconds = row["setup_s"] + row["run_s"]
        table.add_row(row["operator"], str(row["samples"]), f"{1e6 * seconds / max(row['samples'], 1):.1f}")
    table.caption = "operators in one pass are counted with its first"
    yield table
    table = Table("pipeline thread", "busy")
    for number, row in enumerate(statistics["threads"]):
        table.add_row(str(number), f"{100 * row['busy_s'] / row['total_s']:.0f} %")
    yield table
    table = Table("main thread", "seconds of an epoch")
    for name, seconds in spent.items():
        table.add_row(name, f"{seconds:.2f}")
    yield table


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev demo", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="where photographs and contact sheet go")
    parser.add_argument("--count", type=int, default=1200, help="photographs (1200)")
    parser.add_argument("--epochs", type=int, default=3, help="epochs of training (3)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="threads of the pipeline")
    options = parser.parse_args()
    torch.manual_seed(0)

    root = options.folder / f"photographs-{options.count}"
    options.folder.mkdir(parents=True, exist_ok=True)
    write_photographs(root, options.count)
    classes = sorted(path.name for path in root.iterdir())

    pipe = train(str(root), batch_size=64, num_threads=options.threads, device_id=None, seed=1)
    loader = DALIGenericIterator(
        pipe, ["data", "label"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    contact_sheet(next(iter(loader))[0]["data"][:32], options.folder / "contact_sheet.png")

    start = time.perf_counter()
    loaded = sum(len(batch[0]["label"]) for batch in loader)
    alone = loaded / (time.perf_counter() - start)
    spent = train_network(loader, options.count, options.epochs, len(classes))

    console.rule("the plan")
    console.print(pipe.explain(), markup=False, highlight=False, soft_wrap=True)
    console.rule("where the time went")
    for table in where_time_went(pipe, spent):
        console.print(table)
    console.rule("images per second")
    console.print(f"loading alone {alone:.0f}, with training {options.count / sum(spent.values()):.0f}")
    console.print(f"a batch as the network sees it: {options.folder / 'contact_sheet.png'}", soft_wrap=True)


if __name__ == "__main__":
    main()
