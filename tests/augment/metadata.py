"""What the tests of shapes, get_property and copy share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import Pipeline


def run(make: Callable[[], Any], device_id: int | None = None, batch_size: int = 3) -> tuple[Any, ...]:
    pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=device_id)
    with pipe:
        pipe.set_outputs(*make())
    return tuple(o.as_cpu() for o in pipe.run())
