"""The SELECT list and GROUP BY: keys and aggregates, each under the name of its variable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Column, Key
from celosia.queries.policy.values import ColumnPolicy, Policy
from celosia.queries.sparql.patterns import Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import Solutions, column_tree
from celosia.queries.sparql.trees import is_variable, name_of, part_of, strip_layers, walk_tree
from celosia.queries.sql.aggregates import UnnamedAggregate

_AGGREGATE = "Aggregate_"


@dataclass(slots=True)
class Outputs:
    """The names of an answer, and what each of them is."""

    solutions: Solutions
    policy: Policy
    keys: dict[str, exp.Expression] = field(default_factory=dict)
    aggregates: dict[str, UnnamedAggregate] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)

    def parts(self) -> tuple[tuple[Aggregate, ...], tuple[Key, ...]]:
        """The aggregates and keys of the question."""
        return (
            tuple(call.named(name) for name, call in self.aggregates.items()),
            tuple(Key(name, tree) for name, tree in self.keys.items()),
        )

    def read(self, query: Any) -> None:
        """Add what a query groups by and selects.

        Raises:
            QueryRefused: CEL-Q253 and CEL-Q261 to CEL-Q269.
        """
        if part_of(query, "modifier") is not None:
            raise refusal("CEL-Q261.distinct")
        projection = part_of(query, "projection")
        if not projection:
            raise refusal("CEL-Q261.star")
        group = part_of(query, "groupby")
        for each in group["condition"] if group is not None else ():
            self._group(each)
        for each in projection:
            self._select(each)
        if not self.aggregates:
            raise refusal("CEL-Q261.no_aggregate")

    def aggregate_name(self, node: Any) -> str:
        """The name of an aggregate that HAVING or ORDER BY refers to, which may be new."""
        call = self._aggregate(node)
        for name, other in self.aggregates.items():
            if other == call:
                return name
        number = 1
        while self._is_taken(name := f"answer_{number}"):
            number += 1
        self.aggregates[name] = call
        return name

    def _group(self, node: Any) -> None:
        if not is_variable(node):
            raise refusal("CEL-Q266.expression")
        name = str(node)
        for column in self._columns(node, "GROUP BY"):
            declared = self._policy(column)
            if declared is not None and declared.keys is not None:
                self.keys[name] = column_tree(column)
                return
        raise refusal("CEL-Q266.private", variable=name)

    def _select(self, node: Any) -> None:
        name = str(node["var"] if part_of(node, "var") is not None else node["evar"])
        if part_of(node, "var") is not None:
            if name not in self.keys:
                raise refusal("CEL-Q261.not_a_key", variable=name)
            if name in self.shown:
                raise refusal("CEL-Q269", name=name)
        else:
            if self._is_taken(name) or Variable(name) in self.solutions.variable_columns:
                raise refusal("CEL-Q269", name=name)
            self.aggregates[name] = self._aggregate(node["expr"])
        self.shown.append(name)

    def _is_taken(self, name: str) -> bool:
        # The engine that works on the answers does not tell small from capital letters.
        return name.lower() in {each.lower() for each in (*self.keys, *self.aggregates)}

    def _aggregate(self, node: Any) -> UnnamedAggregate:
        node = strip_layers(node)
        word = name_of(node)
        if not word.startswith(_AGGREGATE):
            if has_aggregate(node):
                raise refusal("CEL-Q262.computed")
            raise refusal("CEL-Q261.computed")
        is_distinct = bool(part_of(node, "distinct"))
        match word.removeprefix(_AGGREGATE):
            case "Count":
                return self._count(strip_layers(node["vars"]), is_distinct)
            case "Sum" if not is_distinct:
                return UnnamedAggregate("sum", self._bounded(strip_layers(node["vars"]), "SUM"))
            case "Avg" if not is_distinct:
                return UnnamedAggregate("mean", self._bounded(strip_layers(node["vars"]), "AVG"))
        raise refusal("CEL-Q262.form", aggregate=word.removeprefix(_AGGREGATE).upper())

    def _count(self, inner: Any, is_distinct: bool) -> UnnamedAggregate:
        if inner == "*" and not is_variable(inner):
            hidden = any(each.is_hidden for each in self.solutions.variable_columns)
            if is_distinct and hidden:
                raise refusal("CEL-Q262.hidden_steps")
            return UnnamedAggregate("rows")  # solutions of patterns differ from each other
        columns = self._columns(inner, "COUNT")
        if not is_distinct:
            return UnnamedAggregate("rows")  # patterns bind all their variables
        # The subject of a fact tells whose it is.
        owners = [each for each in columns if each.name == "subject"]
        return UnnamedAggregate("distinct", column_tree((owners or columns)[0]))

    def _bounded(self, inner: Any, use: str) -> exp.Expression:
        for column in self._columns(inner, use):
            declared = self._policy(Column(column.relation, "number"))
            if column.name != "object" or declared is None:
                continue
            if declared.lower is not None and declared.upper is not None:
                return column_tree(Column(column.relation, "number"))
        raise refusal("CEL-Q262.no_bounds", use=use, variable=str(inner))

    def _columns(self, inner: Any, use: str) -> list[Column]:
        if not is_variable(inner):
            raise refusal("CEL-Q262.not_a_variable", use=use)
        places = self.solutions.variable_columns
        found = places.get(Variable(str(inner)))
        if found is None:
            raise refusal("CEL-Q253.unbound_not_bound", use=use, variable=str(inner))
        return found

    def _policy(self, column: Column) -> ColumnPolicy | None:
        table = self.policy.table(self.solutions.table(column.relation))
        return table.column(column.name) if table is not None else None


def has_aggregate(node: Any) -> bool:
    """Whether an expression holds an aggregate."""
    return any(name_of(each).startswith(_AGGREGATE) for each in walk_tree(node))
