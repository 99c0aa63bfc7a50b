"""The groups of WHERE as lists of branches: what is joined is joined with every alternative.

UNION, alternatives of paths, and rows of VALUES that no pattern binds are alternatives. A join of
lists is the list of all joins, so that below a branch there is nothing but patterns that have to
match together, with conditions, OPTIONAL and MINUS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from celosia.core.messages import Message, did_you_mean
from celosia.queries.sparql.branches import Branch, Extension, SubQuery, ValuesRows, join_all
from celosia.queries.sparql.constants import Constant, TermReader
from celosia.queries.sparql.datasets import NOWHERE, Dataset, with_active
from celosia.queries.sparql.paths import PathReader
from celosia.queries.sparql.patterns import Pattern, Term, Variable
from celosia.queries.sparql.refusals import not_sparql, refusal
from celosia.queries.sparql.trees import (
    expression_variables,
    is_blank,
    is_variable,
    name_of,
    part_of,
    walk_tree,
)

_UNDEFINED = "UNDEF"


@dataclass(slots=True)
class GroupReader:
    """Reads the groups of one query."""

    reader: TermReader
    dataset: Dataset = field(default_factory=Dataset)
    active: str | None = None
    """The short name of the named graph around; None for the default graph."""
    hidden: dict[Any, tuple[Variable, int]] = field(default_factory=dict)
    """Blank nodes, each with the group that it is in."""
    groups: int = 0
    steps: int = 0

    def read(self, group: Any) -> list[Branch]:
        """The branches of a group.

        Raises:
            QueryRefused: CEL-Q243, CEL-Q244, CEL-Q247, CEL-Q253, CEL-Q260.
        """
        branches, conditions = self._group(group)
        return [replace(each, conditions=each.conditions + tuple(conditions)) for each in branches]

    def read_inside(
        self, group: Any, outside: frozenset[Variable]
    ) -> tuple[list[Branch], tuple[Any, ...]]:
        """The branches of OPTIONAL or EXISTS, and their FILTERs.

        These may refer to what stands outside.
        """
        if name_of(group) != "GroupGraphPatternSub":
            return self.read(group), ()
        parts = part_of(group, "part") or ()
        inner = copy_group(group, [each for each in parts if name_of(each) != "Filter"])
        made = self.read(inner)
        known = {each.name for each in outside.union(*(one.in_sight for one in made))}
        conditions = tuple(
            with_active(each["expr"], self.active) for each in parts if name_of(each) == "Filter"
        )
        for condition in conditions:
            check_bound(condition, known)
        return made, conditions

    def values(self, part: Any) -> ValuesRows:
        """The rows of VALUES."""
        variables = tuple(Variable(str(each)) for each in part_of(part, "var") or ())
        given = [list(each) if _is_row(each) else [each] for each in part_of(part, "value") or ()]
        if any(len(row) != len(variables) for row in given):
            raise not_sparql("CEL-Q240.values_row")
        if not given or not variables:
            raise refusal("CEL-Q260.empty")
        rows = tuple(tuple(map(self._cell, row)) for row in given)
        return ValuesRows(variables, rows)

    def _cell(self, node: Any) -> Constant | None:
        return None if str(node) == _UNDEFINED and type(node) is str else self.reader.constant(node)

    def _group(self, group: Any) -> tuple[list[Branch], list[Any]]:
        if name_of(group) == "SubSelect":
            return [Branch(sub_queries=(self._sub_query(group),))], []
        if name_of(group) != "GroupGraphPatternSub":
            raise _unknown(group)
        self.groups += 1
        number = self.groups
        branches, conditions = [Branch()], []
        for part in part_of(group, "part") or ():
            if name_of(part) == "Filter":
                conditions.append(with_active(part["expr"], self.active))
            else:
                branches = self._add(branches, part, number)
        known = {each.name for branch in branches for each in branch.in_sight}
        for condition in conditions:
            check_bound(condition, known)
        return branches, conditions

    def _add(  # noqa: PLR0911 - one for each kind of part
        self, branches: list[Branch], part: Any, group: int
    ) -> list[Branch]:
        match name_of(part):
            case "TriplesBlock":
                for block in part["triples"]:
                    for made in self._triples(list(block), group):
                        branches = join_all(branches, made)
                return branches
            case "InlineData":
                return join_all(branches, [Branch(values=(self.values(part),))])
            case "Bind":
                return [self._bind(each, part) for each in branches]
            case "GroupOrUnionGraphPattern":
                parts = [one for each in part["graph"] for one in self.read(each)]
                return join_all(branches, parts)
            case "OptionalGraphPattern":
                outside = frozenset[Variable]().union(*(each.in_sight for each in branches))
                inner, conditions = self.read_inside(part["graph"], outside)
                return self._extend(branches, "optional", inner, conditions)
            case "MinusGraphPattern":
                return self._extend(branches, "minus", self.read(part["graph"]), ())
            case "GraphGraphPattern":
                return join_all(branches, self._graph(part))
            case "ServiceGraphPattern":
                raise refusal("CEL-Q247.service")
        raise _unknown(part)

    def _extend(
        self,
        branches: list[Branch],
        kind: Any,
        inner: Sequence[Branch],
        conditions: tuple[Any, ...],
    ) -> list[Branch]:
        def extended(branch: Branch) -> Branch:
            made = Extension(kind, tuple(inner), conditions, branch.in_sight)
            return replace(branch, extensions=(*branch.extensions, made.substitute(branch.fixed)))

        return [extended(each) for each in branches]

    def _bind(self, branch: Branch, part: Any) -> Branch:
        variable = Variable(str(part["var"]))
        check_bound(part["expr"], {each.name for each in branch.in_sight}, "CEL-Q253.unbound_bind")
        if variable in branch.in_sight:
            raise not_sparql("CEL-Q240.bound_twice", variable=variable.name)
        return replace(branch, bindings=(*branch.bindings, (variable, part["expr"])))

    def _sub_query(self, tree: Any) -> SubQuery:
        projection = part_of(tree, "projection")
        if projection:
            shown = [part_of(each, "var") or part_of(each, "evar") for each in projection]
        else:
            shown = [each for each in walk_tree(tree["where"]) if is_variable(each)]
        variables = tuple(dict.fromkeys(Variable(str(each)) for each in shown))
        return SubQuery(tree, variables, self.active)

    def _graph(self, part: Any) -> list[Branch]:
        """GRAPH: its patterns in the graph that is written, or in each that there is."""
        node, before, around = part["term"], self.active, dict(self.hidden)
        variable = Variable(str(node)) if is_variable(node) else None
        term = None if variable is not None else self.reader.constant(node)
        found = []
        for address, short in self.dataset.alternatives(term):
            self.active = short
            self.hidden = dict(around)  # each alternative has blank nodes of its own
            named = Branch(fixed={} if variable is None else {variable: address})
            found += join_all([named], self.read(part["graph"]))
        self.active = before
        return found

    def _triples(self, terms: list[Any], group: int) -> Iterable[list[Branch]]:
        if not terms or len(terms) % 3:
            raise not_sparql("CEL-Q240.pattern")
        if self.active == NOWHERE:
            raise refusal("CEL-Q244.no_default")
        paths = PathReader(self.reader, self._fresh)
        for place in range(0, len(terms), 3):
            subject, path, target = terms[place : place + 3]
            ends = self._term(subject, group), self._term(target, group)
            if is_variable(path):
                made = [Branch((Pattern(ends[0], Variable(str(path)), ends[1]),))]
            else:
                made = paths.branches(ends[0], path, ends[1])
            yield [each.in_graph(self.active) for each in made]

    def _term(self, node: Any, group: int) -> Term:
        if is_variable(node):
            return Variable(str(node))
        if is_blank(node):
            if node not in self.hidden:
                self.hidden[node] = (self._fresh(), group)
            variable, first = self.hidden[node]
            if first != group:
                raise not_sparql("CEL-Q240.blank_node")
            return variable
        if isinstance(node, list):
            raise not_sparql("CEL-Q240.pattern")
        return self.reader.constant(node)

    def _fresh(self) -> Variable:
        self.steps += 1  # A space keeps it apart from every name of a query.
        return Variable(f"hidden {self.steps}", is_hidden=True)


def copy_group(group: Any, parts: list[Any]) -> Any:
    """A group of the parser with other parts."""
    made = type(group)(group.name)
    made["part"] = parts
    return made


def _is_row(value: Any) -> bool:
    return not isinstance(value, (str, dict))


def check_bound(node: Any, known: set[str], key: str = "CEL-Q253.unbound_in_filter") -> None:
    """Refuse an expression that refers to a variable of no pattern of its group."""
    for name in (str(each) for each in expression_variables(node)):
        if name not in known:
            raise refusal(key, near=did_you_mean(name, known), variable=name)


def _unknown(part: Any) -> Exception:
    return refusal(
        "CEL-Q247.other_part",
        part=getattr(part, "name", None) or Message("queries.sparql.this_part"),
    )
