"""Questions as SQL that the owner's own engine runs, with whole numbers as the only answers.

Every query is a tree of SQLGlot, never text put together. It is total (no row can make it fail, as
long as the row-wise expressions of the question are total themselves) and deterministic: nothing
depends on the order of rows, on time or on chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy import on_first_use

if TYPE_CHECKING:
    from celosia.queries.emission.cuts import cut_totals_query, people_levels_query
    from celosia.queries.emission.fixed_point import FixedPoint
    from celosia.queries.emission.incidence import incidence_query
    from celosia.queries.emission.keys import people_by_key_query
    from celosia.queries.emission.levels import people_totals_query
    from celosia.queries.emission.people import per_owner_query, truncated_totals_query
    from celosia.queries.emission.ranks import histogram_query, people_by_rows_query
    from celosia.queries.emission.target import Target
    from celosia.queries.emission.totals import (
        count_query,
        distinct_count_query,
        grouped_query,
        sum_query,
    )

__all__ = [
    "FixedPoint",
    "Target",
    "count_query",
    "cut_totals_query",
    "distinct_count_query",
    "grouped_query",
    "histogram_query",
    "incidence_query",
    "people_by_key_query",
    "people_by_rows_query",
    "people_levels_query",
    "people_totals_query",
    "per_owner_query",
    "sum_query",
    "truncated_totals_query",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "cuts": ("cut_totals_query", "people_levels_query"),
        "fixed_point": ("FixedPoint",),
        "incidence": ("incidence_query",),
        "keys": ("people_by_key_query",),
        "levels": ("people_totals_query",),
        "people": ("per_owner_query", "truncated_totals_query"),
        "ranks": ("histogram_query", "people_by_rows_query"),
        "target": ("Target",),
        "totals": ("count_query", "distinct_count_query", "grouped_query", "sum_query"),
    },
)
