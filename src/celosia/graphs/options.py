"""The options of a published graph, checked before any work."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from celosia.core.errors import InputError
from celosia.core.randomness import Source, System
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, makes
from celosia.graphs.readers import ReadResult
from celosia.graphs.relabelling import Relabelling

if TYPE_CHECKING:
    from celosia.tables.masking import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPublishOptions:
    """What is asked of a published graph: its methods, in order, and what goes with them.

    Raises:
        InputError: CEL-G021 no method, or one after a graph that is none any more; CEL-G023 methods
            that do not go together, or with names that stay.
    """

    methods: tuple[GraphMethod[Any], ...]
    """What is done, in order; only the last may make an uncertain or a generalised graph."""
    attributes: Recipe | None = None
    """How the attributes of the vertices are masked; without it none is published."""
    keep_names: bool = False
    """Publish the names of the vertices."""
    drop_edge_attributes: bool = False
    """Leave out what is known of the edges, which no method protects."""
    assess: bool = True
    """Compare with the original and attack the release."""
    rng: Source = field(default_factory=System)
    """Where methods and numbers are drawn from; a seed makes it a simulation."""

    def __post_init__(self) -> None:
        if not self.methods:
            raise InputError("CEL-G021.no_method")
        for method, following in pairwise(self.methods):
            if makes(type(method)) is not Graph:
                raise InputError(
                    "CEL-G021.not_plain", following=following.method_name, method=method.method_name
                )
        for number, method in enumerate(self.methods[1:], 1):
            if method.is_private:
                raise _clash("CEL-G023.private_first", method, self.methods[0])
            before = [each for each in self.methods[:number] if not isinstance(each, Relabelling)]
            if method.needs_original and before:
                raise _clash("CEL-G023.only_method", method, before[0])
        if self.keep_names and any(isinstance(method, Relabelling) for method in self.methods):
            raise InputError("CEL-G023.kept_names", method=Relabelling.method_name)

    @property
    def makes(self) -> type:
        """What is published: `Graph`, `UncertainGraph` or `GeneralisedGraph`."""
        return makes(type(self.methods[-1]))

    @property
    def is_private(self) -> bool:
        """Whether a method is differentially private: nothing exact may stand beside its graph."""
        return any(method.is_private for method in self.methods)

    def check_edge_attributes(self, reading: ReadResult) -> None:
        """Refuse a graph whose edges have attributes, unless they may be left out."""
        names = list(reading.edge_attributes)
        if self.drop_edge_attributes or not names:
            return
        differing = reading.counts.differing
        key = "CEL-G033.merged" if differing else "CEL-G033.alike"
        raise InputError(key, names=names, edge_attributes=names, differing=differing)

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {
            "methods": [method.as_dict() for method in self.methods],
            "keep_names": self.keep_names,
            "drop_edge_attributes": self.drop_edge_attributes,
        }


def _clash(code: str, method: GraphMethod[Any], earlier: GraphMethod[Any]) -> InputError:
    return InputError(code, method=method.method_name, earlier=earlier.method_name)
