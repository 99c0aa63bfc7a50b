"""SQL text to the relational algebra: one SELECT in, a question or a refusal out.

The steps, each a module of its own: `parser` (one SELECT), `relations` with `joins`, `semi_joins`
and `subqueries` with `select_star` (FROM and WHERE to rows), `conditions` with `operators`,
`functions`, `shorthands`, `kinds` and `total_functions` (row-wise expressions), `group_by` and
`outputs` with `aggregates` and `tuples` (GROUP BY and SELECT list), `post_processing` (HAVING,
ORDER BY, LIMIT, OFFSET).
"""

from celosia.queries.sql.compiler import compile
from celosia.queries.sql.conditions import make_total
from celosia.queries.sql.question_text import TextLine, describe, in_words, normalise

__all__ = ["TextLine", "compile", "describe", "in_words", "make_total", "normalise"]
