"""Branches of WHERE to rows: joins, left joins, semi-joins, and stacks of them.

| SPARQL | rows |
|---|---|
| patterns that share variables | joins on these |
| UNION, alternatives of paths | one stack of all rows |
| OPTIONAL | a left join |
| MINUS, NOT EXISTS, EXISTS | rows without a partner, or with one |
| BIND | an expression in the place of the variable |
| VALUES | a condition, or an alternative for each row |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import Column, Filter, Keys, LeftJoin, SemiJoin, Wording
from celosia.queries.policy.values import ANY_PRIVATE, ANY_PUBLIC, Graph, Policy
from celosia.queries.sparql.branches import (
    Branch,
    Extension,
    SubQuery,
    expand_predicates,
    expand_values,
    join_all,
)
from celosia.queries.sparql.conditions import (
    ConditionReader,
    conjuncts,
    find_partners,
    listed_terms,
)
from celosia.queries.sparql.constants import Constant, TermReader, constant_number
from celosia.queries.sparql.datasets import Dataset, active_graph
from celosia.queries.sparql.groups import GroupReader
from celosia.queries.sparql.patterns import Pattern, Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import (
    JoinedPart,
    fresh_aliases,
    join_parts,
    mentioned_aliases,
    scan_pattern,
    variable_columns,
    whole,
)
from celosia.queries.sparql.stacks import derive, stack
from celosia.queries.sparql.values import (
    OBJECT_WORDS,
    BoundVariable,
    Deferred,
    Scope,
    Solutions,
    Value,
)
from celosia.queries.sparql.wording import pattern_words, term_or_variable
from celosia.queries.sql.operators import conjoin


@dataclass(slots=True)
class Solver:
    """Makes rows of the branches of one query."""

    policy: Policy
    graph: Graph
    reader: TermReader
    described: frozenset[str]
    """Names of variables that expressions refer to, and not only patterns."""
    shown: frozenset[str] = frozenset()
    """Those of them that expressions outside of FILTER refer to."""
    counts_once: bool = False
    """Whether it does not matter how often a solution comes."""
    names: Iterator[str] = field(default_factory=fresh_aliases)
    dataset: Dataset = field(default_factory=Dataset)
    active: str | None = None
    """The short name of the named graph that it is about; None for the default graph."""
    wording: Wording = field(default_factory=Wording)
    """What columns and scans are called in the query: it grows as rows are made."""

    def solve(self, group: Any, values: Any = None) -> Solutions:
        """The solutions of a WHERE clause, joined with VALUES behind it.

        Raises:
            QueryRefused: CEL-Q247, CEL-Q253, CEL-Q258 to CEL-Q260.
        """
        groups = GroupReader(self.reader, self.dataset, self.active)
        branches = groups.read(group)
        if values is not None:
            branches = join_all(branches, [Branch(values=(groups.values(values),))])
        return self._all(branches, groups)

    def reading(self, scope: Scope) -> ConditionReader:
        """A reader of expressions over some variables."""
        return ConditionReader(self.reader, scope, self.graph.prefixes)

    def _all(self, branches: Sequence[Branch], groups: GroupReader) -> Solutions:
        """The solutions of alternatives: a stack of the rows of each."""
        named = [one for each in branches for one in self._name_predicates(each)]
        found = [one for each in named for one in expand_values(each)]
        if self.policy.table(ANY_PRIVATE) is not None:
            found = [
                one for each in found for one in expand_predicates(each, (ANY_PRIVATE, ANY_PUBLIC))
            ]
        made = [self._branch(each, groups) for each in found]
        if not made:
            raise refusal("CEL-Q253.empty")
        return made[0] if len(made) == 1 else stack(made, self)

    def _name_predicates(self, branch: Branch) -> list[Branch]:
        """A branch for each predicate that a variable one may be, where FILTER or VALUES list them.

        Each has the bounds of its own predicate then, and public ones are no part of it.
        """
        found = [branch]
        for variable in dict.fromkeys(each.predicate for each in branch.patterns):
            if isinstance(variable, Variable) and variable.name not in self.shown:
                found = [one for each in found for one in self._name(variable, each)]
        return found

    def _name(self, variable: Variable, branch: Branch) -> list[Branch]:
        conditions = [part for each in branch.conditions for part in conjuncts(each)]
        for node in conditions:
            named = listed_terms(node, variable, self.reader)
            if named is not None:
                rest = tuple(each for each in conditions if each is not node)
                break
        else:
            rest = branch.conditions
            named = next(
                (
                    [row[0] for row in each.rows if row[0] is not None]
                    for each in branch.values
                    if each.variables == (variable,) and each.are_apart
                ),
                None,
            )
        if named is None or not all(each.sort == "address" for each in named):
            return [branch]
        values = tuple(each for each in branch.values if each.variables != (variable,))
        open_branch = replace(branch, conditions=rest, values=values)
        return join_all([open_branch], [Branch(fixed={variable: each}) for each in named])

    def _branch(self, branch: Branch, groups: GroupReader) -> Solutions:
        parts = [self._scan(each) for each in branch.patterns]
        scope: dict[Variable, Value] = {}
        for query in branch.sub_queries:
            inner = self._sub_query(query)
            _check_shared(inner, parts)
            scope |= inner.scope
            parts.append(inner.part())
        if not parts and any(isinstance(each, Variable) for each in branch.fixed.values()):
            raise refusal("CEL-Q247.path_unbound", variable=min(map(str, branch.fixed))[1:])
        if not parts:
            raise refusal("CEL-Q253.empty")
        scope |= {
            variable: BoundVariable(variable.name, tuple(columns))
            for variable, columns in variable_columns(parts).items()
        }
        ties = _ties(scope, branch)
        _add_fixed(scope, branch)
        rights: dict[int, Solutions] = {}
        for place, each in enumerate(branch.extensions):
            if each.kind == "optional" and not self._is_needless(each, scope):
                rights[place] = derive(self._all(each.branches, groups), self)
                scope = _with_optional(rights[place].scope, scope)
        for variable, node in branch.bindings:
            scope[variable] = Deferred(node, dict(scope))
        reading = self.reading(scope)
        tests, partners = find_partners(branch.conditions)
        conditions = reading.all(tests)
        conditions += [*ties, *(reading.among(each) for each in branch.values)]
        required = frozenset(name for part in parts for name in part.aliases)
        early = [each for each in conditions if mentioned_aliases(each) <= required]
        is_set = not (branch.sub_queries or branch.fixed or branch.bindings or rights)
        made = Solutions(join_parts(parts, early), scope, is_set)
        for place, each in enumerate(branch.extensions):
            if each.kind == "minus":
                made = self._minus(made, each, groups)
            elif place in rights:
                made = self._optional(made, each, rights[place])
        for condition in conditions:
            if not mentioned_aliases(condition) <= required:
                made = replace(made, relation=Filter(made.relation, condition))
        for node, negated in partners:
            made = self._partners(made, node, groups, negated=negated)
        return made

    def _scan(self, pattern: Pattern) -> JoinedPart:
        alias, prefixes = next(self.names), self.graph.prefixes
        self.wording.scans[alias] = pattern_words(pattern, prefixes)
        for word, term in pattern.terms:
            for each in (word, *(OBJECT_WORDS if word == "object" else ())):
                self.wording.columns[Column(alias, each)] = term_or_variable(term, prefixes)
        return scan_pattern(pattern, alias, self.policy)

    def _sub_query(self, query: SubQuery) -> Solutions:
        from celosia.queries.sparql.sub_queries import read_sub_query  # it solves in turn

        return read_sub_query(query.tree, replace(self, active=query.graph))

    def _is_needless(self, optional: Extension, scope: Scope) -> bool:
        """Whether OPTIONAL changes nothing that is asked: neither values nor, here, repetitions."""
        own = {each.name for each in optional.variables if each not in scope}
        if own & self.described:
            return False
        return self.counts_once or self._is_single(optional)

    def _is_single(self, optional: Extension) -> bool:
        """Whether a solution has one partner at most: a fact of a subject that has one such."""
        if len(optional.branches) != 1 or len(optional.branches[0].patterns) != 1:
            return False
        branch = optional.branches[0]
        (pattern,) = branch.patterns
        others = (branch.sub_queries, branch.extensions, branch.values, branch.bindings)
        if any(others) or pattern.subject not in optional.known:
            return False
        predicate = pattern.predicate
        name = self.graph.table_of(predicate.text) if isinstance(predicate, Constant) else None
        table = None if name is None or pattern.is_closure else self.policy.table(name)
        subject = None if table is None else table.column("subject")
        return subject is not None and subject.most == 1

    def _optional(self, left: Solutions, each: Extension, right: Solutions) -> Solutions:
        keys = _keys(left, right, each.known, "CEL-Q247.optional_joined")
        if not keys:
            raise refusal("CEL-Q247.optional_apart")
        scope = {
            **left.scope,
            **{one: right.scope[one] for one in right.scope if one not in each.known},
        }
        condition = self._condition(each.conditions, scope)
        return replace(left, relation=LeftJoin(left.relation, right.relation, keys, condition))

    def _condition(self, nodes: Sequence[Any], scope: Scope) -> exp.Expression | None:
        tests, partners = find_partners(nodes)
        if partners:
            raise refusal("CEL-Q247.exists_inside")
        made: exp.Expression | None = None
        for each in self.reading(scope).all(tests):
            made = each if made is None else conjoin(made, each)
        return made

    def _minus(self, left: Solutions, each: Extension, groups: GroupReader) -> Solutions:
        right = self._all(each.branches, groups)
        shared = each.known & set(right.scope)
        if not shared:
            return left  # nothing is taken away from solutions that share no variable
        keys = _keys(left, right, each.known, "CEL-Q247.minus_optional")
        return replace(left, relation=SemiJoin(left.relation, right.relation, keys, None, True))

    def _partners(
        self, left: Solutions, node: Any, groups: GroupReader, *, negated: bool
    ) -> Solutions:
        known = frozenset(left.scope)
        groups.active = active_graph(node, self.active)
        branches, conditions = groups.read_inside(node["graph"], known)
        fixed = {one: value for one, value in left.scope.items() if isinstance(value, Constant)}
        right = self._all([each.substitute(fixed) for each in branches], groups)
        keys = _keys(left, right, known, "CEL-Q247.exists_optional")
        condition = self._condition(conditions, {**right.scope, **left.scope})
        if not keys and condition is None:
            raise refusal("CEL-Q253.not_connected")
        made = SemiJoin(left.relation, right.relation, keys, condition, negated)
        return replace(left, relation=made)


def _check_shared(inner: Solutions, parts: Sequence[JoinedPart]) -> None:
    """Refuse a sub-SELECT that is joined on what it computes or may leave unbound."""
    others = {variable for part in parts for _, variable in part.variables}
    joined = {variable for _, variable in inner.part().variables}
    odd = sorted(each.name for each in (others & set(inner.scope)) - joined)
    if odd:
        raise refusal("CEL-Q247.optional_joined", variable=odd[0])


def _ties(scope: Scope, branch: Branch) -> list[exp.Expression]:
    """That what a sub-SELECT binds is what alternatives of VALUES, GRAPH or paths have fixed.

    Raises:
        QueryRefused: CEL-Q247, where it may be unbound.
    """
    found: list[exp.Expression] = []
    for variable, term in branch.fixed.items():
        own = scope.get(variable)
        if own is None:
            continue
        other = scope.get(term) if isinstance(term, Variable) else term
        if not isinstance(own, BoundVariable) or own.is_nullable:
            raise refusal("CEL-Q247.optional_joined", variable=variable.name)
        if isinstance(other, BoundVariable) and not other.is_nullable:
            found.append(exp.EQ(this=own.number, expression=other.number))
        elif isinstance(other, Constant):
            found.append(exp.EQ(this=own.number, expression=whole(constant_number(other))))
        else:
            raise refusal("CEL-Q247.optional_joined", variable=variable.name)
    return found


def _add_fixed(scope: dict[Variable, Value], branch: Branch) -> None:
    for variable, term in branch.fixed.items():
        if isinstance(term, Constant):
            scope[variable] = term
        elif term in scope:
            scope[variable] = scope[term]
        else:
            raise refusal("CEL-Q247.path_unbound", variable=variable.name)


def _with_optional(inner: Scope, scope: Scope) -> dict[Variable, Value]:
    made = dict(scope)
    for variable, value in inner.items():
        if variable not in scope:
            if isinstance(value, BoundVariable):
                value = replace(value, is_nullable=True)  # noqa: PLW2901 - the same variable
            made[variable] = value
    return made


def _keys(left: Solutions, right: Solutions, known: frozenset[Variable], key: str) -> Keys:
    """The columns of all variables that both sides have.

    Raises:
        QueryRefused: by the key, of what is computed, or may be unbound, on a side.
    """
    found = []
    for variable in sorted(known & set(right.scope), key=str):
        one, other = left.scope.get(variable), right.scope[variable]
        if isinstance(one, Constant) and one == other:
            continue  # the same term on both sides already
        found.append((_column(one, variable, key), _column(other, variable, key)))
    return tuple(found)


def _column(value: Value | None, variable: Variable, key: str) -> Column:
    if not isinstance(value, BoundVariable) or value.is_nullable:
        raise refusal(key, variable=variable.name)
    return value.columns[0]
