"""``fn.mfcc``: cosine transforms of spectra."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("mfcc", devices=["cpu", "gpu"])
class MFCC(Op):
    """Transforms an axis by cosines, and keeps the first coefficients: of mel spectra in decibels, these are MFCCs.

    Input: FLOAT of any shape with at least one axis. Output: FLOAT, the same layout, with ``n_mfcc`` coefficients on
    ``axis``, or as many as there are.

    Errors: ArgumentError for an ``axis`` or ``n_mfcc`` that is negative, another ``dct_type``, and ``normalize`` with
    ``dct_type=1``; OperatorError for other types, an ``axis`` that is not there, and one of a single element with
    ``dct_type=1``.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.mfcc(np.ones((4, 2), np.float32), n_mfcc=2)
        >>> pipeline().run()[0].at(0).tolist()
        [[4.0, 4.0], [0.0, 0.0]]
    """

    axis = arg(0, "The axis that is transformed.", aka=["dim"])
    n_mfcc = arg(20, "Number of coefficients.")
    dct_type = arg(2, "Which of the cosine transforms: 1 to 4.")
    normalize = arg(False, "Use the orthonormal transform.", aka=["norm", "ortho"])
    lifter = arg(
        0.0,
        "Unless 0, coefficient k (from 0) is multiplied by ``1 + lifter / 2 * sin(pi * (k + 1) / lifter)``.",
        aka=["liftering"],
    )

    def prepare(self) -> None:
        if self.dct_type not in (1, 2, 3, 4):
            raise self.wrong("dct_type", "expected 1 to 4")
        if self.axis < 0:
            raise self.wrong("axis", "expected 0 or more")
        if self.n_mfcc < 1:
            raise self.wrong("n_mfcc", "expected 1 or more")
        if self.normalize and self.dct_type == 1:
            raise self.wrong("normalize", "there is no orthonormal transform with dct_type=1")
