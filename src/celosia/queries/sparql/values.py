"""Values of expressions: terms of facts as columns, and values computed from them.

Terms of RDF carry their types along, so the same variable may be a number in one solution and an
address in the next. Each rule here says for which rows a term is what; NULL stands for SPARQL's
error, which the operators AND, OR and NOT of SQL treat alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlglot import exp

from celosia.queries.algebra import Column, Relation
from celosia.queries.rdf.terms import XSD, address_text, decode, term_number
from celosia.queries.sparql.constants import LANGUAGE_STRING, STRING, Constant, constant_number
from celosia.queries.sparql.patterns import Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import JoinedPart, column_tree, whole

Kind = Literal["truth", "number", "text", "address"]


def type_number(address: str) -> int:
    """The number of a datatype."""
    return term_number(address_text(address))


_TRUE, _FALSE = ("true", "1"), ("false", "0")
_REAL = (XSD + "double", XSD + "float")
_SPECIAL = ("NaN", "INF", "-INF", "+INF")
_TIMES = (XSD + "dateTime", XSD + "date")
_OTHERS = "time gYear gYearMonth gMonth gMonthDay gDay duration dayTimeDuration yearMonthDuration"
CALENDAR = tuple(XSD + word for word in _OTHERS.split())
"""Types whose values differ from all numbers, texts and moments; facts hold no value of them."""
_ZONE = "(Z|[+-][0-9][0-9]:[0-9][0-9])$"


@dataclass(frozen=True, slots=True)
class TypedValue:
    """A computed value that is of one kind in every row, or NULL."""

    kind: Kind
    tree: exp.Expression


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A variable as columns: its number, and what it is, where a fact has it for its object."""

    name: str
    columns: tuple[Column, ...]
    """All columns that hold its number."""
    is_nullable: bool = False
    """Whether solutions may leave it unbound, where its columns are NULL."""

    @property
    def facts(self) -> Column | None:
        """The column of a fact that has it for its object; None for one that is never an object."""
        return next((each for each in self.columns if each.name.endswith("object")), None)

    @property
    def is_resource(self) -> bool:
        """Whether it is surely no literal, because it is the subject or predicate of a fact."""
        return any(each.name.endswith(("subject", "predicate")) for each in self.columns)

    @property
    def number(self) -> exp.Expression:
        """The number of the term."""
        return column_tree(self.facts or self.columns[0])

    def column(self, word: str) -> exp.Expression:
        """A column of the fact that has the term for its object."""
        facts = self.facts
        assert facts is not None, "only of objects"
        return column_tree(Column(facts.relation, facts.name.removesuffix("object") + word))

    def is_bound(self) -> exp.Expression:
        """Whether a solution binds it."""
        return is_not_null(self.number)

    def has_type(self, *addresses: str) -> exp.Expression:
        """Whether it is a literal of one of some types."""
        numbers = [whole(type_number(each)) for each in addresses]
        if len(numbers) == 1:
            return exp.EQ(this=self.column("datatype"), expression=numbers[0])
        return exp.In(this=self.column("datatype"), expressions=numbers)

    def among(self, word: str, texts: tuple[str, ...]) -> exp.Expression:
        """Whether a column holds one of some texts."""
        return exp.In(this=self.column(word), expressions=list(map(exp.Literal.string, texts)))

    def has_number(self) -> exp.Expression:
        """Whether it is a number."""
        return is_not_null(self.column("number"))

    def is_special(self) -> exp.Expression:
        """Whether it is infinite or no number, which has a type of numbers and no value here."""
        return conjunction(self.has_type(*_REAL), self.among("text", _SPECIAL))

    def is_not_a_number(self) -> exp.Expression:
        """Whether it is the number that equals nothing, not even itself."""
        return conjunction(self.has_type(*_REAL), self.among("text", ("NaN",)))

    def is_truth(self) -> exp.Expression:
        """Whether it is a boolean."""
        return conjunction(self.has_type(XSD + "boolean"), self.among("text", _TRUE + _FALSE))

    def truth(self) -> exp.Expression:
        """The value of a boolean."""
        return self.among("text", _TRUE)

    def is_moment(self, *addresses: str) -> exp.Expression:
        """Whether it is a date or time of a type, in the calendar."""
        return conjunction(self.has_type(*addresses), is_not_null(self.column("moment")))

    def is_zoned(self) -> exp.Expression:
        """Whether the time zone of a date or time is written."""
        return exp.RegexpLike(this=self.column("text"), expression=exp.Literal.string(_ZONE))

    def is_string(self) -> exp.Expression:
        """Whether it is a text without a language."""
        return self.has_type(STRING)

    def is_text(self) -> exp.Expression:
        """Whether it is a text, with a language or without."""
        return self.has_type(STRING, LANGUAGE_STRING)

    def is_literal(self) -> exp.Expression:
        """Whether it is a literal."""
        return exp.EQ(this=self.column("kind"), expression=whole(2))

    def has_no_value(self) -> exp.Expression:
        """Whether it is an address, a blank node, or a text with a language: equal by name only."""
        return disjunction(
            exp.LT(this=self.column("kind"), expression=whole(2)), self.has_type(LANGUAGE_STRING)
        )

    def is_known(self) -> exp.Expression:
        """Whether its value is understood, so that it can be told from other values for sure."""
        return disjunction(
            exp.LT(this=self.column("kind"), expression=whole(2)),
            self.has_number(),
            self.has_type(STRING, LANGUAGE_STRING, *CALENDAR),
            self.is_truth(),
            self.is_moment(*_TIMES),
            self.is_special(),
        )


