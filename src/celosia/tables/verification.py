"""Whether a release meets its models, judged by its labels alone.

Nothing of how a release was made is trusted here: records are grouped by what they show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import say
from celosia.core.methods import PlainValues, derived
from celosia.frames import as_frame, as_text
from celosia.tables.coded_table import CodedSensitive, CodedTable, code_sensitive
from celosia.tables.hierarchies import ROOT
from celosia.tables.models import Classes, Histogram, Model, judge_all
from celosia.tables.options import check_schema, resolve_models, sensitive_columns
from celosia.tables.released_table import ReleasedColumn, class_numbers
from celosia.tables.schema import Role, Schema
from celosia.tables.units import CodedUnits, code_units


@dataclass(frozen=True, slots=True)
class ModelCheck(PlainValues):
    """What one model says of a release."""

    promise: str
    holds: bool
    classes: int
    """Classes that fail."""
    records: int
    """Records in them."""


@dataclass(frozen=True, slots=True)
class Check(PlainValues):
    """Whether a release meets each of its models."""

    records: int
    suppressed: int
    classes: int
    models: tuple[ModelCheck, ...] = field(default=())

    @property
    @derived
    def holds(self) -> bool:
        """Whether every model holds."""
        return all(model.holds for model in self.models)

    def __str__(self) -> str:
        failed = [model.promise for model in self.models if not model.holds]
        if failed:
            return say("tables.report.does_not_hold", promises=failed)
        return say("tables.report.holds", promises=[model.promise for model in self.models])


def check(data: Any, schema: Schema, models: Model | Iterable[Model]) -> Check:
    """Check a released table, or any other, against models.

    Records with `*` in every quasi-identifier are suppressed: they are in no class, but count in
    the distribution of the sensitive values. So the table must not have dropped them where a model
    compares classes with the whole table, such as t-closeness.

    >>> from celosia import KAnonymity
    >>> table = pl.DataFrame({"age": ["20-29", "20-29", "*"]})
    >>> str(check(table, Schema.of(quasi_identifiers=["age"]), KAnonymity(2)))
    'holds: 2-anonymity'
    """
    frame = as_frame(data)
    check_schema(schema)
    wanted = resolve_models(models, schema)
    if any(model.needs_population for model in wanted):
        raise InputError("CEL-P006")
    names = schema.named(Role.QUASI_IDENTIFIER)
    _check_table(frame, schema)
    columns = [ReleasedColumn.of_series(as_text(frame[name].alias("cell"))) for name in names]
    hidden = shows_root(columns)
    if hidden.all():  # generalised fully: one class, and no record suppressed
        hidden[:] = False
    sensitive = [
        code_sensitive(frame[column.name], column)
        for column in schema.columns
        if column.name in sensitive_columns(wanted)
    ]
    classes = _classes(columns, hidden, sensitive, None, _units(frame, schema, sensitive))
    checks = []
    for model in wanted:
        satisfied = judge_all(classes, [model]).satisfied
        checks.append(
            ModelCheck(
                model.promise(),
                bool(satisfied.all()),
                int((~satisfied).sum()),
                int(classes.sizes[~satisfied].sum()),
            )
        )
    return Check(
        int(classes.sizes.sum()), int(hidden.sum()), int(classes.sizes.size), tuple(checks)
    )


def _units(
    frame: pl.DataFrame, schema: Schema, sensitive: Sequence[CodedSensitive]
) -> CodedUnits | None:
    """The people or households of a table that still has their column.

    Raises:
        InputError: CEL-P069 it has not, and whose records these are cannot be known.
    """
    name = schema.unit_column
    if name is None:
        return None
    if name not in frame.columns:
        raise InputError("CEL-P069", column=name, unit=schema.unit)
    return code_units(frame[name]).with_values(sensitive)


def _check_table(frame: pl.DataFrame, schema: Schema) -> None:
    """As for `publish`, but a release has no identifiers any more."""
    if frame.height == 0:
        raise InputError("CEL-P015.no_rows")
    released = tuple(column for column in schema.columns if column.role is not Role.IDENTIFIER)
    names = [name for name in frame.columns if schema.role_of(name) is not Role.IDENTIFIER]
    Schema(released, schema.other_columns).check_columns(names)


def judge_released(
    released: Sequence[ReleasedColumn],
    hidden: NDArray[np.bool_],
    table: CodedTable,
    models: Sequence[Model],
    *,
    dropped: bool,
) -> NDArray[np.int64]:
    """The sizes of the classes that a release shows, refused unless they meet the models.

    Raises:
        PrivacyError: CEL-P005 a class fails; the release must not leave the house.
    """
    apart = dropped or not joins_suppressed(released, hidden)
    classes = _classes(released, hidden & apart, table.sensitive, table.counts, table.units)
    counted = any(model.needs_population for model in models)
    if counted or not judge_all(classes, models).satisfied.all():
        raise PrivacyError("CEL-P005")
    return classes.sizes


def shows_root(columns: Sequence[ReleasedColumn]) -> NDArray[np.bool_]:
    """Which records show `*` in every column."""
    shown = columns[0].shows(ROOT)
    for column in columns[1:]:
        shown &= column.shows(ROOT)
    return shown


def joins_suppressed(released: Sequence[ReleasedColumn], hidden: NDArray[np.bool_]) -> bool:
    """Whether a class that is kept shows `*` everywhere, as suppressed records do."""
    return bool(hidden.any() and shows_root(released)[~hidden].any())


def promises_broken(
    hidden: NDArray[np.bool_], table: CodedTable, models: Sequence[Model]
) -> tuple[str, ...]:
    """Which promises the suppressed records do not keep, taken as one class.

    A person who fits no class of the release must be among them, so they are a class like others.
    """
    if not hidden.any():
        return ()
    crowd = _classes([], ~hidden, table.sensitive, table.counts, table.units)
    alone = [model for model in models if not (model.judges_table or model.needs_population)]
    return tuple(m.promise() for m in alone if not judge_all(crowd, [m]).satisfied.all())


def _classes(
    columns: Sequence[ReleasedColumn],
    hidden: NDArray[np.bool_],
    sensitive: Sequence[CodedSensitive],
    counts: NDArray[np.int64] | None,
    units: CodedUnits | None,
) -> Classes:
    """The classes of those who are not hidden, by the labels they show; without any, one class."""
    shown_rows = np.flatnonzero(~hidden)
    class_of = np.zeros(shown_rows.size, dtype=np.int64)
    if columns:
        class_of = class_numbers([column.take(shown_rows) for column in columns])
    number = int(class_of.max(initial=-1)) + 1
    if units is not None:
        return units.some(np.flatnonzero(~hidden)).classes(class_of, number)
    shown = None if counts is None else counts[~hidden]
    sizes = np.zeros(number, dtype=np.int64)
    np.add.at(sizes, class_of, 1 if shown is None else shown)
    histograms = {
        each.column.name: Histogram.of_rows(
            each.column, class_of, each.value_of_row[~hidden], number, shown
        )
        for each in sensitive
    }
    return Classes(sizes, histograms)
