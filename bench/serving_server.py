"""A server of PyTriton's with one model, which prepares photographs by one of the two libraries.

    python -m bench.serving_server penstock 8001 --threads 2

Says "ready" on a line when it is, and ends with its standard input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

BATCH, SIZE = 32, 224
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def definition(library: Any, threads: int, **more: Any) -> Any:
    """The same in both: a file becomes a normalized picture."""
    fn, types = library.fn, library.types

    def pipeline() -> Any:
        files = fn.external_source(name="FILE", dtype=types.UINT8, ndim=1, no_copy=True)
        images = fn.resize(fn.decoders.image(files, output_type=types.RGB), resize_shorter=256)
        return fn.crop_mirror_normalize(
            images, crop=(SIZE, SIZE), dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD
        )

    arguments = {"batch_size": BATCH, "num_threads": threads, "device_id": None, **more}
    return library.pipeline_def(pipeline, **arguments, output_dtype=types.FLOAT, output_ndim=3)()


def by_dali(threads: int) -> Callable[[Sequence[Any]], list[dict[str, Any]]]:
    """A function for PyTriton that runs DALI's pipeline with the requests of a call."""
    import nvidia.dali as dali

    # Requests come one batch at a time, so there is nothing to prefetch, and DALI would wait for more.
    pipe = definition(dali, threads, prefetch_queue_depth=1, exec_async=False, exec_pipelined=False)
    pipe.build()

    def infer(requests: Sequence[Any]) -> list[dict[str, Any]]:
        files = [np.frombuffer(file, np.uint8) for request in requests for file in request["FILE"].reshape(-1)]
        images = np.asarray(pipe.run(FILE=files)[0].as_array())
        found, begin = [], 0
        for request in requests:
            count = len(request["FILE"])
            found.append({"image": images[begin : begin + count], "ERROR": np.full((count, 1), b"", object)})
            begin += count
        return found

    return infer


def add_model(triton: Any, library: str, threads: int) -> None:
    from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor

    if library == "penstock":
        import penstock
        from penstock.plugin.triton.pytriton import bind

        bind(triton, "prepared", definition(penstock, threads), outputs=["image"], as_bytes=["FILE"])
        return
    triton.bind(
        model_name="prepared",
        infer_func=by_dali(threads),
        inputs=[Tensor(name="FILE", dtype=bytes, shape=(1,))],
        outputs=[
            Tensor(name="image", dtype=np.float32, shape=(-1, -1, -1)), Tensor(name="ERROR", dtype=bytes, shape=(1,))
        ],
        config=ModelConfig(max_batch_size=BATCH, batcher=DynamicBatcher(max_queue_delay_microseconds=1000)),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=["penstock", "dali"])
    parser.add_argument("port", type=int, help="of gRPC; HTTP has the next one, and metrics the one behind")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    from pytriton.triton import Triton, TritonConfig

    ports = {"grpc_port": options.port, "http_port": options.port + 1, "metrics_port": options.port + 2}
    here = {"grpc_address": "127.0.0.1", "http_address": "127.0.0.1", "metrics_address": "127.0.0.1"}
    with Triton(config=TritonConfig(**ports, **here)) as triton:
        add_model(triton, options.library, options.threads)
        triton.run()
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
