"""`./dev bench scale_out`: batches that Ray's actors make, on a cluster of several nodes on this machine.

./dev bench scale_out                   into bench/results/scale_out.md
./dev bench scale_out --seconds 2
"""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import table, write
from penstock import Pipeline, fn, types
from penstock.plugin.numpy import DALIGenericIterator
from tools.photographs import Style, write_folder

BATCH, PHOTOGRAPHS = 32, 256


def pictures(folder: str, threads: int = 1) -> Pipeline:
    """Training crops of photographs."""
    pipe = Pipeline(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    with pipe:
        jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader")
        images = fn.decoders.image_random_crop(jpegs, output_type=types.RGB)
        pipe.set_outputs(fn.resize(images, size=(224, 224)), labels)
    return pipe


def blocks(folder: str) -> Pipeline:
    """Arrays of 16 MB as they are in files: next to no work, so that the transfer is what takes time."""
    pipe = Pipeline(batch_size=4, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.readers.numpy(file_root=folder, file_filter="*.npy", name="Reader"))
    return pipe


def rate(pipe: Any, names: list[str], seconds: float) -> tuple[float, float]:
    """Samples and megabytes a second."""
    batches = DALIGenericIterator(pipe, names, reader_name="Reader")
    samples = size = 0
    begin = 0.0
    for number, batch in enumerate(_endless(batches)):
        if number == 10:  # now all is warm
            begin = time.perf_counter()
        elif begin:
            samples += len(batch[names[0]])
            size += sum(array.nbytes for array in batch.values())
            if time.perf_counter() - begin > seconds:
                break
    took = time.perf_counter() - begin
    return samples / took, size / took / 1e6


def _endless(batches: Any) -> Iterator[dict[str, Any]]:
    while True:
        for batch in batches:
            yield batch[0]


def fed(seconds: float, folder: str, where: dict[str, Any]) -> Iterator[list[str]]:
    from penstock.plugin.ray import Pool

    own, _ = rate(pictures(folder, 2), ["images", "labels"], seconds)
    yield ["the pipeline in the trainer, 2 threads", f"{own:.0f}", ""]
    for actors in (1, 2):
        pool = Pool(functools.partial(pictures, folder), actors=actors, options=where)
        while len(pool.actors()) < actors:
            time.sleep(0.1)
        samples, megabytes = rate(pool.pipeline(), ["images", "labels"], seconds)
        pool.close()
        yield [f"{actors} actor(s) on other nodes, 1 thread each", f"{samples:.0f}", f"{megabytes:.0f}"]


def moved(seconds: float, folder: str, places: dict[str, dict[str, Any]]) -> Iterator[list[str]]:
    from penstock.plugin.ray import Pool

    _, own = rate(blocks(folder), ["block"], seconds)
    yield ["the pipeline in the trainer", f"{own:.0f}"]
    for name, where in places.items():
        pool = Pool(functools.partial(blocks, folder), options=where)
        _, megabytes = rate(pool.pipeline(ahead=3), ["block"], seconds)
        pool.close()
        yield [name, f"{megabytes:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="of each figure")
    options = parser.parse_args()
    import ray
    from ray.cluster_utils import Cluster

    store = {"object_store_memory": 1 << 30}
    head = {"num_cpus": 0, "resources": {"head": 1}, **store}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    with tempfile.TemporaryDirectory() as temporary:
        photographs, arrays = Path(temporary) / "photographs", Path(temporary) / "arrays"
        sum(write_folder(photographs, PHOTOGRAPHS, Style()))
        arrays.mkdir()
        for k in range(8):
            np.save(arrays / f"{k}.npy", np.zeros(16 << 20, np.uint8))
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=1, resources={"other": 1}, **store)
            ray.init(address=cluster.address, log_to_driver=False)
            other, here = {"num_cpus": 1, "resources": {"other": 1}}, {"num_cpus": 0, "resources": {"head": 1}}
            places = {"an actor on the trainer's node": here, "an actor on another node": other}
            write("scale_out", "Batches by way of Ray", {
                "fed": ("Training crops, 224x224, batch 32", lambda: table(
                    ["", "images/s", "MB/s"], fed(options.seconds, str(photographs), other))),
                "moved": ("Batches of 64 MB that cost no work", lambda: table(
                    ["", "MB/s"], moved(options.seconds, str(arrays), places))),
            }, False)  # fmt: skip
        finally:
            ray.shutdown()
            cluster.shutdown()


if __name__ == "__main__":
    main()
