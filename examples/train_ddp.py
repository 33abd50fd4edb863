"""Trains a ResNet on several GPUs, a process and a pipeline for each, by DistributedDataParallel.

    torchrun --nproc-per-node=2 examples/train_ddp.py --data FOLDER --epochs 3

FOLDER has one folder of JPEG files per class; every tenth file is for validation. Without --data, photographs are made.
One process does without torchrun. Without a GPU everything runs on the CPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for `tools`; an installed penstock comes first

from penstock import DataNode, fn, pipeline_def, types
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy
from tools.photographs import Style, write_folder

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
VALIDATION = 10  # every so manyth file


@dataclass(frozen=True)
class Process:
    """This one among all, and its device."""

    rank: int
    count: int
    local: int  # its number on this machine, which is also its GPU's

    @property
    def gpu(self) -> int | None:
        return self.local if torch.cuda.is_available() else None

    @property
    def device(self) -> torch.device:
        return torch.device("cpu") if self.gpu is None else torch.device("cuda", self.gpu)

    def say(self, text: str) -> None:
        if self.rank == 0:
            print(text, flush=True)


@pipeline_def(set_affinity=True)
def pictures(
    files: list[str], labels: list[int], size: int, training: bool, rank: int, ranks: int, on_gpu: bool
) -> tuple[DataNode, DataNode]:
    """This rank's share of the files, the same in each epoch. Shards are padded, so all ranks have as many batches."""
    jpegs, label = fn.readers.file(
        files=files, labels=labels, shard_id=rank, num_shards=ranks, stick_to_shard=True, pad_last_batch=True,
        shuffle_after_epoch=False, random_shuffle=training, name="Reader",
    )  # fmt: skip
    device = "mixed" if on_gpu else "cpu"
    if training:
        images = fn.decoders.image_random_crop(jpegs, device=device, output_type=types.RGB)
        images = fn.resize(images, resize_x=size, resize_y=size)
    else:
        images = fn.decoders.image(jpegs, device=device, output_type=types.RGB)
        images = fn.resize(images, resize_shorter=size * 8 // 7)
    images = fn.crop_mirror_normalize(
        images, crop=(size, size), dtype=types.FLOAT, output_layout="HWC", mean=MEAN, std=STD,
        mirror=fn.random.coin_flip() if training else 0,
    )  # fmt: skip
    return images, label.gpu() if on_gpu else label


def loader(options: argparse.Namespace, process: Process, training: bool) -> DALIGenericIterator:
    classes = sorted(path.name for path in options.data.iterdir() if path.is_dir())
    every = sorted(path for name in classes for path in (options.data / name).iterdir())
    chosen = [path for i, path in enumerate(every) if (i % VALIDATION != 0) == training]
    pipe = pictures(
        [str(path) for path in chosen], [classes.index(path.parent.name) for path in chosen], options.size, training,
        process.rank, process.count, process.gpu is not None,
        batch_size=options.batch, num_threads=options.threads, device_id=process.gpu, seed=1 + process.rank,
    )  # fmt: skip
    # In training all ranks must have batches of one size; in validation each picture counts once.
    policy = LastBatchPolicy.FILL if training else LastBatchPolicy.PARTIAL
    return DALIGenericIterator(
        pipe, ["data", "label"], reader_name="Reader", last_batch_policy=policy, auto_reset=True, channels_last=True
    )


def network(name: str, classes: int) -> torch.nn.Module:
    """A network of torchvision's, or where that is not installed (or is not wanted) a small one."""
    if name != "small":
        try:
            from torchvision import models
        except ImportError:
            print(f"torchvision is not installed: a small network takes the place of {name}", file=sys.stderr)
        else:
            return getattr(models, name)(num_classes=classes)  # type: ignore[no-any-return]
    layers: list[torch.nn.Module] = []
    for before, after in ((3, 16), (16, 32), (32, 64), (64, 64)):
        convolution = torch.nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False)
        layers += [convolution, torch.nn.BatchNorm2d(after), torch.nn.ReLU(inplace=True)]
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, classes))


