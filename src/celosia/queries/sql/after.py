"""HAVING, ORDER BY and LIMIT: what is done with the noisy answers, and so costs nothing.

An aggregate that only they speak of is asked for as well, and not shown.
"""

from __future__ import annotations

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.algebra import After
from celosia.queries.sql.conditions import condition
from celosia.queries.sql.outputs import Outputs
from celosia.queries.sql.parsing import Dialect
from celosia.queries.sql.refusals import only, refusal


def after(select: exp.Select, outputs: Outputs, *, dialect: Dialect) -> After:
    """What the query does with the answers.

    Raises:
        QueryRefused: CEL-Q027 and CEL-Q057, and all that an expression may be refused for.
    """
    having = select.args.get("having")
    order = select.args.get("order")
    made = After(
        having=_having(having.this, outputs) if having else None,
        order=tuple(_ordered(each, outputs, dialect) for each in order.expressions)
        if order
        else (),
        limit=_limit(select.args.get("limit")),
        columns=tuple(outputs.shown),
    )
    return made


def _having(node: exp.Expr, outputs: Outputs) -> exp.Expression:
    return condition(node, outputs.scope, special=lambda part: outputs.answer(part, "HAVING"))


def _ordered(node: exp.Expr, outputs: Outputs, dialect: Dialect) -> tuple[str, bool]:
    only(node, frozenset({"this", "desc", "nulls_first"}))
    descending = bool(node.args.get("desc"))
    # DuckDB puts NULLs last; PostgreSQL holds them for the largest. Other wishes have no place.
    usual = descending if dialect == "postgres" else False
    if bool(node.args.get("nulls_first")) != usual:
        raise _refused("NULLS FIRST or LAST in ORDER BY is not supported", node)
    inner = node.this.unnest()
    if isinstance(inner, exp.Literal) and not inner.is_string:
        place = int(inner.name) if inner.name.isdecimal() else 0
        if not 1 <= place <= len(outputs.shown):
            raise _refused(f"ORDER BY {inner.name} is no column of the answer", node)
        return outputs.shown[place - 1], descending
    typed = outputs.answer(inner, "ORDER BY")
    if typed is None:
        raise _refused("ORDER BY takes a key or an aggregate as it is", node)
    return typed.tree.name, descending


def _limit(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    only(node, frozenset({"expression", "count", "direction", "limit_options"}))
    options = node.args.get("limit_options")
    number = node.args.get("count") if isinstance(node, exp.Fetch) else node.expression
    if options is not None:
        only(options, frozenset({"rows"}))
    text = number.name if isinstance(number, exp.Literal) and not number.is_string else ""
    if not (text.isdecimal() and text.isascii() and len(text) <= 9):
        raise _refused("LIMIT takes a written whole number", node)
    return int(text)


def _refused(what: str, node: exp.Expr) -> CelosiaError:
    return refusal(
        "CEL-Q057",
        what,
        at=node,
        why="HAVING, ORDER BY and LIMIT work on the answers that are shown, after the noise.",
        fix="Speak of keys of GROUP BY and aggregates by their names.",
    )
