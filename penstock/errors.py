"""Everything that the library raises on purpose.

PenstockError
├── ArgumentError (ValueError, RuntimeError) an argument's value
│   ├── ArgumentTypeError (TypeError) an argument's type
│   │   └── ArgumentRangeError (OverflowError) ... or a number that its type does not have
│   └── UnknownArgumentError (KeyError, TypeError)
├── DeviceError (RuntimeError, ValueError) a device that is missing or does not fit
├── UnknownOperatorError (AttributeError) there is no operator of that name
├── UnsupportedNameError (AttributeError) a name of DALI's that is not here was looked up (`penstock.compat`)
├── UnsupportedImportError (ImportError) ... or imported
├── GraphError (RuntimeError)         a pipeline that is put together or used in a wrong way
│   ├── NoDataError (IndexError)      an input has no data for the iteration that is to run
│   └── NodeContentsError (TypeError) a node was asked for what is in it while the pipeline is being defined
├── OperatorError (RuntimeError)      an operator failed on a sample
│   ├── InputError (ValueError)       the sample, or an argument's value for it, is not what the operator accepts
│   │   ├── LayoutError               its layout is not
│   │   └── AxisError (IndexError)    it has no such axis or element
│   ├── ReadError (OSError)           a file could not be read
│   ├── DecodeError                   a file is no picture, or a broken one
│   ├── OutOfMemoryError (MemoryError)
│   └── FunctionError                 a Python function of the user's raised something, or returned what is no batch
├── NativeLibraryError (ImportError)  the native library is missing or does not run here
│   └── PluginError (RuntimeError)    a library of operators of one's own cannot be loaded
├── MissingPackageError (ImportError)  a Python package that is not among the required ones cannot be imported
├── TensorError (RuntimeError, ValueError) a tensor has not the shape, layout or memory for what is asked of it
│   └── TensorIndexError (IndexError)
├── WorkerError (RuntimeError)        a worker of an external source has ended, or does not answer
└── StoppedError (RuntimeError)       the pipeline was closed while a thread waited for a batch

Whatever DALI raises for a mistake, the exception here is one of that class as well, so an ``except RuntimeError`` of
a script catches what it caught. Hence an ArgumentError is a RuntimeError, too: DALI finds most mistakes only when it
builds the pipeline.
"""

from __future__ import annotations

import enum
import re


class PenstockError(Exception):
    """The root of the tree: ``except PenstockError`` catches all that this library raises on purpose.

    Attributes: ``operator`` (its name in ``fn``, or None) and ``location`` ("file.py:12, in f: ..." of the user's line
    that made the operator, or None).
    """

    operator: str | None = None
    location: str | None = None

    def blame(self, operator: str, location: object, what: str = "operator made") -> None:
        """Says which operator, on which line of the user's, the error is about, unless the text does already."""
        if self.location is not None or not location:
            return
        text = str(self)
        self.operator, self.location = operator, str(location)
        named = re.match(rf"{re.escape(operator)}\b(?!_)", text)  # and not by a word that begins likewise
        text = text if named else f"{operator}: {text}"
        self.args = (f"{text}\n  {what} at {location}", *self.args[1:])

    def __str__(self) -> str:  # KeyError, one of the bases below, would quote the message
        return str(self.args[0]) if self.args else ""


class ArgumentError(PenstockError, ValueError, RuntimeError):
    """An argument has a value that the operator does not accept."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has a type that the operator does not accept."""


class ArgumentRangeError(ArgumentTypeError, OverflowError):
    """An argument is a number that its type does not have, such as an infinite whole number."""


class UnknownArgumentError(ArgumentError, KeyError, TypeError):
    """The operator has no argument of that name."""


class DeviceError(PenstockError, RuntimeError, ValueError):
    """A device is missing, or data is on another one than the operator needs."""


class UnknownOperatorError(PenstockError, AttributeError):
    """There is no operator of that name."""


class UnsupportedNameError(PenstockError, AttributeError):
    """One of DALI's modules has a name that is not supported here; the text says why, and what to use instead."""


class UnsupportedImportError(PenstockError, ImportError):
    """The same, where it is imported."""


class GraphError(PenstockError, RuntimeError):
    """A pipeline is put together or used in a wrong way."""


