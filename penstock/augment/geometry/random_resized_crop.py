"""``fn.random_resized_crop``: a random window of each picture, resized."""

from __future__ import annotations

from penstock.arguments.random_crop import RandomCropArgs
from penstock.arguments.resample import ResampleArgs
from penstock.op import REQUIRED, arg, op


@op("random_resized_crop", kernel="random_resized_crop", contract="sampler", devices=["cpu", "gpu"])
class RandomResizedCrop(RandomCropArgs, ResampleArgs):
    """Cuts a random window out of each picture and resizes it: the crop of Inception-style training.

    An area and an aspect ratio (width / height) are drawn until a window of that shape fits into the picture, or
    ``num_attempts`` is used up and the largest one that is allowed is taken; then its place. The frames of a video
    share one window.

    Input: as `resize`'s, but no volumes. Output: ``size`` pixels, otherwise as `resize`'s.

    Errors: ArgumentError for ranges that are none, and for a negative ``size`` (which makes DALI write beyond its
    memory); OperatorError for other types and layouts.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.random_resized_crop(fn.decoders.image(files), size=(224, 192))
        >>> images, = pipeline().run()
        >>> images.shape()
        [(224, 192, 3), (224, 192, 3)]
    """

    size = arg(
        REQUIRED,
        "Extents of the output: (height, width), or one number for both.",
        kind="integers",
        aka=["crop", "crop_size", "output_size"],
    )

    def prepare(self) -> None:
        super().prepare()
        if len(self.size) not in (1, 2) or min(self.size) < 0:
            raise self.wrong("size", "expected (height, width), or one number for both")
