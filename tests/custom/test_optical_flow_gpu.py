"""fn.optical_flow on a GPU: the software one's engine matches blocks, as tests/custom/block_matching.py does in NumPy.

Tests of the software engine compare all bits; those that count for both look for the shift of a texture.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import DeviceError, InputError, LayoutError, OutOfMemoryError, PenstockError
from tests.cuda.scripts import run_script
from tests.custom.block_matching import Array, cells, flow, video
from tests.software_gpu.libraries import has_real_gpu

pytestmark = pytest.mark.usefixtures("software_gpu")
REAL = os.environ.get("PENSTOCK_TEST_REAL_GPU") == "1" or has_real_gpu()
software = pytest.mark.skipif(REAL, reason="of the software GPU")
DEVICE = 0  # of the pipelines here
MOVES = [(3, 1), (-2, 3)]  # x and y, from one frame to the next
IMAGES = {types.RGB: 3, types.BGR: 3, types.GRAY: 1}


def pipeline(*inputs: list[Array], layout: str = "FHWC", threads: int = 2, **arguments: Any) -> Pipeline:
    """Each input a batch."""
    pipe = Pipeline(batch_size=len(inputs[0]), num_threads=threads, device_id=DEVICE, prefetch_queue_depth=1)
    with pipe:
        given = [fn.external_source(partial(list, x), layout=layout).gpu() for x in inputs]
        pipe.set_outputs(fn.optical_flow(*given, **arguments))
    return pipe


def flows(pipe: Pipeline) -> list[Array]:
    (found,) = pipe.run()
    assert found.layout() == "FHWC"
    found = found.as_cpu()
    return [np.array(found.at(i)) for i in range(len(found))]


def run(*inputs: list[Array], **arguments: Any) -> list[Array]:
    pipe = pipeline(*inputs, **arguments)
    found = flows(pipe)
    pipe.close()
    return found


def assert_alike(found: list[Array], wanted: list[Array]) -> None:
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_array_equal(a, b)


def assert_shifts(found: Array, moves: list[tuple[int, int]], most: float = 0.5) -> None:
    """In the middle, vectors lead back to where the texture was."""
    rows, columns = found.shape[1:3]
    middle = found[:, rows // 4 : rows - rows // 4, columns // 4 : columns - columns // 4]
    np.testing.assert_allclose(np.median(middle, (1, 2)), -np.array(moves), atol=most)


@software
class TestVectors:
    @pytest.mark.parametrize("grid", [1, 2, 4])
    @pytest.mark.parametrize("image_type", IMAGES, ids=lambda t: t.name)
    def test_kinds_of_pictures(self, image_type: types.DALIImageType, grid: int) -> None:
        x = video(31, 43, MOVES, IMAGES[image_type], seed=grid)
        (found,) = run([x], image_type=image_type, output_grid=grid)
        assert found.shape == (2, cells(31, grid), cells(43, grid), 2)
        assert_alike([found], [flow(x, grid, bgr=image_type == types.BGR)])

    @pytest.mark.parametrize("preset", [0.0, 0.5, 1.0])
    def test_presets(self, preset: float) -> None:
        x = video(40, 64, [(4, 0), (0, -3), (2, 2)])
        assert_alike(run([x], preset=preset), [flow(x, 4, preset)])

    def test_temporal_hints(self) -> None:
        """The third frame's texture is too far for a search from nothing. A sequence begins without any."""
        moves = [(4, 0), (7, 0), (10, 1)]
        all_of_them = [video(40, 72, moves, seed=i) for i in range(5)]
        wanted = [flow(x, temporal=True) for x in all_of_them]
        found = run(all_of_them, enable_temporal_hints=True)
        assert_alike(found, wanted)
        assert_shifts(found[0], moves)
        assert_alike(run(all_of_them[::-1]), [flow(x) for x in all_of_them[::-1]])

    @pytest.mark.parametrize(("grid", "hint_grid"), [(4, 4), (4, 8), (2, 2), (2, 8), (1, 1), (1, 4)])
    def test_external_hints(self, grid: int, hint_grid: int) -> None:
        moves = [(11, -6), (-9, 8)]
        x = video(45, 67, moves)
        hints = np.empty((2, cells(45, hint_grid), cells(67, hint_grid), 2), np.float32)
        hints[:] = -np.reshape(moves, (2, 1, 1, 2)) + np.random.default_rng(1).uniform(-1, 1, hints.shape)
        (found,) = run([x], [hints], enable_external_hints=True, output_grid=grid, hint_grid=hint_grid)
        assert_alike([found], [flow(x, grid, hints=hints, hint_grid=hint_grid)])
        assert_shifts(found, moves)

    def test_hints_that_are_no_numbers_or_lead_far_away(self) -> None:
        x = video(33, 50, MOVES)
        hints = np.zeros((2, 9, 13, 2), np.float32)
        hints[0, ::2] = np.nan
        hints[1, :, ::2] = np.inf
        hints[1, ::3] = -1e30
        assert_alike(run([x], [hints], enable_external_hints=True), [flow(x, hints=hints)])

    def test_both_kinds_of_hints(self) -> None:
        x = video(40, 60, [(3, 0), (6, 0)])
        hints = np.random.default_rng(3).uniform(-8, 8, (2, 5, 8, 2)).astype(np.float32)
        arguments = dict(enable_external_hints=True, enable_temporal_hints=True, hint_grid=8)
        assert_alike(run([x], [hints], **arguments), [flow(x, hints=hints, hint_grid=8, temporal=True)])

    def test_batches_of_many_sizes(self) -> None:
        sizes = [(32, 48), (17, 33), (32, 48), (40, 32), (16, 32), (32, 48), (17, 33), (63, 65)]
        all_of_them = [video(h, w, MOVES[: 1 + i % 2], seed=i) for i, (h, w) in enumerate(sizes)]
        wanted = [flow(x) for x in all_of_them]
        pipe = pipeline(all_of_them)
        for _ in range(3):
            assert_alike(flows(pipe), wanted)
        for x, one in zip(all_of_them, wanted, strict=True):
            assert_alike(run([x]), [one])

    def test_between_other_operators(self, photographs: Path) -> None:
        """Behind decoders, a stack and a resize on the GPU, and before arithmetic and a reduction."""
        files = sorted(map(str, photographs.rglob("*.jpg")))[:2]

        def define(device: str) -> Any:
            encoded = fn.readers.file(files=files)[0]
            picture = fn.resize(fn.decoders.image(encoded, device=device), resize_x=75, resize_y=60)
            frames = fn.stack(picture[0:59, 0:70], picture[1:60, 2:72], axis_name="F")
            return fn.resize(frames, resize_x=60, resize_y=44)

        pipe = Pipeline(batch_size=2, num_threads=2, device_id=0)
        with pipe:
            frames = define("mixed")
            vectors = fn.optical_flow(frames, output_grid=2)
            pipe.set_outputs(frames, vectors * 2 + 1, fn.reductions.mean(vectors, axis_names="HW"))
        shown, doubled, means = (out.as_cpu() for out in pipe.run())
        for i in range(2):
            wanted = flow(np.array(shown.at(i)), 2)
            np.testing.assert_array_equal(doubled.at(i), wanted * 2 + 1)
            np.testing.assert_allclose(means.at(i), wanted.mean((1, 2)), atol=1e-5)

    def test_two_pipelines_at_once(self) -> None:
        given = [[video(36, 44, MOVES, seed=10 * k + i) for i in range(3)] for k in range(2)]
        wanted = [[flow(x, temporal=True) for x in one] for one in given]
        pipes = [pipeline(one, enable_temporal_hints=True) for one in given]
        problems: list[BaseException] = []

        def work(k: int) -> None:
            try:
                for _ in range(6):
                    assert_alike(flows(pipes[k]), wanted[k])
            except BaseException as e:
                problems.append(e)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        pipes[0].close()
        assert_alike(flows(pipes[1]), wanted[1])

    def test_inputs_that_were_on_the_gpu_before(self) -> None:
        """And without a pipeline."""
        from penstock.experimental import dynamic as ndd

        x = video(36, 44, MOVES)
        data = ndd.as_tensor(x, layout="FHWC", device="gpu")
        np.testing.assert_array_equal(np.asarray(ndd.optical_flow(data).cpu()), flow(x))


