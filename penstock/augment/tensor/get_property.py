"""``fn.get_property``: where data comes from, and what its axes are called."""

from __future__ import annotations

from penstock.graph.metadata import PropertyArgs
from penstock.op import op


@op("get_property", devices=["cpu", "gpu"])
class GetProperty(PropertyArgs):
    """A property of each sample, as text. ``node.property(key)`` and ``node.source_info()`` say the same.

    Input: a tensor of any type, on the CPU or the GPU, wherever this operator runs; its elements are not looked at.
    Output: the text's bytes, UINT8 of one axis; no bytes where the sample does not have that property.

    Errors: ArgumentError for a ``key`` that is neither "source_info" nor "layout".

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.get_property(files, key="source_info")
        >>> name = bytes(pipeline().run()[0].at(0)).decode()
        >>> name.startswith(str(photos)), name.endswith(".jpg")
        (True, True)
    """
