"""Triple patterns to scans of predicates' tables, joined on all variables that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import did_you_mean
from celosia.queries.algebra import Column, Filter, Join, Relation, Scan
from celosia.queries.policy.values import ANY_PREDICATE, Graph, Policy
from celosia.queries.sparql.constants import Constant, constant_number
from celosia.queries.sparql.patterns import Pattern, Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.wording import attach_words, term_words


def column_tree(column: Column) -> exp.Column:
    """A column as a part of an expression."""
    return exp.column(column.name, table=column.relation, quoted=True)


def whole(number: int) -> exp.Expression:
    """A written whole number."""
    return exp.Literal.number(str(number))


@dataclass(frozen=True, slots=True)
class PatternScan:
    """A pattern with the scan of its table."""

    alias: str
    table: str
    pattern: Pattern

    @property
    def variables(self) -> list[tuple[Column, Variable]]:
        """The columns that hold variables."""
        return [
            (Column(self.alias, word), term)
            for word, term in self.pattern.terms
            if isinstance(term, Variable)
        ]


def make_scans(patterns: Sequence[Pattern], policy: Policy) -> list[PatternScan]:
    """The patterns with the tables of their predicates, as `t1`, `t2`, ...

    Raises:
        QueryRefused: CEL-Q253 a predicate that is not declared, or a variable one.
    """
    assert policy.graph is not None, "a policy with a graph"
    return [
        PatternScan(f"t{number}", _table(pattern, policy, policy.graph), pattern)
        for number, pattern in enumerate(patterns, start=1)
    ]


def _table(pattern: Pattern, policy: Policy, graph: Graph) -> str:
    predicate = pattern.predicate
    if isinstance(predicate, Constant):
        found = graph.table_of(predicate.text)
        if found is not None:
            return found
        raise _undeclared(predicate.text, graph)
    kinds = {policy.table(table).public for _, table in graph.predicates}  # type: ignore[union-attr]
    if policy.table(ANY_PREDICATE) is None or (len(kinds) > 1 and not policy.unit.is_row):
        raise refusal("CEL-Q253.variable", predicate=predicate)
    return ANY_PREDICATE


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


@dataclass(frozen=True, slots=True)
class Solutions:
    """The solutions of patterns as rows, and where each variable is among their columns."""

    items: Sequence[PatternScan]
    prefixes: Sequence[tuple[str, str]] = ()
    """Of the policy, for words."""

    @property
    def variable_columns(self) -> Mapping[Variable, list[Column]]:
        """The columns of each variable, in the order of the patterns."""
        found: dict[Variable, list[Column]] = {}
        for item in self.items:
            for column, variable in item.variables:
                found.setdefault(variable, []).append(column)
        return found

    def table(self, alias: str) -> str:
        """The table of an alias."""
        return next(item.table for item in self.items if item.alias == alias)

    def join(self, conditions: Sequence[exp.Expression]) -> Relation:
        """All patterns joined, from left to right as far as variables tie them together.

        A condition on one pattern is put below the joins, one on several above them.

        Raises:
            QueryRefused: CEL-Q253, where nothing ties a pattern to the others.
        """
        about = [({each.table for each in tree.find_all(exp.Column)}, tree) for tree in conditions]
        waiting = list(self.items)
        first = waiting.pop(0)
        relation = self._rows(first, about)
        known = {variable: column for column, variable in reversed(first.variables)}
        done = {first.alias}
        while waiting:
            tied = [each for each in waiting if any(one in known for _, one in each.variables)]
            if not tied:
                raise _no_shared_variable(done, [aliases for aliases, _ in about])
            item = tied[0]
            waiting.remove(item)
            here: dict[Variable, Column] = {}
            for column, variable in item.variables:
                here.setdefault(variable, column)
            keys = tuple((known[each], column) for each, column in here.items() if each in known)
            relation = Join(relation, self._rows(item, about), keys)
            known = here | known
            done.add(item.alias)
        for aliases, tree in about:
            if len(aliases) != 1:
                relation = Filter(relation, tree)
        return relation

    def _rows(
        self, item: PatternScan, about: Sequence[tuple[set[str], exp.Expression]]
    ) -> Relation:
        """The facts that match one pattern, and the conditions on nothing else."""
        relation: Relation = Scan(item.table, item.alias)
        for word, term in item.pattern.terms:
            if isinstance(term, Constant) and word != "predicate":
                held = column_tree(Column(item.alias, word))
                equal = exp.EQ(this=held, expression=whole(constant_number(term)))
                words = f"{item.alias}.{word} = {term_words(term, self.prefixes)}"
                relation = Filter(relation, attach_words(equal, words))
        seen: dict[Variable, Column] = {}
        for column, variable in item.variables:
            if variable in seen:
                pair = exp.EQ(this=column_tree(seen[variable]), expression=column_tree(column))
                relation = Filter(relation, pair)
            seen.setdefault(variable, column)
        for aliases, tree in about:
            if aliases == {item.alias}:
                relation = Filter(relation, tree)
        return relation


def _no_shared_variable(done: set[str], conditions: Sequence[set[str]]) -> CelosiaError:
    if any(aliases & done and aliases - done for aliases in conditions):
        return refusal("CEL-Q253.join_by_filter")
    return refusal("CEL-Q253.not_connected")
