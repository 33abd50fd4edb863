"""Picture formats say of themselves what the rest of the library must know."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from penstock import fn
from penstock.machine.codecs import Codec, codecs
from penstock.read.listing import default_filters
from tests.small import made

each = pytest.mark.parametrize("codec", codecs(), ids=lambda codec: codec.name)


def test_their_names_are_in_order() -> None:
    names = [codec.name for codec in codecs()]
    assert names == sorted(names)
    assert {"BMP", "JPEG", "JPEG 2000", "PNG", "PNM", "TIFF", "WebP"} <= set(names)


@each
def test_the_sample_is_a_picture_of_that_format(codec: Codec) -> None:
    picture = Image.open(io.BytesIO(codec.sample))
    assert picture.size == (8, 8)
    assert {"PPM": "PNM", "JPEG2000": "JPEG 2000", "WEBP": "WebP"}.get(
        str(picture.format), picture.format
    ) == codec.name
    (decoded,) = made(
        lambda: fn.decoders.image(fn.external_source(lambda: [np.frombuffer(codec.sample, np.uint8)])), batch_size=1
    ).run()
    if codec.name != "JPEG":  # libraries differ in its last bit
        np.testing.assert_array_equal(decoded.at(0), np.asarray(picture.convert("RGB")))
    assert decoded.at(0).shape == (8, 8, 3)


@each
def test_folders_are_searched_for_its_files(codec: Codec) -> None:
    assert codec.patterns
    assert set(codec.patterns) <= set(default_filters())
