"""Tables that are wrong are refused with a reason, and leave nothing behind. What functions tell is raised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn, ops, plugin_manager
from penstock.op import registry
from tests.custom import build
from tests.small import made

SOURCE = (Path(__file__).parent / "tables.c").read_text()
PIXEL = "op.kind = PENSTOCK_PIXEL; op.run = 0; op.row = row; op.params_bytes = 4;"

any_fn: Any = fn


def library(folder: Path, patch: str = "", name: str = "broken") -> Path:
    return build.c_library(SOURCE, folder / f"{name}.so", f"-DPATCH={patch}", f'-DNAME="{name}"')


WRONG = [
    ("library.abi = 2;", "compiled for version 2 of operator.h, and this Penstock knows version 1"),
    ("library.abi = 0;", "compiled for version 0"),
    ("library.size = 4;", "its table says that it has 4 bytes"),
    ("library.num_operators = 0;", "its table has 0 operators"),
    ("library.num_operators = -1;", "its table has -1 operators"),
    ("library.operators = 0;", "its table has 1 operators"),
    ("library.num_operators = 2;", "it has two operators 'broken'"),
    ("given = 0;", r"penstock_operators\(\) gives null"),
    ("operators[0] = 0;", "operator 0 is null"),
    ("op.size = 8;", "operator 0 says that it has 8 bytes, expected 1.. or more"),
    ("op.size = 1000000;", "operator 0 says that it has 1000000 bytes"),
    ("op.size = sizeof newer; newer.future = 1;", "uses what a newer Penstock has: this one is too old"),
    ("op.name = 0;", "operator 0 is called ''"),
    ('op.name = "two words";', "operator 0 is called 'two words'"),
    ('op.name = "a..b";', "is called 'a..b'"),
    ('op.name = ".a";', "is called '.a'"),
    ('op.name = "a.";', "is called 'a.'"),
    ('op.name = "_hidden";', "'_hidden' is a keyword, or hidden"),
    ('op.name = "lambda";', "'lambda' is a keyword, or hidden"),
    ("op.doc = 0;", r"operator 0 \('broken'\) has no doc"),
    ("op.kind = 9;", "is of no kind 9"),
    ("op.flags = 6;", "has flags that are not known: 6"),
    ("op.least_inputs = -1;", "takes -1 to 1 inputs"),
    ("op.most_inputs = 65;", "takes 1 to 65 inputs"),
    ("op.num_outputs = 0;", "has 0 outputs"),
    ("op.params_bytes = 65537;", "params_bytes=65537: at most 65536"),
    ("op.num_arguments = -1;", "has -1 arguments"),
    ("op.arguments = 0;", "has 2 arguments, or none at all"),
    ("op.setup = 0;", r"has no setup\(\)"),
    ("op.run = 0;", r"has neither run\(\) nor run_gpu\(\)"),
    ("op.run_gpu = (int (*)(void*, const penstock_batch*, penstock_error*))1; op.setup_reads = 1;", "cpu_inputs"),
    ("arguments[1] = 0;", "an argument is null"),
    ("arguments[1] = &mistake;", "has two arguments 'mistake'"),
    ("mistake.size = 4;", "an argument says that it has 4 bytes"),
    ('mistake.name = "no name";', "an argument is called 'no name'"),
    ('mistake.name = "device";', "no argument can be called 'device'"),
    ('mistake.name = "if";', "no argument can be called 'if'"),
    ("mistake.doc = 0;", "argument 'mistake' has no doc"),
    ("mistake.kind = 8;", "argument 'mistake' is of no kind 8"),
    ("mistake.flags = 4;", "argument 'mistake' has flags that are not known: 4"),
    ("mistake.flags = PENSTOCK_REQUIRED;", "argument 'mistake' is required, and has a default"),
    ("fails.flags = PENSTOCK_PER_SAMPLE; fails.kind = PENSTOCK_STRING;", "only booleans and numbers"),
    ("value.count = 2;", "its default has 2 values"),
    ("mistake.kind = PENSTOCK_NUMBER;", "its default is not of its kind"),
    (PIXEL + "op.row = 0;", r"has no row\(\)"),
    (PIXEL + "op.run = run;", r"has row\(\), not run\(\)"),
    (PIXEL + "op.most_inputs = 2;", "has one input and one output"),
    (PIXEL + "op.channels = 17;", "channels=17: expected 0, or 2 to 16"),
    (PIXEL + "op.params_align = 3;", "aligned to 3"),
    (PIXEL + "op.params_align = 32; op.params_bytes = 32;", "aligned to 32"),
    (PIXEL + "op.params_bytes = 0;", "no struct has 0 bytes"),
    (PIXEL + 'op.device_source = "struct A {};";', "device_source goes with device_type"),
    (PIXEL + "op.setup_reads = 1;", "setup_reads and cpu_inputs are 0"),
]


@pytest.mark.parametrize(("patch", "reason"), WRONG, ids=lambda v: v[-40:])
def test_a_table_that_is_wrong(patch: str, reason: str, tmp_path: Path, registered: None) -> None:
    before = dict(registry.ops)
    path = library(tmp_path, patch)
    with pytest.raises(errors.PluginError, match=f"^{path}: .*{reason}"):
        plugin_manager.load_library(path)
    assert registry.ops == before
    with pytest.raises(errors.UnknownOperatorError):
        _ = any_fn.broken


@pytest.mark.parametrize("base", [RuntimeError, ImportError, errors.PenstockError])
def test_what_is_no_library(base: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(base, match=r"missing\.so: cannot open shared object file"):
        plugin_manager.load_library(str(tmp_path / "missing.so"))
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(base, match=r"text\.so: .*(invalid ELF header|file too short)"):
        plugin_manager.load_library(tmp_path / "text.so")
    other = build.c_library("int other(void);\nint other(void) { return 1; }\n", tmp_path / "other.so")
    with pytest.raises(base, match=r"other\.so: it exports no function penstock_operators\(\)"):
        plugin_manager.load_library(other)
    needs = "int nowhere(void);\nint other(void);\nint other(void) { return nowhere(); }\n"
    with pytest.raises(base, match="undefined symbol: nowhere"):
        plugin_manager.load_library(build.c_library(needs, tmp_path / "needs.so"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("resize", "there is one 'resize'"),
        ("readers", r"there is one 'readers\."),
        ("readers.file", "there is one 'readers.file'"),
        ("resize.mine", "there is one 'resize'"),
        ("call", "penstock.fn has something of that name"),
        ("operator", "penstock.ops has something of that name"),
        ("annotations", "penstock.fn has something of that name"),
    ],
)
def test_names_that_are_taken(name: str, reason: str, tmp_path: Path, registered: None) -> None:
    with pytest.raises(errors.PluginError, match=f"there cannot be an operator '{name}': {reason}"):
        plugin_manager.load_library(library(tmp_path, name=name))


def test_an_operator_in_a_group(tmp_path: Path, registered: None) -> None:
    plugin_manager.load_library(library(tmp_path, name="mine.copy"))
    any_ops: Any = ops
    for make in (any_fn.mine.copy, any_ops.mine.Copy()):
        (output,) = made(lambda make=make: make(np.arange(5, dtype=np.uint8))).run()
        assert output.as_array()[0].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(errors.PluginError, match=r"there cannot be an operator 'mine': there is one 'mine\.copy'"):
        plugin_manager.load_library(library(tmp_path, name="mine"))


def test_a_folder_of_libraries(tmp_path: Path, registered: None) -> None:
    (tmp_path / "below" / "there").mkdir(parents=True)
    library(tmp_path, name="one").rename(tmp_path / "libdali_one.so")
    library(tmp_path, name="two").rename(tmp_path / "below" / "there" / "libdali_two.so")
    library(tmp_path, name="three")
    plugin_manager.load_directory(str(tmp_path))
    assert [hasattr(fn, name) for name in ("one", "two", "three")] == [True, True, False]
    plugin_manager.load_directory(tmp_path / "missing")
    (tmp_path / "below" / "libdali_text.so").write_text("no library")
    with pytest.raises(errors.PluginError, match=r"libdali_text\.so"):
        plugin_manager.load_directory(tmp_path)


def test_a_newer_library_that_asks_for_nothing_new(tmp_path: Path, registered: None) -> None:
    plugin_manager.load_library(library(tmp_path, "op.size = sizeof newer;"))
    assert any_fn.broken.__doc__.startswith("Copies.")


def pictures() -> Any:
    arrays = [np.full((2, 3, 3), k, np.uint8) for k in range(5)]
    return fn.external_source(lambda: arrays, batch=True, layout="HWC")


@pytest.fixture
def broken(tmp_path: Path, registered: None) -> Any:
    plugin_manager.load_library(library(tmp_path))
    return any_fn.broken


def result(broken: Any, **arguments: Any) -> Any:
    return made(lambda: broken(pictures(), **arguments), batch_size=5).run()[0].as_array()


def test_what_is_right_goes_well(broken: Any) -> None:
    assert (result(broken) == np.arange(5, dtype=np.uint8)[:, None, None, None]).all()


@pytest.mark.parametrize(
    ("mistake", "reason"),
    [
        (1, "output 0 -1 axes"),
        (2, "output 0 13 axes"),
        (3, r"output 0 the shape \(-5, 3, 3\): there can be no such tensor"),
        (4, r"output 0 the shape \(1152921504606846976, 3, 3\): there can be no such tensor"),
        (5, "output 0 the type 77: no tensor has that"),
        (6, "output 0 the layout 'HW' and 3 axes"),
        (7, "output 0 the layout 'AAAAAAAAAAAAAAAA' and 3 axes"),
        (8, "output 0 the type -1"),
        (9, r"its setup\(\) has failed, and does not say why"),
        (11, "x{2039}\n"),
        (13, "who knows"),
        (14, "there can be no such tensor"),
    ],
)
def test_a_setup_that_is_wrong(mistake: int, reason: str, broken: Any) -> None:
    with pytest.raises(errors.OperatorError, match=f"^broken: .*{reason}") as caught:
        result(broken, mistake=mistake)
    assert type(caught.value) is errors.OperatorError
    assert caught.value.sample == 0


def test_kinds_of_errors(broken: Any) -> None:
    with pytest.raises(errors.InputError, match="broken: not with me"):
        result(broken, mistake=10)
    with pytest.raises(errors.OutOfMemoryError, match="broken: "):
        result(broken, mistake=12)


def test_an_error_in_sample_3_names_it(broken: Any) -> None:
    with pytest.raises(errors.OperatorError, match="broken: sample 3 is not to my taste") as caught:
        result(broken, fails=3)
    assert caught.value.sample == 3
    assert caught.value.operator == "broken"
    assert "sample: 3 of the batch" in str(caught.value)
    assert "test_tables.py" in str(caught.value.location)
    assert "broken(pictures()" in str(caught.value.location)
