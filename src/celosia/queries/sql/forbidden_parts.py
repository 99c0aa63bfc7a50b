"""Parts that no row-wise expression may hold, each with its own refusal."""

from __future__ import annotations

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.sql.refusals import refusal

AGGREGATES = (exp.AggFunc, exp.WithinGroup, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)


def refuse_forbidden(node: exp.Expr) -> None:
    """Refuse stars, windows, sub-queries and aggregates in the place of a value."""
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
        raise star_refusal(node)
    if isinstance(node, exp.Window):
        raise refusal(
            "CEL-Q031",
            "window functions (OVER) are not supported",
            at=node,
            why="One row would change the values of many others.",
            fix="Group the rows: SELECT key, COUNT(*) FROM t GROUP BY key. Ranks, running sums and "
            "shares of the whole follow from that answer, for free.",
        )
    if isinstance(node, exp.Query | exp.Exists | exp.Any | exp.All) or node.args.get("query"):
        raise refusal(
            "CEL-Q044",
            "a sub-query stands in the place of a value",
            at=node,
            why="Its rows would be counted without a bound on what one person adds.",
            fix="Use it in FROM, or as a condition of WHERE that AND joins to the others: "
            "x IN (SELECT ...), [NOT] EXISTS (SELECT ...). A number to compare with is asked for "
            "first, and written into the query.",
        )
    if isinstance(node, AGGREGATES):
        raise refusal(
            "CEL-Q053",
            f"{_word(node)} stands where a value of one row is needed",
            at=node,
            why="Aggregates inside WHERE, ON, GROUP BY or another aggregate have no bound here.",
            fix="Aggregate once, in the SELECT list; a condition on its answer goes into HAVING.",
        )


def star_refusal(node: exp.Expr) -> CelosiaError:
    """The refusal of `*` where columns are needed."""
    return refusal(
        "CEL-Q028",
        "'*' stands for columns",
        at=node,
        why="Rows are never shown, only numbers about many of them.",
        fix="Ask for numbers, such as SELECT COUNT(*); in sub-queries '*' may stand.",
    )


def _word(node: exp.Expr) -> str:
    inner = node.this if isinstance(node, exp.WithinGroup | exp.Filter) else node
    return inner.sql_name() if isinstance(inner, exp.Func) else "an aggregate"
