"""Batches to be looked at: in notebooks, and as pages. All of it works on arrays alone."""

from penstock.display.show import Shown, html_of, show

__all__ = ["Shown", "html_of", "show"]
