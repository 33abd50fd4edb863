"""docs/coverage.md says what of DALI is here."""

from __future__ import annotations

from typing import ClassVar

import pytest

from penstock.op import Argument, Op
from tools.coverage import RESULT, Coverage, Operator, compare, main

pytest.importorskip("nvidia.dali", reason="DALI, which is compared with, is not installed")


def test_it_is_up_to_date() -> None:
    assert main(["--check"]) == 0


def test_nothing_of_an_operator_that_is_here_is_missing() -> None:
    found = RESULT.read_text()
    for title in ("Arguments that are not here", "take no value for each sample here", "Devices that are not here"):
        assert f"{title}\n\nNone.\n" in found


def test_what_is_missing_is_seen() -> None:
    class Ours(Op):
        name = "blur"
        arguments: ClassVar[dict[str, Argument]] = {
            "sigma": Argument("sigma", 0.0, "", "number"),
            "window": Argument("window", 0, "", "integer", unused="It is chosen."),
        }

    found = Coverage()
    dalis = {"sigma": True, "window": True, "border": False, "seed": False}
    compare(Operator("blur", dalis, ("cpu", "gpu")), Ours, found)
    assert found.arguments == ["blur: border"]
    assert found.per_sample == ["blur: sigma"]
    assert found.devices == ["blur: gpu"]
    assert found.unused == {("window", "It is chosen"): ["blur"]}
