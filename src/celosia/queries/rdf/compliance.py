"""Comparison of a graph with the declarations of its policy; for the curator only.

Nothing that a policy promises rests on this: caps and bounds are enforced whenever a question is
answered, and a fact belongs to its subject whatever its class. A graph that does not comply is
answered with facts left out or clipped, and its classes do not say what they seem to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from celosia.core.errors import InputError
from celosia.core.progress import Progress, Step, silent
from celosia.core.wording import counted, plural
from celosia.queries.policy.values import Graph, Policy, TablePolicy
from celosia.queries.rdf.store import GraphStore
from celosia.queries.rdf.terms import address_text, term_number

MOST_EXAMPLES = 5
"""Examples of each violation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Something declared that the graph does not keep to."""

    kind: Literal["class", "cap", "bounds", "not a number", "no facts"]
    predicates: tuple[str, ...]
    """As the policy names them."""
    count: int
    """Of entities that fit no class, of subjects or objects beyond a cap, or of facts."""
    message: str
    examples: tuple[str, ...] = ()
    """Terms from the graph, private: for the curator alone."""

    @property
    def is_error(self) -> bool:
        """Whether the declaration is wrong, and not only enforced at a cost."""
        return self.kind == "class"

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        lists = {"predicates": list(self.predicates), "examples": list(self.examples)}
        return asdict(self) | lists | {"error": self.is_error}

    def __str__(self) -> str:
        return self.message


def check_graph(
    store: GraphStore, policy: Policy, *, progress: Progress = silent
) -> list[Violation]:
    """All that a graph does not keep to, errors first.

    Args:
        store: the facts.
        policy: of a graph.
        progress: is called for each predicate.

    Raises:
        InputError: CEL-Q235 the policy is not one of a graph.
    """
    graph = policy.graph
    if graph is None:
        raise InputError("CEL-Q235.check_graph", policy_name=policy.name)
    found = []
    if not policy.unit.is_row:
        progress(Step("Checking classes", 0, len(graph.predicates)))
        found += list(_class_violations(store, policy, graph))
    for at, (iri, name) in enumerate(graph.predicates):
        progress(Step(f"Checking {name}", at, len(graph.predicates)))
        table = policy.table(name)
        if table is not None:
            found += list(_predicate_violations(store, table, term_number(address_text(iri))))
    return found


def _class_violations(store: GraphStore, policy: Policy, graph: Graph) -> Iterator[Violation]:
    """Entities whose private predicates fit no single class, by what they have."""
    numbers = {name: term_number(address_text(iri)) for iri, name in graph.predicates}
    private = {
        numbers[table.name]: table.name
        for table in policy.tables
        if table.name in numbers and not table.public
    }
    classes = [
        sorted({numbers[name] for name in members if numbers.get(name) in private})
        for _, members in graph.classes
    ]
    fits = " OR ".join(f"list_has_all({members}::BIGINT[], had)" for members in classes if members)
    rows = store.rows(
        "SELECT had, count(*) AS entities, min(s, ?) FROM "  # noqa: S608 - numbers of ours only
        "(SELECT s, list_sort(list(p)) AS had FROM "
        "(SELECT DISTINCT s, p FROM triples WHERE p IN (SELECT unnest(?))) GROUP BY s) "
        f"WHERE NOT ({fits or 'FALSE'}) GROUP BY had ORDER BY entities DESC, had",
        [MOST_EXAMPLES, list(private)],
    )
    for had, entities, first in rows:
        names = tuple(sorted(private[number] for number in had))
        yield Violation(
            kind="class",
            predicates=names,
            count=entities,
            message=f"{counted(entities, policy.unit.name, plural(policy.unit.name))} with "
            f"{', '.join(names)}: no single class has all of these predicates.",
            examples=_texts(store, first),
        )


def _predicate_violations(
    store: GraphStore, table: TablePolicy, predicate: int
) -> Iterator[Violation]:
    """Caps and bounds of a predicate that its facts go beyond."""
    ((facts,),) = store.rows("SELECT count(*) FROM triples WHERE p = ?", [predicate])
    if facts == 0:
        yield Violation(
            kind="no facts",
            predicates=(table.name,),
            count=0,
            message=f"{table.name}: the graph has no such fact; is the address right?",
        )
        return
    for name, stored in (("subject", "s"), ("object", "o")):
        column = table.column(name)
        if column is not None and column.most is not None:
            yield from _cap_violation(store, table.name, predicate, name, stored, column.most)
    yield from _bound_violation(store, table, predicate)


def _cap_violation(  # noqa: PLR0913, PLR0917 - one cap, said whole
    store: GraphStore, table: str, predicate: int, name: str, stored: str, most: int
) -> Iterator[Violation]:
    ((groups, lost, first),) = store.rows(
        f"SELECT count(*), CAST(sum(n - ?) AS BIGINT), min({stored}, ?) "  # noqa: S608
        f"FROM (SELECT {stored}, count(*) AS n FROM triples WHERE p = ? GROUP BY {stored} "
        "HAVING count(*) > ?)",
        [most, MOST_EXAMPLES, predicate, most],
    )
    if groups:
        yield Violation(
            kind="cap",
            predicates=(table,),
            count=groups,
            message=f"{table}: {counted(groups, name, f'{name}s')} with more than {most:,} "
            f"of these facts; {counted(lost, 'fact is', 'facts are')} left out of every answer.",
            examples=_texts(store, first),
        )


def _bound_violation(store: GraphStore, table: TablePolicy, predicate: int) -> Iterator[Violation]:
    column = table.column("number")
    if column is None or column.lower is None or column.upper is None:
        return
    ((outside, first, without, others),) = store.rows(
        """SELECT count(*) FILTER (number NOT BETWEEN ? AND ?),
            min(s, ?) FILTER (number NOT BETWEEN ? AND ?),
            count(*) FILTER (number IS NULL), min(s, ?) FILTER (number IS NULL)
        FROM triples WHERE p = ?""",
        [
            *(float(column.lower), float(column.upper), MOST_EXAMPLES),
            *(float(column.lower), float(column.upper), MOST_EXAMPLES, predicate),
        ],
    )
    if outside:
        yield Violation(
            kind="bounds",
            predicates=(table.name,),
            count=outside,
            message=f"{table.name}: {counted(outside, 'fact', 'facts')} outside of the bounds "
            f"{float(column.lower):g} to {float(column.upper):g}, to be clipped in sums.",
            examples=_texts(store, first),
        )
    if without:
        yield Violation(
            kind="not a number",
            predicates=(table.name,),
            count=without,
            message=f"{table.name}: {counted(without, 'fact', 'facts')} whose object is no number, "
            "though bounds are declared; left out of sums.",
            examples=_texts(store, others),
        )


def _texts(store: GraphStore, numbers: list[int] | None) -> tuple[str, ...]:
    found = store.texts(numbers or [])
    return tuple(sorted(found.values()))
