"""Pages in a real browser: narrow and wide, light and dark, and by keyboard. Pictures of them are in the folder of the
test.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import penstock
from tests.browser import measure, needs_browser, photograph
from tests.page.test_page import training

pytestmark = needs_browser

_OVERFLOW = """
  const wide = [...document.querySelectorAll("body *")].filter(e => !e.closest(".wide, .skip")
    && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  return {page: document.documentElement.scrollWidth, wide: wide.map(e => e.outerHTML.slice(0, 120))};
"""
_CONTENT = """
  const nodes = [...document.querySelectorAll("a.node")];
  const boxes = nodes.map(n => n.querySelector("rect").getBoundingClientRect());
  const images = [...document.images];
  return {
    nodes: nodes.map(n => n.querySelector("text").textContent),
    stages: document.querySelectorAll(".stage").length,
    targets: nodes.every(n => document.querySelector(n.getAttribute("href"))),
    empty: boxes.filter(b => b.width < 20 || b.height < 20).length,
    spill: nodes.filter(n => [...n.querySelectorAll("text")].some(
      t => t.getBoundingClientRect().width > n.querySelector("rect").getBoundingClientRect().width)).length,
    broken: images.filter(i => !(i.complete && i.naturalWidth > 0)).length,
    images: images.length,
    bars: document.querySelectorAll("svg.bars rect").length,
  };
"""
_KEYBOARD = """
  const all = [...document.querySelectorAll("a[href], input, [tabindex]")].filter(e => e.tabIndex >= 0);
  const reached = all.filter(e => { e.focus(); return document.activeElement === e; });
  const node = document.querySelector("a.node");
  node.focus();
  const ring = window.getComputedStyle(node.querySelector("rect")).strokeWidth;
  const zoom = document.getElementById("zoom"), before = document.getElementById("bars").clientWidth;
  zoom.value = 4;
  zoom.dispatchEvent(new window.Event("input"));
  return {all: all.length, reached: reached.length, ring, first: all[0].textContent,
          grown: document.getElementById("bars").clientWidth / before,
          scrolls: [...document.querySelectorAll(".wide")].every(e => e.tabIndex === 0)};
"""
_CONTRAST = """
  function light(color) {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  }
  function contrast(a, b) { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); }
  const style = e => window.getComputedStyle(e), body = style(document.body).backgroundColor;
  const texts = [...document.querySelectorAll("h1, h2, h3, p, dt, dd, a:not(.node), small, footer, figcaption")];
  const boxes = [...document.querySelectorAll("a.node")].map(
    n => contrast(style(n.querySelector("text")).fill, style(n.querySelector("rect")).fill));
  return {back: light(body), least: Math.min(...texts.map(e => contrast(style(e).color, body))),
          boxes: Math.min(...boxes)};
"""


@pytest.fixture(scope="module")
def page(photographs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "plan.html"
    pipe = training(photographs)
    pipe.run()
    pipe.explain(html=file)
    return file


def test_nothing_is_wider_than_a_telephone(page: Path, tmp_path: Path) -> None:
    found = measure(page.read_text(), _OVERFLOW, tmp_path, width=360)
    assert found["page"] <= 360, found
    assert found["wide"] == []
    photograph(page, tmp_path / "narrow.png", width=500)


def test_all_is_there(page: Path, tmp_path: Path, photographs: Path) -> None:
    found = measure(page.read_text(), _CONTENT, tmp_path)
    names = [node.op.name.lstrip("_") for node in training(photographs)._planned().nodes]
    assert found["nodes"] == names
    assert found["stages"] == len(names)
    assert found["targets"]
    assert (found["empty"], found["spill"], found["broken"]) == (0, 0, 0)
    assert found["images"] >= 8
    assert found["bars"] >= 20


def test_by_keyboard(page: Path, tmp_path: Path) -> None:
    found = measure(page.read_text(), _KEYBOARD, tmp_path)
    assert found["all"] == found["reached"] > 15
    assert found["ring"] == "3px"
    assert found["first"] == "Skip to the graph"
    assert found["grown"] == pytest.approx(4, rel=0.02)
    assert found["scrolls"]


@pytest.mark.parametrize("dark", [False, True])
def test_colors(page: Path, tmp_path: Path, dark: bool) -> None:
    found = measure(page.read_text(), _CONTRAST, tmp_path, dark=dark)
    assert (found["back"] < 0.1) == dark
    assert found["least"] >= 4.5
    assert found["boxes"] >= 4.5
    photograph(page, tmp_path / f"{'dark' if dark else 'light'}.png", dark=dark)


def test_a_batch_is_shown(tmp_path: Path, random: np.random.Generator) -> None:
    pictures = random.integers(0, 256, (3, 40, 90, 3), np.uint8)
    shown = penstock.show(
        pictures, [np.float32([[10, 5, 60, 30]])] * 3, [np.sin(np.arange(4000, dtype=np.float32))] * 3, np.arange(3),
        names=["pictures", "boxes", "sounds", "labels"], boxes="boxes", sample_rate=8000,
    )  # fmt: skip
    shown.save(tmp_path / "batch.html")
    script = """
      const image = document.images[0].getBoundingClientRect();
      const box = document.querySelector(".ps-box").getBoundingClientRect();
      return {page: document.documentElement.scrollWidth, images: document.images.length,
              broken: [...document.images].filter(i => !i.naturalWidth).length,
              box: [box.left - image.left, box.top - image.top, box.right - image.left, box.bottom - image.top]
                .map((v, i) => v / (i % 2 ? image.height : image.width))};
    """
    found = measure((tmp_path / "batch.html").read_text(), script, tmp_path, width=360)
    assert found["page"] <= 360
    assert (found["images"], found["broken"]) == (3, 0)
    assert found["box"] == pytest.approx([10 / 90, 5 / 40, 60 / 90, 30 / 40], abs=0.02)
    photograph(tmp_path / "batch.html", tmp_path / "batch.png")
