"""The job of a private release of traces: charge the budget, release, draw what was released."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Step
from celosia.studio.budget import budget_of, left_of
from celosia.studio.release_facts import save_private
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.accounting.budget import Budget
    from celosia.core.randomness import Source
    from celosia.core.release import Release
    from celosia.traces import Traces

ROWS = 20
"""Numbers that the page shows; the file has all."""


def release(
    progress: JobProgress, *, folder: str, wanted: Mapping[str, Any], seed: int | None = None
) -> dict[str, Any]:
    """Release one statistic of the points of a work; files and `private.json` are written.

    Raises:
        PrivacyError: CEL-J030 the region was measured and none is declared here.
        BudgetExceeded: CEL-Q110 the budget of the work does not allow it.
    """
    from celosia.core.randomness import source
    from celosia.traces import Declaration, read

    work = Work.at(folder)
    progress(Step("Reading the file", 0))
    if wanted["region"] is not None:
        _declare(work, wanted["region"])
    declared = Declaration.load(work.path("trace.toml"))
    traces = read(work.path("points.csv"), declared)
    progress(Step("Drawing noise", 0))
    with budget_of(work, wanted, dataset="points", unit=declared.unit) as budget:
        made, question, values = _released(traces, wanted, budget, source(seed))
        left = left_of(budget)
    rows = sorted(values.items(), key=lambda row: -row[1])[:ROWS]
    facts: dict[str, Any] = {"question": question, "rows": rows, "map": _map(made, wanted, values)}
    return save_private(work, made, "private", wanted=dict(wanted), seed=seed, left=left, **facts)


def _released(
    traces: Traces, wanted: Mapping[str, Any], budget: Budget, rng: Source
) -> tuple[Release, str, dict[str, float]]:
    from celosia.traces import private

    epsilon, per_person = float(wanted["epsilon"]), int(wanted["per_person"])
    size = int(wanted["size"])
    if wanted["statistic"] == "synthetic":
        method = private.SyntheticTraces(epsilon=epsilon, size=size, per_person=per_person)
        trips = private.synthetic(traces, method, budget=budget, rng=rng)
        return trips, Message("traces.statistic.synthetic"), {}
    shared: dict[str, Any] = {"epsilon": epsilon, "per_person": per_person}
    shared |= {"budget": budget, "rng": rng}
    if wanted["statistic"] == "grid":
        answer = private.grid(traces, size=size, **shared)
    elif wanted["statistic"] == "visits":
        answer = private.visits(traces, grid=size, **shared)
    else:
        answer = private.flows(traces, grid=size, **shared)
    return answer, answer.question, dict(answer.value)


def _map(made: Release, wanted: Mapping[str, Any], values: Mapping[str, float]) -> str | None:
    """A map of the released numbers alone; None for flows, which are between cells."""
    from celosia.traces import TraceRelease
    from celosia.traces.drawing import map_svg

    size = int(wanted["size"])
    if isinstance(made, TraceRelease):
        samples = made.samples
        assert samples is not None, "just made"
        x, y = samples.centres
        cells, _, _ = np.histogram2d(y, x, bins=40)
    elif wanted["statistic"] == "flows":
        return None
    else:
        cells = np.maximum(np.array(list(values.values()), dtype=np.float64), 0)
        cells = cells.reshape(size, size)
    return str(map_svg([("", cells / max(cells.sum(), 1.0))]))


def _declare(work: Work, region: list[float]) -> None:
    """Put a declared region in the place of the measured one."""
    path = work.path("trace.toml")
    text = re.sub(r"(?m)^is_measured = true\n", "", path.read_text("utf-8"))
    sides = ", ".join(str(float(side)) for side in region)
    path.write_text(re.sub(r"(?m)^region = .*$", f"region = [{sides}]", text), "utf-8")
    work.save("traces", (work.load("traces") or {}) | {"measured": False})
