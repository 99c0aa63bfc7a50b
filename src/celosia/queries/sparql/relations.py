"""Triple patterns to scans of predicates' tables, joined on all variables that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import did_you_mean
from celosia.queries.algebra import Column, Filter, Join, Relation, Scan, aliases
from celosia.queries.policy.values import (
    ANY_PREDICATE,
    Graph,
    Policy,
    closure_table,
    graph_table,
)
from celosia.queries.sparql.constants import Constant, constant_number
from celosia.queries.sparql.patterns import Pattern, Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.wording import attach_words, term_words
from celosia.queries.sql.question_text import IN_SCAN


def column_tree(column: Column) -> exp.Column:
    """A column as a part of an expression."""
    return exp.column(column.name, table=column.relation, quoted=True)


def whole(number: int) -> exp.Expression:
    """A written whole number."""
    return exp.Literal.number(str(number))


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """Rows that are joined with others: of one pattern, or of a sub-query."""

    relation: Relation
    variables: tuple[tuple[Column, Variable], ...]
    """The columns that hold variables."""

    @property
    def aliases(self) -> frozenset[str]:
        """The aliases whose columns can be referred to."""
        return aliases(self.relation)


def scan_pattern(pattern: Pattern, alias: str, policy: Policy) -> JoinedPart:
    """The facts that match one pattern.

    Raises:
        QueryRefused: CEL-Q253 a predicate that is not declared, or a variable one; CEL-Q247 a
            closure of a private predicate.
    """
    graph = policy.graph
    assert graph is not None, "a policy with a graph"
    relation: Relation = Scan(_table(pattern, policy, graph), alias)
    for word, term in pattern.terms:
        if isinstance(term, Constant) and word != "predicate":
            held = column_tree(Column(alias, word))
            equal = exp.EQ(this=held, expression=whole(constant_number(term)))
            words = f"{alias}.{word} = {term_words(term, graph.prefixes)}"
            relation = Filter(relation, _told_by_scan(attach_words(equal, words)))
    if pattern.excluded:
        listed = [whole(each.number) for each in pattern.excluded]
        among = exp.In(this=column_tree(Column(alias, "predicate")), expressions=listed)
        relation = Filter(relation, _told_by_scan(exp.Not(this=among)))
    if pattern.differs:
        ends = [column_tree(Column(alias, word)) for word in ("subject", "object")]
        relation = Filter(relation, exp.NEQ(this=ends[0], expression=ends[1]))
    held_variables = [
        (Column(alias, word), term) for word, term in pattern.terms if isinstance(term, Variable)
    ]
    seen: dict[Variable, Column] = {}
    for column, variable in held_variables:
        if variable in seen:
            pair = exp.EQ(this=column_tree(seen[variable]), expression=column_tree(column))
            relation = Filter(relation, _told_by_scan(pair))
        seen.setdefault(variable, column)
    return JoinedPart(relation, tuple(held_variables))


def _told_by_scan(condition: exp.Expression) -> exp.Expression:
    """The condition, marked as one that the words of its pattern tell."""
    condition.meta[IN_SCAN] = True
    return condition


def _table(pattern: Pattern, policy: Policy, graph: Graph) -> str:
    predicate = pattern.predicate
    if isinstance(predicate, Constant):
        found = graph.table_of(predicate.text)
        if found is None:
            raise _undeclared(predicate.text, graph)
        if pattern.is_closure and policy.table(closure_table(found)) is None:
            raise refusal("CEL-Q247.path_private", predicate=found)
        if pattern.graph is not None:
            found = graph_table(found, pattern.graph)
        return closure_table(found) if pattern.is_closure else found
    name = pattern.among or ANY_PREDICATE
    if policy.table(name) is None:
        raise refusal("CEL-Q253.variable", predicate=predicate)
    return name if pattern.graph is None else graph_table(name, pattern.graph)


def _undeclared(address: str, graph: Graph) -> CelosiaError:
    written = next(
        (
            f"{prefix}:{address.removeprefix(start)}"
            for prefix, start in graph.prefixes
            if address.startswith(start)
        ),
        address,
    )
    near = did_you_mean(written, [table for _, table in graph.predicates])
    return refusal("CEL-Q253.undeclared", written=written, near=near, predicate=address)


def variable_columns(parts: Sequence[JoinedPart]) -> Mapping[Variable, list[Column]]:
    """The columns of each variable, in the order of the parts."""
    found: dict[Variable, list[Column]] = {}
    for part in parts:
        for column, variable in part.variables:
            found.setdefault(variable, []).append(column)
    return found


def mentioned_aliases(tree: exp.Expression) -> frozenset[str]:
    """The aliases that an expression refers to."""
    return frozenset(each.table for each in tree.find_all(exp.Column))


def join_parts(parts: Sequence[JoinedPart], conditions: Sequence[exp.Expression]) -> Relation:
    """All parts joined, from left to right as far as variables tie them together.

    A condition on one part is put below the joins, one on several above them. Parts that nothing
    ties together, or a condition only, are joined without a key: every pair of solutions.
    """
    about = [(mentioned_aliases(tree), tree) for tree in conditions]
    waiting = list(parts)
    first = waiting.pop(0)
    relation = _with_conditions(first, about)
    known = {variable: column for column, variable in reversed(first.variables)}
    done = set(first.aliases)
    while waiting:
        item = _next(waiting, known, done, [names for names, _ in about])
        waiting.remove(item)
        here: dict[Variable, Column] = {}
        for column, variable in item.variables:
            here.setdefault(variable, column)
        keys = tuple((known[each], column) for each, column in here.items() if each in known)
        relation = Join(relation, _with_conditions(item, about), keys)
        known = here | known
        done |= item.aliases
    single = [part.aliases for part in parts]
    for names, tree in about:
        if not names or not any(names <= each for each in single):
            relation = Filter(relation, tree)
    return relation


def _next(
    waiting: Sequence[JoinedPart],
    known: Mapping[Variable, Column],
    done: set[str],
    conditions: Sequence[frozenset[str]],
) -> JoinedPart:
    """The first part that shares a variable with those before it, or a condition; else any."""
    tied: list[Callable[[JoinedPart], bool]] = [
        lambda part: any(one in known for _, one in part.variables),
        lambda part: any(names & done and names & part.aliases for names in conditions),
    ]
    for test in tied:
        for each in waiting:
            if test(each):
                return each
    return waiting[0]


def _with_conditions(
    part: JoinedPart, about: Sequence[tuple[frozenset[str], exp.Expression]]
) -> Relation:
    relation = part.relation
    for names, tree in about:
        if names and names <= part.aliases:
            relation = Filter(relation, tree)
    return relation


def fresh_aliases() -> Iterator[str]:
    """`t1`, `t2`, ..."""
    number = 1
    while True:
        yield f"t{number}"
        number += 1
