"""``fn.readers.tfrecord``: the features of TensorFlow's TFRecord files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.errors import ArgumentTypeError
from penstock.op import REQUIRED, arg, op
from penstock.read.features import string, to_plain
from penstock.read.index import packed
from penstock.read.records import Format, FramedReader, Records, read


@op("readers.tfrecord", kernel="read_tfrecord", inputs=0, legacy=["tfrecord_reader"])
class TFRecord(FramedReader):
    """Reads TFRecord files of tf.train.Example: the features that are asked for.

    Outputs: a dictionary with a node for each element of ``features``. Of `string` the bytes, uint8 of shape
    ``(size,)`` (of several strings the first one); of `int64` and `float32` the values, of the feature's shape. An
    example that lacks a feature gives the default where the shape is fixed, and else no rows. ``source_info`` is
    ``file at index offset``.

    Errors: ArgumentError for arguments that do not go together or select nothing; ReadError for files and indexes that
    cannot be read, and for records that are broken or whose features are of other types or shapes than was asked for,
    naming file and record.

    Unlike in DALI ``index_path`` may be left out, checksums are compared, features with too few values or of another
    type are errors (DALI gives whatever was in memory), and ``random_shuffle`` shuffles the whole part.

    Example:
        >>> from penstock import tfrecord
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     read = fn.readers.tfrecord(path=records, features={
        ...         "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
        ...         "image": tfrecord.FixedLenFeature([], tfrecord.string, "")})
        ...     return read["image"], read["label"]
        >>> images, labels = pipeline().run()
        >>> labels.as_array().tolist()
        [[0], [1]]
    """

    path = arg(REQUIRED, "The files.", kind="paths", to_kernel=False, aka=["paths", "filenames", "files", "tfrecords"])
    form = Format.TFRECORD
    features = arg(
        REQUIRED,
        "Names of features, and what each is: penstock.tfrecord.FixedLenFeature or VarLenFeature.",
        kind="any",
        to_kernel=False,
    )
    verify_checksums = arg(
        True, "Refuse records that do not fit their checksums; False: read them, as DALI does.", aka=["verify", "crc"]
    )
    use_o_direct = arg(
        False, "Read past the system's cache; needs dont_use_mmap=True.", unused="files are read through that cache"
    )

    def prepare(self) -> None:
        try:
            self.features = self.constants["features"] = to_plain(self.features)
        except (TypeError, ValueError) as e:
            expected = "expected a dictionary of names and features, such as FixedLenFeature([], string, '')"
            raise ArgumentTypeError(f"readers.tfrecord: features={self.features!r}: {expected}") from e
        if not self.features:
            raise self.wrong("features", "there is no output")
        if self.use_o_direct and not self.dont_use_mmap:
            raise self.wrong("use_o_direct", "it needs dont_use_mmap=True")
        super().prepare()

    def num_outputs(self) -> int:
        return len(self.features)

    def arranged(self, outputs: Sequence[Any]) -> Any:
        return {name: node for (name, *_), node in zip(self.features, outputs, strict=True)}

    def indexed(self, index: str) -> Records:
        return read(Format.TEXT, index)

    def kernel_arguments(self) -> dict[str, Any]:
        forms: list[int] = []
        for _, fixed, shape, dtype, _ in self.features:
            forms += [dtype, int(fixed), len(shape), *shape]
        defaults = [default for *_, default in self.features]
        kinds = [dtype for *_, dtype, _ in self.features]
        texts = [d if k == string else "" for k, d in zip(kinds, defaults, strict=True)]
        return {
            **super().kernel_arguments(),
            "feature_names": np.frombuffer(packed([name for name, *_ in self.features]), np.uint8),
            "feature_forms": forms,
            "default_strings": np.frombuffer(packed(texts), np.uint8),
            "default_integers": [d if isinstance(d, int) else 0 for d in defaults],
            "default_floats": [0.0 if isinstance(d, str) else float(d) for d in defaults],
        }
