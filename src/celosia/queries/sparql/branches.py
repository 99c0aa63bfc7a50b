"""Branches: the parts of WHERE that have to match together, and how they are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from celosia.queries.sparql.constants import Constant
from celosia.queries.sparql.patterns import Pattern, Term, Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.scanner import MOST_PATTERNS

MOST_BRANCHES = 16
"""The most alternatives of one WHERE clause."""


@dataclass(frozen=True, slots=True)
class ValuesRows:
    """The rows of VALUES; None for UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Constant | None, ...], ...]

    @property
    def are_apart(self) -> bool:
        """Whether no solution fits two rows: all are written out, and different."""
        written = [tuple(each and each.number for each in row) for row in self.rows]
        return all(None not in row for row in self.rows) and len(set(written)) == len(written)


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A sub-SELECT, as the parser has it, and the variables that it shows."""

    tree: Any
    variables: tuple[Variable, ...]
    graph: str | None = None
    """The short name of the named graph that it is about."""


@dataclass(frozen=True, slots=True)
class Extension:
    """OPTIONAL or MINUS: what is matched beside all that stands before it."""

    kind: Literal["optional", "minus"]
    branches: tuple[Branch, ...]
    conditions: tuple[Any, ...]
    """FILTERs of OPTIONAL, which may refer to what stands before it."""
    known: frozenset[Variable]
    """The variables that are in sight before it."""

    @property
    def variables(self) -> frozenset[Variable]:
        """All variables of its branches."""
        return frozenset(one for each in self.branches for one in each.in_sight)

    def substitute(self, terms: Mapping[Variable, Term]) -> Extension:
        """The same, in which variables that it shares are other terms."""
        shared = {each: term for each, term in terms.items() if each in self.variables}
        if not shared:
            return self
        return replace(self, branches=tuple(each.substitute(shared) for each in self.branches))


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of WHERE without alternatives: UNION and VALUES are lists of branches."""

    patterns: tuple[Pattern, ...] = ()
    conditions: tuple[Any, ...] = ()
    """Expressions of FILTER, as the parser has them."""
    values: tuple[ValuesRows, ...] = ()
    bindings: tuple[tuple[Variable, Any], ...] = ()
    """Variables of BIND with their expressions."""
    sub_queries: tuple[SubQuery, ...] = ()
    extensions: tuple[Extension, ...] = ()
    fixed: Mapping[Variable, Term] = field(default_factory=dict)
    """Variables that are a constant, or another variable, here."""

    @property
    def bound(self) -> frozenset[Variable]:
        """The variables that every solution binds, but for errors of BIND."""
        return frozenset(self._bound())

    def _bound(self) -> Iterator[Variable]:
        for pattern in self.patterns:
            yield from pattern.variables
        for values in self.values:
            yield from values.variables
        for each in self.sub_queries:
            yield from each.variables
        yield from (variable for variable, _ in self.bindings)
        yield from self.fixed

    @property
    def in_sight(self) -> frozenset[Variable]:
        """The variables that a solution may bind."""
        optional = [each.variables for each in self.extensions if each.kind == "optional"]
        return self.bound.union(*optional)

    def join(self, other: Branch) -> Branch | None:
        """Both branches, which all have to match; None where they never do."""
        fixed = dict(self.fixed)
        for variable, term in other.fixed.items():
            known = _resolve(variable, fixed)
            term = _resolve(term, fixed)  # noqa: PLW2901 - the same term
            if known == term:
                continue
            if isinstance(known, Variable):
                fixed[known] = term
            elif isinstance(term, Variable):
                fixed[term] = known
            else:
                return None
        both = Branch(
            self.patterns + other.patterns,
            self.conditions + other.conditions,
            self.values + other.values,
            self.bindings + other.bindings,
            self.sub_queries + other.sub_queries,
            self.extensions + other.extensions,
        )
        return both.substitute(fixed) if fixed else both

    def in_graph(self, graph: str | None) -> Branch:
        """The branch with the facts of a named graph."""
        return replace(self, patterns=tuple(replace(each, graph=graph) for each in self.patterns))

    def substitute(self, fixed: Mapping[Variable, Term]) -> Branch:
        """The branch in which some variables are other terms."""
        terms = {each: _resolve(each, fixed) for each in fixed}
        return replace(
            self,
            patterns=tuple(each.substitute(terms) for each in self.patterns),
            extensions=tuple(each.substitute(terms) for each in self.extensions),
            fixed={**self.fixed, **terms},
        )


def _resolve(term: Term, fixed: Mapping[Variable, Term]) -> Term:
    while isinstance(term, Variable) and term in fixed:
        term = fixed[term]
    return term


def join_all(left: Sequence[Branch], right: Sequence[Branch]) -> list[Branch]:
    """Every branch of the one joined with every branch of the other.

    Raises:
        QueryRefused: CEL-Q243 too many; CEL-Q247 a variable may be unbound where it is joined on.
    """
    found = []
    for one in left:
        for other in right:
            check_joined(one, other)
            both = one.join(other)
            if both is not None:
                _check_patterns(both)
                found.append(both)
    if len(found) > MOST_BRANCHES:
        raise refusal("CEL-Q243.too_many_branches", most=MOST_BRANCHES)
    return found


def expand_values(branch: Branch) -> list[Branch]:
    """VALUES as a condition on what patterns bind; else a branch for each of its rows."""
    held = {one for pattern in branch.patterns for one in pattern.variables}
    held |= {one for each in branch.sub_queries for one in each.variables}
    kept, found = [], [replace(branch, values=())]
    for values in branch.values:
        if held.issuperset(values.variables) and values.are_apart:
            kept.append(values)
            continue
        alternatives = [
            Branch(
                fixed={
                    variable: cell
                    for variable, cell in zip(values.variables, row, strict=True)
                    if cell is not None
                }
            )
            for row in values.rows
        ]
        found = join_all(found, alternatives)
    return [replace(each, values=tuple(kept)) for each in found]


def expand_predicates(branch: Branch, tables: Sequence[str]) -> list[Branch]:
    """Variable predicates as alternatives: of private facts, and of public ones."""
    found = [replace(branch, patterns=())]
    for pattern in branch.patterns:
        is_open = isinstance(pattern.predicate, Variable) and pattern.among is None
        made = [replace(pattern, among=each) for each in tables] if is_open else [pattern]
        found = [replace(one, patterns=(*one.patterns, each)) for one in found for each in made]
    if len(found) > MOST_BRANCHES:
        raise refusal("CEL-Q243.too_many_branches", most=MOST_BRANCHES)
    return found


def check_joined(one: Branch, other: Branch) -> None:
    """Refuse a join on what OPTIONAL or BIND may have left unbound, or on what BIND computes."""
    for here, there in ((one, other), (other, one)):
        maybe = (here.in_sight - here.bound) & there.in_sight
        if maybe:
            name = min(each.name for each in maybe)
            raise refusal("CEL-Q247.optional_joined", variable=name)
        computed = {variable for variable, _ in here.bindings} & there.in_sight
        if computed:
            raise refusal("CEL-Q247.bind", variable=min(each.name for each in computed))


def _check_patterns(branch: Branch) -> None:
    for each in branch.patterns:
        if isinstance(each.subject, Constant) and each.subject.sort != "address":
            raise refusal("CEL-Q253.literal_subject")
    if len(branch.patterns) > MOST_PATTERNS:
        raise refusal("CEL-Q243.too_many_patterns", most_patterns=MOST_PATTERNS)
