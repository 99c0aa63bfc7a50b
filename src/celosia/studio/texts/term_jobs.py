"""The job of private term counts: charge the budget of the work, release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from celosia.core.progress import Step
from celosia.studio.budget import FIRST, budget_of, left_of
from celosia.studio.release_facts import save_private
from celosia.studio.texts.jobs import declared
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

FIRST_TERMS: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "per_person": 20, **FIRST}
ROWS = 50
"""Terms that a page shows; the file has all."""


def release(
    progress: JobProgress, *, folder: str, wanted: Mapping[str, Any], seed: int | None = None
) -> dict[str, Any]:
    """Release the terms of many persons; files and `terms.json` are written.

    Raises:
        BudgetExceeded: CEL-Q110 the budget of the work does not allow it.
    """
    from celosia import texts
    from celosia.core.randomness import source
    from celosia.texts.private import term_counts

    work = Work.at(folder)
    progress(Step("Reading the documents", 0))
    reading = texts.read(work.path("original"), declared(work))
    progress(Step("Drawing noise", 0))
    unit: Literal["person", "document"] = "person" if reading.collection.has_persons else "document"
    with budget_of(work, wanted, dataset="documents", unit=unit) as budget:
        answer = term_counts(
            reading,
            epsilon=float(wanted["epsilon"]),
            delta=float(wanted["delta"]),
            per_person=int(wanted["per_person"]),
            unit=unit,
            budget=budget,
            rng=source(seed),
        )
        left = left_of(budget)
    terms = sorted(answer.value.items(), key=lambda row: -row[1])[:ROWS]
    return save_private(
        work,
        answer,
        "terms",
        wanted=dict(wanted),
        unit=unit,
        seed=seed,
        left=left,
        count=len(answer.value),
        terms=terms,
    )
