"""SPARQL text to the relational algebra: one SELECT in, a question or a refusal out.

The steps, each a module of its own: `scanner` (words that are refused where they stand),
`parser` (rdflib's grammar), `patterns` with `constants` (WHERE to triple patterns), `relations`
(patterns to joins), `conditions` with `values`, `comparisons` and `functions` (FILTER), `outputs`
(SELECT list and GROUP BY), `post_processing` (HAVING, ORDER BY, LIMIT).
"""

from celosia.queries.sparql.compiler import compile

__all__ = ["compile"]
