"""Expressions of FILTER as conditions on columns, true for the solutions that SPARQL keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import Column
from celosia.queries.sparql import comparisons, functions
from celosia.queries.sparql.constants import Constant, TermReader, constant_number, negate
from celosia.queries.sparql.functions import StringValue
from celosia.queries.sparql.patterns import Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import whole
from celosia.queries.sparql.trees import is_variable, name_of, strip_layers
from celosia.queries.sparql.values import BoundVariable, TypedValue, cases, disjunction, truth
from celosia.queries.sparql.wording import attach_words, term_words, words_of
from celosia.queries.sql.conditions import make_total
from celosia.queries.sql.operators import conjoin

Value = TypedValue | BoundVariable | Constant | StringValue


def conjuncts(node: Any) -> Iterator[Any]:
    """The conditions that && puts together."""
    node = strip_layers(node)
    if name_of(node) == "ConditionalAndExpression":
        for each in (node["expr"], *node["other"]):
            yield from conjuncts(each)
    else:
        yield node


@dataclass(frozen=True, slots=True)
class ConditionReader:
    """Reads expressions over the solutions of patterns."""

    reader: TermReader
    variable_columns: Mapping[Variable, Sequence[Column]]
    prefixes: Sequence[tuple[str, str]] = ()
    """Of the policy, for words."""
    literals: frozenset[str] = frozenset()
    """Variables that other conditions let through as literals only."""

    def all(self, filters: Sequence[Any]) -> list[exp.Expression]:
        """Conditions that are all true for the solutions that some FILTERs keep, and only those.

        Raises:
            QueryRefused: CEL-Q258, CEL-Q259 and CEL-Q253.
        """
        parts = [part for each in filters for part in conjuncts(each)]
        sure = frozenset(name for part in parts if (name := _sure_literal(part)) is not None)
        reader = replace(self, literals=sure)
        return [
            attach_words(
                make_total(reader.truth(part, loose=True)),
                words_of(part, self.reader, self.prefixes),
            )
            for part in parts
        ]

    def among(self, variable: Variable, terms: Sequence[Constant]) -> exp.Expression:
        """The condition of VALUES."""
        column = self._variable(variable.name).number
        tree = exp.In(this=column, expressions=[whole(constant_number(each)) for each in terms])
        listed = ", ".join(term_words(each, self.prefixes) for each in terms)
        return attach_words(tree, f"{variable} IN ({listed})")

    def truth(self, node: Any, *, loose: bool) -> exp.Expression:
        """The effective boolean value of an expression.

        Args:
            node: the expression.
            loose: whether an error may be taken for false.
        """
        node = strip_layers(node)
        match name_of(node):
            case "ConditionalAndExpression":
                made = self.truth(node["expr"], loose=loose)
                for each in node["other"]:
                    made = conjoin(made, self.truth(each, loose=loose))
                return made
            case "ConditionalOrExpression":
                parts = [node["expr"], *node["other"]]
                return disjunction(*(self.truth(each, loose=loose) for each in parts))
            case "UnaryNot":
                inner = self.truth(node["expr"], loose=False)
                return exp.Not(this=exp.Paren(this=inner))
            case "RelationalExpression":
                return self._compared(node, loose=loose)
        return self._value_of(self.value(node))

    def _value_of(self, value: Value) -> exp.Expression:
        if isinstance(value, TypedValue):
            match value.kind:
                case "truth":
                    return value.tree
                case "number":
                    return exp.NEQ(this=value.tree, expression=whole(0))
                case "text":
                    return exp.NEQ(this=value.tree, expression=exp.Literal.string(""))
        if isinstance(value, BoundVariable) and value.facts is not None:
            return cases(
                (value.has_number(), exp.NEQ(this=value.column("number"), expression=whole(0))),
                (
                    value.is_string(),
                    exp.NEQ(this=value.column("text"), expression=exp.Literal.string("")),
                ),
                (value.is_truth(), value.truth()),
                (value.is_not_a_number(), truth(False)),
                (value.is_special(), truth(True)),
            )
        raise refusal("CEL-Q259.no_truth")

    def value(self, node: Any) -> Value:  # noqa: PLR0911 - one for each kind of node
        """Read an expression."""
        node = strip_layers(node)
        if is_variable(node):
            return self._variable(str(node))
        name = name_of(node)
        if name in functions.RULES:
            return functions.RULES[name](node, self.value)
        match name:
            case "Builtin_STR":
                variable = functions.require_object(self.value(node["arg"]))
                return StringValue(variable, is_sure=variable.name in self.literals)
            case "Builtin_IF":
                return self._if(node)
            case "Builtin_COALESCE":
                return self._coalesce(node)
            case (
                "ConditionalAndExpression"
                | "ConditionalOrExpression"
                | "UnaryNot"
                | "RelationalExpression"
            ):
                return TypedValue("truth", self.truth(node, loose=False))
            case "UnaryMinus" | "UnaryPlus":
                return self._signed(node)
            case "" | "pname" | "literal":
                return self.reader.constant(node)
        raise functions.unknown_function(node)

    def _signed(self, node: Any) -> Constant:
        value = self.value(node["expr"])
        if not isinstance(value, Constant) or value.sort != "number":
            raise functions.unknown_function(node)
        return negate(value) if name_of(node) == "UnaryMinus" else value

    def _variable(self, name: str) -> BoundVariable:
        return BoundVariable(name, tuple(self.variable_columns[Variable(name)]))

    def _typed(self, node: Any) -> TypedValue:
        value = self.value(node)
        if isinstance(value, Constant):
            return comparisons.typed_constant(value)
        if isinstance(value, StringValue):
            return TypedValue("text", value.tree())
        if isinstance(value, BoundVariable):
            raise refusal("CEL-Q259.variable_in_choice")
        return value

    def _if(self, node: Any) -> TypedValue:
        test = self.truth(node["arg1"], loose=False)
        first, second = self._typed(node["arg2"]), self._typed(node["arg3"])
        if first.kind != second.kind:
            kinds = [comparisons.kind_in_words(each.kind) for each in (first, second)]
            raise refusal("CEL-Q259.if_kinds", first=kinds[0], second=kinds[1])
        other = exp.Not(this=exp.Paren(this=test.copy()))
        return TypedValue(first.kind, cases((test, first.tree), (other, second.tree)))

    def _coalesce(self, node: Any) -> TypedValue:
        parts = [self._typed(each) for each in node["arg"]]
        if len({each.kind for each in parts}) != 1:
            raise refusal("CEL-Q259.coalesce_kinds")
        first, *rest = (each.tree for each in parts)
        return TypedValue(parts[0].kind, exp.Coalesce(this=first, expressions=rest))

    def _compared(self, node: Any, *, loose: bool) -> exp.Expression:
        operator = str(node["op"])
        if operator in ("IN", "NOT IN"):
            others = node["other"]
            return self._in(node["expr"], list(others), operator == "NOT IN", loose=loose)
        return self._pair(operator, node["expr"], node["other"], loose=loose)

    def _pair(self, operator: str, left: Any, right: Any, *, loose: bool) -> exp.Expression:
        one, other = self.value(left), self.value(right)
        if isinstance(one, Constant) and not isinstance(other, Constant):
            one, other, operator = other, one, comparisons.TURNED.get(operator, operator)
        if isinstance(one, Constant):
            raise refusal("CEL-Q259.two_constants", operator=operator)
        if operator == "!=":
            equal = self._equal(one, other, loose=False)
            if type(equal) is exp.EQ:
                return exp.NEQ(this=equal.this, expression=equal.expression)
            return exp.Not(this=exp.Paren(this=equal))
        if operator == "=":
            return self._equal(one, other, loose=loose)
        if isinstance(one, BoundVariable) and isinstance(other, Constant):
            return comparisons.order_constant(operator, one, other)
        if isinstance(one, BoundVariable) and isinstance(other, BoundVariable):
            return comparisons.order_variables(operator, one, other)
        return comparisons.compare_typed(operator, self._one_kind(one), self._one_kind(other))

    def _equal(self, one: Value, other: Value, *, loose: bool) -> exp.Expression:
        if isinstance(one, BoundVariable) and isinstance(other, Constant):
            return comparisons.equal_constant(one, other, loose=loose)
        if isinstance(one, BoundVariable) and isinstance(other, BoundVariable):
            return comparisons.equal_variables(one, other, loose=loose)
        if isinstance(one, StringValue) and isinstance(other, Constant) and other.sort == "string":
            return comparisons.equal_text(one.of, other)
        return comparisons.compare_typed("=", self._one_kind(one), self._one_kind(other))

    @staticmethod
    def _one_kind(value: Value) -> TypedValue:
        if isinstance(value, Constant):
            return comparisons.typed_constant(value)
        if isinstance(value, StringValue):
            return TypedValue("text", value.tree())
        if isinstance(value, BoundVariable):
            raise refusal("CEL-Q259.computed_with_variable")
        return value

    def _in(self, left: Any, others: list[Any], negated: bool, *, loose: bool) -> exp.Expression:
        one = self.value(left)
        constants = [self.value(each) for each in others]
        if isinstance(one, Constant) or not constants:
            raise refusal("CEL-Q259.in_list")
        by_name = [
            each.number
            for each in constants
            if isinstance(each, Constant) and each.sort in ("address", "language", "string")
        ]
        is_exact = loose and not negated
        simple = all(isinstance(each, Constant) and each.sort != "string" for each in constants)
        if (
            isinstance(one, BoundVariable)
            and len(by_name) == len(constants)
            and (is_exact or simple)
        ):
            if one.facts is None and not _are_addresses(constants):
                raise comparisons.never_a_literal(one)
            made: exp.Expression = exp.In(
                this=one.number, expressions=[whole(each) for each in dict.fromkeys(by_name)]
            )
        else:
            made = disjunction(*(self._equal(one, each, loose=is_exact) for each in constants))
        return exp.Not(this=exp.Paren(this=made)) if negated else made


def _are_addresses(values: Sequence[Value]) -> bool:
    return all(isinstance(each, Constant) and each.sort == "address" for each in values)


def _sure_literal(node: Any) -> str | None:
    """The variable that a condition lets through as a literal only."""
    if name_of(node) not in ("Builtin_isLITERAL", "Builtin_isNUMERIC"):
        return None
    inner = strip_layers(node["arg"])
    return str(inner) if is_variable(inner) else None
