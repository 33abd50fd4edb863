"""A headless browser, where there is one: pages are measured by scripts that run in them, and pictures are taken."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FOUND = next(filter(None, map(shutil.which, _NAMES)), None)
needs_browser = pytest.mark.skipif(_FOUND is None, reason="needs a browser: apt-get install chromium")

# The page in a frame of a given width: windows of browsers are not as narrow as telephones.
_AROUND = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="frame" style="border:0;width:{width}px;height:{height}px" srcdoc="{page}"></iframe>
<pre id="result"></pre>
<script>
const frame = document.getElementById("frame");
function measured() {{
  const document = frame.contentDocument, window = frame.contentWindow;
  {script}
}}
frame.addEventListener("load", () => {{
  let result;
  try {{ result = {{value: measured()}}; }} catch (error) {{ result = {{error: String(error)}}; }}
  window.document.getElementById("result").textContent = JSON.stringify(result);
}});
</script>
"""


def _run(folder: Path, *words: str, dark: bool) -> str:
    assert _FOUND
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    common = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
    ]
    command = [_FOUND, *common, scheme, "--virtual-time-budget=4000", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def measure(page: str, script: str, folder: Path, *, width: int = 1000, height: int = 800, dark: bool = False) -> Any:
    """What the body of a function gives (as JSON) in a page: ``document`` and ``window`` are the page's."""
    file = folder / "around.html"
    file.write_text(_AROUND.format(width=width, height=height, page=html.escape(page), script=script))
    said = _run(folder, "--dump-dom", file.as_uri(), dark=dark)
    (result,) = re.findall(r'<pre id="result">(.*?)</pre>', said, re.DOTALL)
    answer = json.loads(html.unescape(result))
    assert "error" not in answer, answer
    return answer.get("value")


def photograph(page: Path, to: Path, *, width: int = 1000, height: int = 1400, dark: bool = False) -> None:
    """A picture of a page as it is shown first."""
    _run(to.parent, f"--screenshot={to}", f"--window-size={width},{height}", page.as_uri(), dark=dark)
    assert to.stat().st_size > 1000
