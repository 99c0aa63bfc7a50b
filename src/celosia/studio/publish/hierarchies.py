"""Hierarchies as they are chosen: what they make of a column, and which values they lack."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.frames import as_text, encode
from celosia.studio.publish.form import ColumnForm
from celosia.studio.publish.grid import Grid, as_rule
from celosia.tables.hierarchies import (
    Builder,
    Hierarchy,
    Intervals,
    from_table,
    read_hierarchy,
)

MOST_TRIED = 2_000
"""So many values are tried one by one where a rule has no place for some of them."""
MOST_LISTED = 20
"""So many values without a place are shown."""
EXAMPLES = 6
"""So many labels of a level, and so many values on their way up, are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The distinct values of a column, and how many records have each."""

    series: pl.Series = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    empty: int

    @property
    def by_text(self) -> dict[str, int]:
        """How many records have each value."""
        return dict(zip(self.texts, self.rows.tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level in counts: how many labels, and how many records share one."""

    level: int
    labels: int
    fewest: int
    most: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a hierarchy makes of a column."""

    levels: tuple[Level, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    """Some values with their labels, up to the root."""
    uncovered: tuple[tuple[str, int], ...] = ()
    """Values without a place and their records; the most frequent first."""
    uncovered_values: int = 0
    uncovered_rows: int = 0
    error: InputError | None = None
    """What the rule says, where it cannot be used as it is."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(replace(self, error=None)) | {
            "error": None if self.error is None else self.error.as_dict()
        }


def values_of(table: Path, place: int) -> Values:
    """The values of a column of a Parquet file; told by its place, as names may be patterns."""
    column = pl.read_parquet(table, columns=[place]).to_series().alias("values")
    codes = encode(column)
    rows = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.values))
    texts = as_text(codes.values).to_list()
    return Values(codes.values, tuple(texts), rows.astype(np.int64), column.null_count())


def rule_of(column: ColumnForm) -> Hierarchy | Builder:
    """The rule of a column, as `celosia.tables` has it; automatic if nothing was chosen.

    Raises:
        InputError: CEL-W052 a rule that names a file, or what the rule says of its parameters.
    """
    table = {"method": "automatic"} if column.hierarchy is None else dict(column.hierarchy)
    if "file" in table:
        raise InputError("CEL-W052", column=column.name)
    return from_table(table, folder=Path())


def build(column: ColumnForm, values: Values) -> Hierarchy:
    """The hierarchy of a column with these values.

    Raises:
        InputError: a value has no place under the rule.
    """
    rule = rule_of(column)
    return rule if isinstance(rule, Hierarchy) else rule.build(values.series)


def preview(column: ColumnForm, values: Values) -> Preview:
    """What the hierarchy of a column makes of its values, and which of them it does not cover."""
    try:
        hierarchy = build(column, values)
    except InputError as error:
        lost = _refused(column, values) if "count" in error.details else ()
        return _with_lost(Preview(error=error), values, lost)
    found = _with_lost(
        Preview(),
        values,
        [at for at, text in enumerate(values.texts) if text not in hierarchy.index],
    )
    rows = np.zeros(len(hierarchy.leaves), dtype=np.int64)
    for text, count in values.by_text.items():
        if (place := hierarchy.index.get(text)) is not None:
            rows[place] = count
    levels = tuple(_level(hierarchy, number, rows) for number in range(hierarchy.levels))
    shown = np.flatnonzero(rows)[:: max(1, np.count_nonzero(rows) // EXAMPLES)][:EXAMPLES]
    paths = tuple(
        tuple(
            hierarchy.labels[level][hierarchy.nodes[level, place]]
            for level in range(hierarchy.levels)
        )
        for place in shown.tolist()
    )
    return replace(found, levels=levels, paths=paths)


def as_tree(column: ColumnForm, values: Values) -> Grid:
    """The hierarchy of a column, to be edited by hand.

    Raises:
        InputError: a value has no place under the present rule.
    """
    return Grid.from_hierarchy(build(column, values))


class ImportedHierarchy(NamedTuple):
    """A rule from a file, and what there is to say of the file."""

    rule: dict[str, Any]
    note: str | None = None


def imported(path: Path, column: str) -> ImportedHierarchy:
    """The rule in a file that a visitor brought: labels as CSV, or a schema as TOML.

    Raises:
        InputError: CEL-W056 a TOML file without a hierarchy of this column, or what is wrong with
            the hierarchy.
    """
    if path.suffix != ".toml":
        hierarchy = _without_path(path)
        return ImportedHierarchy(as_rule(Grid.from_hierarchy(hierarchy)), hierarchy.note)
    try:
        table = tomllib.loads(path.read_text("utf-8-sig"))
        found = table if "method" in table else table["columns"][column]["hierarchy"]
        rule = dict(found)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError("CEL-W056.no_hierarchy") from error
    rule_of(ColumnForm(name=column, kind="text", hierarchy=rule))
    return ImportedHierarchy(rule)


def _without_path(path: Path) -> Hierarchy:
    """A hierarchy file; errors do not tell where it lies."""
    try:
        return read_hierarchy(path)
    except InputError as error:
        raise error.replace(str(path), Message("studio.the_file")) from None


def _level(hierarchy: Hierarchy, number: int, rows: NDArray[np.int64]) -> Level:
    labels = hierarchy.labels[number]
    shared = np.bincount(hierarchy.nodes[number], weights=rows, minlength=len(labels))
    present = shared[shared > 0]
    often = np.argsort(-shared, kind="stable")[:EXAMPLES]
    return Level(
        level=number,
        labels=len(labels),
        fewest=int(present.min(initial=shared.max(initial=0))),
        most=int(present.max(initial=0)),
        examples=tuple(labels[place] for place in often.tolist()),
    )


def _with_lost(found: Preview, values: Values, lost: Sequence[int]) -> Preview:
    often = sorted(lost, key=lambda place: -int(values.rows[place]))
    return replace(
        found,
        uncovered=tuple(
            (values.texts[place], int(values.rows[place])) for place in often[:MOST_LISTED]
        ),
        uncovered_values=len(lost),
        uncovered_rows=int(sum(values.rows[place] for place in lost)),
    )


def _refused(column: ColumnForm, values: Values) -> tuple[int, ...]:
    """The places of the values that a rule refuses, each tried by itself."""
    rule = rule_of(column)
    low, high = None, None
    if isinstance(rule, Intervals) and rule.domain is not None:
        (low, high), rule = rule.domain, replace(rule, domain=None)  # a domain is long to build
    return tuple(
        place
        for place, text in enumerate(values.texts[:MOST_TRIED])
        if not _covers(rule, values.series[place : place + 1])
        or (low is not None and high is not None and not _between(text, low, high))
    )


def _covers(rule: Hierarchy | Builder, value: pl.Series) -> bool:
    try:
        if not isinstance(rule, Hierarchy):
            rule.build(value)
    except InputError:
        return False
    return True


def _between(text: str, low: int, high: int) -> bool:
    try:
        return low <= int(text) <= high
    except ValueError:
        return False
