"""Publish again: a release is planned, measured and recorded together with the earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.release import Provenance
from celosia.frames import encode
from celosia.tables.coded_table import CodedTable
from celosia.tables.history.fingerprints import Fingerprints, fingerprints
from celosia.tables.history.joint import NOT_SHOWN, JointClasses, JointOutcome, joint_models
from celosia.tables.history.store import Entry, ReleaseHistory, StoredRelease
from celosia.tables.models.units import UnitValues
from celosia.tables.options import PublishOptions
from celosia.tables.protection import Protection
from celosia.tables.schema import Role
from celosia.tables.verification import promises_broken


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ReleaseSeries:
    """A source that is about to be published once more, and its history."""

    history: ReleaseHistory
    options: PublishOptions
    earlier: int
    before: JointClasses = field(repr=False)
    """The joint classes of the earlier releases."""
    own: Fingerprints = field(repr=False)
    required: int
    """The least that this release or an earlier one promises for its classes."""

    @classmethod
    @contextmanager
    def open(cls, frame: pl.DataFrame, options: PublishOptions) -> Iterator[ReleaseSeries | None]:
        """Open the history that the options name, if they name any; it is locked until the end.

        Raises:
            InputError: CEL-P120 and CEL-P121 of the history, CEL-P122 the source is not as it was.
        """
        if options.history is None:
            yield None
            return
        with ReleaseHistory.open(options.history) as history:
            entries = history.entries()
            unit = options.schema.unit or "record"
            if any(entry.unit != unit for entry in entries):
                raise InputError("CEL-P122.unit", unit=unit, before=entries[0].unit)
            basis = history.basis(_basis(frame, options))
            absent = [name for name in basis if name not in frame.columns]
            if absent:
                raise InputError("CEL-P122.column", column=absent[0])
            yield cls(
                history=history,
                options=options,
                earlier=len(entries),
                before=history.joint(),
                own=fingerprints(frame, basis, options.schema.unit_column, history.key),
                required=min([options.smallest, *(entry.required for entry in entries)]),
            )

    @property
    def known(self) -> int:
        """How many records of the source an earlier release has shown."""
        return int((self.before.of_records(self.own.records) != NOT_SHOWN).sum())

    def plan(self, table: CodedTable) -> tuple[CodedTable, PublishOptions]:
        """The table and the options for a search that keeps the joint classes large.

        Where the officer has chosen the levels or accepted the risk, nothing is planned.
        """
        chosen = self.options.levels is not None or self.options.accept_joint is not None
        if not self.earlier or self.required < 2 or chosen:
            return table, self.options
        lattice = self.options.method == "lattice" and not self.options.local
        column, models = joint_models(
            table, self.before, self.own.records, self.required, whole=lattice
        )
        units = table.units
        if units is not None:
            values = UnitValues.of_rows(column.column, units.of_row, column.value_of_row)
            units = replace(units, values=(*units.values, values))
        known = replace(table, sensitive=(*table.sensitive, column), units=units)
        return known, replace(self.options, models=(*self.options.models, *models))

    def measured(self, table: CodedTable, protection: Protection) -> Protection:
        """The same release with its joint outcome, refused if joint classes are too small.

        Raises:
            PrivacyError: CEL-P123.
        """
        joint = self.before.join(self.own.records, self.own.units, self._classes(protection))
        outcome = JointOutcome.of(
            joint,
            self.before,
            earlier=self.earlier,
            known=self.known,
            required=self.required,
            accepted=self.options.accept_joint,
        )
        if not outcome.holds and outcome.accepted is None:
            raise PrivacyError("CEL-P123", **outcome.as_dict())
        crowd = promises_broken(protection.hidden, table, self.options.models)
        return replace(protection, joint=outcome, crowd_fails=crowd)

    def record(self, protection: Protection, provenance: Provenance) -> None:
        """Write the release into the history, before it leaves."""
        class_of = self._classes(protection)
        levels = protection.levels or (None,) * len(protection.columns)
        entry = Entry(
            created=provenance.created,
            columns=tuple(column.name for column in protection.columns),
            levels=levels,
            models=tuple(str(model.promise()) for model in self.options.models),
            unit=self.options.schema.unit or "record",
            required=self.options.smallest,
            rows=protection.records,
            shown=int((class_of != NOT_SHOWN).sum()),
            classes=int(np.unique(class_of[class_of != NOT_SHOWN]).size),
            joint=None if protection.joint is None else protection.joint.as_dict(),
        )
        self.history.add(StoredRelease(entry, self.own.records, self.own.units, class_of))

    def _classes(self, protection: Protection) -> NDArray[np.int64]:
        """The class of each record by the labels that it shows; suppressed ones are in none.

        But where a kept class shows `*` everywhere, suppressed records are in it.
        """
        labels = pl.DataFrame(
            [
                pl.Series(f"c{number}", encode(each).codes)
                for number, each in enumerate(protection.released)
            ]
        )
        rank = labels.select(pl.struct(pl.all()).rank("dense") - 1).to_series().to_numpy()
        class_of = rank.astype(np.int64)
        hidden = protection.hidden
        if self.options.drop_suppressed:
            joined = np.zeros(hidden.size, dtype=np.bool_)
        else:
            joined = np.isin(class_of, np.unique(class_of[~hidden]))
        return np.where(hidden & ~joined, NOT_SHOWN, class_of)


def _basis(frame: pl.DataFrame, options: PublishOptions) -> tuple[str, ...]:
    """The columns by which a record is known from one release to the next."""
    names = options.schema.named(Role.IDENTIFIER)
    one_record_each = options.schema.unit is None and len(names) > 0
    return names if one_record_each else tuple(frame.columns)
