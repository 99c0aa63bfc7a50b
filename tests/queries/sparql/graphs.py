"""A small graph policy, and facts in the layout of a store beside the same facts in pyoxigraph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache

import pyoxigraph as ox
from tests.queries.databases import empty_database

from celosia.accounting.amounts import Spending
from celosia.queries.policy.values import (
    ANY_PREDICATE,
    ANY_PRIVATE,
    ANY_PUBLIC,
    ENTITIES,
    FACT_COLUMNS,
    ColumnPolicy,
    Graph,
    Policy,
    TablePolicy,
    Unit,
)
from celosia.queries.rdf.terms import XSD, address_text, canonical_text, decode, term_number
from celosia.queries.rdf.views import make_views

EX = "http://example.org/"
Fact = tuple[str, ...]
"""Three terms as N-Triples has them; a fourth is the graph, as N-Quads has it."""


def policy_of(
    predicates: Iterable[str],
    *,
    public: Sequence[str] = (),
    keys: dict[str, tuple[int, ...]] | None = None,
    subject_keys: dict[str, tuple[int, ...]] | None = None,
    bounds: dict[str, tuple[int, int]] | None = None,
    entity: bool = False,
    graphs: Sequence[str] = (),
    prefixes: Sequence[tuple[str, str]] = (("ex", EX), ("xsd", XSD)),
) -> Policy:
    """A policy for predicates, given as compact names of one of the prefixes."""
    starts = dict(prefixes)
    tables = []
    for name in predicates:
        low, high = (bounds or {}).get(name, (None, None))
        columns = []
        for word, kind in FACT_COLUMNS:
            listed = {"object": keys, "subject": subject_keys}.get(word) or {}
            is_number = word == "number" and low is not None
            columns.append(
                ColumnPolicy(
                    name=word,
                    type=kind,
                    keys=listed.get(name),
                    lower=Fraction(low) if is_number and low is not None else None,
                    upper=Fraction(high) if is_number and high is not None else None,
                )
            )
        references = (("subject", ENTITIES, "subject"),) if entity and name not in public else ()
        tables.append(
            TablePolicy(
                name=name,
                columns=tuple(columns),
                public=name in public,
                references=references,
                key=("subject", "object"),
            )
        )
    if entity:
        subject = ColumnPolicy(name="subject", type="integer", unique=True)
        tables.append(TablePolicy(name=ENTITIES, columns=(subject,)))
    anything = (*FACT_COLUMNS, ("predicate", "integer"))
    tables.append(
        TablePolicy(
            name=ANY_PREDICATE,
            columns=tuple(ColumnPolicy(name=word, type=kind) for word, kind in anything),
            key=("subject", "predicate", "object"),
        )
    )
    split = [(name, *name.split(":")) for name in predicates]
    return Policy(
        name="graph",
        tables=tuple(tables),
        budget=Spending(epsilon=Fraction(1)),
        unit=Unit(name="entity", table=ENTITIES, key="subject") if entity else Unit(name="triple"),
        graph=Graph(
            store="none.graph",
            prefixes=tuple(prefixes),
            predicates=tuple((starts[prefix] + local, name) for name, prefix, local in split),
            graphs=tuple((f"{EX}{name.removeprefix('ex:')}", name) for name in graphs),
        ),
    )


def _row(quad: ox.Quad) -> tuple[object, ...]:
    """A fact as the store holds it."""
    terms = (quad.subject, quad.predicate, quad.object)
    held = decode(canonical_text(quad.object))
    return (
        *(term_number(canonical_text(each)) for each in terms),
        *(held.kind, held.text, held.language, held.datatype, held.number, held.moment),
    )


@cache
def view_texts(policy: Policy) -> dict[str, str]:
    """The views of a graph, by name, as SQL."""
    return {name: query.sql("duckdb") for name, query in make_views(policy).items()}


class Both:
    """The same facts as tables of DuckDB and as a store of pyoxigraph."""

    def __init__(self, facts: Iterable[Fact], policy: Policy):
        lines = "\n".join(f"{' '.join(fact)} ." for fact in dict.fromkeys(facts))
        self.policy = policy
        self.store = ox.Store()
        self.store.load(lines.encode(), format=ox.RdfFormat.N_QUADS)
        self.duckdb = empty_database()
        self.duckdb.execute(
            "CREATE TABLE triples (s BIGINT, p BIGINT, o BIGINT, kind TINYINT, text VARCHAR, "
            "language VARCHAR, datatype BIGINT, number DOUBLE, moment TIMESTAMP)"
        )
        rows = list(dict.fromkeys(_row(triple) for triple in self.store))
        marks = ", ".join("?" for _ in range(9))
        self.duckdb.executemany(f"INSERT INTO triples VALUES ({marks})", rows)
        if policy.graph is not None and policy.graph.graphs:
            self._keep_graphs_apart()
        else:
            self._views()

    def _keep_graphs_apart(self) -> None:
        """As the loader does: facts of named graphs, and those of no default graph."""
        quads = [(_row(each)[:3], each.graph_name) for each in self.store]
        default = {row for row, place in quads if isinstance(place, ox.DefaultGraph)}
        named = [
            (term_number(canonical_text(place)), *row)
            for row, place in quads
            if isinstance(place, ox.NamedNode)
        ]
        run = self.duckdb
        run.execute("CREATE TABLE named (g BIGINT, s BIGINT, p BIGINT, o BIGINT)")
        run.execute("CREATE TABLE elsewhere (s BIGINT, p BIGINT, o BIGINT)")
        for row in named:
            run.execute("INSERT INTO named VALUES (?, ?, ?, ?)", row)
        for elsewhere in {row[1:] for row in named} - default:
            run.execute("INSERT INTO elsewhere VALUES (?, ?, ?)", elsewhere)
        for name, text in view_texts(self.policy).items():
            run.execute(f'CREATE VIEW "{name}" AS {text}')

    def _views(self) -> None:
        graph = self.policy.graph
        assert graph is not None
        shown = "s AS subject, o AS object, kind, text, language, datatype, number, moment"
        numbers = {name: term_number(address_text(address)) for address, name in graph.predicates}
        for name, number in numbers.items():
            self.duckdb.execute(
                f'CREATE VIEW "{name}" AS SELECT {shown} FROM triples WHERE p = {number}'
            )
        for name, text in view_texts(self.policy).items():
            if name.endswith("+") or name in (ANY_PRIVATE, ANY_PUBLIC):
                self.duckdb.execute(f'CREATE VIEW "{name}" AS {text}')
        listed = ", ".join(map(str, numbers.values()))
        self.duckdb.execute(
            f'CREATE VIEW "{ANY_PREDICATE}" AS SELECT {shown}, p AS predicate FROM triples '
            f"WHERE p IN ({listed})"
        )

    def exact(self, query: str) -> list[ox.QuerySolution]:
        """What pyoxigraph answers."""
        graph = self.policy.graph
        assert graph is not None
        found = self.store.query(query, prefixes=dict(graph.prefixes))
        assert isinstance(found, ox.QuerySolutions)
        return list(found)
