"""Searches in texts: LIKE, ILIKE and STRPOS, in time that is bounded on every row.

DuckDB matches a pattern of `%` and letters piece by piece, in time that grows with the text. With a
`_` in it, and in ILIKE always, it tries again from every letter for each `%`: `'%a_%a_%a_%b'` takes
the third power of the length, so one long text could keep a question from being answered in time,
and the lack of an answer would reveal it. So ILIKE is LIKE of lower-case texts, as both databases
define it, and with a `_` only one `%` is taken beside those at the end, which cost nothing. What is
looked for is written out and short: the time is then at most its length times that of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from celosia.queries.sql.kinds import TEXTS, TypedExpression, require_kind
from celosia.queries.sql.operators import Read, Rule, comparison_side, negate_if_flagged
from celosia.queries.sql.refusals import check_arguments, refusal

MOST_LETTERS = 200
"""The longest text that is looked for."""


def _like(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "expression", "negate"}))
    text = require_kind(read(node.this), TEXTS, at=node, use="LIKE").tree
    written: exp.Expr = _pattern(node)
    if isinstance(node, exp.ILike):
        text, written = exp.Lower(this=text), exp.Lower(this=written)
    return negate_if_flagged(exp.Like(this=comparison_side(text), expression=written), node)


def _pattern(node: exp.Expr) -> exp.Literal:
    pattern = node.expression
    # A pattern that ends in an escape fails in PostgreSQL, but only on rows that match so far.
    if not (isinstance(pattern, exp.Literal) and pattern.is_string) or "\\" in pattern.name:
        raise refusal("CEL-Q050.pattern_not_written", at=node)
    word = pattern.name
    if len(word) > MOST_LETTERS:
        raise refusal("CEL-Q050.pattern_too_long", most_letters=MOST_LETTERS, at=node)
    if "_" in word and len(re.findall("%+", word.rstrip("%"))) > 1:
        raise refusal("CEL-Q050.pattern_too_slow", at=node)
    return exp.Literal.string(word)


def _position(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "substr"}))
    text = require_kind(read(node.this), TEXTS, at=node, use="STRPOS")
    wanted = node.args["substr"]
    if not (isinstance(wanted, exp.Literal) and wanted.is_string):
        raise refusal("CEL-Q050.text_not_written", at=node)
    if len(wanted.name) > MOST_LETTERS:
        raise refusal("CEL-Q050.text_too_long", most_letters=MOST_LETTERS, at=node)
    found = exp.StrPosition(this=text.tree, substr=exp.Literal.string(wanted.name))
    return TypedExpression(found, "integer")


RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Like: _like,
    exp.ILike: _like,
    exp.StrPosition: _position,
}
"""The allow-list, beside `functions.RULES`."""
