"""What came of a run, measured on both sides, as plain values for the pages of the results."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from celosia.core.progress import Progress, silent
from celosia.studio.publish import form
from celosia.studio.publish.form import PublishForm
from celosia.studio.publish.results_attacks import attack_facts, suppressed_facts
from celosia.studio.publish.results_risk import gauges, record_facts
from celosia.studio.publish.results_use import attempt, use_facts
from celosia.studio.visitors import Work
from celosia.tables import Role, Schema, TableRelease
from celosia.tables.coded_table import code_column
from celosia.tables.meanings import meanings

FILE = "results.json"
"""Where the results lie in the work; there is none before the first run has ended."""


def measured(
    frame: pl.DataFrame,
    release: TableRelease,
    wanted: PublishForm,
    *,
    people: pl.DataFrame | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Everything that the pages show of a release, but no record of it."""
    schema = form.schema(wanted)
    solution = release.solution
    explained = meanings(schema, original=frame)
    failed: list[str] = []
    attacks: list[dict[str, Any]] = attempt(
        failed,
        "attacks",
        lambda: attack_facts(frame, release.data, schema, explained, progress=progress),
        [],
    )
    use: dict[str, Any] = attempt(
        failed,
        "distributions",
        lambda: use_facts(frame, release.data, schema, explained, progress=progress),
        {"distributions": [], "pairs": [], "statistics": [], "not_computed": []},
    )
    return {
        "form": wanted.as_dict(),
        "promise": release.guarantee.promise,
        "guarantee": release.guarantee.as_dict(),
        "warnings": list(release.warnings),
        "solution": {
            "rows": solution.rows,
            "suppressed": solution.suppressed,
            "loss": solution.loss,
            "score": solution.score,
            "metric": solution.metric,
            "method": solution.method,
            "rounds": solution.rounds,
            "smallest_allowed": solution.smallest_allowed,
            "columns": [
                {"name": each.name, "level": each.level, "height": each.height, "loss": each.loss}
                for each in solution.columns
            ],
            "exact": None if solution.search is None else solution.search.is_optimal,
        },
        "joint": None if solution.joint is None else solution.joint.as_dict(),
        "raw": None if release.raw is None else release.raw.as_dict(),
        "risk": release.risk.as_dict(),
        "risk_before": release.risk_before.as_dict(),
        "intervals": {name: each.as_dict() for name, each in release.intervals.items()},
        "timings": release.timings.as_dict(),
        "gauges": gauges(frame, release, wanted, attacks, people=people),
        "record_measures": record_facts(
            frame,
            release.data,
            schema.named(Role.QUASI_IDENTIFIER),
            schema.named(Role.SENSITIVE),
        ),
        "attacks": attacks,
        "suppressed": suppressed_facts(
            release.data, schema.named(Role.QUASI_IDENTIFIER), schema.named(Role.SENSITIVE)
        ),
        "labels": level_labels(frame, schema),
        "identifiers": list(schema.named(Role.IDENTIFIER)),
        **use,
        "not_computed": [*failed, *use["not_computed"]],
    }


def level_labels(frame: pl.DataFrame, schema: Schema) -> dict[str, list[tuple[int, str]]]:
    """For each quasi-identifier and level: how many labels there are, and one of them."""
    found = {}
    for column in schema.quasi_identifiers:
        values = frame.get_column(column.name).drop_nulls().unique(maintain_order=True)
        if values.len():
            hierarchy = code_column(values, column).hierarchy
            found[column.name] = [(len(labels), labels[0]) for labels in hierarchy.labels]
    return found


def load(work: Work) -> dict[str, Any] | None:
    """The results of a work; None before its first run has ended."""
    found: dict[str, Any] | None = work.load("results")
    return found


def is_outdated(facts: dict[str, Any], now: PublishForm) -> bool:
    """Whether something else has been chosen since these results were made.

    Levels do not count: taking another solution is no other choice of models.
    """
    then = facts["form"]
    free = ("levels", "method", "local", "time_limit")
    taken = then.get("levels") is not None
    ignored = free if taken and now.levels is None else ("levels",)
    current = now.as_dict()
    return any(
        then.get(key) != value for key, value in _plain(current).items() if key not in ignored
    )


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """As JSON would give it back."""
    found: dict[str, Any] = json.loads(json.dumps(value))
    return found
