"""`./dev docs`: the documentation as a site, in build/docs/html. No network is needed for it, nor to read it.

Pages are those of docs/, CONTRIBUTING.md and CHANGELOG.md as they are, and those that are made of declarations
(tools/operator_pages.py).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.operator_pages import pages  # noqa: E402

SITE = ROOT / "build" / "docs"
WHOLE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}  # from beside docs/


def write_sources(folder: Path) -> list[Path]:
    """Writes all pages as the site has them; gives their files."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for name, to in WHOLE.items():
        (folder / to).write_text((ROOT / name).read_text().replace("](docs/", "]("))
    for file, text in pages():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    found = sorted(folder.rglob("*.md"))
    for path in found:
        path.write_text(adapted(path.read_text()))
    return found


def adapted(text: str) -> str:
    """A page of the repository for the site: drawings in text as text, no links to what the site has not."""
    text = text.replace("```mermaid", "```text").replace("](../CONTRIBUTING.md", "](contributing.md")
    return re.sub(r"\[([^\]]+)\]\(\.\./(?!gallery/|[\w-]+\.md)[^)]*\)", r"\1", text)


def build(folder: Path) -> int:
    """Makes the site of the sources. What is wrong with a page, a broken link for one, is an error."""
    source, html = folder / "source", folder / "html"
    files = write_sources(source)
    print(f"{len(files)} pages", flush=True)
    shutil.copytree(ROOT / "tools" / "docs_theme", source, dirs_exist_ok=True)
    shutil.rmtree(html, ignore_errors=True)
    words = ["-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "auto", str(source), str(html)]
    status = subprocess.run([sys.executable, *words], cwd=ROOT).returncode
    if not status:
        print(html / "index.html")
    return status


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev docs", description=__doc__)
    parser.add_argument("--output", type=Path, default=SITE, help="the folder (default: build/docs)")
    return build(parser.parse_args(arguments).output)


if __name__ == "__main__":
    sys.exit(main())
