"""The page of ``Pipeline.explain(html=...)``: the graph, the plan, a timeline, and the data at each stage."""

from penstock.page.page import page_of

__all__ = ["page_of"]
