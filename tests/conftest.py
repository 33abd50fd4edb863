"""Shared by all tests: the folders of test media, and pictures made on the spot."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.errors import DeviceError
from tests.software_gpu import libraries
from tools.photographs import Style, write_folder

_CHECKOUT = Path(__file__).resolve().parents[1]
_THERE = {*os.listdir(_CHECKOUT), "build", "dist"}  # when the tests begin, or made by ./dev


@pytest.fixture(scope="session")
def dali_extra() -> Path:
    """DALI's repository of test media: where DALI_EXTRA_PATH says, or in a folder beside this checkout."""
    named = os.environ.get("DALI_EXTRA_PATH")
    nearby = Path(__file__).resolve().parents[2].glob("*/DALI_extra")
    folder = Path(named) if named else next(nearby, None)
    if folder is None or not folder.is_dir():
        pytest.skip("needs the media of DALI_extra: set DALI_EXTRA_PATH to a checkout of it")
    return folder


@pytest.fixture(scope="session")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 16 JPEG photographs of 500x375 in 8 class folders."""
    folder = tmp_path_factory.mktemp("photographs") / "photographs"
    assert sum(write_folder(folder, 16, Style())) > 1_000_000
    return folder


@pytest.fixture(scope="session")
def software_gpu() -> Iterator[dict[str, str]]:
    """For tests that use a GPU: two GPUs in software, unless there are real ones.

    The value is what the environment was given for it. All tests of a process use the same driver: the first that asks
    for a GPU loads it.
    """
    variables = libraries.environment()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield variables


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the test works in: operators that write files write them there."""
    folder = tmp_path_factory.mktemp("work", numbered=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def random() -> np.random.Generator:
    """Random numbers that are the same in each run of a test."""
    return np.random.default_rng(20240607)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that use whatever GPU there is, for `./dev test gpu`."""
    for item in items:
        if "software_gpu" in getattr(item, "fixturenames", ()):
            item.add_marker("any_gpu")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spares Python's garbage collection, and the tests that ask for it, the million of objects that collecting makes:
    the tests and the modules that they come from stay to the end.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What a module's tests have left, such as PyTorch's and JAX's modules, stays to the end, too: each collection, of
    the hundreds that tests ask for, would go through all of it.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Tests on a second GPU are skipped where there is a real one alone."""
    try:
        yield
    except (DeviceError, AssertionError) as e:
        if "this machine has the GPUs 0 to 0" in str(e) and not libraries.environment():
            pytest.skip("needs two GPUs")
        raise


def _left_files() -> list[str]:
    """What was not in the checkout when the tests began; hidden files are those of tools."""
    return sorted(name for name in os.listdir(_CHECKOUT) if name not in _THERE and not name.startswith("."))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tests that leave files in the checkout have failed."""
    if not hasattr(session.config, "workerinput") and session.exitstatus == 0 and _left_files():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Adds up what tests have noted by ``record_property("broken files", {format: [tried, decoded, refused]})``."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, [])]
    if left := _left_files():
        terminalreporter.section("files left in the checkout", red=True)
        terminalreporter.write_line(f"by tests that lack the fixture `elsewhere`, say: {', '.join(left)}")
    sums: dict[str, list[int]] = {}
    for counts in (value for r in reports for name, value in r.user_properties if name == "broken files"):
        for kind, numbers in counts.items():
            sums[kind] = [a + b for a, b in zip(sums.get(kind, [0, 0, 0]), numbers, strict=True)]
    if sums:
        terminalreporter.section(f"{sum(tried for tried, _, _ in sums.values())} broken files")
        for kind, (tried, decoded, refused) in sums.items():
            terminalreporter.write_line(f"{kind:10}{tried:8}: {decoded} decoded, {refused} refused")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Takes addresses (of ids=str) out of the names of tests: the processes of pytest-xdist must agree on them."""
    parametrize = metafunc.parametrize

    def with_stable_names(*arguments: Any, ids: Any = None, **others: Any) -> None:
        def name(value: object) -> str | None:
            text = ids(value)
            return re.sub(r" at 0x[0-9a-f]+", "", text) if isinstance(text, str) else text

        parametrize(*arguments, ids=name if callable(ids) else ids, **others)

    metafunc.parametrize = with_stable_names  # type: ignore[method-assign]
