"""The SELECT list and GROUP BY: keys and aggregates, each under the name of its variable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import Aggregate, AggregateKind, Key, NamedExpression, scans
from celosia.queries.emission.target import Target
from celosia.queries.policy.values import ColumnPolicy, Policy
from celosia.queries.sparql.arithmetic import number_of
from celosia.queries.sparql.comparisons import typed_constant
from celosia.queries.sparql.conditions import ConditionReader
from celosia.queries.sparql.constants import Constant
from celosia.queries.sparql.patterns import Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import column_tree
from celosia.queries.sparql.trees import is_variable, name_of, part_of, strip_layers, walk_tree
from celosia.queries.sparql.values import (
    BoundVariable,
    Solutions,
    StringValue,
    TypedValue,
    Value,
)
from celosia.queries.sparql.wording import words_of
from celosia.queries.sql.aggregates import UnnamedAggregate, encode_tuple
from celosia.queries.sql.conditions import make_total

AGGREGATE = "Aggregate_"
COUNTS = ("rows", "count", "distinct")
_NUMBERS: dict[str, AggregateKind] = {
    "Sum": "sum",
    "Avg": "mean",
    "Min": "minimum",
    "Max": "maximum",
}
_SIGNS: dict[str, type[exp.Expression]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
}


@dataclass(slots=True)
class Outputs:
    """The names of an answer, and what each of them is."""

    solutions: Solutions
    policy: Policy
    reading: ConditionReader
    is_inner: bool = False
    """Whether they are of a sub-SELECT."""
    keys: dict[str, exp.Expression] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    """What each key is."""
    aggregates: dict[str, UnnamedAggregate] = field(default_factory=dict)
    computed: dict[str, exp.Expression] = field(default_factory=dict)
    """From the answers before it, by their names."""
    shown: list[str] = field(default_factory=list)

    def parts(self) -> tuple[tuple[Aggregate, ...], tuple[Key, ...]]:
        """The aggregates and keys of the question."""
        return (
            tuple(call.named(name) for name, call in self.aggregates.items()),
            tuple(Key(name, tree) for name, tree in self.keys.items()),
        )

    def calculations(self) -> tuple[NamedExpression, ...]:
        """What is computed from the answers."""
        return tuple(NamedExpression(name, tree) for name, tree in self.computed.items())

    def read(self, query: Any) -> None:
        """Add what a query groups by and selects.

        Raises:
            QueryRefused: CEL-Q253 and CEL-Q261 to CEL-Q269.
        """
        if part_of(query, "modifier") is not None and not self.is_inner:
            raise refusal("CEL-Q261.distinct")
        projection = part_of(query, "projection")
        if not projection:
            raise refusal("CEL-Q261.star")
        group = part_of(query, "groupby")
        for each in group["condition"] if group is not None else ():
            self._group(each)
        for each in projection:
            self._select(each)
        if not self.aggregates and not self.is_inner:
            raise refusal("CEL-Q261.no_aggregate")

    def aggregate_name(self, node: Any) -> str:
        """The name of an aggregate that HAVING or ORDER BY refers to, which may be new."""
        call = self._aggregate(node)
        for name, other in self.aggregates.items():
            if other == call:
                return name
        name = self._free("answer")
        self.aggregates[name] = call
        return name

    def _free(self, word: str) -> str:
        number = 1
        while self._is_taken(name := f"{word}_{number}"):
            number += 1
        return name

    def _group(self, node: Any) -> None:
        if name_of(node) == "GroupAs":
            name = part_of(node, "var")
            self._add_key(str(name) if name is not None else self._free("key"), node["expr"])
        elif is_variable(node):
            self._add_key(str(node), node)
        else:
            self._add_key(self._free("key"), node)

    def _add_key(self, name: str, node: Any) -> None:
        node = strip_layers(node)
        if is_variable(node):
            self._scope_value(node, "GROUP BY")
        value = self.reading.computed(node)
        self.values[name] = value
        self.keys[name] = self._key_tree(name, value)

    def _key_tree(self, name: str, value: Value) -> exp.Expression:
        match value:
            case BoundVariable(columns=columns):
                target = Target(policy=self.policy)
                for column in columns:
                    tree = column_tree(column)
                    declared = target.declared_column(tree, self.solutions.relation)
                    if self.is_inner or (declared is not None and self._is_known(declared)):
                        return tree
                raise refusal("CEL-Q266.private", variable=name)
            case StringValue():
                return make_total(value.tree())
            case TypedValue(kind="number" | "text" | "truth", tree=tree):
                return make_total(tree)
        raise refusal("CEL-Q266.expression")

    def _is_known(self, column: ColumnPolicy) -> bool:
        """Whether groups may be shown for the values of a column: declared, or public ones."""
        graph = self.policy.graph
        if column.keys is not None or graph is None or graph.endpoint:
            return column.keys is not None
        public = [table for table in self.policy.tables if table.public]
        return any(one is column for table in public for one in table.columns)

    def _select(self, node: Any) -> None:
        name = str(node["var"] if part_of(node, "var") is not None else node["evar"])
        if part_of(node, "var") is not None:
            if name not in self.keys:
                raise refusal("CEL-Q261.not_a_key", variable=name)
            if name in self.shown:
                raise refusal("CEL-Q269", name=name)
        else:
            if self._is_taken(name) or Variable(name) in self.solutions.scope:
                raise refusal("CEL-Q269", name=name)
            self._add_expression(name, strip_layers(node["expr"]))
        self.shown.append(name)

    def _add_expression(self, name: str, node: Any) -> None:
        if name_of(node).startswith(AGGREGATE):
            self.aggregates[name] = self._aggregate(node)
        elif is_variable(node) and str(node) in self.keys:
            self.keys[name] = self.keys[str(node)]
            self.values[name] = self.values[str(node)]
        elif has_aggregate(node):
            self.computed[name] = make_total(self.calculate(node))
            self._check_combines(self.computed[name])
        else:
            raise refusal("CEL-Q261.computed")

    def _check_combines(self, tree: exp.Expression) -> None:
        """Refuse a number that follows from one count: its interval is that of the count."""
        behind = {each.name for each in tree.find_all(exp.Column)}
        counts = [name for name in behind if self.aggregates[name].kind in COUNTS]
        if len(behind) == 1 and counts and not self.is_inner:
            raise refusal("CEL-Q262.computed")

    def calculate(self, node: Any) -> exp.Expression:
        """An expression of aggregates and numbers.

        Raises:
            QueryRefused: CEL-Q262 another part.
        """
        node = strip_layers(node)
        name = name_of(node)
        if name.startswith(AGGREGATE):
            return exp.column(self.aggregate_name(node), quoted=True)
        if name in ("AdditiveExpression", "MultiplicativeExpression"):
            tree = self.calculate(node["expr"])
            for sign, each in zip(node["op"], node["other"], strict=True):
                right = exp.Paren(this=self.calculate(each))
                tree = _SIGNS[str(sign)](this=exp.Paren(this=tree), expression=right)
            return tree
        if is_variable(node) and str(node) in (*self.aggregates, *self.computed):
            return exp.column(str(node), quoted=True)
        if name in ("", "literal") and not is_variable(node):
            constant: Constant = self.reading.reader.constant(node)
            if constant.sort == "number":
                return typed_constant(constant).tree
        raise refusal("CEL-Q262.computed")

    def _is_taken(self, name: str) -> bool:
        # The engine that works on the answers does not tell small from capital letters.
        taken = (*self.keys, *self.aggregates, *self.computed)
        return name.lower() in {each.lower() for each in taken}

    def _aggregate(self, node: Any) -> UnnamedAggregate:
        node = strip_layers(node)
        return replace(self._read_call(node), label=self._call_words(node))

    def _call_words(self, node: Any) -> str:
        inner = strip_layers(node["vars"])
        is_all = inner == "*" and not is_variable(inner)
        words = "*" if is_all else words_of(inner, self.reading.reader, self.reading.prefixes)
        once = "DISTINCT " if part_of(node, "distinct") else ""
        return f"{name_of(node).removeprefix(AGGREGATE).upper()}({once}{words})"

    def _read_call(self, node: Any) -> UnnamedAggregate:
        word = name_of(node).removeprefix(AGGREGATE)
        is_distinct = bool(part_of(node, "distinct"))
        if word == "Count":
            return self._count(strip_layers(node["vars"]), is_distinct)
        if word in _NUMBERS and (not is_distinct or word in ("Min", "Max")):
            inner = strip_layers(node["vars"])
            return UnnamedAggregate(_NUMBERS[word], self._bounded(inner, word.upper()))
        written = "GROUP_CONCAT" if word == "GroupConcat" else word.upper()
        raise refusal("CEL-Q262.form", aggregate=written)

    def _count(self, inner: Any, is_distinct: bool) -> UnnamedAggregate:
        if inner == "*" and not is_variable(inner):
            return self._count_different() if is_distinct else UnnamedAggregate("rows")
        value = self._value(inner, "COUNT")
        if isinstance(value, BoundVariable):
            if not is_distinct:
                if value.is_nullable:
                    return UnnamedAggregate("count", value.number)
                return UnnamedAggregate("rows")  # patterns bind all their variables
            # The subject of a fact tells whose it is.
            owners = [each for each in value.columns if each.name.endswith("subject")]
            return UnnamedAggregate("distinct", column_tree((owners or value.columns)[0]))
        if isinstance(value, Constant) and not is_distinct and is_variable(inner):
            return UnnamedAggregate("rows")  # it is this term in every solution
        if isinstance(value, StringValue):
            value = TypedValue("text", value.tree())
        if not isinstance(value, TypedValue):
            raise refusal("CEL-Q262.not_a_variable", use="COUNT")
        return UnnamedAggregate("distinct" if is_distinct else "count", make_total(value.tree))

    def _count_different(self) -> UnnamedAggregate:
        """COUNT(DISTINCT *): different lists of what variables are."""
        scope = self.solutions.scope
        visible = {each: value for each, value in scope.items() if not each.is_hidden}
        if (
            len(visible) == len(scope)
            and all(isinstance(value, BoundVariable) for value in scope.values())
            and self.solutions.is_set
        ):
            return UnnamedAggregate("rows")  # solutions of patterns differ from each other
        trees = [_plain_tree(self.reading.variable(each.name)) for each in visible]
        if not trees:
            raise refusal("CEL-Q262.hidden_steps")
        return UnnamedAggregate("distinct", distinct_list(trees))

    def _bounded(self, inner: Any, use: str) -> exp.Expression:
        value = self._value(inner, use)
        if not isinstance(value, BoundVariable):
            return make_total(number_of(value))
        target, found = Target(policy=self.policy), None
        for column in value.columns:
            if not column.name.endswith("object"):
                continue
            tree = BoundVariable(value.name, (column,)).column("number")
            declared = target.declared_column(tree, self.solutions.relation)
            if declared is not None and declared.lower is not None and declared.upper is not None:
                return tree
            found = tree
        if found is not None and self._is_exact():
            return found
        raise refusal("CEL-Q262.no_bounds", use=use, variable=str(inner))

    def _is_exact(self) -> bool:
        """Whether all that is asked is public, so that nothing needs a bound."""
        tables = [self.policy.table(each.table) for each in scans(self.solutions.relation)]
        return all(each is not None and each.public for each in tables)

    def _value(self, inner: Any, use: str) -> Value:
        if is_variable(inner):
            return self._scope_value(inner, use)
        return self.reading.computed(inner)

    def _scope_value(self, inner: Any, use: str) -> Value:
        if Variable(str(inner)) not in self.solutions.scope:
            raise refusal("CEL-Q253.unbound_not_bound", use=use, variable=str(inner))
        return self.reading.variable(str(inner))


def distinct_list(trees: list[exp.Expression]) -> exp.Expression:
    """One expression that differs wherever one of several does."""
    values = exp.Tuple(expressions=[each.copy() for each in trees])
    made = encode_tuple([values], at=values)
    assert isinstance(made, exp.Expression)
    return make_total(made)


def _plain_tree(value: Value) -> exp.Expression:
    match value:
        case BoundVariable():
            return value.number
        case TypedValue(tree=tree):
            return tree
        case StringValue():
            return value.tree()
        case Constant():
            return exp.Literal.number(str(value.number))
    raise AssertionError("deferred values are read")


def has_aggregate(node: Any) -> bool:
    """Whether an expression holds an aggregate."""
    return any(name_of(each).startswith(AGGREGATE) for each in walk_tree(node))
