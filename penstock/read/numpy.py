"""``fn.readers.numpy``: arrays in NumPy's files."""

from __future__ import annotations

from typing import Any

from penstock.arguments.gpu_storage import Storage, choose
from penstock.op import Op, arg, op
from penstock.read.names import NamedFilesReader

_EXCLUDE = (("roi_start", "rel_roi_start"), ("roi_end", "rel_roi_end", "roi_shape", "rel_roi_shape"))


@op("readers.numpy", kernel="read_numpy", devices=["cpu", "gpu"], inputs=0, legacy=["numpy_reader"])
class Numpy(NamedFilesReader):
    """Reads arrays of ``.npy`` files, or a region of each, of which no more is read than is needed.

    The files come from one of three places: ``file_root``, a folder, with its sub-folders; ``file_list``, a text file
    with a name on each line; or ``files``.

    The region is given by ``roi_start`` or ``rel_roi_start`` (default 0) and one of ``roi_end``, ``rel_roi_end``,
    ``roi_shape`` and ``rel_roi_shape`` (default: the array's end), each with one value per axis, or one for all.
    ``rel_`` means shares of the extents; the results are rounded.

    Output: the array, of the file's type and shape, without a layout. Integers, floating-point numbers (FLOAT16 to
    FLOAT64) and BOOL are read, in row-major and column-major (Fortran) order, and of either byte order.

    Errors: ArgumentError for arguments that do not go together or select nothing; ReadError for files that cannot be
    read or are broken, naming them; OperatorError for other types, and, naming the axis, for regions that reach beyond
    the array (unless ``out_of_bounds_policy`` allows it) or end before they start.

    With ``device="gpu"``, and GPUDirect Storage on the machine, elements go from the file straight into the GPU's
    memory, if nothing has to be done to them: the file is larger than 64 KB, its array in row-major order and of this
    machine's byte order, and the region lies inside it and in one piece in the file. Others are read into pinned memory
    of the host and copied, as are all without it; results are the same. docs/gpu.md has what it needs, and how to see
    what is done.

    Unlike DALI it reads versions 2 and 3 of the format as well, and numbers whose bytes are the other way round.

    Example:
        >>> name = f"{folder}/array.npy"
        >>> np.save(name, np.arange(12).reshape(3, 4))
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.numpy(files=[name]), fn.readers.numpy(files=[name], roi_start=[1, 1], roi_shape=2)
        >>> arrays, parts = pipeline().run()
        >>> arrays.at(0).shape, parts.at(0).tolist()
        ((3, 4), [[5, 6], [9, 10]])
    """

    _storage: Storage | None = None  # what was chosen, if elements go to a GPU
    early = False  # the headers have the shapes, and the elements are read when there is memory for them
    copied_to_gpu = True
    mixes = True

    file_filter = arg("*.npy", "Pattern (`fnmatch`) that the names of files in `file_root` must match.",
                      to_kernel=False)  # fmt: skip
    roi_start = arg(None, "First elements, one for each axis.", kind="integers", per_sample=True)
    roi_end = arg(None, "Elements behind the last ones.", kind="integers", per_sample=True)
    roi_shape = arg(None, "Numbers of elements.", kind="integers", per_sample=True)
    rel_roi_start = arg(None, "First elements, as shares of the extents.", kind="numbers", per_sample=True)
    rel_roi_end = arg(None, "Elements behind the last ones, as shares of the extents.", kind="numbers",
                      per_sample=True)  # fmt: skip
    rel_roi_shape = arg(None, "Numbers of elements, as shares of the extents.", kind="numbers", per_sample=True)
    roi_axes = arg([], "The axes by number, in the order of the other arguments; none: all.", kind="integers")
    out_of_bounds_policy = arg(
        "error",
        "What becomes of a region that reaches beyond the array: 'error' refuses it, 'trim_to_shape' cuts it, 'pad' "
        "fills it with `fill_value`.",
        choices=("error", "trim_to_shape", "pad"),
    )
    fill_value = arg(0.0, "What 'pad' fills with.")
    cache_header_information = arg(False, "Keep the headers of files in memory: each is looked at once.")
    register_buffers = arg(
        True,
        "With GPUDirect Storage: read whole pages into memory of the GPU that is registered with cuFile (4 MB for each "
        "thread), and copy what is wanted of them. Else cuFile reads to where elements stay, through buffers of its "
        "own, since elements hardly ever begin where a page does.",
    )
    use_o_direct = arg(
        False,
        "Read past the system's cache (O_DIRECT), where the file system can: for data that does not fit into memory, "
        "and would push other data out. What is in the cache is not used. GPUDirect Storage always reads past it.",
    )

    def prepare(self) -> None:
        for group in _EXCLUDE:
            both = [name for name in group if name in self.given]
            if len(both) > 1:
                raise self.wrong(both[0], f"cannot be given together with {' and '.join(both[1:])}")
        super().prepare()

    def num_outputs(self) -> int:
        return 1

    def writes_to_gpu(self) -> bool:
        self._storage = choose()
        return self._storage.by_cufile

    def notes(self) -> list[str]:
        return [str(self._storage)] if self._storage else []

    def kernel_arguments(self) -> dict[str, Any]:
        own = {**Op.kernel_arguments(self), "roi_axes": self.roi_axes or None}
        return {**own, "names": self.index.tables()["names"]}
