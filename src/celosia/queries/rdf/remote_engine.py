"""A remote SPARQL endpoint in the place of an engine: it is sent aggregates, and nothing else.

What an engine would be asked in SQL carries the SPARQL that stands for it (`planning.remote`). A
query without is refused, never run elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import TYPE_CHECKING, Any

from celosia.core.errors import EngineError, QueryRefused
from celosia.engines.sql import Reader, Rows, Timeout, failed, seconds_of
from celosia.queries.planning.remote import REMOTE
from celosia.queries.policy.database import expand_variables
from celosia.queries.policy.values import FACT_COLUMNS, Policy
from celosia.queries.rdf.endpoint import EndpointClient
from celosia.queries.rdf.notation import abbreviate
from celosia.queries.rdf.terms import address_text, literal_text
from celosia.queries.sparql.remote import RemoteQuestion

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

OPENING = 30.0
"""Seconds in which the server must answer a query without facts when the policy is opened."""
_TYPES = {"integer": "BIGINT", "text": "VARCHAR", "number": "DOUBLE", "timestamp": "TIMESTAMP"}


class RemoteEngine:
    """An endpoint that answers aggregates, see `SqlEngine`.

    Nothing is tried twice. Several queries of one question may see different states of the facts:
    each has a bound of its own, so the promise does not depend on it.

    Args:
        policy: of a graph with an endpoint, whose `$NAME`s are read from the environment.

    Raises:
        InputError: CEL-Q017 a variable is not set; CEL-Q230 no address, or not encrypted.
        EngineError: CEL-Q229 httpx is not installed.
    """

    dialect = "sparql"
    version: object = ()
    """Nothing that is declared of facts is believed, so nothing has to be checked again."""
    state: object | None = None

    def __init__(self, policy: Policy) -> None:
        assert policy.graph is not None
        self._policy, self._graph = policy, policy.graph
        self._client = EndpointClient(expand_variables(policy.graph.endpoint, os.environ))

    def columns(self) -> dict[str, dict[str, str]]:
        """The tables of the policy, whose types are those of all facts; the server must answer.

        Raises:
            EngineError: CEL-Q231 it does not, or not as an endpoint does.
        """
        self._client.select("SELECT (COUNT(*) AS ?total) WHERE { VALUES ?x { 1 } }", OPENING)
        types = dict(FACT_COLUMNS) | {"predicate": "integer"}
        return {
            table.name: {each.name: _TYPES[types[each.name]] for each in table.columns}
            for table in self._policy.tables
        }

    def run(self, query: exp.Expr, *, timeout: float) -> Rows:
        """The rows of a query, see `SqlEngine.run`."""
        question = query.meta.get(REMOTE)
        if not isinstance(question, RemoteQuestion):
            raise failed()
        try:
            return _rows(question, [self._client.select(each, timeout) for each in question.texts])
        except (EngineError, InvalidOperation, KeyError, TypeError, ValueError):
            pass  # what the server says may hold values of facts
        raise failed()

    def arrow(self, query: exp.Expr, *, timeout: float) -> pa.Table:
        """Nothing asks an endpoint for millions of rows."""
        raise failed()

    def understands(self, query: exp.Expr, *, timeout: float) -> bool:
        """Whether the query carries its SPARQL."""
        return REMOTE in query.meta

    @contextmanager
    def snapshot(self, *, timeout: Timeout) -> Iterator[Reader]:
        """Queries one after the other; the endpoint promises no common state of the facts."""
        yield lambda query: self.run(query, timeout=seconds_of(timeout))

    def count_public(self, table: str, column: str | None, *, timeout: float) -> int:
        """The most facts of a public predicate that share a subject or object, or all of them."""
        address = {name: iri for iri, name in self._graph.predicates}.get(table)
        if address is None:  # paths of any length, and variable predicates
            raise QueryRefused("CEL-Q346.shape")
        facts = f"SELECT DISTINCT ?s ?o WHERE {{ ?s {address_text(address)} ?o }}"
        text = f"SELECT (COUNT(*) AS ?total) WHERE {{ {{ {facts} }} }}"
        if column is not None:
            shared = "?s" if column == "subject" else "?o"
            groups = f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {facts} }} }} GROUP BY {shared}"
            text = f"SELECT (MAX(?n) AS ?total) WHERE {{ {{ {groups} }} }}"
        found = self._client.select(text, timeout)
        return _whole(found[0]["total"]) if found and found[0] else 0

    def exact_rows(self, query: str, *, timeout: float) -> list[dict[str, Any]]:
        """The endpoint's own answer to a question: true, and for the curator alone."""
        prefixes = dict(self._graph.prefixes)
        start = "".join(f"PREFIX {name}: <{iri}> " for name, iri in prefixes.items())
        return [
            {name: _shown(cell, prefixes) for name, cell in row.items()}
            for row in self._client.select(start + query, timeout)
        ]

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


def _rows(question: RemoteQuestion, answers: list[list[dict[str, Any]]]) -> Rows:
    """The rows that an engine would give: one for each combination of keys, with all totals."""
    totals = []
    for answer in answers:
        found = {}
        for row in answer:
            found[tuple(_text(row[name]) for name in question.columns)] = _whole(row["total"])
        totals.append(found)
    combinations = list(product(*question.keys))
    if any(set(each) - set(combinations) for each in totals):
        raise ValueError  # groups that were not asked for
    return [
        (*numbers, *(found.get(words, 0) for found in totals))
        for words, numbers in zip(combinations, product(*question.numbers), strict=True)
    ]


def _whole(cell: Mapping[str, Any]) -> int:
    value = Decimal(cell["value"])
    if value != int(value):
        raise ValueError
    return int(value)


def _text(cell: Mapping[str, Any]) -> str:
    if cell["type"] == "uri":
        return address_text(cell["value"])
    return literal_text(cell["value"], language=cell.get("xml:lang"), datatype=cell.get("datatype"))


def _shown(cell: Mapping[str, Any], prefixes: Mapping[str, str]) -> Any:
    """A number, or a term as it is shown."""
    try:
        value = Decimal(cell["value"])
    except InvalidOperation:
        return abbreviate(_text(cell), prefixes)
    return int(value) if value == value.to_integral_value() else float(value)
