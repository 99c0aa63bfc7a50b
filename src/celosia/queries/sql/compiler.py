"""The compiler of SQL: a text to a question of the relational algebra, or to a refusal."""

from __future__ import annotations

from sqlglot import exp

from celosia.queries.algebra import Question
from celosia.queries.policy.values import Policy
from celosia.queries.sql.growth import check_growth
from celosia.queries.sql.outputs import check_answerable, read_outputs
from celosia.queries.sql.parser import Dialect, parse
from celosia.queries.sql.post_processing import read_post_processing
from celosia.queries.sql.refusals import refusal
from celosia.queries.sql.relations import RelationBuilder
from celosia.queries.sql.subqueries import check_used, distinct_refusal

_ANSWERS = frozenset({"group", "having", "order", "limit", "offset"})


def compile(query: str, policy: Policy, *, dialect: Dialect = "duckdb") -> Question:
    """The question that a SQL text asks of the tables of a policy.

    What is decided here depends on the text and the policy, never on data. Every relation of the
    question has an alias of its own, and every expression has a value on every row.

    Args:
        query: one SELECT statement.
        policy: the tables and columns that there are.
        dialect: how the text is written.

    Raises:
        InputError: CEL-Q020, the text is not SQL.
        QueryRefused: CEL-Q021 to CEL-Q059, what cannot be promised, with the place in the text.
    """
    select = parse(query, dialect=dialect)
    try:
        return _compile_select(select, policy, dialect)
    except RecursionError:
        raise refusal("CEL-Q023.too_deep") from None


def _compile_select(select: exp.Select, policy: Policy, dialect: Dialect) -> Question:
    if select.args.get("distinct"):
        raise distinct_refusal(select)
    builder = RelationBuilder(policy)
    rows = builder.rows(select, visible={}, allowed=_ANSWERS)
    check_used(builder)
    outputs = read_outputs(select, rows.scope)
    done = read_post_processing(select, outputs, dialect=dialect)
    check_answerable(outputs, select)
    aggregates, keys = outputs.parts()
    question = Question(rows.relation, aggregates, keys, done)
    check_growth(question)
    return question
