"""Questions as SQL that the owner's own engine runs, with whole numbers as the only answers.

Every query is a tree of SQLGlot, never text put together. It is total (no row can make it fail, as
long as the row-wise expressions of the question are total themselves) and deterministic: nothing
depends on the order of rows, on time or on chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.queries.emission.aggregates import (
        count_query,
        distinct_count_query,
        grouped_query,
        sum_query,
    )
    from celosia.queries.emission.contribution_levels import (
        contribution_totals_query,
        shared_values_query,
    )
    from celosia.queries.emission.fixed_point import FixedPoint
    from celosia.queries.emission.group_truncation import (
        contribution_levels_query,
        truncated_groups_query,
    )
    from celosia.queries.emission.histograms import (
        histogram_query,
        people_by_key_query,
        people_by_rows_query,
    )
    from celosia.queries.emission.incidence import incidence_query
    from celosia.queries.emission.target import Target
    from celosia.queries.emission.truncation import per_owner_query, truncated_totals_query

__all__ = [
    "FixedPoint",
    "Target",
    "contribution_levels_query",
    "contribution_totals_query",
    "count_query",
    "distinct_count_query",
    "grouped_query",
    "histogram_query",
    "incidence_query",
    "people_by_key_query",
    "people_by_rows_query",
    "per_owner_query",
    "shared_values_query",
    "sum_query",
    "truncated_groups_query",
    "truncated_totals_query",
]

__getattr__, __dir__ = on_first_use(__name__)
