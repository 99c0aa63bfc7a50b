"""Row-wise expressions for Spark, whose operators are total but overflow in silence.

With Spark's ANSI mode off nothing fails on a row: a cast or a division that cannot be is NULL. But
whole numbers that overflow come back wrong, casts of texts and fractions to whole numbers mean
something else than in DuckDB, and so do the days of the week. Questions come with `TRY(...)` and
`TRY_CAST` as for DuckDB; here they get the same meaning: NULL where a value has no place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import Relation
from celosia.queries.emission import timestamps
from celosia.queries.emission.expression_types import NUMBER, ExpressionWriter, rounded_places
from celosia.queries.emission.syntax import integer_literal
from celosia.queries.emission.target import Target

WHOLE_DOUBLES = 2**52
"""From here on all doubles are whole, and CEIL need not look."""
NEAR = ("-200000-01-01", "+200000-01-01")
"""Years that Spark's 64 bits of microseconds hold, with all spans that a question may add."""
SEVERAL = 2
"""So many % in a pattern, one of them inside, and the time to match may grow with a power."""
BLANKS = " \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
"""What DuckDB trims: Spark by itself trims the first of them only."""
MOST_PLACES = 400
"""No double has digits behind so many places."""
DATE = r"^\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\s*$"
MOMENT = (
    r"^\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?\s*$"
)
_TRIED: dict[type[exp.Expr], str] = {
    exp.Add: "TRY_ADD",
    exp.Sub: "TRY_SUBTRACT",
    exp.Mul: "TRY_MULTIPLY",
}
_WHOLE_OF_WHOLE = (
    *(exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod),
    *(exp.Neg, exp.Abs, exp.Paren, exp.Try, exp.Nullif),
)


def rewrite_for_spark(tree: exp.Expr, relation: Relation, *, target: Target) -> exp.Expr:
    """The same expression for Spark, NULL where DuckDB's TRY would be.

    Args:
        tree: of the question; TRY and TRY_CAST say where it could fail.
        relation: whose columns it speaks of.
        target: the policy, for the types of columns.

    Raises:
        QueryRefused: CEL-Q127, what would be written too often.
    """
    return _Writer(relation, target).write(tree)


