"""``fn.dump_image``: pictures written to files, to look at them."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("dump_image", devices=("cpu", "gpu"))
class DumpImage(Op):
    """Writes pictures to files in the working directory of when the pipeline is built, and passes them on.

    Sample 3 of a batch goes to ``3-suffix-0.ppm``, a PNM file in plain text (P3, or P2 of one channel), which each
    batch writes anew. Batches are prepared ahead, so files are those of a later batch than the one that was handed out
    last.

    Input: HWC (or without a layout three axes) with one or three channels, UINT8. Output: the same.

    Errors: ArgumentError for another ``input_layout`` and a ``suffix`` that names folders; OperatorError for other
    types, layouts and channels, and for files that cannot be written.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.dump_image(types.Constant(np.uint8([[[1], [2]]])), suffix="example")
        >>> images, = pipeline().run()
        >>> import pathlib
        >>> file = pathlib.Path("0-example-0.ppm")
        >>> text = file.read_text()
        >>> file.unlink()
        >>> text.split()
        ['P2', '2', '1', '255', '1', '2']
    """

    suffix = arg("", "What files have in their names.")
    input_layout = arg("HWC", "The layout; HWC is all that DALI has, too.", kind="layout", choices=("HWC",),
                       to_kernel=False)  # fmt: skip

    def prepare(self) -> None:
        if "/" in self.suffix:
            raise self.wrong("suffix", "expected a part of a file's name")
