"""SQL text to the relational algebra: one SELECT in, a question or a refusal out.

The steps, each a module of its own: `parsing` (one SELECT), `relations` with `joining`, `matching`
and `subqueries` (FROM and WHERE to rows), `conditions` with `operators`, `functions`, `kinds` and
`total` (row-wise expressions), `outputs` with `aggregates` (SELECT list and GROUP BY), `after`
(HAVING, ORDER BY, LIMIT).
"""

from celosia.queries.sql.compiling import compile
from celosia.queries.sql.total import total
from celosia.queries.sql.writing import Line, describe, normalised

__all__ = ["Line", "compile", "describe", "normalised", "total"]
