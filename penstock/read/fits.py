"""``fn.experimental.readers.fits``: images in FITS files."""

from __future__ import annotations

from typing import Any

from penstock.op import Op, arg, op
from penstock.read.names import NamedFilesReader
from penstock.types.convert import FLOATS, INTEGERS


@op("experimental.readers.fits", kernel="read_fits", devices=["cpu", "gpu"], inputs=0)
class Fits(NamedFilesReader):
    """Reads images of FITS files.

    The files come from one of three places: ``file_root``, a folder, with its sub-folders; ``file_list``, a text file
    with a name on each line; or ``files``.

    Outputs: an image for each of ``hdu_indices``, without a layout; its last axis is FITS's first (NAXIS1). Its type is
    that of the image, which BSCALE and BZERO have a say in: integers with another offset or scale than that of unsigned
    ones are FLOAT (of 8 and 16 bits) or FLOAT64. With ``dtypes`` it is another one: floats are rounded then, and what
    does not fit saturates. Compressed images are read as well, if they are so by Rice's code or by gzip.

    Errors: ArgumentError for arguments that do not go together or select nothing; ReadError and DecodeError for files
    that cannot be read or are broken, and for units that have no image, naming the files; OperatorError for images that
    are compressed by PLIO_1 or HCOMPRESS_1.

    With ``device="gpu"`` images are decoded by the CPU and copied. Unlike DALI it gives the file's own type where
    ``dtypes`` says none.

    Example:
        >>> cards = ["SIMPLE  = T", "BITPIX  = 16", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2", "END"]
        >>> header = "".join(card.ljust(80) for card in cards).ljust(2880).encode()
        >>> with open(f"{folder}/image.fits", "wb") as file:
        ...     _ = file.write(header + np.arange(6, dtype=">i2").tobytes().ljust(2880, bytes(1)))
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.experimental.readers.fits(files=[f"{folder}/image.fits"], hdu_indices=[1])
        >>> pipeline().run()[0].at(0).tolist()
        [[0, 1, 2], [3, 4, 5]]
    """

    early = False  # the headers have the shapes, and the pixels are read when there is memory for them
    copied_to_gpu = True
    mixes = True

    file_filter = arg("*.fits", "Pattern (`fnmatch`) that the names of files in `file_root` must match.",
                      to_kernel=False)  # fmt: skip
    hdu_indices = arg([2], "Which units (HDUs) of a file are read, from 1; each is an output.")
    dtypes = arg(None, "The type of each output; default: the file's.", kind="dtypes")

    def prepare(self) -> None:
        if not self.hdu_indices or min(self.hdu_indices) < 1:
            raise self.wrong("hdu_indices", "expected numbers from 1 on")
        if self.dtypes is not None:
            if len(self.dtypes) != len(self.hdu_indices):
                raise self.wrong("dtypes", f"there are {len(self.hdu_indices)} outputs, and each needs a type")
            if not set(self.dtypes) <= {*INTEGERS, *FLOATS}:
                raise self.wrong("dtypes", "expected types of integers and floating-point numbers")
        super().prepare()

    def num_outputs(self) -> int:
        return len(self.hdu_indices)

    def kernel_arguments(self) -> dict[str, Any]:
        return {**Op.kernel_arguments(self), "names": self.index.tables()["names"]}
