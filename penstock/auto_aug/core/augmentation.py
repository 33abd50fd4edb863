"""A transformation with a range of strengths."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from penstock import fn, types
from penstock.auto_aug.core.magnitude import SignedBin
from penstock.errors import ArgumentError, ArgumentTypeError, UnknownArgumentError
from penstock.graph.constants import constant
from penstock.graph.node import DataNode

Range = tuple[float, float] | np.ndarray[Any, Any]


@dataclass(frozen=True)
class Augmentation:
    """What `augmentation` makes of a function. Called with a node, it applies the function to it.

    Attributes, all of them arguments of `augmentation`: ``op`` (the function), ``mag_range``, ``randomly_negate``,
    ``mag_to_param``, ``param_device``, ``name``.
    """

    op: Callable[..., Any]
    mag_range: Range | None
    randomly_negate: bool
    mag_to_param: Callable[[float], Any] | None
    param_device: str
    name: str

    def augmentation(self, **changes: Any) -> Augmentation:
        """This one with other arguments, those of `augmentation`."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        return f"<augmentation {self.name!r}>"

    def __call__(
        self,
        data: DataNode,
        *,
        magnitude_bin: int | DataNode | SignedBin | None = None,
        num_magnitude_bins: int | None = None,
        **kwargs: Any,
    ) -> DataNode:
        """Applies it.

        ``magnitude_bin``: how strong, from 0 to ``num_magnitude_bins`` less one: a number, a number for each sample, or
        either with a sign. None where the augmentation has no range. Other arguments go to the function, if it has
        them.

        Raises ArgumentError for a bin that is not there, UnknownArgumentError for arguments that the function has not.
        """
        self._check_arguments(kwargs)
        parameter = None
        if self.mag_range is not None:
            parameter = self._parameter(data, magnitude_bin, num_magnitude_bins)
        made: DataNode = self.op(data, parameter, **kwargs)
        return made

    def takes(self, name: str) -> bool:
        """Whether the function has an argument of that name besides data and parameter."""
        return name in [*inspect.signature(self.op).parameters][2:]

    def _check_arguments(self, given: dict[str, Any]) -> None:
        parameters = [*inspect.signature(self.op).parameters.values()]
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return
        known = [p.name for p in parameters[2:]]
        for name in given:
            if name not in known:
                raise UnknownArgumentError(
                    f"{self.name}: no argument {name!r}; there are: {', '.join(known) or 'none'}"
                )
        for p in parameters[2:]:
            if p.default is p.empty and p.name not in given:
                raise ArgumentError(f"{self.name}: {p.name} is missing")

    def _magnitudes(self, bins: int | None) -> np.ndarray[Any, Any]:
        if isinstance(self.mag_range, np.ndarray):
            if bins not in (None, len(self.mag_range)):
                raise ArgumentError(f"{self.name}: num_magnitude_bins={bins}: it has {len(self.mag_range)} magnitudes")
            return self.mag_range
        if bins is None:
            raise ArgumentError(f"{self.name}: num_magnitude_bins is missing: how many bins its range is divided into")
        assert self.mag_range is not None
        return np.linspace(*self.mag_range, bins)

    def _of(self, magnitude: float) -> np.ndarray[Any, Any]:
        return np.asarray(magnitude if self.mag_to_param is None else self.mag_to_param(magnitude))

    def _parameter(self, data: DataNode, given: Any, bins: int | None) -> Any:
        """The function's parameter: of the bins' magnitudes, negated or not, the one of each sample."""
        magnitudes = self._magnitudes(bins)
        chosen, sign = given if isinstance(given, SignedBin) else (given, None)
        if chosen is None:
            raise ArgumentError(f"{self.name}: magnitude_bin is missing")
        if not self.randomly_negate:
            sign = None
        elif sign is None:
            sign = fn.random.uniform(values=[0, 1], dtype=types.INT32)
        if not isinstance(chosen, DataNode):
            if not 0 <= chosen < len(magnitudes):
                raise ArgumentError(f"{self.name}: magnitude_bin={chosen}: expected 0 to {len(magnitudes) - 1}")
            magnitudes = magnitudes[chosen : chosen + 1]
        signs = (1, -1) if sign is not None else (1,)
        table = np.stack([np.stack([self._of(s * m) for m in magnitudes]) for s in signs])
        if table.dtype == np.float64:
            table = table.astype(np.float32)
        place = [sign if sign is not None else 0, chosen if isinstance(chosen, DataNode) else 0]
        varies = any(isinstance(index, DataNode) for index in place)
        value = constant(table)[tuple(place)] if varies else constant(table[0, 0])
        device = data.device if self.param_device == "auto" else self.param_device
        return value.gpu() if device == "gpu" else value


@overload
def augmentation(function: Callable[..., Any]) -> Augmentation: ...
@overload
def augmentation(
    function: None = None,
    *,
    mag_range: Range | None = ...,
    randomly_negate: bool = ...,
    mag_to_param: Callable[[float], Any] | None = ...,
    param_device: str = ...,
    name: str | None = ...,
    augmentation_cls: type[Augmentation] = ...,
) -> Callable[[Callable[..., Any]], Augmentation]: ...
def augmentation(
    function: Callable[..., Any] | None = None,
    *,
    mag_range: Range | None = None,
    randomly_negate: bool = False,
    mag_to_param: Callable[[float], Any] | None = None,
    param_device: str = "cpu",
    name: str | None = None,
    augmentation_cls: type[Augmentation] = Augmentation,
) -> Any:
    """Makes a function of data and a parameter an augmentation, which takes a magnitude's bin instead of the parameter.

    - ``mag_range``: the magnitudes of the first and the last bin, between which they lie evenly, or an array of all of
      them. None: the parameter is None.
    - ``randomly_negate``: the magnitude is negated for every second sample or so.
    - ``mag_to_param``: makes the parameter, an array, of a magnitude; without it that is the magnitude. It is called
      for all bins when the pipeline is defined, so parameters have one type and shape.
    - ``param_device``: where the parameter is: "cpu", "gpu", or "auto", with the data.
    - ``name``: in messages and policies; the function's, unless it is given.

    Raises ArgumentTypeError for a function without the two arguments, ArgumentError for another ``param_device``.

    >>> @augmentation(mag_range=(0, 90), randomly_negate=True)
    ... def turn(data, angle):
    ...     return fn.rotate(data, angle=angle, keep_size=True)
    >>> turn
    <augmentation 'turn'>
    """
    if param_device not in ("cpu", "gpu", "auto"):
        raise ArgumentError(f"augmentation: param_device={param_device!r}: expected 'cpu', 'gpu' or 'auto'")

    def decorate(function: Callable[..., Any]) -> Augmentation:
        positional = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.KEYWORD_ONLY]
        if len(positional) < 2:
            raise ArgumentTypeError(f"augmentation: {function!r} takes data and a parameter by position")
        return augmentation_cls(
            function,
            mag_range,
            randomly_negate,
            mag_to_param,
            param_device,
            name or function.__name__,
        )

    return decorate if function is None else decorate(function)
