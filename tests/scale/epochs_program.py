"""A process among several that torchrun starts: reads its part of epochs, and rank 0 writes down what all have read.

torchrun --nproc-per-node=4 tests/scale/epochs_program.py FOLDER        two batches of an epoch, and states
torchrun --nproc-per-node=3 tests/scale/epochs_program.py FOLDER rest   the rest of it, and a whole one
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch.distributed as dist

from penstock import fn, merge_states, pipeline_def
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

SIZE, BATCH = 103, 5


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, seed=2)
def numbers(file: str, rank: int, ranks: int) -> Any:
    return fn.readers.file(files=[file] * SIZE, random_shuffle=True, shard_id=rank, num_shards=ranks, name="Reader")[1]


def gathered(what: Any) -> list[Any]:
    """That of all ranks."""
    everybodys = [None] * dist.get_world_size()
    dist.all_gather_object(everybodys, what)
    return everybodys


def samples(batches: Any, most: int | None = None) -> list[list[int]]:
    """Batch by batch; after each, all ranks wait for each other where they are to be in step."""
    found: list[list[int]] = []
    while most is None or len(found) < most:
        try:
            batch = next(batches)
        except StopIteration:
            break
        found.append(batch[0]["n"].flatten().tolist())
    return found


def main(folder: Path, rest: bool) -> None:
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    found: dict[str, Any] = {}
    for policy in LastBatchPolicy:
        state = folder / f"{policy.name}.json"
        batches = DALIGenericIterator(
            numbers(__file__, rank, ranks), ["n"], reader_name="Reader", last_batch_policy=policy
        )
        if rest:
            batches.load_state_dict(json.loads(state.read_text()))
            found[policy.name] = gathered([samples(batches), samples(iter(batches))])
        else:
            found[policy.name] = gathered([samples(batches, 2)])
            states = gathered(batches.state_dict())
            if not rank:
                state.write_text(json.dumps(merge_states(states)))
        dist.barrier()
    if not rank:
        (folder / ("rest.json" if rest else "begun.json")).write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), len(sys.argv) > 2)
