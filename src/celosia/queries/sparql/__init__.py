"""SPARQL text to the relational algebra: one SELECT in, a question or a refusal out.

The steps, each a module of its own: `scanner` (words that are refused where they stand), `groups`
with `paths` and `constants` (WHERE to `branches` of `patterns`), `solutions` with `relations`,
`stacks` and `sub_queries` (branches to rows), `conditions` with `values`, `comparisons`,
`functions` and `arithmetic` (FILTER and BIND), `outputs` (SELECT list and GROUP BY).
"""

from celosia.queries.sparql.compiler import compile

__all__ = ["compile"]
