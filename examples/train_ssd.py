"""A small SSD learns to find shapes: COCO's annotations, crops that keep boxes, anchors, three maps of features.

    python examples/train_ssd.py

writes 1000 pictures of up to three discs, squares and triangles (tools/shapes.py), and 200 others to validate with. Its
F1 score (boxes of the right class that overlap by half) is at least 85 % after 12 epochs, some minutes on two cores; if
not, the status is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for `tools`; an installed penstock comes first

import penstock
from examples.timing import LoaderTime
from examples.workloads import detection
from penstock import DataNode, Pipeline, fn, pipeline_def, types
from penstock.plugin.base import LastBatchPolicy
from penstock.plugin.pytorch import DALIGenericIterator
from tools.shapes import CLASSES, write_shapes

SIZE, LEAST = 96, 85.0  # pixels each way; percent
MAPS = [(12, 18, 30, (2,)), (6, 32, 46, (2,)), (3, 54, 76, (2,))]  # as detection.MAPS
EACH = 4  # anchors in a cell
BOXES = torch.tensor(detection.anchors(MAPS, SIZE)).reshape(-1, 4)
STDS = torch.tensor([0.1, 0.1, 0.2, 0.2])


@pipeline_def
def pictures(folder: str) -> tuple[DataNode, ...]:
    """To validate with: pictures as in training, and boxes and labels as they are."""
    jpegs, boxes, labels = fn.readers.coco(
        file_root=folder, annotations_file=f"{folder}/annotations.json", ltrb=True, ratio=True, name="Reader"
    )
    images = fn.resize(fn.decoders.image(jpegs), size=[SIZE, SIZE])
    return fn.crop_mirror_normalize(images, dtype=types.FLOAT, **detection.NORMALIZE), boxes, labels


class Network(torch.nn.Module):
    """Convolutions that halve the picture five times; the last three maps tell their anchors' classes and offsets."""

    def __init__(self) -> None:
        super().__init__()

        def convolved(inputs: int, outputs: int, stride: int = 2) -> list[torch.nn.Module]:
            convolution = torch.nn.Conv2d(inputs, outputs, 3, stride, padding=1)
            return [convolution, torch.nn.BatchNorm2d(outputs), torch.nn.ReLU()]

        def block(inputs: int, outputs: int) -> torch.nn.Module:
            return torch.nn.Sequential(*convolved(inputs, outputs), *convolved(outputs, outputs, 1))

        self.stem = torch.nn.Sequential(block(3, 16), block(16, 32))
        self.blocks = torch.nn.ModuleList([block(32, 64), block(64, 96), block(96, 96)])
        values = EACH * (len(CLASSES) + 1 + 4)
        self.heads = torch.nn.ModuleList([torch.nn.Conv2d(c, values, 3, padding=1) for c in (64, 96, 96)])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores (batch, anchors, 1 + classes) and offsets (batch, anchors, 4)."""
        x, found = self.stem(x), []
        for block, head in zip(self.blocks, self.heads, strict=True):
            x = block(x)
            found.append(head(x).permute(0, 2, 3, 1).reshape(len(x), -1, len(CLASSES) + 5))
        all_of_them = torch.cat(found, 1)
        return all_of_them[..., : len(CLASSES) + 1], all_of_them[..., len(CLASSES) + 1 :]


def loss_of(scores: torch.Tensor, offsets: torch.Tensor, wanted: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Of boxes and classes, where of the anchors without a box the worst three for each with one count."""
    matched = labels > 0
    count = matched.sum().clamp(min=1)
    boxes = torch.nn.functional.smooth_l1_loss(offsets[matched], wanted[matched], reduction="sum")
    errors = torch.nn.functional.cross_entropy(scores.transpose(1, 2), labels, reduction="none")
    worst = errors.masked_fill(matched, 0).flatten().topk(int(3 * count)).values
    return (boxes + errors[matched].sum() + worst.sum()) / count


