"""The documentation's site: a page for each operator, links that lead somewhere, and nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.commands import commands
from tools import docs, operator_pages
from tools.parity import operators


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "source"
    docs.write_sources(folder)
    return folder


def test_each_operator_has_a_page(source: Path) -> None:
    public = operators()
    assert len(public) > 100
    listed = re.findall(r"^\| \[`([\w.]+)`\]\(\1\.md\)", (source / "reference" / "index.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(public)
    for name, cls in public.items():
        page = (source / "reference" / f"{name}.md").read_text()
        assert page.startswith(f"# {name}\n")
        for argument in cls.arguments:
            assert f"\n`{argument}` (" in page, f"{name}: {argument}"
        assert all(f"`{device}`" in page for device in cls.devices)
        assert "```pycon\n>>> " in page
        assert "\0" not in page
        assert page.count("```") % 2 == 0


def test_pictures_of_the_gallery_are_on_the_pages(source: Path) -> None:
    shown = operator_pages.gallery()
    assert len(shown) > 30
    page = (source / "reference" / "resize.md").read_text()
    assert "](../gallery/resize-224.webp)" in page
    for files in shown.values():
        assert all((source / file).exists() for _, file in files)


def test_each_command_is_there(source: Path) -> None:
    page = (source / "command-line.md").read_text()
    for name, module in commands():
        assert f"\n## {name}\n" in page
        assert module.EXAMPLES.strip().splitlines()[0] in page


def anchors(page: str) -> set[str]:
    """Of a page's headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_lead_somewhere(source: Path) -> None:
    wrong = []
    for page in source.rglob("*.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            file, _, anchor = link.partition("#")
            target = (page.parent / file) if file else page
            if "://" in link:
                continue
            if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
                wrong.append(f"{page.relative_to(source)}: {link}")
    assert wrong == []


def test_each_page_is_in_the_tree(source: Path) -> None:
    listed = {"index"}
    for page in (source / "index.md", source / "reference" / "index.md"):
        for tree in re.findall(r"```{toctree}\n(.*?)```", page.read_text(), re.DOTALL):
            names = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {str((page.parent / name).relative_to(source)) for name in names}
    assert listed == {str(page.relative_to(source))[: -len(".md")] for page in source.rglob("*.md")}


def test_docstrings_become_markdown() -> None:
    text = "Makes ``x`` of `fn.resize` and `resize`; 2 * 3 < 7, not `a * b < c`.\n\nExample:\n    >>> 1\n    1\n"
    assert operator_pages.prose(text) == (
        "Makes `x` of [`fn.resize`](resize.md) and [`resize`](resize.md); 2 \\* 3 &lt; 7, not `a * b < c`.\n\n\n"
        "```pycon\n>>> 1\n1\n```"
    )


def test_the_site_is_built_without_a_network(tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="needs Sphinx with furo: ./dev docs has an environment with it")
    pytest.importorskip("myst_parser", reason="needs MyST: ./dev docs has an environment with it")
    done = subprocess.run([sys.executable, docs.__file__, "--output", tmp_path], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    pages = list((tmp_path / "html").rglob("*.html"))
    assert len(pages) > 150
    for page in pages:
        text = page.read_text()
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="([^"]+)"', text)
        loaded += re.findall(r'<link[^>]+rel="stylesheet"[^>]+href="([^"]+)"', text)
        assert [one for one in loaded if "://" in one] == [], page
    for style in (tmp_path / "html" / "_static").rglob("*.css"):
        assert "url(http" not in style.read_text()
