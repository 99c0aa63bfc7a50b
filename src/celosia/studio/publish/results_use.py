"""What use is left: distributions, pairs of columns and statistics, before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import polars as pl

from celosia.assess.meaning import Meaning
from celosia.assess.utility import (
    Comparison,
    Distribution,
    compare,
    distances,
    distributions,
    joint,
    limits_of,
    statistics,
)
from celosia.assess.utility.column_pair import ColumnPair
from celosia.core.errors import Cancelled
from celosia.core.progress import Progress, Step, silent
from celosia.frames import as_text
from celosia.tables import Role, Schema
from celosia.tables.meanings import LabelMeaning

T = TypeVar("T")

MOST_COLUMNS = 12
"""Columns whose pairs are drawn; 12 have 66 pairs."""
MOST_BARS = 30
"""Bars of one chart; the rarest categories go together."""


def use_facts(
    frame: pl.DataFrame,
    released: pl.DataFrame,
    schema: Schema,
    explained: Mapping[str, Meaning],
    *,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Distributions and pairs of the quasi-identifiers and sensitive columns, and statistics."""
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    names = [name for role in roles for name in schema.named(role)]
    names = [name for name in names if frame[name].null_count() < frame.height]
    tables = compare(
        frame, released, names, meanings={k: v for k, v in explained.items() if k in names}
    )
    failed: list[str] = []
    nothing: list[dict[str, Any]] = []
    grouped = replace(
        tables, columns=tuple(_grouped(each, explained.get(each.name)) for each in tables.columns)
    )
    return {
        "distributions": attempt(
            failed, "distributions", lambda: _distributions(tables, grouped), nothing
        ),
        "pairs": _pairs(grouped, progress, failed),
        "statistics": attempt(
            failed, "statistics", lambda: _statistics(frame, released, schema), nothing
        ),
        "not_computed": failed,
    }


def attempt(failed: list[str], figure: str, compute: Callable[[], T], instead: T) -> T:
    """A figure that describes a release; where it fails, its name is noted and the rest goes on.

    A release that holds is not lost because a picture of it takes too much memory.
    """
    try:
        return compute()
    except Cancelled:
        raise
    except Exception:  # whatever it is, it concerns this figure alone
        failed.append(figure)
        return instead


def _grouped(column: ColumnPair, meaning: Meaning | None) -> ColumnPair:
    """A column of many values by the labels of a level of its hierarchy, which can be drawn.

    Of fourteen thousand dates the thirty most frequent show nothing, and their decades do.
    """
    if (
        column.is_numeric
        or len(column.values) <= MOST_BARS
        or not isinstance(meaning, LabelMeaning)
    ):
        return column
    found = meaning.groups(column.values, MOST_BARS)
    if found is None:
        return column
    labels, places = found
    spread = replace(column.spread, value=places[column.spread.value], values=len(labels))
    before = places[column.before].astype(np.int32)
    return replace(column, values=labels, before=before, spread=spread)


def _distributions(tables: Comparison, grouped: Comparison) -> list[dict[str, Any]]:
    moved = {each.column: each.total_variation for each in distances(tables)}
    return [_bars(each) | {"moved": moved[each.column]} for each in distributions(grouped)]


def _bars(shown: Distribution) -> dict[str, Any]:
    """The bars of a column; of many categories, the most frequent and the rest together."""
    facts = shown.as_dict()
    if len(shown.values) <= MOST_BARS:
        return facts | {"others": 0}
    sizes = np.array(shown.before) + np.array(shown.after)
    frequent = np.sort(np.argsort(-sizes, kind="stable")[:MOST_BARS])
    kept = [shown.values[place] for place in frequent.tolist()]
    sides = {
        side: [
            *np.array(facts[side])[frequent].tolist(),
            1 - float(np.array(facts[side])[frequent].sum()),
        ]
        for side in ("before", "after")
    }
    return {
        "column": shown.column,
        "values": kept,
        "others": len(shown.values) - MOST_BARS,
        **{side: [max(0.0, value) for value in values] for side, values in sides.items()},
    }


def _pairs(tables: Comparison, progress: Progress, failed: list[str]) -> list[dict[str, Any]]:
    names = [column.name for column in tables.columns][:MOST_COLUMNS]
    wanted = list(combinations(names, 2))
    found: list[dict[str, Any]] = []
    for done, (first, second) in enumerate(wanted):
        progress(Step("Comparing pairs of columns", done, len(wanted)))
        found += attempt(failed, f"{first} / {second}", partial(_pair, tables, first, second), [])
    return found


def _pair(tables: Comparison, first: str, second: str) -> list[dict[str, Any]]:
    pair = joint(tables, first, second)
    rounded = pair.as_dict() | {
        side: [[round(share, 6) for share in line] for line in getattr(pair, side)]
        for side in ("before", "after")
    }
    return [rounded | {"moved": pair.moved}]


def _statistics(
    frame: pl.DataFrame, released: pl.DataFrame, schema: Schema
) -> list[dict[str, Any]]:
    """Of all columns of numbers that are released as numbers or intervals."""
    found = []
    for name in frame.columns:
        if schema.role_of(name) is Role.IDENTIFIER or not frame[name].dtype.is_numeric():
            continue
        same = released[name].dtype == frame[name].dtype
        labels = [] if same else as_text(released[name]).drop_nulls().unique().to_list()
        if all(label == "*" or limits_of(label) is not None for label in labels):
            found.append(
                {
                    "column": name,
                    "before": statistics(frame[name]).as_dict(),
                    "after": statistics(released[name]).as_dict(),
                    "generalised": not same,
                }
            )
    return found
