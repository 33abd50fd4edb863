"""Schemas of operators: the answers of `penstock.backend` to DALI's questions, beside DALI's own."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import backend, ops
from penstock.errors import UnknownArgumentError, UnsupportedNameError
from penstock.schemas import UnknownSchemaError

# Arithmetic, slicing and what conditions need have other forms here; test_coverage tells of operators that are missing.
OTHERS = ("_", "experimental__inputs__Video")
# Needed by DALI alone.
NOT_NEEDED = {"readers__MXNet.index_path"}


@pytest.fixture(scope="module")
def dali() -> Any:
    return pytest.importorskip("nvidia.dali.backend", reason="DALI, the oracle, is not installed")


def pairs(dali: Any) -> list[tuple[Any, Any]]:
    """DALI's schemas and ours, of one name each."""
    names = {*dali.RegisteredCPUOps(), *dali.RegisteredGPUOps(), *dali.RegisteredMixedOps()}
    return [(dali.GetSchema(name), backend.GetSchema(name)) for name in sorted(names) if not name.startswith(OTHERS)]


def test_schemas_have_dalis_names_and_inputs(dali: Any) -> None:
    found = pairs(dali)
    assert len(found) > 150
    for theirs, ours in found:
        name = theirs.Name()
        assert ours.Name() == name
        assert ours.ModulePath() == theirs.ModulePath(), name
        assert ours.OperatorName() == theirs.OperatorName(), name
        assert ours.IsDeprecated() == theirs.IsDeprecated(), name
        assert ours.IsInternal() == theirs.IsInternal(), name
        assert ours.IsNoPrune() == theirs.IsNoPrune(), name
        if not theirs.AliasFor():  # of some old names DALI says that there are no inputs
            assert (ours.MinNumInput(), ours.MaxNumInput()) == (theirs.MinNumInput(), theirs.MaxNumInput()), name
        elif ours.AliasFor():
            assert theirs.AliasFor() == ours.AliasFor()


def test_arguments_are_needed_where_dali_needs_them(dali: Any) -> None:
    different = set()
    for theirs, ours in pairs(dali):
        assert set(theirs.GetArgumentNames()) <= set(ours.GetArgumentNames()), theirs.Name()
        for name in theirs.GetArgumentNames():
            assert ours.HasArgument(name)
            assert ours.IsTensorArgument(name) == theirs.IsTensorArgument(name), f"{theirs.Name()}.{name}"
            assert ours.IsDeprecatedArg(name) == theirs.IsDeprecatedArg(name), f"{theirs.Name()}.{name}"
            if ours.IsArgumentOptional(name) != theirs.IsArgumentOptional(name):
                different.add(f"{theirs.Name()}.{name}")
    assert different == NOT_NEEDED


def test_devices(dali: Any) -> None:
    for device in ("CPU", "GPU", "Mixed"):
        ours = getattr(backend, f"Registered{device}Ops")()
        both = {name for name in ours if dali.TryGetSchema(name)}
        assert set(ours) == set(getattr(ops, f"{device.lower()}_ops")())
        assert ours == sorted(ours)
        assert not any(name.startswith("_") for name in ours)
        for name in both:
            assert device.lower() in backend.GetSchema(name).GetSupportedBackends()
    assert len(backend.RegisteredCPUOps(internal_ops=True)) > len(backend.RegisteredCPUOps())
    assert "Resize" in ops.gpu_ops()


def test_what_a_schema_says() -> None:
    schema = backend.GetSchema("Resize")
    assert repr(schema) == "<OpSchema of Resize>"
    assert "resize_x" in schema.GetArgumentNames()
    assert schema.GetArgumentDefaultValueString("antialias") == "True"
    assert schema.GetArgumentDefaultValueString("preserve") == "False"
    assert schema.GetArgumentDox("resize_x").endswith(".")
    assert not schema.HasArgumentDefaultValue("dtype")
    assert schema.Dox()
    assert schema.GetInputDevice(0, "cpu", "gpu") == "gpu"
    assert schema.GetInputDevice(0, "cpu") == "cpu"
    assert backend.GetSchema("decoders__Image").GetInputDevice(0, "cpu", "mixed") == "cpu"
    assert backend.GetSchema("random__CoinFlip").HasRandomSeedArg()
    for call in (schema.IsArgumentOptional, schema.GetArgumentDox, schema.GetArgumentDefaultValueString):
        with pytest.raises(KeyError, match="Resize has no argument 'nothing'"):
            call("nothing")
    with pytest.raises(UnknownArgumentError, match="'dtype' has no default"):
        schema.GetArgumentDefaultValueString("dtype")
    with pytest.raises(UnsupportedNameError, match=r"OpSchema\.CalculateOutputs is not supported: ask the nodes"):
        schema.CalculateOutputs  # noqa: B018


def test_old_names() -> None:
    old, target = backend.GetSchemaAndTarget("FileReader")
    assert (old.Name(), target.Name()) == ("FileReader", "readers__File")
    assert (old.AliasFor(), old.DeprecatedInFavorOf(), target.AliasFor()) == ("readers__File", "readers__File", "")
    assert old.IsDocHidden()
    assert not target.IsDocHidden()
    assert backend.GetSchema("FileReader", follow_aliases=True).Name() == "readers__File"
    assert backend.TryGetSchema("Nothing") is None
    with pytest.raises(UnknownSchemaError, match="Schema for operator 'Nothing' not registered"):
        backend.GetSchema("Nothing")
    with pytest.raises(KeyError):
        backend.GetSchemaAndTarget("Nothing")