class _Writer(ExpressionWriter):
    __slots__ = ()
    nested = "CEL-Q127.nested_in_spark"

    def write(self, tree: exp.Expr) -> exp.Expr:  # noqa: PLR0911, PLR0912 - one a kind of node
        match tree:
            case exp.Column() | exp.DataType() | exp.Literal() | exp.Interval():
                return tree.copy()
            case exp.Try():
                return self.write(tree.this)
            case exp.TryCast():
                return self._cast(tree.this, tree.args["to"])
            case exp.Extract():
                return self._part(tree.this.name.upper(), tree.expression)
            case exp.TimestampTrunc():
                # The function of this name: SQLGlot's own puts casts around it.
                unit = exp.Literal.string(tree.args["unit"].name.upper())
                cut = exp.Anonymous(this="DATE_TRUNC", expressions=[unit, self._moment(tree.this)])
                return _as_moment(cut)
            case exp.Like():
                return self._like(tree)
            case exp.Trim() if tree.args.get("expression") is None:
                named = {"position": tree.args.get("position")}
                blanks = exp.Literal.string(BLANKS)
                return exp.Trim(this=self.write(tree.this), expression=blanks, **named)
            case exp.Add() | exp.Sub() if self.kind(tree) != "number":
                return self._shifted(tree)
            case exp.Add() | exp.Sub() | exp.Mul():
                return self._tried(type(tree), self.write(tree.this), self.write(tree.expression))
            case exp.Div():
                sides = [self.target.cast(self.write(each), "real") for each in _sides(tree)]
                # `typed` and `safe` keep SQLGlot from adding casts of its own.
                return exp.Div(this=sides[0], expression=sides[1], typed=True, safe=True)
            case exp.IntDiv():
                return self._divided(tree)
            case exp.Neg() if isinstance(tree.this, exp.Literal):
                return tree.copy()
            case exp.Neg():
                return self._tried(exp.Sub, integer_literal(0), self.write(tree.this))
            case exp.Abs():
                value = self.short(tree.this)
                below = exp.LT(this=value, expression=integer_literal(0))
                return exp.Case(
                    ifs=[
                        exp.If(
                            this=below, true=self._tried(exp.Sub, integer_literal(0), value.copy())
                        )
                    ],
                    default=value.copy(),
                )
            case exp.Ceil() | exp.Floor():
                return self._stepped(tree)
            case exp.Round():
                number = max(-MOST_PLACES, min(rounded_places(tree), MOST_PLACES))
                return exp.Round(this=self.write(tree.this), decimals=integer_literal(number))
            case exp.Length() | exp.StrPosition():
                return self.target.cast(self.rebuilt(tree), "whole")  # of 32 bits in Spark
        if isinstance(tree, (*timestamps.SINGLE_TYPED, *timestamps.COMPARISONS)):
            return self.rebuilt(timestamps.cast_dates(tree, self.kind))
        return self.rebuilt(tree)

    @staticmethod
    def _tried(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this=_TRIED[kind], expressions=[left, right])

    def _is_whole(self, tree: exp.Expr) -> bool:
        if isinstance(tree, exp.Literal):
            return not tree.is_string and tree.name.isdecimal()
        if isinstance(tree, _WHOLE_OF_WHOLE):
            sides = [tree.this, *([tree.expression] if tree.args.get("expression") else [])]
            return all(map(self._is_whole, sides))
        return self.kind(tree) == "integer"

    def _divided(self, tree: exp.IntDiv) -> exp.Expr:
        """The whole part of a quotient of whole numbers; of others the quotient, as in DuckDB."""
        if not all(map(self._is_whole, _sides(tree))):
            return self.write(exp.Div(this=tree.this, expression=tree.expression))
        left, right = (
            self.target.cast(exp.Paren(this=self.short(each)), "whole") for each in _sides(tree)
        )
        # The one quotient of 64 bits that has no place in them is that of the least by -1.
        turned = self._tried(exp.Sub, integer_literal(0), left.copy())
        is_turned = exp.EQ(this=right.copy(), expression=integer_literal(-1))
        return exp.Case(
            ifs=[exp.If(this=is_turned, true=turned)],
            default=exp.IntDiv(this=left, expression=right),
        )

    def _stepped(self, tree: exp.Expr) -> exp.Expr:
        """CEIL or FLOOR as a double: Spark's are BIGINT, with 0 for NaN and ends for infinities."""
        value = self.target.cast(exp.Paren(this=self.short(tree.this)), "real")
        near = exp.LT(this=exp.Abs(this=value), expression=integer_literal(WHOLE_DOUBLES))
        stepped = self.target.cast(type(tree)(this=value.copy()), "real")
        return exp.Case(ifs=[exp.If(this=near, true=stepped)], default=value.copy())

    def _like(self, tree: exp.Like) -> exp.Expr:
        """LIKE; a regular expression that never goes back where there are several %.

        Spark's own tries again from every letter for each %: one long text could keep a question
        from being answered in time. Here each piece is taken where it is first found, which is as
        good as any other place, and not looked for again.
        """
        is_lower = isinstance(tree.expression, exp.Lower)
        literal = tree.expression.this if is_lower else tree.expression
        first, *others = re.split("%+", literal.name)
        *inner, last = others or [""]
        is_inside = len(others) - (first == "") - (last == "") > 0
        if len(others) < SEVERAL or not is_inside:
            return self.rebuilt(tree)
        form = "(?s)^" + _letters(first) + "".join(f"(?>.*?{_letters(each)})" for each in inner)
        form += f".*{_letters(last)}\\z" if last else ""
        # No letter of the form itself changes in lower case.
        written: exp.Expr = exp.Literal.string(form)
        written = exp.Lower(this=written) if is_lower else written
        return exp.RegexpLike(this=self.write(tree.this), expression=written)

    def _moment(self, tree: exp.Expr) -> exp.Expr:
        """A timestamp, or NULL where one is so far away that something may fail on it."""
        return self._near(tree, _as_moment)

    def _near(self, tree: exp.Expr, made: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """What is made of a moment, or NULL where that is beyond all calendars that matter."""
        if not tree.find(exp.Column):  # written, and checked
            return made(self.write(tree))
        value = self.short(tree)
        first, last = (exp.Cast(this=each, to=exp.DataType.build("date")) for each in _texts(NEAR))
        return timestamps.null_outside(value, first, last, made(value.copy()))

    def _part(self, part: str, tree: exp.Expr) -> exp.Expr:
        found = {"DOW": "DOW", "ISODOW": "DOW_ISO"}.get(part, part)
        taken = [exp.Literal.string(found), self._moment(tree)]
        made = self.target.cast(exp.Anonymous(this="DATE_PART", expressions=taken), "whole")
        if part != "DOW":
            return made
        return exp.Paren(
            this=exp.Sub(this=made, expression=integer_literal(1))
        )  # Spark's Sunday is 1

    def _shifted(self, tree: exp.Add | exp.Sub) -> exp.Expr:
        """A moment and a span, a date and days, or the days between two dates."""
        kinds = [self.kind(each) for each in _sides(tree)]
        if self.kind(tree) == "timestamp":
            left, right = (
                self._moment(each) if kind in timestamps.DATE_TYPES else self.write(each)
                for each, kind in zip(_sides(tree), kinds, strict=True)
            )
            return self._tried(type(tree), left, right)
        # Days have 32 bits, and go round in silence.
        dates = [
            self._near(each, lambda value: value) if kind == "date" else self.write(each)
            for each, kind in zip(_sides(tree), kinds, strict=True)
        ]
        if kinds == ["date", "date"]:
            days = exp.Anonymous(this="DATEDIFF", expressions=dates)
            return self.target.cast(days, "whole")
        function = "DATE_ADD" if isinstance(tree, exp.Add) else "DATE_SUB"
        return exp.Anonymous(this=function, expressions=dates)

    def _cast(self, tree: exp.Expr, to: exp.DataType) -> exp.Expr:  # noqa: PLR0911 - one a pair
        source, wanted = self.kind(tree), self.kind(exp.Cast(this=tree.copy(), to=to.copy()))
        value = self.short(tree)
        plain = exp.TryCast(this=value, to=to.copy(), safe=True)
        match source, wanted:
            case ("text", "boolean"):
                return self.truth(value)
            case ("text", "date" | "timestamp"):
                form = DATE if wanted == "date" else MOMENT
                return _matching(value, form, _read_as(value, to))
            case ("text", "integer"):
                exact = exp.DataType.build("DECIMAL(38, 10)", dialect="spark")
                rounded = exp.Round(this=_read_as(value, exact), decimals=integer_literal(0))
                return _matching(value, NUMBER, exp.TryCast(this=rounded, to=to.copy(), safe=True))
            case ("text", "number"):
                return _matching(value, NUMBER, _read_as(value, to))
            case ("number", "integer"):
                # Spark would cut the fraction off.
                rounded = exp.Round(this=value, decimals=integer_literal(0))
                return exp.TryCast(this=rounded, to=to.copy(), safe=True)
            case ("number", "text") if not self._is_whole(tree):
                raise QueryRefused("CEL-Q127.fraction_as_text")
            case ("date", "timestamp"):
                return self._moment(tree)
        return plain


def _letters(piece: str) -> str:
    """A piece of a LIKE pattern as a regular expression: what is no letter may be escaped."""
    escaped = (f"\\{each}" if each.isascii() and not each.isalnum() else each for each in piece)
    return "".join(escaped).replace("\\_", ".")


def _sides(tree: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return tree.this, tree.expression


def _as_moment(tree: exp.Expr) -> exp.Expr:
    return exp.Cast(this=tree, to=exp.DataType.build("TIMESTAMP_NTZ", dialect="spark"))


def _texts(words: tuple[str, ...]) -> list[exp.Expr]:
    return [exp.Literal.string(each) for each in words]


def _read_as(value: exp.Expr, to: exp.DataType) -> exp.TryCast:
    return exp.TryCast(this=exp.Trim(this=value.copy()), to=to.copy(), safe=True)


def _matching(value: exp.Expr, form: str, result: exp.Expr) -> exp.Expr:
    is_so = exp.RegexpLike(this=value.copy(), expression=exp.Literal.string(form))
    return exp.Case().when(is_so, result)
