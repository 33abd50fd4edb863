"""A cluster of Ray's with several nodes, on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without CPUs, which has the trainers, and two nodes of two CPUs each."""
    import ray
    from ray.cluster_utils import Cluster

    store = {"object_store_memory": 150 << 20}
    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "_system_config": {"health_check_timeout_ms": 2000}, **store},
    )
    try:
        for _ in range(2):
            made.add_node(num_cpus=2, **store)
        ray.init(address=made.address, log_to_driver=False)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
