"""docs/gallery.md shows what operators make of a photograph."""

from __future__ import annotations

import numpy as np
import pytest

from tools import gallery


def test_it_is_up_to_date() -> None:
    assert list(gallery.differences(on_gpu=False)) == []


@pytest.mark.gpu
@pytest.mark.skipif(not gallery.has_gpu(), reason="needs an NVIDIA GPU")
def test_pictures_are_the_same_on_a_gpu() -> None:
    assert list(gallery.differences(on_gpu=True)) == []


def test_a_changed_picture_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(iter(gallery.exhibits()))
    monkeypatch.setattr(gallery, "exhibits", lambda: iter([first]))
    monkeypatch.setattr(gallery, "made", lambda *_: np.zeros((375, 500, 3), np.uint8))
    assert len(list(gallery.differences(on_gpu=False))) == 1
