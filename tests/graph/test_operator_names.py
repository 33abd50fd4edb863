"""Names of operators that there are not: what is suggested instead, and which of them DALI has."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import errors, fn, ops
from penstock.errors import UnknownOperatorError
from penstock.op import registry


@pytest.mark.parametrize(
    ("use", "wanted"),
    [
        (lambda: fn.normalize_crop_mirror, "crop_mirror_normalize"),
        (lambda: fn.image_decode, "decoders.image"),
        (lambda: fn.decode_image, "decoders.image"),
        (lambda: fn.decoders.imge, "decoders.image"),
        (lambda: fn.decoders.random_crop, "decoders.image_random_crop"),
        (lambda: fn.readers.files, "readers.file"),
        (lambda: fn.reader_file, "readers.file"),
        (lambda: fn.resise, "resize"),
        (lambda: fn.random_uniform, "random.uniform"),
        (lambda: fn.uniform_random, "random.uniform"),
        (lambda: fn.gausian_blur, "gaussian_blur"),
        (lambda: ops.CropMirror, "CropMirrorNormalize"),
        (lambda: ops.CropMirrorNormalise, "CropMirrorNormalize"),
        (lambda: ops.cropmirrornormalize, "CropMirrorNormalize"),
        (lambda: ops.readers.Files, "readers.File"),
    ],
)
def test_unknown_operators(use: Callable[[], Any], wanted: str) -> None:
    with pytest.raises(
        UnknownOperatorError, match=rf"has no operator '\w+'\. Did you mean .*{re.escape(repr(wanted))}"
    ):
        use()


def test_unknown_operators_are_attribute_errors() -> None:
    assert not hasattr(fn, "zzyzx")
    assert not hasattr(fn.readers, "zzyzx")
    with pytest.raises(AttributeError, match=r"penstock\.fn has no operator 'zzyzx'\.$"):
        fn.zzyzx  # noqa: B018
    with pytest.raises(ImportError, match="zzyzx"):
        from penstock.fn import zzyzx  # noqa: F401


@pytest.mark.parametrize("name", ["grooved", "multiply_frames", "readers.Kafe"])
def test_far_names_are_not_suggested(name: str) -> None:
    with pytest.raises(UnknownOperatorError, match=r"has no operator '\w+'\.$"):
        operator.attrgetter(name)(fn)


def test_operators_that_dali_alone_has() -> None:
    """What there is to say of them is that they are missing, not what else is spelt alike."""
    dalis = (Path(errors.__file__).parent / "dali_operators.txt").read_text().split()
    missing = [name for name in dalis if name not in registry.ops]
    for name in missing:
        with pytest.raises(
            UnknownOperatorError, match=r"^penstock\.fn\S* has no operator '\w+' yet, which DALI has\.$"
        ):
            operator.attrgetter(name)(fn)


def test_names_of_dalis_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nvidia.dali")
    from tools import dali_operators

    monkeypatch.setattr("sys.argv", ["dali_operators.py", "--check"])
    assert dali_operators.main() == 0
