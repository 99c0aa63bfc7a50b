"""FROM and GRAPH: which graphs of a store a query, or a part of it, is about.

A policy lists the named graphs that may be asked. The facts of a predicate in one of them are a
table of their own, of which the same is declared; a fact is in one graph only, so that these tables
share no fact. `GRAPH ?g` is an alternative for each listed graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from celosia.core.messages import did_you_mean
from celosia.queries.policy.values import Graph
from celosia.queries.sparql.constants import Constant, TermReader
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.trees import EXISTS, name_of, part_of

NOWHERE = ""
"""The default graph of FROM NAMED alone, which has no facts."""
_ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class Dataset:
    """The graphs that a query is about."""

    default: str | None = None
    """The short name of the graph of patterns outside of GRAPH; None for that of the store."""
    named: tuple[tuple[str, str], ...] = ()
    """Addresses and short names of the graphs that GRAPH may ask."""

    def alternatives(self, term: Constant | None) -> list[tuple[Constant, str]]:
        """The graphs that GRAPH asks: the one that is written, or all for a variable.

        Raises:
            QueryRefused: CEL-Q244, the policy lists no graphs, or not this one.
        """
        if not self.named:
            raise refusal("CEL-Q244.graph")
        if term is None:
            return [(_address(address), short) for address, short in self.named]
        short = dict(self.named).get(term.text)
        if short is None:
            raise _undeclared(term.text, self.named)
        return [(term, short)]


def read_dataset(tree: Any, graph: Graph, reader: TermReader) -> Dataset:
    """The graphs of FROM and FROM NAMED; without them those of the policy.

    Raises:
        QueryRefused: CEL-Q244, the policy lists no graphs, or not these; or there are several FROM.
    """
    clauses = part_of(tree, "datasetClause") or ()
    if not clauses:
        return Dataset(named=graph.graphs)
    if not graph.graphs:
        raise refusal("CEL-Q244.dataset")
    default: list[tuple[str, str]] = []
    named: list[tuple[str, str]] = []
    for each in clauses:
        is_named = part_of(each, "named") is not None
        address = reader.address(each["named" if is_named else "default"])
        short = graph.graph_name(address)
        if short is None:
            raise _undeclared(address, graph.graphs)
        (named if is_named else default).append((address, short))
    if len(default) > 1:
        raise refusal("CEL-Q244.several")
    return Dataset(default[0][1] if default else NOWHERE, tuple(dict.fromkeys(named)))


def with_active(node: Any, graph: str | None) -> Any:
    """An expression whose EXISTS know the graph around them."""
    if graph is None:
        return node
    if isinstance(node, list):
        return type(node)(with_active(each, graph) for each in node)
    if not isinstance(node, dict):
        return node
    kind: Any = type(node)
    made = kind(name_of(node))
    for word, part in node.items():
        made[word] = part if name_of(node) in EXISTS else with_active(part, graph)
    if name_of(node) in EXISTS:
        made[_ACTIVE] = graph
    return made


def active_graph(node: Any, default: str | None) -> str | None:
    """The graph that an EXISTS is about."""
    found = part_of(node, _ACTIVE)
    return default if found is None else str(found)


def _address(address: str) -> Constant:
    from celosia.queries.rdf.terms import address_text, term_number

    return Constant("address", address, term_number(address_text(address)))


def _undeclared(address: str, known: tuple[tuple[str, str], ...]) -> Exception:
    near = did_you_mean(address, [each for each, _ in known])
    return refusal("CEL-Q244.undeclared", predicate=address, near=near)
