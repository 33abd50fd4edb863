"""``fn.flip``: pictures, volumes and sequences turned round."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("flip", contract="sampler", devices=["cpu", "gpu"])
class Flip(Op):
    """Turns pictures round: left to right, top to bottom, and volumes front to back.

    Input: pictures, volumes or sequences with height and width in the layout (HWC, CHW, DHWC, FHWC ...), of any type.
    Without a layout, three axes are HWC, four FHWC. Each frame of a sequence is flipped alike.

    Output: the same shape, type and layout.

    Errors: OperatorError for layouts without height and width.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files, device="cpu")
        ...     return images, fn.flip(images, horizontal=fn.random.coin_flip(probability=1.0))
        >>> images, flipped = pipeline().run()
        >>> bool((images.at(0)[:, ::-1] == flipped.at(0)).all())
        True
    """

    horizontal = arg(
        1, "Whether to flip left to right: 0 or another number.", per_sample=True, aka=["hflip", "left_right"]
    )
    vertical = arg(0, "Whether to flip top to bottom: 0 or another number.", per_sample=True, aka=["vflip", "up_down"])
    depthwise = arg(0, "Whether to flip front to back, of volumes: 0 or another number.", per_sample=True)
