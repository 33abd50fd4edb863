"""Where the time of a running pipeline went."""

from __future__ import annotations

from typing import Any

from penstock.run.executor import Executor


def executor_statistics(executor: Executor) -> dict[str, Any]:
    """Figures since the pipeline was built.

    ``operators``: by node name, ``operator`` (its name in fn), ``samples``, ``setup_s`` (finding shapes) and ``run_s``,
    added over all threads. Operators that were fused count as one, by the first of them. ``threads``: for each,
    ``busy_s`` and ``total_s``. ``memory``: ``held`` and ``peak`` bytes of the pipeline's pools.
    """
    held, peak = executor.memory()
    return {
        "operators": {
            node.name: {"operator": node.op.name, "samples": samples, "setup_s": setup, "run_s": run}
            for node, setup, run, samples in executor.node_times()
        },
        "threads": [{"busy_s": busy, "total_s": total} for busy, total in executor.thread_times()],
        "memory": {"held": held, "peak": peak},
    }
