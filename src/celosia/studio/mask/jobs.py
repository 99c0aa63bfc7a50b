"""Jobs of masking: bring a table, mask it by a recipe, map many maskings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from celosia.core.progress import Step
from celosia.studio import comparison
from celosia.studio.mask import model, stream
from celosia.studio.release_facts import guarantee_facts, write_release
from celosia.studio.uploads import Brought, read_table_file
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.core.randomness import Source
    from celosia.tables.masking import MaskedTable

MOST_SHOWN = 500
"""Rows of which both sides are kept for the page."""


def prepare(progress: JobProgress, *, folder: str, brought: Brought) -> dict[str, Any]:
    """Put a sample or an uploaded file in place, and say what its columns seem to be."""
    from celosia.assess.risk import detect

    work = Work.at(folder)
    if brought.sample is not None:
        progress(Step("Making the sample", 0))
        frame = _sample(brought.sample)
    else:
        frame = read_table_file(progress, work.path(brought.file), brought.shown)
    frame.write_parquet(work.path("data.parquet"))
    roles = {each.column: str(each.role) for each in detect(frame, progress=progress)}
    if brought.sample == "incomes":
        roles = dict.fromkeys(frame.columns, "quasi-identifier")
    elif brought.sample == "census":
        roles |= {"occupation": "sensitive"}
    columns = [
        {
            "name": name,
            "role": roles[name],
            "numeric": frame.schema[name].is_numeric(),
            "type": str(frame.schema[name]),
            "distinct": frame.get_column(name).n_unique(),
            "empty": frame.get_column(name).null_count(),
        }
        for name in frame.columns
    ]
    steps = model.first_recipe(columns)
    about = {"rows": frame.height, "columns": columns, **brought.state()}
    work.save("mask", about | {"steps": steps, "seed": None, "weights": None})
    return about


def _sample(name: str) -> pl.DataFrame:
    if name == "incomes":
        from celosia.lab.masking.figures import incomes

        return incomes().with_columns(pl.all().round(2))
    from celosia import datasets

    rows = next(each.rows for each in model.SAMPLES if each.name == name)
    return datasets.census(rows)


class _RecordingSource:
    """Keeps the last order that was dealt: which released row is which."""

    order: Any = None

    def permutation(self, size: int) -> Any:
        self.order = super().permutation(size)  # type: ignore[misc]
        return self.order


def recording_source(seed: int | None) -> Any:
    """Entropy of the system, or a seed for a simulation, that remembers how rows were shuffled."""
    from celosia.core.randomness import Seeded, System

    class Entropy(_RecordingSource, System):
        pass

    class Repeated(_RecordingSource, Seeded):
        pass

    return Entropy() if seed is None else Repeated(seed)


def run(
    progress: JobProgress,
    *,
    folder: str,
    columns: Sequence[Mapping[str, Any]],
    steps: Sequence[Mapping[str, Any]],
    seed: int | None = None,
    weights: str | None = None,
) -> dict[str, Any]:
    """Mask the table of a work by a recipe; files and `result.json` are written to its folder."""
    from celosia.tables.masking import Recipe, mask

    work = Work.at(folder)
    place = work.folder
    model.check(columns, steps)
    table = model.recipe_table(columns, steps)
    recipe = Recipe.from_table(table)
    frame = pl.read_parquet(place / "data.parquet")
    rng = recording_source(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them
        release = mask(frame, recipe, rng=rng, progress=progress)
    write_release(release, place / "masked.csv", prefix="masked-")
    (place / "recipe.toml").write_text(model.recipe_text(table), "utf-8")
    progress(Step("Comparing", 0))
    raw = frame.select(release.data.columns)
    aligned = release.data.height == raw.height and not any(
        step.method.picks_rows for step in recipe.steps
    )
    pairs(raw, release.data, rng, place, aligned=aligned)
    touched = list(dict.fromkeys(name for step in steps for name in step["columns"]))
    result = (
        result_facts(release)
        | compared(raw, release.data, touched)
        | {
            "aligned": aligned,
            "touched": touched,
            "individual": _individual(frame, release.data, columns, weights, aligned, rng),
            "steps": [str(step) for step in release.steps],
            "seed": seed,
        }
    )
    work.save("result", result)
    return result


def result_facts(release: MaskedTable) -> dict[str, Any]:
    """What the release says of itself, as plain values."""
    account = release.account
    return {
        **guarantee_facts(release.guarantee),
        "rows": release.data.height,
        "risk": None if account.risk is None else account.risk.as_dict(),
        "risk_before": None if account.risk_before is None else account.risk_before.as_dict(),
        "account": None if account.compared is None else account.compared.as_dict(),
    }


def compared(before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str]) -> dict[str, Any]:
    """Distributions and correlations of both tables."""
    return {
        "distributions": [
            {"column": name}
            | comparison.distribution(before.get_column(name), after.get_column(name))
            for name in columns
            if name in after.columns and name in before.columns
        ],
        "correlations": comparison.correlations(before, after),
    }


def pairs(
    raw: pl.DataFrame,
    released: pl.DataFrame,
    rng: Any,
    place: Path,
    *,
    aligned: bool,
    names: tuple[str, str] = ("before", "after"),
) -> None:
    """Some rows of both tables, the same people where it is known who is who."""
    if aligned and rng.order is not None:
        back = rng.order.argsort()
        released = released[back]
    raw.head(MOST_SHOWN).write_parquet(place / f"{names[0]}.parquet")
    released.head(MOST_SHOWN).write_parquet(place / f"{names[1]}.parquet")


def _individual(  # noqa: PLR0917 - two tables and how they belong together
    before: pl.DataFrame,
    after: pl.DataFrame,
    columns: Sequence[Mapping[str, Any]],
    weights: str | None,
    aligned: bool,
    rng: Any,
) -> dict[str, Any] | None:
    """The risk by survey weights before and after; None without weights."""
    from celosia.assess.risk import individual_risk

    keys = [
        each["name"]
        for each in columns
        if each["role"] == "quasi-identifier" and each["name"] != weights
    ]
    if weights is None or not keys or not aligned:
        return None
    known = [name for name in keys if name in after.columns]
    shown = after.select(known)[rng.order.argsort()].with_columns(before.get_column(weights))
    return {
        "before": individual_risk(before, keys=keys, weights=weights).as_dict(),
        "after": individual_risk(shown, keys=known, weights=weights).as_dict(),
    }


def stream_records(
    progress: JobProgress,
    *,
    folder: str,
    columns: Sequence[Mapping[str, Any]],
    steps: Sequence[Mapping[str, Any]],
    text: str,
    person: str | None = None,
    most: int | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """Mask records that arrived; `stream.json` has what was released so far."""
    work = Work.at(folder)
    found = stream.mask_arrived(
        work.folder, columns, steps, text, person=person, most=most, seed=seed, progress=progress
    )
    work.save("stream", {"person": person, "most": most, "found": found})
    return found


def map_variants(
    progress: JobProgress,
    *,
    folder: str,
    columns: Sequence[str],
    risk: Any = "distance",
    loss: Any = "il1s",
    seed: int | None = None,
) -> dict[str, Any]:
    """Mask the columns in many ways; `map.json` has each by its risk, its loss and its step."""
    from celosia.core.randomness import source
    from celosia.tables.masking.risk_utility_map import default_methods, map_methods

    work = Work.at(folder)
    rng: Source = source(seed)
    frame = pl.read_parquet(work.path("data.parquet"))
    found = map_methods(frame, columns, risk=risk, loss=loss, rng=rng, progress=progress)
    tried = default_methods()
    points = []
    for each in found.points:
        parameters = {} if each.name not in tried else tried[each.name].as_dict()
        method = parameters.pop("method", None)
        points.append(each.as_dict() | {"method": method, "parameters": parameters})
    result = {"risk": risk, "loss": loss, "columns": list(columns), "points": points}
    work.save("map", result)
    return result
