"""Kinds of expressions, and which kinds can be combined.

A database casts in silence where kinds differ (`name = 5` reads every name as a number), and such
a cast can fail on a row: an error that reveals the data. So kinds must fit here, before that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlglot import exp

from celosia.core.messages import Message
from celosia.queries.sql.names import Field, Kind
from celosia.queries.sql.refusals import both, either, refusal

NUMBERS: frozenset[Kind] = frozenset({"integer", "number"})
TEXTS: frozenset[Kind] = frozenset({"text"})
TRUTHS: frozenset[Kind] = frozenset({"boolean"})
TIMES: frozenset[Kind] = frozenset({"date", "timestamp"})

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """A row-wise expression, with its kind."""

    tree: exp.Expression
    kind: Kind
    is_plain: bool = False
    """Whether it is a column of a table, and not computed on the way."""


def typed_field(field: Field) -> TypedExpression:
    """A column as an expression."""
    return TypedExpression(field.tree, field.kind, field.is_plain)


def require_kind(
    typed: TypedExpression, wanted: frozenset[Kind], *, at: exp.Expr, use: str
) -> TypedExpression:
    """The expression, if it is of a wanted kind; a bare NULL is of every kind."""
    if typed.kind in wanted or typed.kind == "null":
        return typed
    if wanted == TIMES and _is_text(typed.tree):
        return _moment(typed.tree, "timestamp", at=at)
    raise refusal(
        "CEL-Q049.kind", use=_in_words(use), kinds=either(sorted(wanted)), kind=typed.kind, at=at
    )


def unify_kinds(
    parts: Sequence[TypedExpression], *, at: exp.Expr, use: str
) -> tuple[list[TypedExpression], Kind]:
    """Convert expressions to one kind: literal texts become dates beside dates."""
    kinds = {part.kind for part in parts if not _is_text(part.tree)} - {"null"}
    if kinds and kinds <= TIMES:
        kind: Kind = "timestamp" if "timestamp" in kinds else "date"
        return [
            _moment(part.tree, kind, at=at) if _is_text(part.tree) else part for part in parts
        ], (kind)
    kinds = {part.kind for part in parts} - {"null"}
    if "interval" in kinds:
        raise refusal("CEL-Q049.interval", use=_in_words(use), at=at)
    if kinds == NUMBERS:
        return list(parts), "number"
    if len(kinds) > 1:
        raise refusal("CEL-Q049.mixed_kinds", use=_in_words(use), kinds=both(sorted(kinds)), at=at)
    return list(parts), kinds.pop() if kinds else "null"


def guard_casts(tree: exp.Expression, parts: Sequence[TypedExpression]) -> exp.Expression:
    """Wrap a combination of parts in TRY where the database may cast one of them and fail.

    Beside a decimal number of more places, a decimal column is cast to as many, and a value that
    leaves no room for them fails; so does a date beside timestamps that do not reach its year.
    """
    kinds = {part.kind for part in parts}
    written = [part.tree for part in parts if isinstance(part.tree, exp.Literal)]
    # With an exponent it is a double, beside which all numbers become doubles.
    decimal = [each for each in written if "." in each.name and "e" not in each.name.lower()]
    has_places = len(parts) - len(written) > 1 or bool(decimal)
    has_dates = any(part.kind == "date" and part.tree.find(exp.Column) for part in parts)
    may_fail = ("number" in kinds and has_places) or (has_dates and "timestamp" in kinds)
    return exp.Try(this=tree) if may_fail else tree


def parse_moment(text: str, kind: Kind, *, at: exp.Expr) -> TypedExpression:
    """A date or timestamp that is written out and exists in the calendar."""
    written = _DATE if kind == "date" else _TIMESTAMP
    try:
        if not written.fullmatch(text):
            raise ValueError
        (date if kind == "date" else datetime).fromisoformat(text)
    except ValueError:
        form = "2026-01-31" if kind == "date" else "2026-01-31 23:59:59"
        raise refusal(
            "CEL-Q050.moment", kind=kind, form=form, keyword=kind.upper(), at=at
        ) from None
    return TypedExpression(
        exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build(kind)), kind
    )


def _is_text(tree: exp.Expression) -> bool:
    return isinstance(tree, exp.Literal) and tree.is_string


def _moment(tree: exp.Expression, kind: Kind, *, at: exp.Expr) -> TypedExpression:
    if kind == "date" and not _DATE.fullmatch(tree.name):
        kind = "timestamp"
    return parse_moment(tree.name, kind, at=at)


def _in_words(use: str) -> str:
    """Where a value is used: a keyword or sign as it is, else in the words for it."""
    match use:
        case "condition":
            return Message("queries.sql.a_condition")
        case "comparison":
            return Message("queries.sql.a_comparison")
        case "join":
            return Message("queries.sql.a_join")
    return use
