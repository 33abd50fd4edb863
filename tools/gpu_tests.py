"""`./dev test gpu`: all tests that use a GPU, on a real one, then some of them under NVIDIA's compute-sanitizer.

What came of it is written to bench/results/gpu-tests.md. Needs nothing but Python's packages and the native library, so
that it can be run by itself on a machine without a network: `PENSTOCK_NATIVE=FOLDER python3 tools/gpu_tests.py`.
Other arguments are pytest's; with pytest-xdist, `-n 14 --dist worksteal` makes it many times quicker. Under a sanitizer
there are few processes, whatever was asked for.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

RESULTS = ROOT / "bench" / "results" / "gpu-tests.md"
MARKS = ["-m", "gpu or any_gpu"]
# Each operator on the GPU, and decoding: what touches memory there.
SANITIZED = [
    "tests/augment/test_sweep_gpu.py",
    "tests/decode/test_mixed.py",
    "tests/decode/test_nvimagecodec.py",
    "tests/decode/test_cuda_jpeg.py",
    "tests/decode/test_cuda_jpeg_odd.py",
    "tests/decode/test_jpeg_index_gpu.py",
    "tests/gpu/test_jpeg_corpus.py",
]


@dataclass(frozen=True)
class Tool:
    """A tool of compute-sanitizer. Kernels are some hundred times slower with it: of JPEG files it gets fewer."""

    pictures: int
    mutants: int
    options: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        return {"PENSTOCK_JPEG_PICTURES": str(self.pictures), "PENSTOCK_JPEG_MUTANTS": str(self.mutants)}


TOOLS = {
    "memcheck": Tool(300, 2000),
    # nvImageCodec's decoder of lossless JPEG races with itself.
    "racecheck": Tool(50, 100, ("--kernel-name-exclude", "kernel_substring=culj92")),
}
# Processes under a sanitizer wait for each other: 2, 6 and 15 of them took 26, 44 and 90 s for the same tests.
MOST_SANITIZED = 3


@dataclass(frozen=True)
class Run:
    """One call of pytest."""

    title: str
    status: int
    closing: str  # "12 passed, 1 skipped in 3.21s"
    failed: list[str]  # names of tests
    skipped: list[str]  # "[2] needs two GPUs"
    errors: str = ""  # the sanitizer's summary, of each process that said something else than the others

    @property
    def good(self) -> bool:
        errors = self.errors.split("; ") if self.errors else []
        return self.status == 0 and all(re.search(r"\b0 (errors|hazards)", e) for e in errors)


def summary_of(output: str, title: str, status: int) -> Run:
    """What pytest, and the sanitizer around it, said in the end; without places of this machine."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", output).splitlines()
    closing = [
        line.strip("= ")
        for line in lines
        if re.search(r"\d (passed|failed|skipped|errors?|deselected)\b.* in \d", line)
    ]
    failed = [re.sub(r" - .*", "", line) for line in lines if line.startswith(("FAILED ", "ERROR "))]
    skipped = [re.sub(r"^SKIPPED (\[\d+\]) \S+ ", r"\1 ", line) for line in lines if line.startswith("SKIPPED ")]
    errors = [line.partition("=========")[2].strip() for line in lines if re.search(r"(ERROR|RACECHECK) SUMMARY", line)]
    closing_line = closing[-1] if closing else f"pytest said nothing and ended with {status}"
    summaries = "; ".join(dict.fromkeys(errors))
    return Run(title, status, closing_line, failed, [s.replace(str(ROOT), ".") for s in skipped], summaries)