class NoDataError(GraphError, IndexError):
    """An input of the pipeline has no data for the iteration that is to run."""


class NodeContentsError(GraphError, TypeError):
    """A node was tested, counted or iterated while the pipeline is being defined, so before there is anything in it."""


class OperatorError(PenstockError, RuntimeError):
    """An operator failed on a sample.

    Attributes, besides those of all errors: ``sample`` (its place in the batch, or None) and ``file`` (that the sample
    came from, or None).
    """

    sample: int | None = None
    file: str | None = None


class InputError(OperatorError, ValueError):
    """A sample, or the value that an argument has for it, is not what the operator accepts."""


class LayoutError(InputError):
    """The operator does not know what to do with the axes of a sample: its layout, or their number, does not fit."""


class AxisError(InputError, IndexError):
    """A sample has no such axis, or no such element."""


class ReadError(OperatorError, OSError):
    """A file or folder could not be read."""


class DecodeError(OperatorError):
    """A file is not what its decoder expects, or is broken."""


class OutOfMemoryError(OperatorError, MemoryError):
    """The system refused memory."""


class FunctionError(OperatorError):
    """A Python function of the user's raised an exception, which is the ``__cause__``, or returned what is no batch."""


class NativeLibraryError(PenstockError, ImportError):
    """The native library is missing, or does not run on this processor."""


class PluginError(NativeLibraryError, RuntimeError):
    """A library of operators of one's own cannot be loaded, or its operators cannot be taken."""


class MissingPackageError(PenstockError, ImportError):
    """A Python package that this needs cannot be imported; the text says what installs it."""


class TensorError(PenstockError, RuntimeError, ValueError):
    """A tensor or list does not have the shape, layout or memory for what is asked of it."""


class TensorIndexError(TensorError, IndexError):
    """There is no such sample."""


class WorkerError(PenstockError, RuntimeError):
    """A worker process or thread that calls the sources of external sources has ended, or does not answer."""


class StoppedError(PenstockError, RuntimeError):
    """The pipeline was stopped while an iteration was awaited."""


class ErrorKind(enum.IntEnum):
    """What the native library calls a failure."""

    INTERNAL = 1
    ARGUMENT = 2
    TYPE = 3
    READ = 4
    DECODE = 5
    MEMORY = 6
    UNSUPPORTED = 7
    STOPPED = 8
    DEVICE = 9
    LAYOUT = 10
    AXIS = 11
    SYSTEM = 12
    FUNCTION = 13


_CLASSES: dict[int, type[PenstockError]] = {
    ErrorKind.INTERNAL: OperatorError,
    ErrorKind.ARGUMENT: InputError,
    ErrorKind.TYPE: InputError,
    ErrorKind.READ: ReadError,
    ErrorKind.DECODE: DecodeError,
    ErrorKind.MEMORY: OutOfMemoryError,
    ErrorKind.UNSUPPORTED: OperatorError,
    ErrorKind.STOPPED: StoppedError,
    ErrorKind.DEVICE: DeviceError,
    ErrorKind.LAYOUT: LayoutError,
    ErrorKind.AXIS: AxisError,
    ErrorKind.SYSTEM: ReadError,
    ErrorKind.FUNCTION: FunctionError,
}


def one_line(name: object) -> str:
    """A file's name as errors and warnings show it: newlines and other control characters as escapes."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda c: c[0].encode("unicode_escape").decode(), str(name))


def from_native(
    kind: int,
    message: str,
    operator: str | None = None,
    sample: int | None = None,
    file: str | None = None,
    location: str | None = None,
) -> PenstockError:
    """The exception for a native failure, with all that is known about where it happened."""
    if file:
        message = message.replace(file, one_line(file))
    lines = [message]
    operator = operator.lstrip("_") if operator else None  # as Op.shown_name() has it
    if operator:
        lines[0] = f"{operator}: {message}"
    if file:
        lines.append(f"  file: {one_line(file)}")
    if sample is not None:
        lines.append(f"  sample: {sample} of the batch")
    if location:
        lines.append(f"  operator made at {location}")
    error = _CLASSES.get(kind, OperatorError)("\n".join(lines))
    error.operator, error.location = operator, location
    if isinstance(error, OperatorError):
        error.sample, error.file = sample, file
    return error
