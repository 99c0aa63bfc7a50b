"""Jobs of synthesis: make a table of invented rows, and measure what it gives away and keeps."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from celosia.core.progress import Step
from celosia.studio import comparison
from celosia.studio.mask.jobs import compared, pairs, recording_source, result_facts
from celosia.studio.parameters import value_of
from celosia.studio.release_facts import write_release
from celosia.studio.synthesise import model
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

MOST_DECLARED = 200
"""Values of a column that are listed for a declaration."""
EVERY = 5
"""Of so many rows one is held back."""


def declare(
    progress: JobProgress, *, folder: str, columns: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the columns hold, as a private method must be told it: `declared.json`.

    Of a public sample this is public too. Of an uploaded table it is taken from the data, which
    no guarantee covers; the page says so.
    """
    work = Work.at(folder)
    frame = pl.read_parquet(work.path("data.parquet"))
    found: dict[str, Any] = {}
    for done, each in enumerate(columns):
        progress(Step("Looking at the columns", done, len(columns)))
        column = frame.get_column(each["name"]).drop_nulls()
        if each["numeric"]:
            low, high = column.min(), column.max()
            if low is not None:
                found[each["name"]] = {"bounds": [low, high]}
        elif column.n_unique() <= MOST_DECLARED:
            values = column.unique().cast(pl.String).sort().to_list()
            found[each["name"]] = {"values": values}
    work.save("declared", found)
    return found


def run(
    progress: JobProgress,
    *,
    folder: str,
    columns: Sequence[Mapping[str, Any]],
    choice: Mapping[str, Any],
    declared: Mapping[str, Mapping[str, Any]],
    holdout: bool = False,
    seed: int | None = None,
) -> dict[str, Any]:
    """Make a synthetic table of a work; files and `synthetic.json` are written to its folder."""
    from celosia.tables import Schema
    from celosia.tables.masking import Recipe, mask, method_from

    work = Work.at(folder)
    place = work.folder
    method = method_from(choice["method"], model.method_parameters(choice, declared))
    names = list(choice["columns"])
    sensitive = [each["name"] for each in columns if each["role"] == "sensitive"]
    schema = Schema.of(
        quasi_identifiers=(),
        identifiers=model.left_out(columns, choice),
        sensitive=[name for name in sensitive if name in names],
        other_columns="insensitive",
    )
    frame = pl.read_parquet(place / "data.parquet")
    others = None
    if holdout:
        number = pl.int_range(pl.len()) % EVERY == 0
        others, frame = frame.filter(number), frame.filter(~number)
        others.write_parquet(place / "outsiders.parquet")
        frame.write_parquet(place / "members.parquet")
    rng = recording_source(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them
        release = mask(
            frame,
            Recipe.of(schema, [(method, names)]),
            holdout=others,
            rng=rng,
            progress=progress,
        )
    write_release(release, place / "synthetic.csv", prefix="synthetic-")
    progress(Step("Comparing", 0))
    raw = frame.select(names)
    made = release.data
    pairs(raw, made, rng, place, aligned=False, names=("real", "made"))
    alike = set(made.columns) == set(raw.columns)
    result = result_facts(release) | {
        "alike": alike,
        "private": method.neighbours is not None,
        "epsilon": value_of(method, "epsilon"),
        "delta": value_of(method, "delta"),
        "holdout": holdout,
        "seed": seed,
        "choice": {**choice},
        "nearest": None,
        "distributions": [],
        "correlations": None,
    }
    if alike and made.height:
        result |= compared(raw, made, names)
        result["nearest"] = comparison.nearest_distances(raw, made, names, progress=progress)
    work.save("synthetic", result)
    return result
