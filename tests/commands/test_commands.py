"""``python -m penstock``: every command has help with examples; bench, explain and completion do what they say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import Pipeline, errors
from penstock.__main__ import main
from penstock.commands import _progress, commands
from penstock.commands._pipelines import pipeline_of
from penstock.commands.completion import script

NAMES = [name for name, _ in commands()]

SCRIPT = """
from penstock import fn, pipeline_def

@pipeline_def(num_threads=1)
def pictures(root, size=20):
    files, labels = fn.readers.file(file_root=root)
    return fn.resize(fn.decoders.image(files), size=[size, size]), labels

there = pictures("photos", batch_size=3, device_id=None)
number = 7

def plain():
    return 7
"""


@pytest.fixture(autouse=True)
def folder(photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "photos").symlink_to(photographs)
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_these() -> None:
    assert {"bench", "completion", "doctor", "explain", "include", "index", "validate"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_shows_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert f"python -m penstock {name}" in said[said.index("examples:") :] or name == "include"
    assert "exit status: 0" in said
    assert "``" not in said


@pytest.mark.parametrize("name", sorted({*NAMES} - {"completion", "include"}))
def test_each_has_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["bench"], ["index"], ["completion", "dos"]])
def test_wrong_commands_end_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2


def test_bench_of_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "photos", "--seconds", "0.2", "--batch-size", "4", "--threads", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] == 4 * found["batches"] > 0
    assert found["samples_per_second"] == pytest.approx(found["samples"] / found["seconds"])
    assert found["bottleneck"]
    assert main(["bench", "train.py:there", "--seconds", "0.1", "--trace", "trace.json"]) == 0
    assert "bottleneck:" in capsys.readouterr().out
    assert json.loads(Path("trace.json").read_text())["traceEvents"]


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["explain", "train.py:pictures", "--set", "root=photos", "--set", "size=30", "--html", "plan.html"]) == 0
    )
    assert "decoders.image → resize" in capsys.readouterr().out
    assert "<!doctype html>" in Path("plan.html").read_text()
    assert main(["explain", "train.py:there", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    Path("pipe.json").write_text(json.dumps(found["pipeline"]))
    assert main(["explain", "pipe.json"]) == 0
    assert capsys.readouterr().out == found["plan"] + "\n"


def test_pipelines_are_found(folder: Path) -> None:
    def asked(*words: str) -> Pipeline:
        from penstock.commands import parser

        return pipeline_of(parser().parse_args(["explain", *words]))

    pipe = asked("train.py:pictures", "--set", "root=photos", "--batch-size", "5")
    assert (pipe.max_batch_size, pipe.num_threads) == (5, 1)
    assert asked("train.py:pictures", "--set", "root=photos").max_batch_size == 64
    assert asked("train.py:there").run()[0].shape() == [(20, 20, 3)] * 3
    assert asked("photos", "--batch-size", "2").run()[0].shape() == [(3, 224, 224)] * 2
    for words, problem in {
        ("train.py:gone",): "no pipeline 'gone'",
        ("train.py:number",): "no pipeline 'number'",
        ("train.py:plain",): "gives a int",
        ("gone.py:x",): "gone.py",
        ("nowhere.at.all:x",): "No module",
        ("gone.json",): "expected FILE.py:NAME",
        ("train.py:there", "--set", "x"): "expected NAME=VALUE",
    }.items():
        with pytest.raises(errors.ArgumentError, match=re.escape(problem)):
            asked(*words)


def test_errors_are_lines_and_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("bench", "explain"):
        assert main([command, "gone.json"]) == 2
        assert "gone.json" in capsys.readouterr().err


def test_completion_knows_commands_and_options(folder: Path) -> None:
    (folder / "completion.bash").write_text(script("bash"))

    def completed(*words: str) -> list[str]:
        line = " ".join(map(repr, words))
        said = subprocess.run(
            ["bash", "-c", f"source completion.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
             'COMPREPLY=(); _penstock; printf "%s\\n" "${COMPREPLY[@]}"'],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return said.stdout.split()

    assert completed("penstock", "") == NAMES
    assert completed("penstock", "val") == ["validate"]
    assert "--decode" in completed("penstock", "validate", "--")
    assert completed("penstock", "validate", "tra") == ["train.py"]
    for shell in ("zsh", "fish"):
        assert all(name in script(shell) for name in NAMES)
    assert sys.executable in script("fish")


def test_progress_is_for_terminals_and_after_a_second(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = _progress.Progress(lambda done, of: f"{done} of {of}")
    progress.show(1, 2)
    monkeypatch.setattr(progress, "_terminal", True)
    progress.show(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "_begin", progress._begin - 2)
    progress.show(1, 2)
    assert capsys.readouterr().err == f"\r[{'#' * 20}{' ' * 20}] 1 of 2"