@dataclass(frozen=True, slots=True)
class StringValue:
    """STR(?v): the text of a literal, or an address, which facts do not hold."""

    of: BoundVariable
    is_sure: bool
    """Whether another condition lets only literals through."""

    def tree(self) -> exp.Expression:
        """The text, where it is surely that of a literal."""
        if not self.is_sure:
            raise refusal("CEL-Q259.text_of_address", variable=self.of.name)
        return cases((self.of.is_literal(), self.of.column("text")))


@dataclass(frozen=True, slots=True)
class Deferred:
    """A variable of BIND, or of a SELECT list, which is read only where something asks for it."""

    node: Any
    """The expression, as the parser has it."""
    scope: Scope
    """The variables that it may refer to."""


Value = TypedValue | BoundVariable | Constant | StringValue | Deferred
Scope = Mapping[Variable, Value]
"""What each variable is."""


@dataclass(frozen=True, slots=True)
class Solutions:
    """Rows, and what each variable is in them."""

    relation: Relation
    scope: Scope
    is_set: bool = False
    """Whether no two rows agree in all terms."""

    def part(self) -> JoinedPart:
        """The rows as a part of a join, on the variables that are terms of facts."""
        columns = [
            (column, variable)
            for variable, value in self.scope.items()
            if isinstance(value, BoundVariable) and not value.is_nullable
            for column in value.columns
        ]
        return JoinedPart(self.relation, tuple(columns))


OBJECT_WORDS = ("kind", "text", "language", "datatype", "number", "moment")
"""Columns that facts have of their objects."""


def describe_constant(constant: Constant, word: str) -> exp.Expression:
    """A constant as the column of a fact that would have it for its object."""
    if word == "object":
        return whole(constant_number(constant))
    held = decode(constant.written).as_dict()[word]
    if held is None:
        return exp.Null()
    if word == "moment":
        return exp.Cast(this=exp.Literal.string(held), to=exp.DataType.build("TIMESTAMP"))
    return exp.Literal.string(held) if word in ("text", "language") else exp.Literal.number(held)


def same_term(left: BoundVariable, right: BoundVariable) -> exp.Expression:
    """Whether two variables are the same term, by columns of one fact if there are any."""
    pairs = [(one, other) for one in left.columns for other in right.columns]
    one, other = next((pair for pair in pairs if pair[0].relation == pair[1].relation), pairs[0])
    return exp.EQ(this=column_tree(one), expression=column_tree(other))


def is_not_null(tree: exp.Expression) -> exp.Expression:
    """Whether an expression is not NULL."""
    return exp.Not(this=exp.Is(this=tree, expression=exp.Null()))


def conjunction(*trees: exp.Expression) -> exp.Expression:
    """All of some conditions."""
    made = exp.and_(*trees)
    assert isinstance(made, exp.Expression)
    return made


def disjunction(*trees: exp.Expression) -> exp.Expression:
    """Any of some conditions, in brackets."""
    made = exp.or_(*trees)
    assert isinstance(made, exp.Expression)
    return exp.Paren(this=made) if len(trees) > 1 else made


def truth(value: bool) -> exp.Expression:
    """TRUE or FALSE, written out."""
    return exp.Boolean(this=value)


def cases(
    *branches: tuple[exp.Expression, exp.Expression], default: exp.Expression | None = None
) -> exp.Case:
    """CASE with these branches; NULL where none is taken, unless there is a default."""
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=default)
