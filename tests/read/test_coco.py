"""`fn.readers.coco`: annotations beside DALI's and pycocotools'."""

from __future__ import annotations

CASES = []
