"""Risk gauges: what each attacker may hope for, before and after, and how small a class is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk import RiskProfile, attribute_risk, separation, suda
from celosia.assess.risk.profile import SUPPRESSED, count_classes
from celosia.studio.publish import form
from celosia.studio.publish.form import PublishForm
from celosia.tables import TableRelease
from celosia.tables.coded_table import code_table
from celosia.tables.protection import without_empty
from celosia.tables.recoding import Lattice

Counts = NDArray[np.int64]
GAIN = 0.2
"""What a release may add to a guess of a sensitive value; as the attack by skewness counts it."""


def gauges(
    frame: pl.DataFrame,
    release: TableRelease,
    wanted: PublishForm,
    attacks: Sequence[dict[str, Any]],
    *,
    people: pl.DataFrame | None = None,
) -> list[dict[str, Any]]:
    """Prosecutor, journalist, marketer, uniqueness and attribute disclosure, as chances.

    The journalist needs a population, and one level for each column to compare it by; without them
    the gauge says so: its figures are None.
    """
    before, after = release.risk_before, release.risk
    found = [
        _gauge("prosecutor", before.maximum, after.maximum, before, after),
        _journalist(frame, release, wanted, people),
        _gauge("marketer", before.average, after.average, before, after),
        _gauge("uniqueness", _unique(before), _unique(after), before, after),
    ]
    for each in attacks:
        if each["name"] == "homogeneity":
            gauge = _gauge("disclosure", each["before"]["average"], each["average"], before, after)
            found.append(
                gauge
                | {
                    "column": each["column"],
                    "baseline": each["baseline"],
                    "threshold": min(1.0, each["baseline"] + GAIN),
                }
            )
    return found


def record_facts(
    frame: pl.DataFrame, released: pl.DataFrame, keys: Sequence[str], sensitive: Sequence[str]
) -> list[dict[str, Any]]:
    """Measures of the records before and after: special uniques, separation, l and t.

    Sets of at most three columns are looked at (two, where there are many). Suppressed records are
    left out.
    """
    stars = pl.all_horizontal(pl.col(list(keys)).cast(pl.String) == SUPPRESSED)
    kept = released.filter(~stars.fill_null(value=False))
    if kept.is_empty():
        return []
    tables = (frame, kept)
    most = 3 if len(keys) <= 15 else 2
    scores = [suda(each, keys, at_most=min(most, len(keys))) for each in tables]
    special = [int((each.score > 0).sum()) / each.score.size for each in scores]
    apart = [separation(count_classes(each, list(keys)).sizes) for each in tables]
    found = [
        {"name": "special", "column": None, "before": special[0], "after": special[1]},
        {"name": "separation", "column": None, "before": apart[0], "after": apart[1]},
    ]
    for column in sensitive:
        risks = [attribute_risk(each, keys=keys, sensitive=column) for each in tables]
        for name in ("smallest_distinct_l", "largest_t"):
            before, after = (each.as_dict()[name] for each in risks)
            found.append({"name": name, "column": column, "before": before, "after": after})
    return found


def _gauge(
    name: str,
    before: float | None,
    after: float | None,
    profile_before: RiskProfile,
    profile: RiskProfile,
) -> dict[str, Any]:
    return {
        "name": name,
        "column": None,
        "before": before,
        "after": after,
        "threshold": profile.threshold,
        "worst_before": profile_before.smallest,
        "worst": profile.smallest,
        "at_risk_before": profile_before.at_risk,
        "at_risk": profile.at_risk,
        "baseline": None,
    }


def _unique(profile: RiskProfile) -> float:
    return profile.unique / profile.records if profile.records else 0.0


def _journalist(
    frame: pl.DataFrame,
    release: TableRelease,
    wanted: PublishForm,
    people: pl.DataFrame | None,
) -> dict[str, Any]:
    """By the people of the population who look like each class (El Emam, Dankar 2008)."""
    before, after = release.risk_before, release.risk
    empty = _gauge("journalist", None, None, before, after)
    levels = release.solution.levels
    if people is None or None in levels:
        return empty
    asked = form.publish_options(wanted)
    whole = code_table(frame, form.schema(wanted), asked.sensitive, population=people)
    lattice = Lattice.of(without_empty(whole, asked)[0])
    node = tuple(int(level or 0) for level in levels)
    raw = lattice.class_table((0,) * len(node))
    outcome = lattice.evaluate(node, asked.models)
    shown, kept = outcome.table, outcome.kept
    assert raw.population is not None
    assert shown.population is not None
    crowds = raw.population[raw.sizes > 0], shown.population[kept]
    risks = [float((1 / crowd).max()) if crowd.size else 0.0 for crowd in crowds]
    worst = [int(crowd.min()) if crowd.size else 0 for crowd in crowds]
    return empty | {
        "before": risks[0],
        "after": risks[1],
        "worst_before": worst[0],
        "worst": worst[1],
        "at_risk_before": _exposed(raw.sizes[raw.sizes > 0], crowds[0], before.threshold),
        "at_risk": _exposed(shown.sizes[kept], crowds[1], after.threshold),
    }


def _exposed(sizes: Counts, crowds: Counts, threshold: float) -> float:
    total = int(sizes.sum())
    return int(sizes[1 / crowds > threshold].sum()) / total if total else 0.0
