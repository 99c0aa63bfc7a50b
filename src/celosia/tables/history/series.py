"""Publish again: a release is planned, measured and recorded together with the earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import Progress, Stopwatch
from celosia.core.release import Provenance
from celosia.engines import Groups
from celosia.engines.tables import RecodingMap, changed_source
from celosia.tables.coded_table import CodedTable
from celosia.tables.history.fingerprints import Fingerprints, Identify, RecordHashes
from celosia.tables.history.joint import NOT_SHOWN, JointClasses, JointOutcome, joint_models
from celosia.tables.history.store import Entry, ReleaseHistory, StoredRelease
from celosia.tables.models.units import UnitValues
from celosia.tables.options import PublishOptions
from celosia.tables.protection import Protection, protect
from celosia.tables.released_table import class_numbers
from celosia.tables.schema import Role
from celosia.tables.verification import promises_broken


@dataclass(frozen=True, eq=False, slots=True)
class SplitGroups:
    """The groups of an engine, split where earlier releases tell their records apart."""

    groups: Groups = field(repr=False)
    before: NDArray[np.int64] = field(repr=False)
    """The earlier joint class of the records of each."""
    of_record: NDArray[np.int64] = field(repr=False)
    """The place of each record's group among these."""
    origin: NDArray[np.int64] = field(repr=False)
    """The place of each among the groups that the engine counted."""

    @classmethod
    def of(
        cls,
        groups: Groups,
        hashes: NDArray[np.uint64],
        record_hashes: NDArray[np.uint64],
        before: NDArray[np.int64],
    ) -> SplitGroups:
        """Split groups, by the hash of each of them, and the hash and joint class of each record.

        Raises:
            EngineError: CEL-E002 the records are not those that were counted.
        """
        order = np.argsort(hashes)
        place = np.searchsorted(hashes[order], record_hashes).clip(max=hashes.size - 1)
        group_of = order[place]
        counted = np.bincount(group_of, minlength=hashes.size)
        if (hashes[group_of] != record_hashes).any() or (counted != groups.sizes).any():
            raise changed_source()
        width = int(before.max(initial=NOT_SHOWN)) + 2
        keys, of_record, sizes = np.unique(
            group_of * width + before + 1, return_inverse=True, return_counts=True
        )
        origin = keys // width
        first = groups.first_rows
        split = Groups(
            pl.DataFrame([each.gather(origin) for each in groups.values]),
            sizes.astype(np.int64),
            None if first is None else first[origin],
        )
        return cls(split, keys % width - 1, of_record, origin)


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
    split: SplitGroups | None = field(default=None, repr=False)
    """What is searched, where an engine has grouped the source."""

    @classmethod
    @contextmanager
    def open(
        cls,
        names: Sequence[str],
        options: PublishOptions,
        identify: Identify,
        groups: Groups | None = None,
    ) -> Iterator[ReleaseSeries]:
        """Open the history that the options name; it is locked until a release is recorded.

        Args:
            names: the columns of the source.
            options: what is asked of the release.
            identify: applies a function to all rows of the source.
            groups: the groups of the source, where not every row is searched by itself.

        Raises:
            InputError: CEL-P120 and CEL-P121 of the history, CEL-P122 the source is not as it was.
        """
        assert options.history is not None, "the options name a history"
        with ReleaseHistory.open(options.history) as history:
            entries = history.entries()
            unit = options.schema.unit or "record"
            if any(entry.unit != unit for entry in entries):
                raise InputError("CEL-P122.unit", unit=unit, before=entries[0].unit)
            basis = history.basis(_basis(names, options))
            absent = [name for name in basis if name not in names]
            if absent:
                raise InputError("CEL-P122.column", column=absent[0])
            before = history.joint()
            hashes = RecordHashes(
                basis=basis,
                unit=options.schema.unit_column,
                groups=() if groups is None else tuple(groups.values.columns),
                key=history.key,
            )
            own = Fingerprints.of(identify, hashes)
            split = None
            if groups is not None:
                of_groups = hashes.group(groups.values)
                split = SplitGroups.of(
                    groups, of_groups, own.groups, before.of_records(own.records)
                )
            yield cls(
                history=history,
                options=options,
                earlier=len(entries),
                before=before,
                own=own,
                required=min([options.smallest, *(entry.required for entry in entries)]),
                split=split,
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
        rows = self.before.of_records(self.own.records) if self.split is None else self.split.before
        column, models = joint_models(table, self.before, rows, self.required, whole=lattice)
        units = table.units
        if units is not None:
            values = UnitValues.of_rows(column.column, units.of_row, column.value_of_row)
            units = replace(units, values=(*units.values, values))
        known = replace(table, sensitive=(*table.sensitive, column), units=units)
        return known, replace(self.options, models=(*self.options.models, *models))

    def protect(self, table: CodedTable, progress: Progress, stopwatch: Stopwatch) -> Protection:
        """As `protection.protect`, planned and measured together with the earlier releases.

        Raises:
            PrivacyError: CEL-P123 joint classes would be too small, and nobody has accepted that.
        """
        return self._measured(table, protect(*self.plan(table), progress, stopwatch))

    def _measured(self, table: CodedTable, protection: Protection) -> Protection:
        """The same release with its joint outcome, refused if joint classes are too small."""
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
        """Write the release into the history, for good and before it leaves."""
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
        self.history.commit()

    def as_counted(self, recoding: RecodingMap) -> RecodingMap:
        """A recoding of the split groups, for the engine that knows those it counted."""
        assert self.split is not None, "a recoding is for engines"
        return replace(recoding, groups=self.split.origin[recoding.groups])

    def _classes(self, protection: Protection) -> NDArray[np.int64]:
        """The class of each record by the labels that it shows; suppressed ones are in none.

        But where a kept class shows `*` everywhere, suppressed records are in it.
        """
        class_of = class_numbers(protection.released)
        hidden = protection.hidden
        if self.options.drop_suppressed:
            joined = np.zeros(hidden.size, dtype=np.bool_)
        else:
            joined = np.isin(class_of, np.unique(class_of[~hidden]))
        found = np.where(hidden & ~joined, NOT_SHOWN, class_of)
        return found if self.split is None else found[self.split.of_record]


def _basis(names: Sequence[str], options: PublishOptions) -> tuple[str, ...]:
    """The columns by which a record is known from one release to the next."""
    identifiers = options.schema.named(Role.IDENTIFIER)
    one_record_each = options.schema.unit is None and len(identifiers) > 0
    return identifiers if one_record_each else tuple(names)
