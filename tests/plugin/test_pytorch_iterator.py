"""Tensors that the PyTorch iterator gives: values, types, memory and memory format."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from penstock.errors import ArgumentError, OperatorError  # noqa: E402
from penstock.plugin.pytorch import (  # noqa: E402
    DALIClassificationIterator,
    DALIGenericIterator,
    LastBatchPolicy,
    feed_ndarray,
)
from penstock.read.order import EpochOrder  # noqa: E402
from tests.plugin.plain_pipeline import Numbers, PlainPipeline, pipelines  # noqa: E402


class Pictures(Numbers):
    """A TensorList of any shape and layout; `shapes` if its samples differ in shape."""

    def __init__(self, values, layout="HWC", shapes=None):
        super().__init__(values)
        self._layout, self._shapes = layout, shapes

    def layout(self):
        return self._layout

    def as_tensor(self):
        return self.values

    def is_dense_tensor(self):
        return self._shapes is None

    def shape(self):
        return self._shapes


class PicturePipeline(PlainPipeline):
    """Gives a picture of its number for each sample, and the number."""

    def __init__(self, layout="HWC", shapes=None, dtype=np.uint8, size=10, batch_size=4):
        super().__init__(batch_size, EpochOrder(size, batch_size=batch_size))
        self.picture_layout, self.shapes, self.dtype = layout, shapes, dtype
        self.made = []

    def share_outputs(self, cuda_stream=None):
        (numbers,) = super().share_outputs(cuda_stream)
        shape = (len(numbers), *(4, 5, 3, 2)[: len(self.picture_layout)])
        values = np.arange(np.prod(shape)).reshape(shape) % 7 + numbers.values.reshape(-1, *[1] * (len(shape) - 1))
        self.made.append(values.astype(self.dtype))
        return [Pictures(self.made[-1], self.picture_layout, self.shapes), numbers]


def test_tensors_share_the_pipelines_memory():
    pipe = PicturePipeline()
    kept = [batch[0]["x"] for batch in DALIGenericIterator(pipe, ["x", "n"], reader_name="Reader")]
    assert len(kept) == 3
    for tensor, made in zip(kept, pipe.made, strict=False):
        assert isinstance(tensor, torch.Tensor)
        assert tensor.dtype == torch.uint8
        assert tensor.data_ptr() == made.ctypes.data
        assert np.array_equal(tensor.numpy(), made)


def test_a_partial_batch_is_cut_and_not_copied():
    pipe = PicturePipeline()
    it = DALIGenericIterator(pipe, ["x", "n"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL)
    *_, ((last),) = it
    assert last["n"].tolist() == [[8], [9]]
    assert last["x"].shape == (2, 4, 5, 3)
    assert last["x"].data_ptr() == pipe.made[2].ctypes.data


@pytest.mark.parametrize(
    ("layout", "axes", "format"),
    [("HWC", (0, 3, 1, 2), torch.channels_last), ("DHWC", (0, 4, 1, 2, 3), torch.channels_last_3d)],
)
def test_channels_last_is_a_view_in_that_memory_format(layout, axes, format):
    pipe = PicturePipeline(layout, dtype=np.float32)
    it = DALIGenericIterator(pipe, ["x", "n"], reader_name="Reader", channels_last=True)
    tensor = next(it)[0]["x"]
    assert tensor.is_contiguous(memory_format=format)
    assert tensor.data_ptr() == pipe.made[0].ctypes.data
    assert np.array_equal(tensor.numpy(), pipe.made[0].transpose(axes))
    plain = next(DALIGenericIterator(PicturePipeline(layout), ["x", "n"], reader_name="Reader"))[0]["x"]
    assert plain.shape == pipe.made[0].shape


def test_channels_last_without_a_picture_that_has_them_last():
    with pytest.raises(ArgumentError, match=r"\['CHW', ''\]"):
        next(DALIGenericIterator(PicturePipeline("CHW"), ["x", "n"], reader_name="Reader", channels_last=True))


@pytest.mark.parametrize("dynamic_shape", [False, True])
def test_samples_of_different_shapes_are_no_tensor(dynamic_shape):
    """As in DALI: dynamic_shape does not change it."""
    pipe = PicturePipeline(shapes=[(4, 5, 3), (4, 5, 3), (7, 5, 3)])
    with pytest.raises(OperatorError, match=r"'x'.*2 shapes, \(4, 5, 3\) and \(7, 5, 3\)"):
        next(DALIGenericIterator(pipe, ["x", "n"], reader_name="Reader", dynamic_shape=dynamic_shape))


def test_classification_names_its_outputs():
    (batch,) = next(DALIClassificationIterator(PicturePipeline(), reader_name="Reader"))
    assert list(batch) == ["data", "label"]
    assert batch["label"].tolist() == [[0], [1], [2], [3]]


def test_several_pipelines_give_a_dictionary_each():
    it = DALIGenericIterator(pipelines(12, 3, (0, 1), num_shards=2), ["n"], reader_name="Reader")
    assert [arrays["n"].flatten().tolist() for arrays in next(it)] == [[0, 1, 2], [6, 7, 8]]


def test_the_base_imports_no_framework():
    """The other frameworks' iterators build upon it."""
    import subprocess
    import sys

    frameworks = {"torch", "jax", "tensorflow", "paddle", "mxnet", "cupy", "numba"}
    code = f"import sys, penstock.plugin.numpy, penstock.fn; sys.exit(str({frameworks} & {{*sys.modules}} or 0))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr in ("", "0\n")


@pytest.mark.parametrize("name", ["DALIGenericIterator", "DALIClassificationIterator"])
def test_arguments_are_dalis_and_channels_last(name):
    dali = pytest.importorskip("nvidia.dali.plugin.pytorch", reason="needs DALI to compare with")

    def arguments(cls):
        parameters = inspect.signature(cls.__init__).parameters.values()
        return [(p.name, p.kind, getattr(p.default, "name", p.default)) for p in parameters]

    ours, theirs = (arguments(getattr(m, name)) for m in (inspect.getmodule(DALIGenericIterator), dali))
    assert ours == [*theirs, ("channels_last", inspect.Parameter.KEYWORD_ONLY, False)]


def test_feed_ndarray_refuses_other_types_and_shapes():
    """DALI asserts that they fit; here it is a RuntimeError and a ValueError."""
    source = np.zeros((2, 3), np.float32)
    target = torch.zeros(2, 3)
    assert feed_ndarray(source, target) is target
    for wrong in (torch.zeros(2, 3, dtype=torch.float64), torch.zeros(3, 2)):
        with pytest.raises(RuntimeError, match="does not go into") as raised:
            feed_ndarray(source, wrong)
        assert isinstance(raised.value, ValueError)
