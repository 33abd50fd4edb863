"""What a pipeline is to do: its arguments, its graph, and the plan that is made of it."""

from __future__ import annotations

from typing import Any

from penstock import _settings, types
from penstock.errors import GraphError
from penstock.graph.node import DataNode, Scope
from penstock.optimize.passes import optimize
from penstock.optimize.plan import Plan
from penstock.run.checks import OutputCheck, check_names, check_scope, output_node, warn_of_unused
from penstock.run.options import Options


class Definition(Scope):
    """The part of `penstock.Pipeline` that is there before anything runs."""

    def __init__(self, arguments: dict[str, Any]):
        super().__init__()
        self._set_options(arguments)
        self._outputs: list[DataNode] | None = None
        self._plan: Plan | None = None

    def define_graph(self) -> Any:
        """Returns the outputs. Subclasses and `pipeline_def` say how."""
        raise GraphError("the pipeline has no outputs: call set_outputs(), or override define_graph()")

    def set_outputs(self, *outputs: Any) -> None:
        """Says what the pipeline hands out: nodes, or constants."""
        if self._plan:
            raise GraphError("the pipeline is built already: its outputs can't change any more")
        with self:
            self._outputs = [output_node(o, i) for i, o in enumerate(outputs)]

    def add_sink(self, node: DataNode) -> None:
        """Keeps an operator that no output needs."""
        node.source.preserve = True

    def _define_by(self, define_graph: Any) -> None:
        if self._runner or "define_graph" in vars(self):
            return
        if self._outputs is not None:
            raise GraphError("define_graph was given, but the pipeline's outputs are set already, by set_outputs()")
        self.define_graph = define_graph  # type: ignore[method-assign]

    def _defined(self) -> list[DataNode]:
        """The outputs, after `define_graph` where they are not known yet."""
        if self._outputs is None:
            nodes, scopes = len(self.nodes), len(self._stack())
            try:
                with self:
                    outputs = self.define_graph()
                self.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
            except BaseException:
                del self.nodes[nodes:], self._stack()[scopes:]  # Ctrl-C comes anywhere; the next attempt begins anew
                raise
        assert self._outputs is not None
        return self._outputs

    @property
    def num_outputs(self) -> int:
        """How many outputs there are; defines the pipeline where that has not happened yet."""
        return len(self._defined())

    def output_dtype(self) -> list[types.DALIDataType | None]:
        """The constructor's ``output_dtype``, for each output; None: any."""
        return self._check.of_each("output_dtype", self.num_outputs)

    def output_ndim(self) -> list[int | None]:
        """The constructor's ``output_ndim``, for each output; None: any."""
        return self._check.of_each("output_ndim", self.num_outputs)

    def output_layout(self) -> list[str | None]:
        """The constructor's ``output_layout``, for each output; None: any."""
        return self._check.of_each("output_layout", self.num_outputs)

    def _planned(self) -> Plan:
        if self._plan is not None:
            return self._plan
        self._options.sizes()
        _settings.check()
        outputs = self._defined()
        self._check.lengths(len(outputs))
        check_names(self.nodes)
        check_scope(outputs, self._key)
        plan = self._plan = optimize(outputs, [n for n in self.nodes if n.preserve])
        warn_of_unused(plan)
        return plan

    def _set_options(self, given: dict[str, Any]) -> None:
        self._options = Options.checked(given)
        self._check = OutputCheck(given["output_dtype"], given["output_ndim"], given["output_layout"])

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether the pipeline was made with ``checkpoint=``."""
        return self._options.given["checkpoint"] is not None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._options.attribute(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *Options.attributes()})
