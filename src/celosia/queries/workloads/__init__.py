"""Questions that are answered together: less noise for the same budget.

Questions about the same rows, grouped by several keys, are counts of one contingency table. A
workload measures a few of its marginals and answers each question by the best linear estimate from
all of them. What is measured are ordinary questions of the vault: each is charged, and its answer
stays in the ledger as a synopsis that answers later questions of its kind for free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.queries.workloads.dashboard import load_dashboard
    from celosia.queries.workloads.plan import WorkloadPlan
    from celosia.queries.workloads.questions import WorkloadQuestion
    from celosia.queries.workloads.run import WorkloadAnswer

__all__ = ["WorkloadAnswer", "WorkloadPlan", "WorkloadQuestion", "load_dashboard"]

__getattr__, __dir__ = on_first_use(__name__)
