"""Tensors, batches, readers and random numbers of dynamic mode."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock.experimental.dynamic as ndd
from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, DeviceError, GraphError, OperatorError, TensorError, UnknownArgumentError
from tools.photographs import Style, photograph


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Seven, in two classes."""
    root = tmp_path_factory.mktemp("photos")
    for k in range(7):
        folder = root / f"class {k % 2}"
        folder.mkdir(exist_ok=True)
        (folder / f"{k}.jpg").write_bytes(photograph("cat", k, Style(50 + k, 40, kilobytes=(1, 6))))
    return str(root)


def test_what_a_tensor_knows() -> None:
    x = ndd.tensor([[1, 2, 3], [4, 5, 6]], layout="HW")
    assert (x.shape, x.dtype, x.layout, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), ndd.int32, "HW", 2, 6, 4, 24)
    assert x.device == "cpu"
    assert [row.layout for row in x] == ["W", "W"]
    assert (x[1, 2].item(), int(x[0, 0]), float(x[0, 1]), bool(x[0, 0] - 1)) == (6, 1, 2.0, False)
    assert np.from_dlpack(x).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert range(10)[x[0, 2]] == 3
    assert str(x) == "Tensor([[1 2 3]\n        [4 5 6]], dtype=i32, device='cpu', shape=(2, 3), layout='HW')"
    with pytest.raises(ValueError, match="size 1"):
        x.item()


@pytest.mark.parametrize(
    ("data", "dtype"),
    [(1, "i32"), (1.5, "f32"), ([1, 2.5], "f32"), (2**31, "u32"), ([True], "bool"), (np.float64([1]), "f64"),
     (np.int64([1]), "i64"), (np.float16(1), "f16")],
)  # fmt: skip
def test_types_that_data_gets(data: Any, dtype: str) -> None:
    assert str(ndd.tensor(data).dtype) == dtype
    assert ndd.tensor(data, dtype="f32").dtype == ndd.float32
    assert str(ndd.as_batch([data, data]).dtype) == dtype


def test_memory_is_shared_or_copied() -> None:
    array = np.zeros(3, np.float32)
    shared, copy, batch = ndd.as_tensor(array), ndd.tensor(array), ndd.batch([array])
    array[:] = 7
    assert np.asarray(shared).tolist() == [7, 7, 7]
    assert np.asarray(copy).tolist() == np.asarray(batch.select(0)).tolist() == [0, 0, 0]


def test_batches() -> None:
    b = ndd.batch([[1, 2, 3], [4]], layout="W")
    assert (b.batch_size, b.shape, b.dtype, b.layout, b.ndim) == (2, [(3,), (1,)], ndd.int32, "W", 1)
    assert [np.asarray(t).tolist() for t in b] == [[1, 2, 3], [4]]
    assert [np.asarray(t).tolist() for t in b.select([1, 0])] == [[4], [1, 2, 3]]
    assert np.asarray(b.tensors[-1]).tolist() == [4]
    assert len(b.tensors[:1]) == 1
    assert ndd.as_tensor(b, pad=True).shape == (2, 3)
    with pytest.raises(TensorError, match="pad=True"):
        ndd.as_tensor(b)
    assert [t.item() for t in b.slice[ndd.batch([2, 0])]] == [3, 4]
    assert [t.shape for t in ndd.Batch.broadcast([1, 2], 3)] == [(2,)] * 3
    assert ndd.as_batch(ndd.tensor([[1, 2], [3, 4]], layout="NW")).layout == "W"
    assert "batch_size=2" in repr(b)