def decoded(offsets: torch.Tensor) -> torch.Tensor:
    """Left, top, right, bottom of an anchor's offsets, as fn.box_encoder makes them."""
    middle, extent = (BOXES[:, :2] + BOXES[:, 2:]) / 2, BOXES[:, 2:] - BOXES[:, :2]
    offsets = offsets * STDS
    middle, extent = middle + offsets[..., :2] * extent, extent * offsets[..., 2:].exp()
    return torch.cat([middle - extent / 2, middle + extent / 2], -1)


def overlap(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Intersection over union of each box with each other one."""
    shared = (torch.minimum(a[:, None, 2:], b[:, 2:]) - torch.maximum(a[:, None, :2], b[:, :2])).clamp(min=0).prod(-1)
    areas = [(x[:, 2:] - x[:, :2]).prod(-1) for x in (a, b)]
    return shared / (areas[0][:, None] + areas[1] - shared)


def found_in(scores: torch.Tensor, boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Boxes and classes of one picture that are surer than 50 %, the surest of those that overlap."""
    sure, classes = scores.softmax(-1)[:, 1:].max(-1)
    order = sure.argsort(descending=True)
    order = order[sure[order] > 0.5]
    kept: list[int] = []
    for i in order.tolist():
        if not kept or float(overlap(boxes[i : i + 1], boxes[kept]).max()) < 0.45:
            kept.append(i)
    return boxes[kept], classes[kept] + 1


def f1(model: Network, pipe: Pipeline, count: int) -> float:
    """Percent, over so many pictures."""
    model.eval()
    right = told = there = 0
    with torch.no_grad():
        while count > 0:
            images, boxes, labels = pipe.run()
            scores, offsets = model(torch.from_numpy(np.array(images.as_tensor())))
            for i in range(min(count, len(scores))):
                kept, classes = found_in(scores[i], decoded(offsets[i]))
                own, kinds = (torch.from_numpy(np.array(x.at(i))) for x in (boxes, labels))
                hits = (overlap(own, kept) >= 0.5) & (kinds[:, None] == classes)
                right += int(hits.any(1).sum())
                told, there = told + len(kept), there + len(own)
            count -= len(scores)
    model.train()
    return 200 * right / max(1, told + there)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="pictures to learn from (1000)")
    parser.add_argument("--epochs", type=int, default=12, help="epochs of training (12)")
    parser.add_argument("--least", type=float, default=LEAST, help=f"the F1 score that must be reached ({LEAST:g})")
    parser.add_argument("--threads", type=int, default=2, help="of the pipeline")
    options = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder, others = Path(name) / "train", max(1, options.count // 5)
        write_shapes(folder, options.count)
        write_shapes(Path(name) / "val", others, seed=1)
        settings: dict[str, Any] = dict(batch_size=32, num_threads=options.threads, device_id=None, seed=1)
        anchors = BOXES.flatten().tolist()
        pipe = detection.pipeline(penstock, folder, training=True, size=SIZE, anchor_boxes=anchors, **settings)
        val = pictures(str(Path(name) / "val"), **{**settings, "batch_size": others})
        loader = DALIGenericIterator(
            pipe, ["data", "boxes", "labels"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL,
            auto_reset=True,
        )  # fmt: skip
        model, times, found = Network(), LoaderTime(pipe), 0.0
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        steps = options.epochs * -(-options.count // settings["batch_size"])
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
        for epoch in range(1, options.epochs + 1):
            loss = torch.zeros(())
            for (batch,) in times.watched(loader):
                scores, offsets = model(batch["data"])
                loss = loss_of(scores, offsets, batch["boxes"], batch["labels"].long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
            found = f1(model, val, others)
            print(f"epoch {epoch}: loss {float(loss.detach()):.2f}, F1 {found:.1f} %", flush=True)
        print(times)
    print(f"F1 {found:.1f} %, of which at least {options.least:g} % are expected")
    return int(found < options.least)


if __name__ == "__main__":
    sys.exit(main())
