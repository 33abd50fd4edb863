"""The code of README and of the docs runs as it stands."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.decode.sounds import sounds_can_be_decoded, wav

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def folder(photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with ``photos`` in it."""
    (tmp_path / "photos").symlink_to(photographs)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(document: str, language: str) -> list[str]:
    """A document's blocks of code, or of text."""
    text = (ROOT / document).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(code: str, folder: Path) -> dict[str, object]:
    """What is defined when it is through."""
    file = folder / "code.py"  # a file, so that errors can show the line
    file.write_text(code)
    scope: dict[str, object] = {}
    exec(compile(code, str(file), "exec"), scope)
    return scope


def test_readme(folder: Path) -> None:
    (code,) = blocks("README.md", "python")
    scope = run(code, folder)
    images, labels = scope["images"], scope["labels"]
    assert tuple(images.shape) == (256, 3, 224, 224)  # type: ignore[attr-defined]
    assert set(labels.flatten().tolist()) == set(range(8))  # type: ignore[attr-defined]
    assert 0.3 < float(images.std()) < 3  # type: ignore[attr-defined]  # normalised


def test_audio(folder: Path) -> None:
    if not sounds_can_be_decoded():
        pytest.skip("needs libsndfile")
    (folder / "sounds" / "a").mkdir(parents=True)
    for i in range(4):
        tone = np.sin(np.arange(4000 + 500 * i) * 0.3)[:, None] * 9000
        (folder / "sounds" / "a" / f"{i}.wav").write_bytes(wav(tone, 8000))
    (code,) = blocks("docs/audio.md", "python")
    spectra = run(code, folder)["spectra"].as_array()  # type: ignore[attr-defined]
    assert spectra.shape == (4, 80, 69)
    assert np.isfinite(spectra).all()


def test_video(folder: Path) -> None:
    pytest.importorskip("av", reason="PyAV, which makes videos for tests, is not installed")
    from tests.decode.videos import Clip, encoded

    for i in range(3):
        (folder / "videos" / f"{i}").mkdir(parents=True)
        (folder / "videos" / f"{i}" / "a.mp4").write_bytes(encoded(Clip("libx264", "mp4", b=2, seed=i)))
    code, stream = blocks("docs/video.md", "python")
    found = run(code + stream, folder)
    frames = found["frames"].as_array()  # type: ignore[attr-defined]
    assert frames.shape == (2, 8, 3, 28, 28)
    assert frames.std() > 0.3
    assert found["sequences"].shape() == [(10, 48, 64, 3)] * 4  # type: ignore[attr-defined]


def test_troubleshooting(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report has the parts, and the operators, that the page shows."""
    code, _ = blocks("docs/troubleshooting.md", "python")
    shown, *_ = blocks("docs/troubleshooting.md", "text")
    run(code, folder)

    def parts(report: str) -> set[str]:
        rows = report[report.index("\nstages") :].splitlines()
        return {re.split(r" {2,}|: ", row.strip())[0] for row in rows if not row.startswith("  waits")}

    assert parts(capsys.readouterr().out) == parts(shown)
    assert (folder / "trace.json").stat().st_size > 0


def test_external_source(folder: Path) -> None:
    (code,) = blocks("docs/external-source.md", "python")
    scope = run(code, folder)
    first, second = (np.stack(epoch) for epoch in scope["epochs"])  # type: ignore[attr-defined]
    assert first.shape == second.shape == (4, 16, 512)
    assert np.abs(first.mean(-1)).max() < 1e-5
    assert (first != second).any((1, 2)).all()
    scope["pipe"].close()  # type: ignore[attr-defined]


def test_conditionals(folder: Path) -> None:
    (code,) = blocks("docs/conditionals.md", "python")
    images, labels = run(code, folder)["images"], run(code, folder)["labels"]
    assert images.as_array().shape == (16, 224, 224, 3)  # type: ignore[attr-defined]
    assert labels.as_array().shape == (16, 1)  # type: ignore[attr-defined]


def test_checkpoints(folder: Path) -> None:
    resuming, merging = blocks("docs/checkpoints.md", "python")
    scope = run(resuming, folder)
    got, expected = ([labels.flatten().tolist() for labels in scope[name]] for name in ("got", "expected"))  # type: ignore[attr-defined]
    assert len(got) == 3
    assert got == expected
    read = run("from penstock import fn\n" + merging, folder)["read"]
    assert sorted(read) == sorted([*range(8)] * 2)  # type: ignore[call-overload]


def test_stopping_at_a_signal(folder: Path) -> None:
    """The loop that docs/troubleshooting.md shows ends where the signal came, and saves that place."""
    _, code = blocks("docs/troubleshooting.md", "python")
    before = """
import os, signal
from penstock import fn, pipeline_def

taken = []

def train_step(images, labels):
    taken.append(labels)
    if len(taken) == 2:
        os.kill(os.getpid(), signal.SIGTERM)

@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
def train():
    return fn.readers.file(file_root="photos", name="reader")

pipe, steps = train(), 5
"""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        scope = run(before + code, folder)
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert len(scope["taken"]) == 2  # type: ignore[arg-type]
    assert scope["pipe"].reader_position("reader") == (0, 8)  # type: ignore[attr-defined]
    assert (folder / "state.json").stat().st_size > 0


def test_operators_of_ones_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.custom.conftest import _restoring

    monkeypatch.setenv("PENSTOCK_CACHE", str(folder / "cache"))
    on_cpu, _, _ = blocks("docs/custom-operators.md", "python")
    for _ in _restoring():
        scope = run(on_cpu, folder)
        assert scope["images"].as_array().shape == (8, 64, 64, 3)  # type: ignore[attr-defined]
        assert "in one pass over rows: decoders.image → resize → sepia" in scope["pipe"].explain()  # type: ignore[attr-defined]
        cls = on_cpu[on_cpu.index("@penstock.operator") : on_cpu.index("@pipeline_def")].strip().splitlines()
        assert sum(bool(line.strip()) for line in cls) == 10


def test_operators_of_ones_own_on_a_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch, software_gpu: None) -> None:
    from tests.custom.conftest import _restoring

    monkeypatch.setenv("PENSTOCK_CACHE", str(folder / "cache"))
    for _ in _restoring():
        scope = run(blocks("docs/custom-operators.md", "python")[1], folder)
        assert "in one kernel: waves → solarized → crop_mirror_normalize" in scope["pipe"].explain()  # type: ignore[attr-defined]
        assert scope["images"].as_cpu().as_array().shape == (4, 3, 50, 60)  # type: ignore[attr-defined]