@pytest.fixture
def second_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pipelines run on the second GPU, which no other test has left an engine of."""
    gc.collect()
    monkeypatch.setattr(sys.modules[__name__], "DEVICE", 1)


@software
@pytest.mark.usefixtures("second_gpu")
class TestSessions:
    """What the software engine has noted."""

    @pytest.fixture
    def log(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        path = tmp_path / "log"
        path.touch()
        monkeypatch.setenv("SOFTWARE_NVOF_LOG", str(path))
        return path

    def test_they_are_used_again_and_closed(self, log: Path) -> None:
        pipe = pipeline([video(32, 40, MOVES, seed=i) for i in range(4)])
        for _ in range(5):
            flows(pipe)
        pipe.close()
        del pipe
        gc.collect()
        lines = log.read_text().splitlines()
        assert lines.count("execute") == 5 * 4 * 2
        assert lines.count("create") == lines.count("destroy") == 2
        assert lines.count("buffer") == lines.count("buffer destroyed") == 2 * 3

    def test_a_pipeline_that_never_ran(self, log: Path) -> None:
        pipe = pipeline([video(32, 40, MOVES)])
        pipe.build()
        pipe.close()
        del pipe
        gc.collect()
        lines = log.read_text().splitlines()
        assert lines.count("create") == lines.count("destroy") == 1
        assert "buffer" not in lines

    def test_one_frame_needs_no_engine(self, log: Path) -> None:
        found = run([video(32, 40, []), video(32, 40, [])], output_grid=2)
        assert [x.shape for x in found] == [(0, 16, 20, 2)] * 2
        assert "execute" not in log.read_text()

    def test_one_frame_among_others(self) -> None:
        given = [video(32, 40, MOVES), video(33, 41, []), video(32, 40, MOVES[:1])]
        found = run(given)
        assert found[1].shape == (0, 9, 11, 2)
        assert_alike([found[0], found[2]], [flow(given[0]), flow(given[2])])

    def test_idle_sessions_make_room(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTWARE_NVOF_MEMORY", "2")
        given = [video(32, 40 + i, MOVES, seed=i) for i in range(4)]
        pipe = pipeline(given)
        for _ in range(2):
            assert_alike(flows(pipe), [flow(x) for x in given])
        monkeypatch.setenv("SOFTWARE_NVOF_MEMORY", "0")
        with pytest.raises(OutOfMemoryError, match=r"optical_flow: preset=0.0, output_grid=4, frames of 40 x 32"):
            pipe.run()

    def test_one_session_does_where_there_is_no_room_for_two(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTWARE_NVOF_MEMORY", "1")
        given = [video(32, 40, MOVES, seed=i) for i in range(3)]
        assert_alike(run(given), [flow(x) for x in given])

    def test_temporal_hints_are_asked_for_behind_the_first_pair(self, log: Path) -> None:
        run([video(32, 40, [*MOVES, *MOVES], seed=i) for i in range(3)], enable_temporal_hints=True)
        lines = log.read_text().splitlines()
        assert (lines.count("execute"), lines.count("execute temporal")) == (3, 9)

    def test_a_frame_that_fails(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        given = [video(32, 40, MOVES, seed=i) for i in range(3)]
        monkeypatch.setenv("SOFTWARE_NVOF_FAILS", "2")
        pipe = pipeline(given)
        with pytest.raises(DeviceError, match=r"optical_flow: NVIDIA's .* engine: nvOFExecute failed: an unknown"):
            pipe.run()
        monkeypatch.delenv("SOFTWARE_NVOF_FAILS")
        pipe.close()
        assert_alike(run(given), [flow(x) for x in given])
        del pipe
        gc.collect()
        lines = log.read_text().splitlines()
        assert lines.count("create") == lines.count("destroy")
        assert lines.count("buffer") == lines.count("buffer destroyed")


@software
@pytest.mark.usefixtures("second_gpu")
class TestRefusals:
    X = video(32, 40, MOVES)

    @pytest.mark.parametrize(
        ("settings", "arguments", "problem"),
        [
            ({"NONE": "1"}, {}, r"this GPU \(.*\) has no engine for optical flow"),
            ({"GRIDS": "4"}, {"output_grid": 1}, r"output_grid=1: this GPU's engine .* has no such grid: it has 4"),
            ({"GRIDS": "4"}, {"hint_grid": 1}, r"hint_grid=1: this GPU's engine .* has no such grid: it has 4, 8"),
            ({"HINTS": "0"}, {"hint_grid": 4}, r"enable_external_hints=True: .* takes no hints"),
            ({}, {"hint_grid": 2}, r"hint_grid=2: expected at least output_grid=4"),
        ],
    )
    def test_when_the_pipeline_is_built(
        self, settings: dict[str, str], arguments: dict[str, Any], problem: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(f"SOFTWARE_NVOF_{name}", value)
        inputs = [[self.X]]
        if "hint_grid" in arguments:
            inputs.append([np.zeros((2, 8, 10, 2), np.float32)])
            arguments = {"enable_external_hints": True, **arguments}
        with pytest.raises(DeviceError, match=f"optical_flow: {problem}"):
            pipeline(*inputs, **arguments).build()

    def test_grids_of_hints_count_with_hints_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTWARE_NVOF_GRIDS", "4")
        assert_alike(run([self.X], hint_grid=1), [flow(self.X)])

    def test_a_preset_that_the_gpu_has_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTWARE_NVOF_NO_LEVEL", "10")
        with pytest.raises(
            DeviceError,
            match=r"optical_flow: preset=0.5, output_grid=4, frames of 40 x 32 pixels: .* unsupported parameter \(as",
        ):
            run([self.X], preset=0.5)
        assert_alike(run([self.X], preset=1.0), [flow(self.X, preset=1.0)])

    @pytest.mark.parametrize(
        ("x", "arguments", "problem"),
        [
            (X.astype(np.float32), {}, "the input is FLOAT: expected UINT8"),
            (X[..., :1], {}, r"the shape \(3, 32, 40, 1\): expected frames .* with 3 channels, as image_type=RGB"),
            (X, {"image_type": types.GRAY}, "with 1 channel, as image_type=GRAY has"),
            (X[:0], {}, r"the shape \(0, 32, 40, 3\)"),
            (X[:, :, :31], {}, r"31 x 32 pixels \(width x height\): .* takes 32 x 16 to 2048 x 2048"),
            (X[:, :15], {}, "40 x 15 pixels"),
            (np.zeros((2, 16, 2049, 3), np.uint8), {}, "2049 x 16 pixels"),
        ],
    )
    def test_inputs(self, x: Array, arguments: dict[str, Any], problem: str) -> None:
        with pytest.raises(InputError, match=f"optical_flow: .*{problem}") as caught:
            run([np.ascontiguousarray(x)], **arguments)
        assert caught.value.sample == 0

    def test_layouts(self) -> None:
        with pytest.raises(LayoutError, match="optical_flow: expected videos of layout FHWC, got 'DHWC'"):
            run([self.X], layout="DHWC")
        assert_alike(run([self.X], layout=""), [flow(self.X)])

    @pytest.mark.parametrize("hints", [np.zeros((2, 8, 9, 2), np.float32), np.zeros((2, 8, 10, 2), np.float64)])
    def test_hints(self, hints: Array) -> None:
        with pytest.raises(InputError, match=r"the hints are .*: expected FLOAT of the shape \(2, 8, 10, 2\), as hint"):
            run([self.X], [hints], enable_external_hints=True)

    def test_no_library(self, software_gpu: dict[str, str]) -> None:
        """Whether it is there is known once in a process."""
        printed = run_script(
            """
            @pipeline_def(batch_size=1, num_threads=1, device_id=0)
            def pipeline():
                video = fn.external_source(lambda: [np.zeros((2, 64, 64, 3), np.uint8)], layout="FHWC")
                return fn.optical_flow(video.gpu())
            try:
                pipeline().build()
            except RuntimeError as e:
                print(type(e).__name__, e)
            """,
            software_gpu, PENSTOCK_NVOF="/nowhere/libnvidia-opticalflow.so.1",
        )  # fmt: skip
        assert printed.startswith("DeviceError optical_flow: NVIDIA's optical flow library, libnvidia-opticalflow.so")
        assert "NVIDIA_DRIVER_CAPABILITIES must name 'video'" in printed
        assert "operator made at" in printed

    def test_inputs_on_the_cpu(self) -> None:
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=0)
        with pipe, pytest.raises(DeviceError, match=r"optical_flow: input 0 .* is on the CPU"):
            fn.optical_flow(fn.external_source(lambda: [self.X]), device="gpu")


def test_explain_says_what_runs_it() -> None:
    pipe = pipeline([video(64, 64, MOVES)], preset=0.5)
    try:
        pipe.build()
    except PenstockError as e:
        pytest.skip(str(e))
    assert "NVIDIA's engine of the GPU (medium), by the driver's libnvidia-opticalflow.so.1" in pipe.explain()


@pytest.mark.gpu
class TestRealEngine:
    """NVIDIA's."""

    MOVES: tuple[tuple[int, int], ...] = ((5, 2), (-3, 4), (0, -6))

    @pytest.fixture(autouse=True)
    def _needs_one(self, software_gpu: dict[str, str]) -> None:
        if software_gpu:
            pytest.skip("needs an NVIDIA GPU")

    @pytest.mark.parametrize("preset", [0.0, 0.5, 1.0])
    @pytest.mark.parametrize("grid", [1, 2, 4])
    def test_a_texture_that_moves(self, grid: int, preset: float) -> None:
        x = video(240, 320, list(self.MOVES))
        (found,) = run([x], output_grid=grid, preset=preset)
        assert found.shape == (3, 240 // grid, 320 // grid, 2)
        assert_shifts(found, list(self.MOVES))

    @pytest.mark.parametrize("image_type", IMAGES, ids=lambda t: t.name)
    def test_odd_sizes_and_kinds_of_pictures(self, image_type: types.DALIImageType) -> None:
        given = [video(h, w, list(self.MOVES), IMAGES[image_type]) for h, w in ((181, 257), (240, 321), (181, 257))]
        found = run(given, image_type=image_type)
        assert [x.shape for x in found] == [(3, 46, 65, 2), (3, 60, 81, 2), (3, 46, 65, 2)]
        for x in found:
            assert_shifts(x, list(self.MOVES))
        np.testing.assert_array_equal(found[0], found[2])

    def test_bgr_is_rgb_reversed(self) -> None:
        x = video(240, 320, list(self.MOVES))
        reversed_ = np.ascontiguousarray(x[..., ::-1])
        np.testing.assert_array_equal(run([x])[0], run([reversed_], image_type=types.BGR)[0])

    @pytest.mark.parametrize("arguments", [{}, {"enable_temporal_hints": True}], ids=str)
    def test_batches_and_runs_do_not_matter(self, arguments: dict[str, Any]) -> None:
        given = [video(240, 320 + 8 * (i % 2), list(self.MOVES), seed=i) for i in range(5)]
        pipe = pipeline(given, **arguments)
        first = flows(pipe)
        assert_alike(flows(pipe), first)
        assert_alike([run([x], **arguments)[0] for x in given], first)

    @pytest.mark.parametrize(("grid", "hint_grid"), [(4, 4), (4, 8), (2, 4), (1, 1)])
    def test_external_hints(self, grid: int, hint_grid: int) -> None:
        x = video(240, 320, list(self.MOVES))
        hints = np.empty((3, cells(240, hint_grid), cells(320, hint_grid), 2), np.float32)
        hints[:] = -np.reshape(self.MOVES, (3, 1, 1, 2))
        (found,) = run([x], [hints], enable_external_hints=True, output_grid=grid, hint_grid=hint_grid)
        assert_shifts(found, list(self.MOVES))

    def test_frames_that_are_too_small(self) -> None:
        with pytest.raises(InputError, match="optical_flow: the frames have 8 x 8 pixels"):
            run([np.zeros((2, 8, 8, 3), np.uint8)])

    def test_two_pipelines_at_once(self) -> None:
        given = [video(240, 320, list(self.MOVES), seed=k) for k in range(2)]
        wanted = [run([x])[0] for x in given]
        pipes = [pipeline([x]) for x in given]
        for _ in range(4):
            for pipe in pipes:
                pipe.schedule_run()
            for pipe, one in zip(pipes, wanted, strict=True):
                (found,) = pipe.share_outputs()
                np.testing.assert_array_equal(np.array(found.as_cpu().at(0)), one)
                pipe.release_outputs()
