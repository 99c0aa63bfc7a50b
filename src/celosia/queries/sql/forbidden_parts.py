"""Parts that no row-wise expression may hold, each with its own refusal."""

from __future__ import annotations

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message
from celosia.queries.sql.refusals import refusal

AGGREGATES = (exp.AggFunc, exp.WithinGroup, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)


def refuse_forbidden(node: exp.Expr) -> None:
    """Refuse stars, windows, sub-queries and aggregates in the place of a value."""
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
        raise star_refusal(node)
    if isinstance(node, exp.Window):
        raise refusal("CEL-Q031", at=node)
    if isinstance(node, exp.Query | exp.Exists | exp.Any | exp.All) or node.args.get("query"):
        raise refusal("CEL-Q044.as_a_value", at=node)
    if isinstance(node, AGGREGATES):
        word = _word(node) or Message("queries.sql.an_aggregate")
        raise refusal("CEL-Q053", word=word, at=node)


def star_refusal(node: exp.Expr) -> CelosiaError:
    """The refusal of `*` where columns are needed."""
    return refusal("CEL-Q028", at=node)


def _word(node: exp.Expr) -> str:
    inner = node.this if isinstance(node, exp.WithinGroup | exp.Filter) else node
    return inner.sql_name() if isinstance(inner, exp.Func) else ""
