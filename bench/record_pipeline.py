"""The pipelines of bench/readers.py; imports nothing but the libraries, so that a process has their memory alone."""

from __future__ import annotations

import importlib
from typing import Any

BATCH = 64


def pipeline_of(library: str, name: str, arguments: dict[str, Any], threads: int, **more: Any) -> Any:
    module, fn = importlib.import_module(library), importlib.import_module(f"{library}.fn")
    if name == "tfrecord":
        tf = importlib.import_module(f"{library}.tfrecord")
        image, label = tf.FixedLenFeature([], tf.string, ""), tf.FixedLenFeature([1], tf.int64, -1)
        more["features"] = {"image": image, "label": label}
    pipe = module.Pipeline(batch_size=BATCH, num_threads=threads, device_id=None, prefetch_queue_depth=2)
    with pipe:
        read = getattr(fn.readers, name)(name="Reader", **arguments, **more)
        pipe.set_outputs(*(read.values() if isinstance(read, dict) else read))
    pipe.build()
    return pipe
