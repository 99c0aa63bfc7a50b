"""Expressions of FILTER as conditions on columns, true for the solutions that SPARQL keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from celosia.queries.sparql import arithmetic, comparisons, functions
from celosia.queries.sparql.branches import ValuesRows
from celosia.queries.sparql.constants import Constant, TermReader, constant_number, negate
from celosia.queries.sparql.patterns import Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import whole
from celosia.queries.sparql.trees import (
    EXISTS,
    expression_variables,
    is_variable,
    name_of,
    strip_layers,
    walk_tree,
)
from celosia.queries.sparql.values import (
    BoundVariable,
    Deferred,
    Scope,
    StringValue,
    TypedValue,
    Value,
    cases,
    conjunction,
    disjunction,
    is_not_null,
    truth,
)
from celosia.queries.sparql.wording import attach_words, term_words, words_of
from celosia.queries.sql.conditions import make_total
from celosia.queries.sql.operators import conjoin

_FORGIVING = ("Builtin_BOUND", "Builtin_COALESCE", "Builtin_IF", *EXISTS)
"""Functions that have a value where a variable in them has none."""


def conjuncts(node: Any) -> Iterator[Any]:
    """The conditions that && puts together."""
    node = strip_layers(node)
    if name_of(node) == "ConditionalAndExpression":
        for each in (node["expr"], *node["other"]):
            yield from conjuncts(each)
    else:
        yield node


def listed_terms(node: Any, variable: Variable, reader: TermReader) -> list[Constant] | None:
    """The terms that `?v = term` or `?v IN (term, ...)` lets a variable be; None for others."""
    if name_of(node) != "RelationalExpression":
        return None
    sides = [node["expr"], *(node["other"] if node["op"] == "IN" else [node["other"]])]
    sides = [strip_layers(each) for each in sides]
    if str(node["op"]) not in ("=", "IN") or not is_variable(sides[0]):
        return None
    terms = sides[1:]
    if str(sides[0]) != variable.name or not all(_is_constant(each) for each in terms):
        return None
    found = {each.number: each for each in map(reader.constant, terms)}
    return list(found.values())


def _is_constant(node: Any) -> bool:
    import rdflib  # 0.3 s, only where SPARQL is read

    return name_of(node) in ("pname", "literal") or isinstance(node, rdflib.URIRef)


def find_partners(conditions: Sequence[Any]) -> tuple[list[Any], list[tuple[Any, bool]]]:
    """The conditions on values, and those on partners, each with whether it is negated.

    Raises:
        QueryRefused: CEL-Q247, where EXISTS is inside another expression.
    """
    tests, partners = [], []
    for node in (part for each in conditions for part in conjuncts(each)):
        inner, negated = node, False
        while name_of(inner) == "UnaryNot":
            inner, negated = strip_layers(inner["expr"]), not negated
        if name_of(inner) in EXISTS:
            partners.append((inner, negated != (name_of(inner) == "Builtin_NOTEXISTS")))
        elif any(name_of(each) in EXISTS for each in walk_tree(node)):
            raise refusal("CEL-Q247.exists_inside")
        else:
            tests.append(node)
    return tests, partners


@dataclass(frozen=True, slots=True)
class ConditionReader:
    """Reads expressions over the solutions of patterns."""

    reader: TermReader
    scope: Scope
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

    def among(self, values: ValuesRows) -> exp.Expression:
        """The condition of VALUES on what patterns bind."""
        columns = [self._term(each) for each in values.variables]
        rows = [[constant_number(one) for one in row if one is not None] for row in values.rows]
        if len(columns) == 1:
            tree: exp.Expression = exp.In(
                this=columns[0].number, expressions=[whole(number) for (number,) in rows]
            )
        else:
            tree = disjunction(
                *(
                    conjunction(
                        *(
                            exp.EQ(this=column.number, expression=whole(number))
                            for column, number in zip(columns, row, strict=True)
                        )
                    )
                    for row in rows
                )
            )
        listed = ", ".join(
            " ".join(term_words(one, self.prefixes) for one in row if one) for row in values.rows
        )
        return attach_words(tree, f"{' '.join(map(str, values.variables))} IN ({listed})")

    def _term(self, variable: Variable) -> BoundVariable:
        value = self.scope[variable]
        if not isinstance(value, BoundVariable) or value.is_nullable:
            raise refusal("CEL-Q247.optional_joined", variable=variable.name)
        return value

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
        guards = self._guards(node)
        if guards is None:
            return exp.Null()  # an error, whatever the rest of it is
        made = (
            self._compared(node, loose=loose)
            if name_of(node) == "RelationalExpression"
            else self._value_of(self.value(node))
        )
        return cases((conjunction(*guards), made)) if guards else made

    def _guards(self, node: Any) -> list[exp.Expression] | None:
        """Tests that variables of an expression are bound; None where one never is."""
        found = {}
        for name in _needed_variables(node):
            value = self.scope.get(Variable(name))
            if value is None:
                return None
            if isinstance(value, BoundVariable) and value.is_nullable:
                found[name] = value.is_bound()
            elif isinstance(value, TypedValue):
                found[name] = is_not_null(value.tree.copy())
        return list(found.values())

    def _value_of(self, value: Value) -> exp.Expression:
        if isinstance(value, Constant) and value.sort in ("number", "string", "boolean"):
            value = comparisons.typed_constant(value)
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

    def value(self, node: Any) -> Value:  # noqa: PLR0911, PLR0912 - one for each kind of node
        """Read an expression."""
        node = strip_layers(node)
        if is_variable(node):
            return self.variable(str(node))
        name = name_of(node)
        if name in arithmetic.RULES:
            return arithmetic.RULES[name](node, self.value)
        if name == "Builtin_DATATYPE":
            inner = strip_layers(node["arg"])
            if name_of(inner) in arithmetic.RULES:
                return TypedValue("address", arithmetic.datatype_of(inner, self.value))
            if name_of(inner) == "Function":
                made = arithmetic.cast_datatype(
                    self.reader.address(inner["iri"]), self.value(inner)
                )
                return TypedValue("address", made)
        if name == "Function":
            return arithmetic.cast(self.reader.address(node["iri"]), node, self.value)
        if name in functions.RULES:
            return functions.RULES[name](node, self.value)
        match name:
            case "Builtin_STR":
                return self._text_of(self.value(node["arg"]))
            case "Builtin_BOUND":
                return TypedValue("truth", self._is_bound(str(strip_layers(node["arg"]))))
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

    def _text_of(self, value: Value) -> Value:
        if isinstance(value, TypedValue) and value.kind == "text":
            return value
        if isinstance(value, Constant) and value.sort in ("string", "language", "other"):
            return TypedValue("text", exp.Literal.string(value.text))
        variable = functions.require_object(value)
        return StringValue(variable, is_sure=variable.name in self.literals)

    def _is_bound(self, name: str) -> exp.Expression:
        value = None if Variable(name) not in self.scope else self.variable(name)
        match value:
            case None:
                return truth(False)
            case BoundVariable(is_nullable=True):
                return value.is_bound()
            case TypedValue(tree=tree):
                return is_not_null(tree)
        return truth(True)  # patterns bind all their variables

    def _signed(self, node: Any) -> Value:
        value = self.value(node["expr"])
        if isinstance(value, Constant) and value.sort == "number":
            return negate(value) if name_of(node) == "UnaryMinus" else value
        number = TypedValue("number", arithmetic.number_of(value))
        return (
            replace(number, tree=exp.Neg(this=exp.Paren(this=number.tree)))
            if name_of(node) == "UnaryMinus"
            else number
        )

    def variable(self, name: str) -> Value:
        """What a variable is; a computed one is read here."""
        value = self.scope[Variable(name)]
        if not isinstance(value, Deferred):
            return value
        made = replace(self, scope=value.scope, literals=frozenset()).computed(value.node)
        return made

    def computed(self, node: Any) -> Value:
        """The value of an expression of BIND or of a SELECT list."""
        node = strip_layers(node)
        if is_variable(node) or name_of(node) in ("", "pname", "literal"):
            return self.value(node)
        guards = self._guards(node)
        if guards is None:
            return TypedValue("truth", exp.Null())
        value = self.value(node)
        if not guards or not isinstance(value, TypedValue):
            return value
        return replace(value, tree=cases((conjunction(*guards), value.tree)))

    def _choice(self, nodes: Sequence[Any]) -> list[TypedValue]:
        """Values of one kind; variables are taken for the kind of the others."""
        values = [self.value(each) for each in nodes if _unbound(each, self.scope) is None]
        kinds = [
            comparisons.typed_constant(each).kind if isinstance(each, Constant) else each.kind
            for each in values
            if isinstance(each, Constant | TypedValue)
        ]
        kind = kinds[0] if kinds else "number"
        return [
            arithmetic.of_kind(each, kind)
            if isinstance(each, BoundVariable)
            else self._one_kind(each)
            for each in values
        ]

    def _if(self, node: Any) -> TypedValue:
        test = self.truth(node["arg1"], loose=False)
        pair = self._choice([node["arg2"], node["arg3"]])
        if len(pair) != 2:
            raise refusal("CEL-Q259.no_truth")
        first, second = pair
        if first.kind != second.kind:
            kinds = [comparisons.kind_in_words(each.kind) for each in (first, second)]
            raise refusal("CEL-Q259.if_kinds", first=kinds[0], second=kinds[1])
        other = exp.Not(this=exp.Paren(this=test.copy()))
        return TypedValue(first.kind, cases((test, first.tree), (other, second.tree)))

    def _coalesce(self, node: Any) -> TypedValue:
        """The first that has a value: a variable that is bound has one, of whatever kind."""
        nodes = [each for each in node["arg"] if _unbound(each, self.scope) is None]
        parts = self._choice(nodes)
        if len({each.kind for each in parts}) != 1:
            raise refusal("CEL-Q259.coalesce_kinds")
        tests = []
        for each, part in zip(nodes, parts, strict=True):
            inner = strip_layers(each)
            value = self.variable(str(inner)) if is_variable(inner) else None
            if isinstance(value, BoundVariable):
                tests.append(value.is_bound())
            else:
                tests.append(is_not_null(part.tree.copy()))
        branches = [(test, part.tree) for test, part in zip(tests, parts, strict=True)]
        return TypedValue(parts[0].kind, cases(*branches))

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
            one = comparisons.typed_constant(one)
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
        return comparisons.compare_typed(operator, *self._same_kind(one, other))

    def _equal(self, one: Value, other: Value, *, loose: bool) -> exp.Expression:
        if isinstance(one, BoundVariable) and isinstance(other, Constant):
            return comparisons.equal_constant(one, other, loose=loose)
        if isinstance(one, BoundVariable) and isinstance(other, BoundVariable):
            return comparisons.equal_variables(one, other, loose=loose)
        if isinstance(one, StringValue) and isinstance(other, Constant) and other.sort == "string":
            return comparisons.equal_text(one.of, other)
        left, right = self._same_kind(one, other)
        made = comparisons.compare_typed("=", left, right)
        variable = next((each for each in (one, other) if isinstance(each, BoundVariable)), None)
        if variable is None or loose:
            return made
        return cases(
            (is_not_null(arithmetic.of_kind(variable, left.kind).tree), made),
            (variable.is_known(), truth(False)),
        )

    def _same_kind(self, one: Value, other: Value) -> tuple[TypedValue, TypedValue]:
        """Two values to compare; a variable is taken for the kind of the other one."""
        if isinstance(one, BoundVariable) and isinstance(other, BoundVariable):
            raise refusal("CEL-Q259.computed_with_variable")
        if isinstance(one, BoundVariable):
            second = self._one_kind(other)
            return arithmetic.of_kind(one, second.kind), second
        first = self._one_kind(one)
        if isinstance(other, BoundVariable):
            return first, arithmetic.of_kind(other, first.kind)
        return first, self._one_kind(other)

    @staticmethod
    def _one_kind(value: Value) -> TypedValue:
        if isinstance(value, Constant):
            return comparisons.typed_constant(value)
        if isinstance(value, StringValue):
            return TypedValue("text", value.tree())
        if not isinstance(value, TypedValue):
            raise refusal("CEL-Q259.computed_with_variable")
        return value

    def _in(self, left: Any, others: list[Any], negated: bool, *, loose: bool) -> exp.Expression:
        one = self.value(left)
        constants = [self.value(each) for each in others]
        if not constants:
            raise refusal("CEL-Q259.in_list")
        if isinstance(one, Constant):
            one = comparisons.typed_constant(one)
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


def _needed_variables(node: Any) -> Iterator[str]:
    """The variables without which an expression has no value."""
    return map(str, expression_variables(node, aside=_FORGIVING))


def _unbound(node: Any, scope: Scope) -> str | None:
    """A variable of an expression that nothing binds."""
    return next((name for name in _needed_variables(node) if Variable(name) not in scope), None)
