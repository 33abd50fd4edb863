"""`DataLoader`: PyTorch's, whose batches have the pipeline's outputs in them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch.utils.data

from penstock.plugin.pytorch.experimental.proxy.server import DALIServer


class DataLoader(torch.utils.data.DataLoader[Any]):
    """A ``torch.utils.data.DataLoader`` over a dataset that calls `DALIServer.proxy`.

    Args:
        dali_server: the `DALIServer`; it is started where it is not running, and then stopped with the loader.
        args: those of PyTorch's, and so are the ones by name.

    Example:
        >>> class Numbers(torch.utils.data.Dataset):
        ...     def __init__(self, transform):
        ...         self.transform = transform
        ...     def __len__(self):
        ...         return 8
        ...     def __getitem__(self, i):
        ...         return i, self.transform(np.int32([i]))
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def squared():
        ...     x = fn.external_source(name="x")
        ...     return x * x
        >>> with DALIServer(squared()) as server:
        ...     loader = DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=1)
        ...     [squares.ravel().tolist() for _, squares in loader]
        [[0, 1, 4, 9], [16, 25, 36, 49]]
    """

    def __init__(self, dali_server: DALIServer, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dali_server = dali_server

    def __iter__(self) -> Any:
        if not self.dali_server._is_thread_running():
            self.dali_server.start_thread()
            weakref.finalize(self, self.dali_server.stop_thread)
        return _Produced(self.dali_server, super().__iter__(), self.persistent_workers)


class _Produced:
    """An iterator of PyTorch's, with tensors in the places of references."""

    def __init__(self, server: DALIServer, batches: Any, goes_on: bool) -> None:
        self._server, self._batches = server, batches
        if not goes_on:  # what its workers have ready when it is left, nobody wants
            weakref.finalize(self, server.forget, getattr(batches, "_base_seed", None))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._server.produce_data(next(self._batches))

    def __len__(self) -> int:
        return len(self._batches)
