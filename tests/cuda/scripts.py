"""Programs of pipelines with a GPU, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_script(body: str, software_gpu: dict[str, str], *arguments: str, **environment: str) -> str:
    """What a process of its own prints; it must end well, by itself."""
    script = "import os, sys, time\nimport numpy as np\nfrom penstock import fn, pipeline_def, types\n"
    python = [sys.executable, "-W", "ignore:This process", "-X", "faulthandler"]  # Python 3.12 warns of fork()
    done = subprocess.run(
        [*python, "-c", script + textwrap.dedent(body), *arguments],
        capture_output=True, text=True, timeout=120, cwd=ROOT,
        env={**os.environ, **software_gpu, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return done.stdout
