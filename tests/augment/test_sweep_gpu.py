"""Tries all operators that run on GPUs on the cases of their test modules (tests/cases.py). No operator is named here.

Without a GPU some cases of each operator run on the software GPU, as many as its compiler can be asked for; `./dev test
gpu` runs all of them on a GPU.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

import pytest

from penstock import fn, types
from penstock.errors import PenstockError
from penstock.op import registry
from tests.augment.frames import covering, framed
from tests.augment.test_sweep import CASES, as_floats, encoded, is_picture, misshapen
from tests.cases import SAME, Apart, Case
from tests.runners import Nodes, Result, assert_apart, assert_equal, ours
from tests.software_gpu import libraries

ON_GPU = [case for case in CASES if "gpu" in registry.ops[case.op].devices]
# Cases without a GPU: each is a kernel or two, which take a second to compile. PENSTOCK_SWEEP_CASES=inf tries all.
_MOST = float(os.environ.get("PENSTOCK_SWEEP_CASES", "110"))


def some(cases: list[Case]) -> list[Case]:
    """A fair part for each operator, from all over its cases; what one does not need the others get."""
    of: dict[type, list[Case]] = {}
    for case in cases:
        of.setdefault(registry.ops[case.op], []).append(case)
    chosen: list[Case] = []
    for left, group in zip(range(len(of), 0, -1), sorted(of.values(), key=len), strict=True):
        number = int(min(len(group), max((_MOST - len(chosen)) // left, 1)))
        chosen += [group[i * len(group) // number] for i in range(number)]
    return chosen


def parametrized(cases: list[Case]) -> pytest.MarkDecorator:
    on_software = [pytest.param(c, id=str(c)) for c in some(cases)]
    on_hardware = [pytest.param(c, id=f"gpu-{c}", marks=pytest.mark.gpu) for c in cases]
    return pytest.mark.parametrize("case", on_software + on_hardware)


@pytest.fixture(scope="session")
def kernels(software_gpu: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A GPU, and a folder for its kernels that all processes of this test run share."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_CACHE", str(folder / "cache"))
        yield


@pytest.fixture(autouse=True)
def gpu(request: pytest.FixtureRequest, kernels: None) -> None:
    if request.node.get_closest_marker("gpu") and not libraries.has_real_gpu():
        pytest.skip("needs an NVIDIA GPU; some of these cases run on the software GPU")


def assert_as_on_cpu(found: list[Result], wanted: list[Result], allowed: Apart) -> None:
    """The same bits, or within what the case allows."""
    if allowed == SAME:
        assert_equal(found, wanted)
    else:
        assert_apart(found, wanted, allowed)


def test_there_are_operators_on_gpus() -> None:
    assert len({registry.ops[case.op] for case in ON_GPU}) > 10
    assert len(some(ON_GPU)) <= _MOST
    assert {case.op for case in some(ON_GPU)} == {case.op for case in ON_GPU}


@parametrized(ON_GPU)
def test_as_on_the_cpu(case: Case) -> None:
    wanted = ours(case)
    assert_as_on_cpu(ours(case, device="gpu"), wanted, case.on_gpu)
    batch_size = None if case.whole_batch else 2
    assert_as_on_cpu(ours(case, device="gpu", batch_size=batch_size, num_threads=1), wanted, case.on_gpu)


@parametrized(covering(framed(ON_GPU)))
def test_each_frame_has_its_own_value(case: Case) -> None:
    assert_as_on_cpu(ours(case, device="gpu"), ours(case), case.on_gpu)


@parametrized([case for case in ON_GPU if is_picture(case)])
def test_fused_equals_unfused(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator between a decoded picture, which is copied to the GPU and turned round there, and a conversion."""

    def decoded(inputs: Nodes) -> Nodes:
        gray = case.inputs[0].arrays[0].shape[2] == 1
        files = encoded(case.inputs[0])
        picture = fn.decoders.image(files.node(), output_type=types.GRAY if gray else types.RGB)
        return [fn.flip(picture.gpu()), *inputs[1:]]

    fused = ours(case, device="gpu", first=decoded, then=as_floats)
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    assert_equal(ours(case, device="gpu", first=decoded, then=as_floats), fused)


@parametrized([case for case in ON_GPU if case.inputs])
def test_any_input_does_what_it_does_on_the_cpu(case: Case) -> None:
    """Empty and misshapen inputs: a result as on the CPU, or an error as there. A crash would end the tests here."""
    for place, given in enumerate(case.inputs):
        for odd in misshapen(given):
            other = dataclasses.replace(case, inputs=(*case.inputs[:place], odd, *case.inputs[place + 1 :]))
            wanted, found = outcome(other), outcome(other, "gpu")
            if isinstance(wanted, PenstockError):
                assert type(found) is type(wanted), found
                continue
            assert not isinstance(found, PenstockError), found
            # One element of the few that there are is a large share.
            assert_as_on_cpu(found, wanted, dataclasses.replace(case.on_gpu, share=1.0))


def outcome(case: Case, device: str | None = None) -> list[Result] | PenstockError:
    """The outputs, or the library's error."""
    try:
        return ours(case, device=device)
    except PenstockError as error:
        return error
