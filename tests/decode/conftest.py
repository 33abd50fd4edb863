"""Shared by tests of NVIDIA's decoders."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["software", pytest.param("real", marks=pytest.mark.gpu)])
def levels(request: pytest.FixtureRequest, software_gpu: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """By how much a JPEG decoder may be off, which is nvJPEG. Tests marked gpu are those of a real GPU."""
    monkeypatch.setenv("PENSTOCK_JPEG", "hardware")
    if (request.param == "software") != bool(software_gpu):
        pytest.skip("for a GPU in software" if request.param == "software" else "needs an NVIDIA GPU")
    return 0 if software_gpu else 1
