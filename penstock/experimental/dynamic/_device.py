"""Where tensors are, and where operators run."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.errors import DeviceError
from penstock.experimental.dynamic._entered import Entered


class Device(Entered):
    """The CPU, or a GPU by its number. ``with device:`` makes it the one on which operators without inputs run.

    >>> import penstock.experimental.dynamic as ndd
    >>> ndd.Device("cpu"), ndd.device("gpu:1").device_id
    (Device('cpu'), 1)
    """

    CPU: ClassVar[Device]

    def __init__(self, name: str, device_id: int | None = None):
        kind, _, number = name.partition(":")
        if kind in ("cuda", "mixed"):
            kind = "gpu"
        if kind not in ("cpu", "gpu") or (number and not number.isdigit()) or (kind == "cpu" and number):
            raise DeviceError(f"Device({name!r}): expected 'cpu', 'gpu' or 'gpu:NUMBER'")
        if number and device_id not in (None, int(number)):
            raise DeviceError(f"Device({name!r}, {device_id!r}): two numbers")
        self.device_type = kind
        chosen = int(number) if number else device_id
        self.device_id = None if kind == "cpu" else 0 if chosen is None else chosen

    @staticmethod
    def type_from_dlpack(kind: int) -> str:
        """The type of a device by DLPack's number: 1 and 3 are the CPU, 2 and 13 GPUs."""
        if int(kind) not in (1, 2, 3, 13):
            raise DeviceError(f"DLPack's device {int(kind)} is neither the CPU nor a GPU of NVIDIA's")
        return "cpu" if int(kind) in (1, 3) else "gpu"

    @classmethod
    def from_dlpack(cls, dlpack_device: tuple[int, int]) -> Device:
        """What an array's ``__dlpack_device__`` says."""
        kind = cls.type_from_dlpack(dlpack_device[0])
        return cls(kind, None if kind == "cpu" else int(dlpack_device[1]))

    @staticmethod
    def default_device_id(device_type: str) -> int | None:
        """The number of a device where none is said: that of the first GPU."""
        return None if device_type == "cpu" else 0

    @classmethod
    def current(cls) -> Device:
        """The innermost ``with`` block's; else the CPU."""
        return cls._innermost() or cls.CPU

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            other = Device(other)
        if not isinstance(other, Device):
            return NotImplemented
        return (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __str__(self) -> str:
        return "cpu" if self.device_type == "cpu" else f"gpu:{self.device_id}"

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"


Device.CPU = Device("cpu")
DeviceLike = Device | str | Any


def device(given: Any, id: int | None = None) -> Device:
    """A `Device` of what may stand for one: another, a name, or PyTorch's."""
    if isinstance(given, Device):
        return given
    if type(given).__module__ == "torch":
        return Device(given.type, given.index)
    if not isinstance(given, str):
        raise DeviceError(f"device={given!r}: expected 'cpu', 'gpu', or a device")
    return Device(given, id)
