"""Two tables side by side: distributions, correlations and distances to the nearest record."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.progress import Progress, silent

BINS = 24
"""Bars of a histogram of numbers."""
MOST_VALUES = 12
"""Categories that have a bar of their own."""
MOST_COLUMNS = 12
"""Columns whose correlations are drawn."""
MOST_NEAR = 1_000
"""Records whose nearest fellow is looked for."""
MOST_POINTS = 20_000
"""Records among which it is looked for."""
REST = "…"
"""All other categories."""


def distribution(before: pl.Series, after: pl.Series) -> dict[str, Any]:
    """The shares of both columns over the same bins or values, as plain values.

    >>> distribution(pl.Series(["a", "b"]), pl.Series(["a", "a"]))["after"]
    [1.0, 0.0]
    """
    if before.dtype.is_numeric() and after.dtype.is_numeric():
        return _histogram(_numbers(before), _numbers(after)) | {"numeric": True}
    return _values(before, after) | {"numeric": False}


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    found = column.cast(pl.Float64).drop_nulls().to_numpy()
    return np.asarray(found[np.isfinite(found)])


def _histogram(before: NDArray[np.float64], after: NDArray[np.float64]) -> dict[str, Any]:
    both = np.concatenate([before, after])
    if not both.size:
        return {"labels": [], "before": [], "after": []}
    distinct = np.unique(both)
    if distinct.size <= BINS and np.array_equal(distinct, distinct.round()):
        counts = [[int((side == value).sum()) for value in distinct] for side in (before, after)]
        labels: list[float | list[float]] = distinct.tolist()
    else:
        edges = np.histogram_bin_edges(both, bins=BINS)
        counts = [np.histogram(side, bins=edges)[0].tolist() for side in (before, after)]
        labels = [[_short(low), _short(high)] for low, high in pairwise(edges.tolist())]
    shares = [
        [count / max(len(side), 1) for count in some]
        for some, side in zip(counts, (before, after), strict=True)
    ]
    return {"labels": labels, "before": shares[0], "after": shares[1]}


def _short(value: float) -> float:
    return float(f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}")


def _values(before: pl.Series, after: pl.Series) -> dict[str, Any]:
    counts = [_counted(side) for side in (before, after)]
    order = sorted(
        {*counts[0], *counts[1]},
        key=lambda name: (-counts[0].get(name, 0) - counts[1].get(name, 0), str(name)),
    )
    shown, rest = order[:MOST_VALUES], order[MOST_VALUES:]
    facts: dict[str, Any] = {"labels": ["" if each is None else each for each in shown]}
    for name, found, side in zip(("before", "after"), counts, (before, after), strict=True):
        total = max(len(side), 1)
        facts[name] = [found.get(value, 0) / total for value in shown]
        if rest:
            facts[name].append(sum(found.get(value, 0) for value in rest) / total)
    if rest:
        facts["labels"].append(REST)
    return facts


def _counted(column: pl.Series) -> dict[str | None, int]:
    """How often each value comes, as text; an empty cell is None."""
    texts = column.cast(pl.String).alias("value")
    return dict(texts.value_counts(name="count").iter_rows())


def correlations(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, Any] | None:
    """The correlations of the columns that hold numbers in both; None with fewer than two.

    Returns:
        `columns`, and `pairs` of two places, the correlation before and that after.
    """
    from celosia.assess.alignment import align
    from celosia.assess.utility.numeric import moments

    names = [
        name
        for name in before.columns
        if name in after.columns
        and before.schema[name].is_numeric()
        and after.schema[name].is_numeric()
    ][:MOST_COLUMNS]
    if len(names) < 2:
        return None
    found = moments(align(before, after, names, synthetic=True))
    place = {name: number for number, name in enumerate(names)}
    pairs = [
        [place[each.first], place[each.second], each.correlation_before, each.correlation_after]
        for each in found.pairs
    ]
    return {"columns": names, "pairs": [[_plain(value) for value in pair] for pair in pairs]}


def _plain(value: float) -> float | None:
    return value if np.isfinite(value) else None


def nearest_distances(
    original: pl.DataFrame,
    made: pl.DataFrame,
    columns: Sequence[str],
    *,
    progress: Progress = silent,
) -> dict[str, Any] | None:
    """How far made records are from the nearest real one, and real ones from each other.

    Numbers are in standard deviations, a category that differs counts 1; the distance is Euclidean.
    Real records, evenly over the table, are compared with the others: what a stranger's distance
    would be. Made records that are much nearer than that are near-copies.

    Returns:
        Shares over the same bins, medians, and the share of made records at distance 0; None where
        there are too few records.
    """
    from celosia.assess.alignment import align
    from celosia.assess.linkage.distance import nearest, standardise
    from celosia.tables.masking.account import evenly_spaced

    real = original[evenly_spaced(original.height, MOST_POINTS)]
    some = made[evenly_spaced(made.height, MOST_NEAR)]
    if real.height < 10 or not some.height:
        return None
    tables = align(real, some, columns, synthetic=True)
    points, queries = standardise(tables.before, tables.after, tables.nominal)
    asked = np.zeros(len(points), dtype=np.bool_)
    asked[evenly_spaced(len(points), min(MOST_NEAR, len(points) // 2))] = True
    found = {
        "made": nearest(
            queries, points, tables.nominal, progress=progress, stage="closest records"
        ),
        "real": nearest(
            points[asked],
            points[~asked],
            tables.nominal,
            progress=progress,
            stage="closest records",
        ),
    }
    far = {name: np.sqrt(each.squared[np.isfinite(each.squared)]) for name, each in found.items()}
    if not all(each.size for each in far.values()):
        return None
    top = max(float(np.quantile(each, 0.99)) for each in far.values()) or 1.0
    edges = np.linspace(0.0, top, BINS + 1)
    shares = {
        name: (np.histogram(np.minimum(each, top), bins=edges)[0] / each.size).tolist()
        for name, each in far.items()
    }
    return {
        "edges": edges.tolist(),
        **shares,
        "median_made": float(np.median(far["made"])),
        "median_real": float(np.median(far["real"])),
        "copies": float(np.mean(far["made"] < 1e-9)),
    }
