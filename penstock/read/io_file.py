"""``fn.io.file.read``: files whose names are data."""

from __future__ import annotations

from penstock.arguments.on_error import OnErrorArgs
from penstock.op import arg, op
from penstock.read.stores.server import listen


@op("io.file.read", kernel="read_file")
class Read(OnErrorArgs):
    """Reads files by their names, which are data: of an external source, say.

    Input: a name, the bytes of a text in UTF-8, uint8 of shape ``(length,)``; what follows a zero does not count. Names
    with a scheme are of another storage, as those of readers are. Output: the file's bytes, uint8 of shape ``(size,)``;
    its ``source_info`` is the name.

    Errors: ReadError for files that cannot be read, naming them; OperatorError for names of other shapes and types.

    Unlike DALI it reads files that are empty.

    Example:
        >>> name = np.frombuffer(archive.encode(), np.uint8)
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.io.file.read(name)
        >>> bytes(pipeline().run()[0].at(0)) == open(archive, "rb").read()
        True
    """

    stage = "read"
    early = True
    io = True
    setup_reads = (0,)

    def prepare(self) -> None:
        super().prepare()
        listen()  # names may be addresses, which nobody knows yet

    dont_use_mmap = arg(False, "Do not map files into memory.", unused="files are never mapped, always read")
    use_o_direct = arg(False, "Read past the system's cache.", unused="files are read through it")
