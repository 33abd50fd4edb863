"""Sequences that go through a chain frame by frame: the same as operator by operator, and no frame lies in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from tests.decode.test_video import turned
from tests.decode.videos import Clip, encoded

CLIP = Clip("libx264", "mp4", frames=20, gop=8, b=2, width=96, height=64)
CHAINS: dict[str, Callable[[Any], Any]] = {
    "resize": lambda x: fn.resize(x, size=(40, 50)),
    "resize of floats": lambda x: fn.resize(x, resize_shorter=30, dtype=types.FLOAT, interp_type=types.INTERP_CUBIC),
    "resize of a part": lambda x: fn.resize(x, size=(20, 20), roi_start=[10, 5], roi_end=[50, 90], mode="stretch"),
    "flipped upside down": lambda x: fn.resize(x, size=(20, 20), roi_start=[64, 0], roi_end=[0, 96]),
    "resize and crop": lambda x: fn.crop(fn.resize(x, size=(40, 50)), crop=(24, 24), crop_pos_x=0.2),
    "crop": lambda x: fn.crop(x, crop=(33, 41), crop_pos_x=fn.random.uniform(range=[0.0, 1.0], seed=4)),
    "slice": lambda x: fn.slice(x, (3, 5), (30, 41), axis_names="HW"),
    "slice of frames": lambda x: fn.slice(x, 1, 3, axis_names="F"),
    "flip": lambda x: fn.flip(x, horizontal=1),
    "turned round": lambda x: fn.flip(x, vertical=1),
    **{
        f"normalize {layout}": lambda x, layout=layout: fn.crop_mirror_normalize(
            x, crop=(48, 56), output_layout=layout, mirror=fn.random.coin_flip(seed=2), mean=[1.0, 2, 3], std=[9.0]
        )
        for layout in ("FCHW", "CFHW", "FHWC", "HWFC")
    },
    "all": lambda x: fn.crop_mirror_normalize(
        fn.flip(fn.resize(x, size=(40, 50))), crop=(24, 24), output_layout="FCHW", dtype=types.FLOAT16, pad_output=True
    ),
    "resize_crop_mirror": lambda x: fn.resize_crop_mirror(x, size=(40, 50), crop=(24, 24), mirror=1),
    "with sizes": lambda x: fn.resize(x, size=(40, 50), save_attrs=True),
    "not one pass": lambda x: fn.transpose(fn.resize(x, size=(40, 50)), perm=[3, 0, 1, 2]),
}  # fmt: skip
each_chain = pytest.mark.parametrize("chain", CHAINS)


def outputs(source: Callable[[], Any], chain: str) -> tuple[list[Any], str]:
    pipe = Pipeline(batch_size=3, num_threads=2, device_id=None, seed=1)
    with pipe:
        first, *others = source()
        made = CHAINS[chain](first)
        pipe.set_outputs(*(made if isinstance(made, list) else [made]), *others)
    found = [[np.array(o.at(i)) for i in range(3)] for _ in range(3) for o in pipe.run()]
    return found, pipe.explain()


def compare(source: Callable[[], Any], chain: str, monkeypatch: pytest.MonkeyPatch) -> str:
    found, shown = outputs(source, chain)
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    wanted, _ = outputs(source, chain)
    for mine, its in zip(found, wanted, strict=True):
        for a, b in zip(mine, its, strict=True):
            assert a.shape == b.shape
            np.testing.assert_array_equal(a, b)
    return shown


@each_chain
def test_behind_a_reader(chain: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With labels and numbers beside the frames, and frames that are filled in and twice there."""
    (tmp_path / "a.mp4").write_bytes(encoded(CLIP))

    def source() -> Any:
        return fn.experimental.readers.video(
            filenames=[str(tmp_path / "a.mp4")], labels=[3], sequence_length=6, step=7, pad_mode="reflect",
            enable_frame_num="sequence", enable_timestamps=True,
        )  # fmt: skip

    compare(source, chain, monkeypatch)


@each_chain
def test_behind_a_decoder(chain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def source() -> Any:
        files = fn.external_source(lambda: [np.frombuffer(encoded(CLIP), np.uint8)] * 3)
        return [fn.decoders.video(files, frames=[3, 40, 9, 9, 1], fill_value=[9, 8, 7])]

    compare(source, chain, monkeypatch)


@pytest.mark.parametrize("chain", ["resize", "crop", "normalize FCHW"])
@pytest.mark.parametrize("normalized", [False, True])
def test_behind_floats(chain: str, normalized: bool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.mp4").write_bytes(encoded(CLIP))

    def source() -> Any:
        return [fn.readers.video(filenames=[str(tmp_path / "a.mp4")], sequence_length=4, dtype=types.FLOAT,
                                 normalized=normalized)]  # fmt: skip

    compare(source, chain, monkeypatch)


@pytest.mark.parametrize("turns", [1, 2, 3])
@pytest.mark.parametrize("chain", ["resize", "crop", "all"])
def test_turned_frames(chain: str, turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = turned(encoded(CLIP), turns)

    def source() -> Any:
        files = fn.external_source(lambda: [np.frombuffer(data, np.uint8)] * 3)
        return [fn.decoders.video(files, frames=[3, 9], adjust_orientation=True)]

    compare(source, chain, monkeypatch)
