"""`Backend`: a framework as the library sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple


class Facts(NamedTuple):
    """Of one array: its address, shape and type, whether it is dense and in a GPU's memory, and that GPU's number."""

    address: int
    shape: tuple[int, ...]
    dtype: Any
    dense_on_gpu: bool
    device: int


class Backend:
    """What there is to know of a framework. One that has a method here may be asked by it; others raise TypeError.

    A class for a new framework says `name`, `module` and `distribution`, and what its arrays need: those that have
    DLPack's protocol can be fed without any method, and `array`, `empty` and `stream` make iterators
    (`penstock.plugin`). Methods import the framework when they are called; a class must not.

    Attributes:
        name: as people call it.
        module: what its arrays' classes lie in: ``type(array).__module__`` begins so.
        distribution: the package that installs it.
        plugin: the module with its iterators; "" where there are none.
        extra: of this package, which brings it.
        has_sparse: whether there is `sparse`.
    """

    name: ClassVar[str]
    module: ClassVar[str]
    distribution: ClassVar[str]
    plugin: ClassVar[str] = ""
    extra: ClassVar[str] = ""
    has_sparse: ClassVar[bool] = False

    def facts(self, array: Any) -> Facts | None:
        """What DLPack would say of an array, in a tenth of the time; None: ask DLPack."""
        return None

    def dense(self, array: Any) -> Any:
        """The array, or a copy whose elements lie one behind the other."""
        return array

    def stream(self, device: int) -> int | None:
        """The handle of the CUDA stream in which the framework works now; None: that is not known, or it has no GPU."""
        return None

    def stream_handle(self, stream: Any) -> Any:
        """The handle of one of its stream objects, as a number or as something that has one."""
        raise TypeError(f"{self.name} has no streams")

    def array(self, tensor: Any) -> Any:
        """The memory of a tensor of a pipeline as an array, without a copy."""
        raise TypeError(f"no arrays are made for {self.name}")

    def sparse(self, arrays: Sequence[Any]) -> Any:
        """One sparse array, with the arrays of a batch's samples along its first axis, each from its corner on."""
        raise TypeError(f"no sparse arrays are made for {self.name}")

    def channels_first(self, array: Any) -> Any:
        """A view of shape ``(N, C, ...)`` of an array ``(N, ..., C)``."""
        raise TypeError(f"arrays of {self.name} cannot have their channels last in memory alone")

    def empty(self, like: Any, device: int) -> Any:
        """An array of no samples like those of another; if that is on a GPU, then on this one."""
        raise TypeError(f"no arrays are made for {self.name}")