def run(
    title: str,
    command: Sequence[str],
    cwd: Path = ROOT,
    logs: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Runs pytest, perhaps under a sanitizer, and shows its output as it comes; ``logs``: where its processes write."""
    print(f"== {title}", flush=True)
    lines = []
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env={**os.environ, **(environment or {}), "PENSTOCK_TEST_REAL_GPU": "1"},
    ) as process:  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    texts = [log.read_text(errors="replace") for log in sorted(logs.iterdir())] if logs else []
    if logs and not any("SUMMARY" in text for text in texts):
        texts.append("========= ERROR SUMMARY: none was written\n")
    for text in texts:
        lines.append(text)
        if not re.search(r"SUMMARY: 0 (errors|hazards)", text):
            print(text, flush=True)
    return summary_of("".join(lines), title, process.returncode)


def find_sanitizer() -> Path | None:
    """compute-sanitizer: in the path, in a CUDA installation, or in NVIDIA's Python packages."""
    found = shutil.which("compute-sanitizer")
    if found:
        return Path(found)
    roots = [*map(Path, filter(None, [os.environ.get("CUDA_HOME")])), *sorted(Path("/usr/local").glob("cuda*"))]
    roots += sorted((Path(sysconfig.get_path("purelib")) / "nvidia").glob("*"))
    for root in roots:
        for place in ("bin", "compute-sanitizer"):
            path = root / place / "compute-sanitizer"
            if os.access(path, os.X_OK):
                return path
    return None


def machine() -> list[str]:
    """Date, GPUs with their driver, versions, commit."""
    from bench import machine
    from penstock.machine import gpu
    from penstock.machine.loader import isa

    kinds = [f"{gpu.describe(i).name.decode()} (sm_{gpu.describe(i).arch})" for i in range(gpu.count())]
    now = datetime.datetime.now(datetime.timezone.utc)
    commit = os.environ.get("PENSTOCK_COMMIT") or machine.commit() or "unknown"
    return [
        f"Date: {now:%Y-%m-%d %H:%M} UTC; commit {commit}",
        f"GPUs: {', '.join(kinds)}",
        *machine.gpus(),
        f"Python {sys.version.split()[0]}; level {isa()}",
        f"Command: `./dev test gpu {' '.join(sys.argv[1:])}`".replace(" `", "`"),
    ]


def report(facts: Sequence[str], runs: Sequence[Run], notes: Sequence[str]) -> str:
    """The text of bench/results/gpu-tests.md."""
    lines = ["# Tests on a GPU", "", *(f"- {fact}" for fact in facts), ""]
    lines += ["| what | result | sanitizer |", "|---|---|---|"]
    lines += [f"| {r.title} | {'' if r.good else '**failed**: '}{r.closing} | {r.errors} |" for r in runs]
    failed = [name for r in runs for name in r.failed]
    for title, names in (("Failed", failed), ("Skipped", runs[0].skipped), ("Notes", notes)):
        if names:
            lines += ["", f"{title}:", "", *(f"- {name}" for name in names)]
    return "\n".join(lines) + "\n"


def few(words: Sequence[str]) -> list[str]:
    """pytest's words, with no more processes than are quick under a sanitizer; the last -n counts."""
    many = any(word.startswith(("-n", "--numprocesses")) for word in words)
    return [*words, "-n", str(MOST_SANITIZED)] if many else list(words)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test gpu", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--no-sanitizer", action="store_true", help="leave compute-sanitizer out")
    parser.add_argument("--no-tests", action="store_true", help="compute-sanitizer alone")
    parser.add_argument("--sanitize", nargs="+", default=SANITIZED, metavar="TESTS", help="what it runs over")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the report (bench/results/gpu-tests.md)")
    options, words = parser.parse_known_args()
    from tests.software_gpu.libraries import has_real_gpu

    if not has_real_gpu():
        print("there is no NVIDIA GPU here: ./dev test runs these tests on GPUs in software", file=sys.stderr)
        return 1
    pytest = [sys.executable, "-m", "pytest", "-q", *MARKS, *words]
    runs, notes = [], []
    if not options.no_tests:
        runs.append(run("tests", pytest))
    sanitizer = None if options.no_sanitizer else find_sanitizer()
    if options.no_sanitizer:
        notes.append("compute-sanitizer was left out")
    elif sanitizer is None:
        notes.append("compute-sanitizer was not found")
    else:
        for name, tool in TOOLS.items():
            # Each process writes to a file of its own: the output of pytest-xdist's workers is not for people.
            with tempfile.TemporaryDirectory() as logs:
                command = [str(sanitizer), f"--tool={name}", "--target-processes=all", f"--log-file={logs}/%p"]
                command += [*tool.options, "--error-exitcode=9", *few(pytest), "-o", "faulthandler_timeout=0"]
                title = f"{name}: {', '.join(options.sanitize)}"
                sanitized = [*command, *options.sanitize]
                runs.append(run(title, sanitized, logs=Path(logs), environment=tool.environment()))
    if not runs:
        print("nothing was run", file=sys.stderr)
        return 1
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(report(machine(), runs, notes))
    print(f"{options.output}: {'all is well' if all(r.good for r in runs) else 'something failed'}")
    missing = sanitizer is None and not options.no_sanitizer
    return int(missing or not all(r.good for r in runs))


if __name__ == "__main__":
    sys.exit(main())
