"""`fn.readers.nemo_asr`: manifests of sounds and texts."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError, DecodeError, ReadError
from tests.decode.sounds import sounds_can_be_decoded, wav
from tests.read.data_sets import case
from tests.small import made

if not sounds_can_be_decoded():
    pytest.skip("needs libsndfile", allow_module_level=True)

RATE = 1000
SOUNDS = {f"{i}.wav": np.arange(i * 100, i * 100 + 200 + 10 * i, dtype="<i2")[:, None] for i in range(8)}
LINES: list[dict[str, Any]] = [
    {"audio_filepath": f"{i}.wav", "duration": (200 + 10 * i) / RATE, "text": "é" * i} for i in range(8)
]


def manifest(lines: list[Any]) -> bytes:
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()


def sample(i: int) -> tuple[Any, ...]:
    return SOUNDS[f"{i}.wav"][:, 0], np.float32(RATE), np.frombuffer(("é" * i).encode(), np.uint8), np.array([i])


CASES = [
    case(
        "readers.nemo_asr",
        {"manifest.json": manifest(LINES), **{name: wav(x, RATE) for name, x in SOUNDS.items()}},
        [sample(i) for i in range(8)],
        lambda root: {"manifest_filepaths": [f"{root}/manifest.json"], "dtype": types.INT16, "read_idxs": True},
        broken=("3.wav", None, 3),
        in_memory=False,
        differs="DALI looks for names in the current folder alone",
        title="all outputs",
    ),
]


def written(folder: Path, lines: list[Any], name: str = "manifest.json") -> str:
    for file, x in SOUNDS.items():
        (folder / file).write_bytes(wav(x, RATE))
    (folder / name).write_bytes(manifest(lines))
    return str(folder / name)


def run(count: int, paths: Any, **arguments: Any) -> list[list[Any]]:
    pipe = made(lambda: fn.readers.nemo_asr(manifest_filepaths=paths, **arguments), batch_size=count)
    return [[np.array(x) for x in output] for output in pipe.run()]


def dalis(count: int, paths: Any, **arguments: Any) -> list[list[Any]]:
    dali = pytest.importorskip("nvidia.dali")

    @dali.pipeline_def(batch_size=count, num_threads=1, device_id=None)
    def pipeline() -> Any:
        found = dali.fn.readers.nemo_asr(manifest_filepaths=paths, **arguments)
        return tuple(found) if isinstance(found, list) else found

    return [[np.array(output.at(i)) for i in range(count)] for output in pipeline().run()]


PARTS = [
    {"audio_filepath": "5.wav", "offset": 0.05, "duration": 0.1, "text": "a"},
    {"audio_filepath": "5.wav", "offset": 0.0509, "duration": 0.1009, "text": "floor"},
    {"audio_filepath": "5.wav", "offset": 0.05, "text": "to its end"},
    {"audio_filepath": "5.wav", "offset": 0.05, "duration": 9.0, "text": "beyond"},
    {"audio_filepath": "5.wav", "offset": -0.5, "duration": 0.1},
    {"audio_filepath": "5.wav", "offset": 0.2, "duration": -1},
    {"audio_filepath": "5.wav", "offset": 0.2, "duration": 0},
    {"audio_filepath": "5.wav", "offset": 0.25, "duration": 1},
]


@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": "INT16"},
        {"dtype": "INT16", "downmix": False, "read_idxs": True},
        {"read_text": False, "read_sample_rate": False},
        {"sample_rate": 2000.0},
        {"sample_rate": 700.0, "dtype": "INT32", "quality": 20.0},
    ],
)
def test_parts_are_dali_s(arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [written(tmp_path, PARTS)]
    dali = pytest.importorskip("nvidia.dali")
    name = arguments.pop("dtype", "FLOAT")
    mine = run(len(PARTS), paths, dtype=getattr(types, name), **arguments)
    wanted = dalis(len(PARTS), paths, dtype=getattr(dali.types, name), **arguments)
    for (sounds, *rest), (theirs, *others) in zip([mine], [wanted], strict=True):
        for a, b in zip(sounds, theirs, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            full = 1 if a.dtype == np.float32 else 2.0 ** (8 * a.itemsize - 1)
            np.testing.assert_allclose(a / full, b / full, rtol=0, atol=2e-5 if "sample_rate" in arguments else 0)
        for own, other in zip(rest, others, strict=True):
            for a, b in zip(own, other, strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"min_duration": 0.0}, [0, 1, 2, 3]),
        ({"min_duration": float("nan"), "max_duration": float("nan")}, [0, 1, 2, 3]),
        ({"min_duration": 0.15}, [0, 2]),
        ({"max_duration": 0.15}, [1, 3]),
        ({"min_duration": 0.05, "max_duration": 0.25}, [0, 1, 2]),
        ({"max_duration": 0.205}, [0, 1, 3]),
    ],
)
def test_durations(limits: dict[str, float], kept: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        {"audio_filepath": "0.wav", "duration": 0.2, "text": "0"},
        {"audio_filepath": "0.wav", "duration": 0.1, "text": "1"},
        {"audio_filepath": "1.wav", "duration": 0.21, "text": "2"},
        {"audio_filepath": "1.wav", "text": "3"},
    ]
    paths = [written(tmp_path, lines)]
    for reader in (run, dalis):
        _, _, texts, numbers = reader(len(kept), paths, read_idxs=True, **limits)
        assert [bytes(text).decode() for text in texts] == [str(k) for k in kept]
        assert [number.tolist() for number in numbers] == [[k] for k in range(len(kept))]


def test_names_beside_the_manifest_and_several_manifests(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    paths = [written(tmp_path / "a", LINES[:2]), written(tmp_path / "b", LINES[4:6])]
    _, _, texts, numbers = run(4, paths, read_idxs=True)
    assert [bytes(text).decode() for text in texts] == ["", "é", "éééé", "ééééé"]
    assert [int(number[0]) for number in numbers] == [0, 1, 2, 3]


def test_lines_that_are_no_sounds_are_left_out_and_counted(tmp_path: Path) -> None:
    good = {"audio_filepath": "0.wav", "text": "good", "other": {"a": [1, {"b": 2}]}}
    bad: list[Any] = ["garbage", "[1]", {"duration": 1.0}, {"audio_filepath": 5}, {"audio_filepath": ""}]
    bad += [{**good, "text": 5}, {**good, "duration": "1"}, {**good, "offset": True}, '{"audio_filepath": "0.wav"']
    path = written(tmp_path, ["", *bad, good, "  "])
    with pytest.warns(UserWarning, match=r"9 of 12 lines of .*manifest.json are left out"):
        _, _, texts = run(1, [path])
    assert bytes(texts[0]) == b"good"


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"the manifest .*none.json cannot be read: No such file"):
        run(1, [str(tmp_path / "none.json")])
    (tmp_path / "empty.json").write_bytes(b"")
    with pytest.raises(ArgumentError, match=r"manifest_filepaths.*no line of them is a sample"):
        run(1, [str(tmp_path / "empty.json")])
    with pytest.raises(ReadError, match=r"missing.wav"):
        run(1, [written(tmp_path, [{"audio_filepath": f"{tmp_path}/missing.wav"}])])
    with pytest.raises(DecodeError, match=r"its part begins at 2.0* seconds, and the sound has 0.2(.|\n)*0.wav"):
        run(1, [written(tmp_path, [{"audio_filepath": "0.wav", "offset": 2.0}])])
    for arguments in ({"sample_rate": float("nan")}, {"sample_rate": 1e12}, {"quality": 101.0}):
        with pytest.raises(ValueError, match=r"sample_rate|quality"):
            run(1, [written(tmp_path, LINES[:1])], **arguments)


@pytest.mark.parametrize("seed", range(4))
def test_broken_manifests_and_sounds(seed: int, tmp_path: Path) -> None:
    """Bits flipped anywhere, and cut off: samples, or an error of the library's own."""
    random = np.random.default_rng(seed)
    whole = manifest(LINES)
    written(tmp_path, LINES)
    for i in range(125):
        harmed = bytearray(whole)
        for _ in range(random.integers(1, 8)):
            harmed[random.integers(len(harmed))] ^= 1 << random.integers(8)
        path = tmp_path / f"{i}.json"
        path.write_bytes(bytes(harmed[: random.integers(len(harmed) // 2, len(harmed))]))
        with warnings.catch_warnings(), suppress(ReadError, DecodeError, ArgumentError):
            warnings.simplefilter("ignore")
            made(lambda p=path: fn.readers.nemo_asr(manifest_filepaths=[str(p)]), batch_size=4).run()
