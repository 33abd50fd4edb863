"""What ``fn.readers.tfrecord(features=...)`` is told: names as in ``nvidia.dali.tfrecord``."""

from penstock.read.features import Feature, FixedLenFeature, VarLenFeature, float32, int64, string

__all__ = ["Feature", "FixedLenFeature", "VarLenFeature", "float32", "int64", "string"]
