"""A quick estimate of risk and use while somebody is choosing: on a sample, in bounded time."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from celosia.studio.publish import form as chosen
from celosia.studio.publish.form import PublishForm
from celosia.studio.worker import JobProgress
from celosia.tables import TableRelease
from celosia.tables.run import publish_table

ROWS = 50_000
"""So many records are looked at; of a larger table as many that are drawn from all of it."""
SECONDS = 2.0
"""How long the search may take; it gives the best that it has found by then."""
SAVED = "estimate"
"""The name under which a work keeps the last one, with the choices that it is of."""


def estimate(progress: JobProgress, *, folder: str, form: dict[str, Any]) -> dict[str, Any]:
    """What these choices would come to: nothing is written, and nothing is released.

    A class of a sample is smaller than the same class of the whole table, so on a sample the models
    ask for more: loss and risk are then rather too high than too low.
    """
    place, wanted = Path(folder), PublishForm.from_dict(form)
    frame = pl.read_parquet(place / chosen.DATA)
    part = frame.sample(ROWS, seed=1) if frame.height > ROWS else frame
    people = pl.read_parquet(place / chosen.POPULATION) if wanted.population is not None else None
    options = chosen.publish_options(replace(wanted, keep_order=True, sort=()))
    if wanted.method == "lattice" and wanted.levels is None:
        options = replace(options, time_limit=min(SECONDS, wanted.time_limit or SECONDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run says them
        release = publish_table(part, options, population=people, progress=progress)
    return facts(release, rows=frame.height)


def facts(release: TableRelease, *, rows: int) -> dict[str, Any]:
    """The figures of the rail."""
    solution, risk, before = release.solution, release.risk, release.risk_before
    return {
        "rows": rows,
        "looked_at": solution.rows,
        "loss": solution.loss,
        "suppressed": solution.suppressed_share,
        "risk": {"average": risk.average, "maximum": risk.maximum, "smallest": risk.smallest},
        "before": {
            "average": before.average,
            "maximum": before.maximum,
            "smallest": before.smallest,
        },
    }


def of_results(found: dict[str, Any]) -> dict[str, Any]:
    """The same figures of a run that has ended."""
    solution, keys = found["solution"], ("average", "maximum", "smallest")
    return {
        "rows": solution["rows"],
        "looked_at": solution["rows"],
        "loss": solution["loss"],
        "suppressed": solution["suppressed"] / solution["rows"] if solution["rows"] else 0.0,
        "risk": {key: found["risk"][key] for key in keys},
        "before": {key: found["risk_before"][key] for key in keys},
    }
