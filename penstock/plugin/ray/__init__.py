"""Pipelines in Ray's actors: `Pool` feeds trainers, `Mapper` is for ``ray.data``. See docs/scale-out.md."""

from __future__ import annotations

from penstock.plugin.ray.mapper import Mapper
from penstock.plugin.ray.pool import Pool

__all__ = ["Mapper", "Pool"]