def test_arithmetic_of_tensors_batches_and_arrays() -> None:
    t, b = ndd.tensor([1, 2]), ndd.batch([[10, 20], [30, 40]])
    assert np.asarray(np.int32([5, 5]) - t).tolist() == [4, 3]
    assert [np.asarray(x).tolist() for x in t + b] == [[11, 22], [31, 42]]
    assert np.asarray(ndd.as_tensor((b > 15) & (b < 35))).tolist() == [[False, True], [True, False]]
    assert np.asarray(-t // 2 + abs(~t)).tolist() == [2, 2]  # integers are divided towards 0, as in a pipeline
    assert np.asarray(2**t).tolist() == [2, 4]
    assert np.asarray(ndd.math.clamp(t, 0, 1)).tolist() == [1, 1]
    with pytest.raises(ArgumentError, match="different sizes"):
        b + ndd.batch([[1], [2], [3]])


def test_as_a_pipeline(photos: str) -> None:
    """Readers, decoders and all that follows, in each mode; the next epoch's first samples fill the last batch."""
    pipe = Pipeline(batch_size=3, num_threads=2, device_id=None)
    with pipe:
        jpegs, labels = fn.readers.file(file_root=photos)
        images = fn.resize(fn.decoders.image(jpegs), size=[20, 30])
        pipe.set_outputs(fn.crop_mirror_normalize(images, mirror=labels[0], dtype=types.FLOAT), images[:5])
    expected = [pipe.run() for _ in range(6)]
    for mode in ndd.EvalMode:
        with mode:
            reader = ndd.readers.File(file_root=photos)
            for epoch in range(2):
                sizes = []
                for k, (jpegs, labels) in enumerate(reader.next_epoch(batch_size=3)):
                    images = ndd.resize(ndd.decoders.image(jpegs), size=[20, 30])
                    found = ndd.crop_mirror_normalize(images, mirror=labels.slice[0], dtype=ndd.float32)
                    for output, wanted in zip((found, images.slice[:5]), expected[3 * epoch + k], strict=True):
                        for i, sample in enumerate(output):
                            assert np.asarray(sample).tobytes() == wanted.at(i).tobytes()
                    sizes.append(jpegs.batch_size)
                assert sizes == [3, 3, 3]


def test_samples_one_by_one(photos: str) -> None:
    reader = ndd.readers.File(file_root=photos)
    shapes = [ndd.decoders.image(jpeg).shape for jpeg, _ in reader.next_epoch()]
    assert sorted(shape[1] for shape in shapes) == list(range(50, 57))
    assert reader.get_metadata()["epoch_size"] == 7


def test_a_reader_goes_on(photos: str) -> None:
    def labels(epoch: Any) -> list[list[int]]:
        return [np.asarray(ndd.as_tensor(batch[1])).ravel().tolist() for batch in epoch]

    arguments = {"file_root": photos, "random_shuffle": True, "seed": 3, "labels": list(range(7)), "files": None}
    files = sorted(str(path.relative_to(photos)) for path in Path(photos).glob("*/*"))
    arguments["files"] = files
    reader, other = (ndd.readers.File(max_batch_size=2, **arguments) for _ in range(2))
    epoch = reader.next_epoch()
    next(epoch)
    with pytest.raises(GraphError, match="not over"):
        reader.next_epoch()
    kept = ndd.checkpoint.Checkpoint()
    kept.register(reader, "reader")
    kept.collect()
    restored = ndd.checkpoint.Checkpoint()
    restored.deserialize(kept.serialize())
    restored.register(other, "reader")
    assert labels(other.next_epoch()) == (rest := labels(epoch))
    assert [len(batch) for batch in rest] == [2, 2, 2]
    assert labels(other.next_epoch()) == labels(reader.next_epoch())
    with pytest.raises(ArgumentError, match="batch_size"):
        reader.next_epoch(batch_size=3)


def test_checkpoints_in_files(tmp_path: Path) -> None:
    kept, rng = ndd.checkpoint.Checkpoint(), ndd.random.RNG(seed=5)
    with pytest.raises(GraphError, match="collect"):
        kept.save(str(tmp_path / "x.json"))
    kept.register(rng, "rng")
    pattern = str(tmp_path / "state_{seq:03d}.json")
    for _ in range(2):
        rng()
        kept.collect()
        last = kept.save(pattern)
    assert last.endswith("state_001.json")
    assert ndd.checkpoint.Checkpoint().load(pattern) == last
    with pytest.raises(ArgumentError, match="serialize"):
        kept.deserialize("[]")
    assert ndd.checkpoint.current() is ndd.EvalContext.current().checkpoint


def test_random_numbers_are_those_of_the_generator() -> None:
    def draw(mode: ndd.EvalMode, **more: Any) -> list[float]:
        with mode:
            ndd.random.set_seed(8)
            calls = [ndd.random.uniform(range=[0.0, 1.0], batch_size=2, **more) for _ in range(2)]
            ndd.random.coin_flip(**more)
            calls.append(ndd.random.normal(batch_size=2, **more) + calls[0])
            return [float(sample) for call in reversed(calls) for sample in call]

    wanted = draw(ndd.EvalMode.deferred)
    assert len(set(wanted)) == 6
    assert draw(ndd.EvalMode.sync_full) == wanted
    rng = ndd.random.RNG(seed=8)
    state = rng.state
    assert draw(ndd.EvalMode.default, rng=rng) == wanted
    assert rng.state != state
    other = ndd.random.RNG(state=state)
    other.advance(8)
    assert other.state == rng.state
    assert other.clone()() == rng()
    assert ndd.random.get_default_rng() is ndd.random.get_default_rng()
    with pytest.raises(ArgumentError, match="expected an RNG"):
        ndd.random.uniform(rng=7)
    with pytest.raises(ArgumentError, match="no random numbers"):
        ndd.cast([1], dtype=ndd.int8, rng=rng)
    with pytest.raises(AttributeError, match="only be set"):
        _ = rng.seed


def test_calls_are_joined_and_plans_kept() -> None:
    """What nobody can ask for any more is not written to memory, and the second time no plan is made."""
    with ndd.EvalContext(num_threads=1) as context:
        for _ in range(3):
            x = ndd.tensor(np.zeros((8, 8, 3), np.uint8), layout="HWC")
            before = len(context.computer)
            x = ndd.flip(x)
            x = ndd.brightness_contrast(x, brightness=2.0)
            x = ndd.cast(x, dtype=ndd.float32)
            assert len(context.computer) == before  # nothing has run
            assert x.shape == (8, 8, 3)
        assert len(context.computer) == 2  # one copies, one does all the rest
        kept = ndd.flip(x)
        assert ndd.flip(kept).evaluate() is not None
        assert kept._node.value is not None  # it was on the way, and somebody may ask for it


def test_numbers_that_differ_with_each_call_make_few_plans() -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    with ndd.EvalContext(num_threads=1) as context:
        for k in range(20):
            found = ndd.brightness(ndd.as_tensor(x, layout="HWC") * k, brightness=1 + k / 2)
            assert np.array_equal(np.asarray(found), x * k * np.float32(1 + k / 2))
        assert len(context.computer) == 5
        zero = np.asarray(ndd.as_tensor(x) * -0.0)
        assert np.signbit(zero).all()  # a key that took it for 0.0 would find another plan


def test_long_loops_end() -> None:
    x = ndd.tensor(0)
    for _ in range(100):
        x = x + 1
    assert x.item() == 100


def test_errors_name_the_line_of_the_call() -> None:
    bad = ndd.decoders.image(np.zeros(5, np.uint8))  # the line
    with pytest.raises(OperatorError, match=r"bad = ndd\.decoders\.image"):
        bad.evaluate()
    with pytest.raises(OperatorError, match=r"bad = ndd\.decoders\.image"):
        _ = ndd.flip(bad).shape
    with ndd.EvalMode.sync_cpu, pytest.raises(OperatorError, match=r"decoders\.image"):
        ndd.decoders.image(np.zeros(5, np.uint8))
    with pytest.raises(UnknownArgumentError, match="horizontal"):
        ndd.flip(np.zeros((2, 2, 3)), horizontl=1)
    with pytest.raises(AttributeError, match="flip"):
        _ = ndd.flipp
    with pytest.raises(DeviceError, match="expected"):
        ndd.device("tpu")


def test_sources() -> None:
    source = ndd.ExternalSource([np.full(2, k) for k in range(2)], cycle="raise", dtype=ndd.float32)
    for _ in range(2):
        assert [np.asarray(source()).tolist() for _ in range(2)] == [[0, 0], [1, 1]]
        with pytest.raises(StopIteration):
            source()
    quiet = ndd.ExternalSource([1, 2], cycle=True)
    assert [quiet().item() for _ in range(5)] == [1, 2, 1, 2, 1]
    a, b = ndd.ExternalSource(lambda: (np.zeros(4), [1, 2]), num_outputs=2, layout=["W", None])(batch_size=2)
    assert (a.shape, a.layout, b.batch_size) == ([(4,), (4,)], "W", 2)
    with pytest.raises(ArgumentError, match="outputs"):
        ndd.ExternalSource(lambda: (1, 2, 3), num_outputs=2)()


def test_pictures_by_their_names(photos: str) -> None:
    paths = sorted(Path(photos).glob("*/*"))
    assert ndd.imread(paths[0]).shape == (40, 50, 3)
    assert ndd.imread(list(map(str, paths)), output_type=types.GRAY).shape[1] == (40, 52, 1)


def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    assert (ndd.as_tensor(x) * 2).torch().tolist() == (x * 2).tolist()
    assert ndd.batch([x, x]).torch().shape == (2, 2, 3)
    assert ndd.cast(x, dtype=torch.int32).dtype == ndd.int32


def test_threads_have_their_own_generators_modes_and_contexts() -> None:
    ndd.random.set_seed(1)
    found: list[Any] = []

    def work() -> None:
        found.extend([ndd.random.get_default_rng(), ndd.EvalMode.current(), ndd.EvalContext.current()])
        found.append(float(sum((ndd.tensor(float(k)) for k in range(5)), ndd.tensor(0.0))))

    with ndd.EvalMode.sync_full, ndd.EvalContext(num_threads=1):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found[0] is not ndd.random.get_default_rng()
    assert found[1] is ndd.EvalMode.eager
    assert found[2] is ndd.EvalContext.default()
    assert found[3] == 10


def test_memory_is_given_back() -> None:
    """What was made of a tensor keeps nothing of what it was made of."""
    import weakref

    first = np.zeros(1000)
    gone = weakref.ref(first)
    x = ndd.as_tensor(first) + 1
    del first
    x.evaluate()
    gc.collect()
    assert gone() is None
    assert x.size == 1000


def test_on_a_gpu(software_gpu: object, photos: str) -> None:
    with ndd.EvalContext(num_threads=1, device_id=0):
        x = ndd.as_batch([np.full((4, 5, 3), k, np.uint8) for k in (1, 2)], layout="HWC", device="gpu")
        assert x.device == "gpu"
        y = ndd.flip(x) * 2  # runs where its input is
        assert y.device == ndd.Device("gpu", 0)
        assert np.asarray(y.cpu().select(1)).ravel().tolist() == [4] * 60
        z = ndd.resize(np.zeros((4, 4, 3), np.uint8), size=[2, 2], device="gpu")  # its input is copied
        assert (z.device.device_type, z.shape) == ("gpu", (2, 2, 3))
        assert ndd.rotate(x, angle=ndd.random.uniform(batch_size=2), device="gpu").batch_size == 2
        with ndd.Device("gpu"):
            assert ndd.flip(ndd.tensor(np.zeros((2, 2, 3), np.uint8))).device == "gpu"
        reader = ndd.readers.File(file_root=photos)
        jpegs, _ = next(reader.next_epoch(batch_size=2))
        pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)
        with pipe:
            pipe.set_outputs(fn.decoders.image(fn.readers.file(file_root=photos)[0], device="mixed"))
        expected = pipe.run()[0].as_cpu()
        for k, sample in enumerate(ndd.decoders.image(jpegs, device="gpu").cpu()):
            assert np.array_equal(np.asarray(sample), expected.at(k))
