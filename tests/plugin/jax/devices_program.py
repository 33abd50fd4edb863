"""Iterators over four devices in a process of its own: JAX counts its devices once. Prints what they give as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from penstock.plugin.jax import DALIGenericIterator, data_iterator, peekable_data_iterator
from tests.small import made, numbers, ten_files

DEVICES = jax.devices()
SHARDING = NamedSharding(Mesh(np.array(DEVICES), ("x",)), PartitionSpec("x"))
FILES = ten_files(Path(sys.argv[1]))


def define(shard_id: int, num_shards: int) -> Any:
    return numbers(FILES, shard_id=shard_id, num_shards=num_shards, pad_last_batch=True)


def batches(iterator: Any) -> list[Any]:
    """Of each batch: its shape, its numbers, and the devices of its parts in the order of the parts."""
    found = []
    for batch in iterator:
        parts = sorted(batch["n"].addressable_shards, key=lambda s: s.index[0].start or 0)
        found.append([batch["n"].shape, np.ravel(batch["n"]).tolist(), [s.device.id for s in parts]])
    return found


def refused(call: Any) -> str:
    try:
        call()
    except ValueError as error:
        return str(error).splitlines()[0]
    return "nothing was raised"


def pipelines(count: int) -> list[Any]:
    return [made(lambda i=i: define(i, count), batch_size=2) for i in range(count)]


with_sharding = data_iterator(define, output_map=["n"], reader_name="Reader", sharding=SHARDING)
flags = peekable_data_iterator(define, output_map=["n"], reader_name="Reader", sharding=SHARDING)(batch_size=8)
on_two = data_iterator(define, output_map=["n"], reader_name="Reader", devices=DEVICES[1:3])
plain = data_iterator(
    define, output_map=["n"], reader_name="Reader", devices=DEVICES[:2], pmap_compatible=False, size=-1
)
total = jax.jit(lambda n: n.sum())

print(
    json.dumps(
        {
            "sharding": batches(with_sharding(batch_size=8)),
            "by hand": batches(DALIGenericIterator(pipelines(4), ["n"], reader_name="Reader", sharding=SHARDING)),
            "sum": [int(total(batch["n"])) for batch in with_sharding(batch_size=8)],
            "pmap": batches(on_two(batch_size=8)),
            "doubled": [
                jax.pmap(lambda n: 2 * n, devices=DEVICES[1:3])(batch["n"]).ravel().tolist()
                for batch in on_two(batch_size=8)
            ],
            "several": next(plain(batch_size=4))["n"].shape,
            "flags": [[flags.is_nonpadding.sharding == SHARDING, flags.is_nonpadding.tolist()] for _ in flags],
            "indivisible": refused(lambda: with_sharding(batch_size=6)),
            "no size": refused(with_sharding),
            "too few": refused(
                lambda: DALIGenericIterator(pipelines(2), ["n"], reader_name="Reader", sharding=SHARDING)
            ),
            "checkpoints": refused(lambda: with_sharding(batch_size=8, checkpoints=["{}"])),
        }
    )
)
