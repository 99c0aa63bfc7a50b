"""SQL text to the relational algebra: one SELECT in, a question or a refusal out.

The steps, each a module of its own: `parsing` (one SELECT), `relations` with `joining`, `matching`
and `subqueries` with `stars` (FROM and WHERE to rows), `conditions` with `operators`, `functions`,
`shorthands`, `kinds` and `total` (row-wise expressions), `grouping` and `outputs` with `aggregates`
and `tuples` (GROUP BY and SELECT list), `after` (HAVING, ORDER BY, LIMIT, OFFSET).
"""

from celosia.queries.sql.compiling import compile
from celosia.queries.sql.total import total
from celosia.queries.sql.writing import Line, describe, normalised

__all__ = ["Line", "compile", "describe", "normalised", "total"]