def total(values: list[float], process: Process) -> list[float]:
    """Added up over all processes."""
    sums = torch.tensor(values, dtype=torch.float64, device=process.device)
    if process.count > 1:
        dist.all_reduce(sums)
    return [float(v) for v in sums]


def train(
    model: Any, optimizer: Any, batches: Any, options: argparse.Namespace, process: Process
) -> tuple[float, float]:
    """One epoch: (images a second over all processes, mean loss)."""
    model.train()
    start, seen, loss_sum, steps = time.perf_counter(), 0, torch.zeros((), device=process.device), 0
    for step, (batch,) in enumerate(batches):
        if options.steps and step == options.steps:
            break
        labels = batch["label"].squeeze(-1).long()
        with torch.autocast(process.device.type, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(batch["data"]), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach()
        seen, steps = seen + len(labels), steps + 1
    mean_loss = float(loss_sum) / steps  # waits for the GPU
    images, losses = total([seen, mean_loss], process)
    return images / (time.perf_counter() - start), losses / process.count


@torch.no_grad()
def validate(model: Any, batches: Any, process: Process) -> tuple[int, int]:
    """(pictures that were classified rightly, pictures), over all processes."""
    model.eval()
    right, seen = torch.zeros((), device=process.device), 0
    for (batch,) in batches:
        with torch.autocast(process.device.type, torch.bfloat16):
            found = model(batch["data"]).argmax(1)
        right += (found == batch["label"].squeeze(-1)).sum()
        seen += len(found)
    right_sum, seen_sum = total([float(right), seen], process)
    return int(right_sum), int(seen_sum)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder with a folder of JPEG files per class")
    parser.add_argument("--count", type=int, default=2000, help="photographs to make where there is no --data (2000)")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, help="of an epoch; the rest is left out")
    parser.add_argument("--batch", type=int, default=128, help="pictures of a batch, in each process (128)")
    parser.add_argument("--size", type=int, default=224, help="of a picture that the network sees (224)")
    parser.add_argument("--model", default="resnet18", help="resnet18, resnet50 ... of torchvision, or small")
    parser.add_argument("--threads", type=int, default=8, help="of the pipeline, in each process (8)")
    parser.add_argument("--rate", type=float, default=0.05, help="learning rate per 128 pictures (0.05)")
    parser.add_argument("--compile", action="store_true", help="use torch.compile")
    return parser.parse_args()


def run(options: argparse.Namespace, process: Process) -> None:
    torch.manual_seed(0)
    classes = sum(path.is_dir() for path in options.data.iterdir())
    training, validation = loader(options, process, True), loader(options, process, False)
    alone: Any = network(options.model, classes).to(process.device)
    alone = alone.to(memory_format=torch.channels_last)
    model: Any = alone
    if process.count > 1:
        model = DistributedDataParallel(alone, device_ids=None if process.gpu is None else [process.gpu])
    if options.compile:
        model = torch.compile(model)
    rate = options.rate * options.batch * process.count / 128
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=1e-4)
    for epoch in range(1, options.epochs + 1):
        speed, loss = train(model, optimizer, training, options, process)
        right, seen = validate(alone, validation, process)
        accuracy = f"accuracy {right}/{seen} = {right / seen:.1%}"
        process.say(f"epoch {epoch}: {speed:.0f} images/s, loss {loss:.3f}, {accuracy}")


def main() -> None:
    options = arguments()
    process = Process(*(int(os.environ.get(n, d)) for n, d in (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0))))
    if process.gpu is not None:
        torch.cuda.set_device(process.gpu)
    if process.count > 1:
        dist.init_process_group("gloo" if process.gpu is None else "nccl")
    with tempfile.TemporaryDirectory() as temporary:
        if options.data is None:
            folders: list[Any] = [Path(temporary) / "photographs"]
            if process.rank == 0:
                process.say(f"making {options.count} photographs")
                for _ in write_folder(folders[0], options.count, Style()):
                    pass
            if process.count > 1:
                dist.broadcast_object_list(folders)  # also waits until they are there
            options.data = folders[0]
        run(options, process)
        if process.count > 1:
            dist.barrier()
            dist.destroy_process_group()


if __name__ == "__main__":
    main()
