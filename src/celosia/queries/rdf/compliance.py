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
from celosia.core.messages import Message, plural
from celosia.core.progress import Progress, Step, silent
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
        lists = {"predicates": list(self.predicates), "examples": list(self.examples)}
        return asdict(self) | lists | {"error": self.is_error}

    def __str__(self) -> str:
        return str(self.message)


def check_graph(
    store: GraphStore, policy: Policy, *, progress: Progress = silent
) -> list[Violation]:
    """All that a graph does not keep to, errors first.

    Args:
        store: the facts.
        policy: of a graph.
        progress: is called for each predicate.
    """
    graph = policy.graph
    if graph is None:
        raise InputError("CEL-Q235.check_graph", name=policy.name)
    found = []
    if not policy.unit.is_row:
        progress(Step(Message("queries.rdf.checking_classes"), 0, len(graph.predicates)))
        found += list(_class_violations(store, policy, graph))
    for at, (iri, name) in enumerate(graph.predicates):
        stage = Message("queries.rdf.checking_predicate", predicate=name)
        progress(Step(stage, at, len(graph.predicates)))
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
            message=Message(
                "queries.rdf.no_class",
                count=entities,
                units=policy.unit.name if entities == 1 else plural(policy.unit.name),
                predicates=names,
            ),
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
            message=Message("queries.rdf.no_facts", predicate=table.name),
        )
        return
    for name, stored in (("subject", "s"), ("object", "o")):
        column = table.column(name)
        if column is not None and column.most is not None:
            yield from _cap_violation(store, table.name, predicate, name, stored, column.most)
    yield from _bound_violation(store, table, predicate)


def _cap_violation(  # noqa: PLR0917 - one cap, said whole
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
            message=_beyond_cap(table, name, groups, most, lost),
            examples=_texts(store, first),
        )


def _beyond_cap(predicate: str, column: str, count: int, most: int, lost: int) -> Message:
    if column == "subject":
        return Message(
            "queries.rdf.subjects_beyond_cap",
            predicate=predicate,
            count=count,
            most=most,
            lost=lost,
        )
    return Message(
        "queries.rdf.objects_beyond_cap", predicate=predicate, count=count, most=most, lost=lost
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
            message=Message(
                "queries.rdf.outside_bounds",
                predicate=table.name,
                count=outside,
                lower=float(column.lower),
                upper=float(column.upper),
            ),
            examples=_texts(store, first),
        )
    if without:
        yield Violation(
            kind="not a number",
            predicates=(table.name,),
            count=without,
            message=Message("queries.rdf.not_a_number", predicate=table.name, count=without),
            examples=_texts(store, others),
        )


def _texts(store: GraphStore, numbers: list[int] | None) -> tuple[str, ...]:
    found = store.texts(numbers or [])
    return tuple(sorted(found.values()))
