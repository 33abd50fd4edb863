"""DALI's decoders on the CPU, the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.decode.pictures import Array


def with_dali(files: list[bytes], operator: str, inputs: list[Array] | None = None, **arguments: Any) -> list[Array]:
    """The same call of DALI's `fn`; ``operator`` is a name below it."""
    dali = pytest.importorskip("nvidia.dali", reason="needs DALI: pip install nvidia-dali-cuda130==2.4.0")
    make = dali.fn
    for part in operator.split("."):
        make = getattr(make, part)

    @dali.pipeline_def(batch_size=len(files), num_threads=2, device_id=None, seed=1, prefetch_queue_depth=1)
    def pipeline() -> Any:
        encoded = dali.fn.external_source(lambda: [np.frombuffer(file, np.uint8) for file in files])
        extra = [dali.types.Constant(value, device="cpu") for value in inputs or []]
        return make(encoded, *extra, **arguments)

    built = pipeline()
    built.build()
    (out,) = built.run()
    return [np.array(out.at(i)) for i in range(len(files))]
