"""The parser: a text to one SELECT statement, the only statement that is ever compiled."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from celosia.core.errors import CelosiaError, InputError
from celosia.queries.positions import place_fields
from celosia.queries.sql.refusals import refusal

Dialect = Literal["duckdb", "postgres"]

MOST_LETTERS = 50_000
"""The longest query that is read."""
MOST_PARTS = 5_000
"""The most nodes of a query's tree."""
MOST_DEPTH = 120
"""The deepest tree: what follows walks it by recursion, far below Python's limit."""

_BEGINNINGS = {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM}

# The parser writes the text of statements it does not know to the log: they must not reach it.
_OTHERS = (
    "ALTER ANALYZE ATTACH BEGIN CACHE COMMAND COMMENT COPY CREATE DECLARE DELETE DESCRIBE DETACH "
    "DROP EXECUTE GRANT INSERT INSTALL KILL LOAD MERGE PRAGMA REFRESH REVOKE SET SHOW TRUNCATE "
    "UNCACHE UPDATE USE"
)
_STATEMENTS = {getattr(TokenType, name) for name in _OTHERS.split()}


def parse(query: str, *, dialect: Dialect = "duckdb") -> exp.Select | exp.SetOperation:
    """The one SELECT statement of a text, or several with UNION between them.

    Raises:
        InputError: CEL-Q020, the text is not SQL.
        QueryRefused: CEL-Q022 to CEL-Q023, CEL-Q042.
    """
    if dialect not in ("duckdb", "postgres"):
        raise InputError("CEL-Q020.dialect", dialect=dialect)
    if not isinstance(query, str):
        raise InputError("CEL-Q020.not_a_text", type_name=type(query).__name__)
    if len(query) > MOST_LETTERS:
        raise refusal("CEL-Q023.too_long", letters=len(query), most_letters=MOST_LETTERS)
    _check_beginning(_tokens(query, dialect))
    statement: exp.Expr | None = _tree(query, dialect)
    _check_size(statement)
    for part in statement.walk() if statement is not None else ():
        _check_part(part)
    while isinstance(statement, exp.Subquery) and set(_given(statement)) == {"this"}:
        statement = statement.this
    if not isinstance(statement, exp.Select | exp.SetOperation):
        raise _not_a_question(statement)
    return statement


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value not in (None, False, [])]


def _tokens(query: str, dialect: Dialect) -> list[Token]:
    try:
        tokens = sqlglot.tokenize(query, read=dialect)
    except SqlglotError:
        raise InputError("CEL-Q020.open_quote") from None
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise InputError("CEL-Q020.empty")
    return tokens


def _check_beginning(tokens: list[Token]) -> None:
    """Refuse several statements and everything but SELECT, before anything is parsed."""
    after = [token for last, token in pairwise(tokens) if last.token_type is TokenType.SEMICOLON]
    if after:
        raise refusal("CEL-Q022.several", line=after[0].line)
    if tokens[0].token_type not in _BEGINNINGS:
        raise _not_a_question(None, word=tokens[0].text)
    # WITH x AS (...) COPY ..., and WITH x AS (COPY ...).
    for before, last, token in zip([None, *tokens], tokens, tokens[1:], strict=False):
        starts = before is not None and before.text.upper() in ("AS", "MATERIALIZED")
        begins = starts and last.token_type is TokenType.L_PAREN
        follows = last.token_type is TokenType.R_PAREN
        if token.token_type in _STATEMENTS and (begins or follows):
            raise _not_a_question(None, word=token.text)


def _tree(query: str, dialect: Dialect) -> exp.Expr | None:
    try:
        statements = [each for each in sqlglot.parse(query, read=dialect) if each is not None]
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        line, column = first.get("line"), first.get("col")
        place = (line, column) if line and column else None
        raise InputError("CEL-Q020.unreadable", **place_fields(place)) from None
    except RecursionError:
        raise refusal("CEL-Q023.too_deep") from None
    except CelosiaError:
        raise
    except Exception:  # a fault of the parser on odd text is still no SQL
        raise InputError("CEL-Q020.unreadable", at="") from None
    return statements[0] if len(statements) == 1 else None


def _check_size(statement: exp.Expr | None) -> None:
    parts = 0
    level = [statement] if statement is not None else []
    for _ in range(MOST_DEPTH):
        parts += len(level)
        level = [child for node in level for child in node.iter_expressions()]
        if parts > MOST_PARTS:
            raise refusal("CEL-Q023.too_many_parts", most_parts=MOST_PARTS)
        if not level:
            return
    raise refusal("CEL-Q023.too_deep")


def _check_part(part: exp.Expr) -> None:
    """Refuse what the parser lets through: gaps, parameters anywhere, names that are no names."""
    for name, required in part.arg_types.items():
        if required and part.args.get(name) is None:
            raise InputError("CEL-Q020.incomplete", clause=type(part).__name__.upper())
    if isinstance(part, exp.Placeholder | exp.Parameter | exp.SessionParameter):
        raise refusal("CEL-Q022.parameter", at=part)
    if isinstance(part, exp.Select) and not part.expressions:
        raise InputError("CEL-Q020.nothing_selected")
    if isinstance(part, exp.Alias) and not isinstance(part.args.get("alias"), exp.Identifier):
        raise InputError("CEL-Q020.alias")


def _not_a_question(statement: exp.Expr | None, *, word: str = "") -> CelosiaError:
    named = word or (type(statement).__name__ if statement is not None else "")
    if not named:
        return refusal("CEL-Q022.unknown")
    return refusal("CEL-Q022.statement", word=named.upper())


def set_operation_refusal(statement: exp.SetOperation) -> CelosiaError:
    """The refusal of UNION, EXCEPT and INTERSECT."""
    keys = {exp.Except: "CEL-Q042.rows_difference", exp.Intersect: "CEL-Q042.rows_intersection"}
    return refusal(keys.get(type(statement), "CEL-Q042.rows_union"), at=statement.expression)


_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def has_sets(group: exp.Expr | None) -> bool:
    """Whether GROUP BY has several sets of keys."""
    return group is not None and any(isinstance(each, _SETS) for each in group.expressions)
