"""COUNT(DISTINCT (a, b)): several values as one text, different wherever any of them differs.

Each value is written with its length before it, `N` for NULL, so no two lists of values have one
text: (12, 3) is `2:121:3` and (1, 23) is `1:12:23`. A list with a NULL is a value like any other,
as it is in both dialects.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.sql.refusals import check_arguments, refusal


def encode_tuple(values: Sequence[exp.Expr], at: exp.Expr) -> exp.Expr:
    """The one expression whose different values are counted.

    Raises:
        QueryRefused: CEL-Q054, a list without brackets around it.
    """
    first = values[0].unnest() if values else None
    if first is None or len(values) != 1:
        raise _without_brackets(at)
    condition = None
    if isinstance(first, exp.Case) and isinstance(first.args["ifs"][0].args["true"], exp.Tuple):
        condition = first.args["ifs"][0].this  # FILTER (WHERE ...) around a list
        first = first.args["ifs"][0].args["true"]
    if not isinstance(first, exp.Tuple):
        return first
    check_arguments(first, frozenset({"expressions"}))
    parts = [_encode_value(each) for each in first.expressions]
    if not parts:
        raise _without_brackets(at)
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.DPipe(this=whole, expression=part, safe=True)
    if condition is None:
        return whole
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=whole)])


def _encode_value(value: exp.Expr) -> exp.Expr:
    """`3:abc`, or `N` for NULL."""
    text = exp.Cast(this=value.copy(), to=exp.DataType.build("text"))
    length = exp.Cast(this=exp.Length(this=text.copy()), to=exp.DataType.build("text"))
    mark = exp.DPipe(this=length, expression=exp.Literal.string(":"), safe=True)
    text_value = exp.DPipe(this=mark, expression=text, safe=True)
    return exp.Coalesce(this=text_value, expressions=[exp.Literal.string("N")])


def _without_brackets(node: exp.Expr) -> CelosiaError:
    return refusal("CEL-Q054.without_brackets", at=node)
