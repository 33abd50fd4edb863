"""Where the time of a running pipeline went, and the memory."""

from __future__ import annotations

from typing import Any

from penstock.machine import gpu
from penstock.run.executor import Executor


def statistics(executor: Executor, devices: bool = False) -> dict[str, Any]:
    """Figures since the pipeline was built.

    ``operators``: by node name, ``operator`` (its name in fn), ``samples``, ``setup_s`` (finding shapes) and ``run_s``,
    added over all threads. Operators that were fused count as one, by the first of them; of those on a GPU, ``run_s``
    is the CPU's part. ``threads``: for each, ``busy_s`` and ``total_s``. ``memory``: ``held`` and ``peak`` bytes of the
    pool of host memory that the pipeline uses.

    With ``devices`` (`Pipeline`'s ``enable_memory_stats=True``), ``memory`` of a pipeline on a GPU also has
    ``device_id`` and the pools that all pipelines of the process on this GPU share: ``device``, its memory, and
    ``pinned``, page-locked memory of the host, each with ``held`` and ``peak`` bytes.
    """
    held, peak = executor.memory()
    memory: dict[str, Any] = {"held": held, "peak": peak}
    if devices and executor.device is not None:
        info = gpu.describe(executor.device)
        memory["device_id"] = executor.device
        memory["device"] = {"held": info.memory_held, "peak": info.memory_peak}
        memory["pinned"] = {"held": info.pinned_held, "peak": info.pinned_peak}
    return {
        "operators": {
            node.name: {"operator": node.op.name, "samples": samples, "setup_s": setup, "run_s": run}
            for node, setup, run, samples in executor.node_times()
        },
        "threads": [{"busy_s": busy, "total_s": total} for busy, total in executor.thread_times()],
        "memory": memory,
    }
