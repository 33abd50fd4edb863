"""Looking at what a pipeline makes: batches as pictures, and the pipeline as a page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock._values import whole_number
from penstock.pipeline.looking import Looking

if TYPE_CHECKING:
    from penstock.display import Shown


class Showing(Looking):
    """The part of `penstock.Pipeline` that shows its batches."""

    def show(self, **how: Any) -> Shown:
        """The next batch, taken as `run` does, to be looked at in a notebook, or saved as a page.

        Keywords are those of `penstock.show`. Outputs are called as the operators that make them are. A batch that was
        taken before is shown by ``penstock.show(*batch)``, and so is one of an iterator.

        Example:
            >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
            ... def pipeline():
            ...     files, labels = fn.readers.file(file_root=photos)
            ...     return fn.decoders.image(files, name="images"), labels
            >>> pipeline().show(samples=2, pixels=64)
            <2 of 4 samples, 2 outputs: a notebook shows it, and save() writes a page>
        """
        from penstock.display import show  # what not every user needs costs time at import

        how.setdefault("names", self._output_names())
        return show(*self.run(), **how)

    def explain(
        self, source: bool = False, *, html: str | os.PathLike[str] | None = None, samples: int = 2,
        inputs: Mapping[str, Any] | None = None,
    ) -> str:  # fmt: skip
        """The plan: which operators run together, on which threads, and what is computed before shapes are known.

        Of operators that run together it says how many samples have gone through them in one pass so far, and what kept
        others from that. Of decoders with ``device="mixed"`` it says what decodes JPEG, and why, and how many files
        each engine has had.

        With ``source=True`` the sources of the GPU's kernels follow, as the compiler gets them. They are made for the
        types of the data, so the first batch is prepared where that has not happened yet; `run` hands it out.

        ``html`` is a page to be written, which needs nothing else: the graph, this plan, a timeline of the last
        batches, and what each operator makes of the next samples. For that, a second pipeline of the same operators
        runs from where this one is: it takes no batch from this one, and what a fused plan never has in memory is seen.
        The timeline is of what `penstock.profile` has measured last, or else of some batches more of that second
        pipeline. External sources and functions in Python are not asked for it.

        Args:
            source: also give the sources of kernels.
            html: the file of the page.
            samples: that it shows of each operator's outputs.
            inputs: for the page, a batch for each external source, by name.

        Example:
            >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
            ... def pipeline():
            ...     files, labels = fn.readers.file(file_root=photos)
            ...     return fn.resize(fn.decoders.image(files), size=64), labels
            >>> print(pipeline().explain(html=folder + "/plan.html"))
            segment 1, on the threads that wait for files, sample by sample:
              ...readers.file
            segment 2, on the worker threads, sample by sample:
              in one pass over rows: decoders.image → resize
            outputs: resize[0], readers.file[1]
        """
        text = super().explain(source)
        if html is not None:
            from penstock.pipeline.explaining import Page

            whole_number("explain: samples", samples, least=1)
            shared = self._shared or ()
            page = Page(self._built(), self._options, inputs or {}, samples)
            written = page.html(text, dict(zip(self._defined(), shared, strict=False)))
            Path(html).write_text(written, encoding="utf-8")
        return text

    def _output_names(self) -> list[str]:
        """As users know them: by the name that they gave, or by the operator."""
        names = []
        for data in self._defined():
            node = data.source
            shown = node.op.name.lstrip("_") if node.name.startswith("__") else node.name
            names.append(shown if len(node.outputs) == 1 else f"{shown}[{data.index}]")
        return [name if names.count(name) == 1 else f"{name} {i}" for i, name in enumerate(names)]

    def _repr_html_(self) -> str:
        """What it is, and the batch that was taken last. Showing a pipeline neither builds it nor takes a batch."""
        from html import escape  # not every process has a use for it

        text = f"<p><code>{escape(repr(self))}</code></p>"
        if self._shared is None:
            return text
        from penstock.display import show

        return text + show(*self._shared, names=self._output_names()).html
