"""Joint classes: the records that no release tells apart, over all releases of a source.

An attacker knows a person's record, and so its class in every release. Worst of all the attacker
can follow each row from one release to the next, by columns that are published as they are. Then
the record is one of those that were in the same class every time: its joint class. A record that a
release does not show, because it was suppressed or is new or gone, is in none of its classes, which
is a fact like another. So a joint class is the records with equal classes in all releases, "not
shown" being one. Every subset of the releases has larger joint classes, so all of them are covered.

Records that were never shown in any class have nothing to join, and are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import PlainValues
from celosia.tables.coded_table import CodedSensitive, CodedTable
from celosia.tables.models import Classes, SensitiveColumn, SensitiveModel, Verdict

NOT_SHOWN = -1
"""The class of a record that a release does not show."""

EARLIER = "\0earlier releases"
"""How the models call the joint class of the earlier releases; no column can have this name."""


@dataclass(frozen=True, eq=False, slots=True)
class JointClasses:
    """All records that a source ever had, and their joint classes over some releases."""

    records: NDArray[np.uint64] = field(repr=False)
    """Their fingerprints, ascending."""
    units: NDArray[np.uint64] = field(repr=False)
    """The fingerprints of their people or households."""
    of_record: NDArray[np.int64] = field(repr=False)
    """The number of each record's joint class; `NOT_SHOWN` if no release has shown it."""

    @classmethod
    def none(cls) -> JointClasses:
        """Of no release."""
        empty = np.zeros(0, dtype=np.uint64)
        return cls(empty, empty, np.zeros(0, dtype=np.int64))

    def join(
        self,
        records: NDArray[np.uint64],
        units: NDArray[np.uint64],
        class_of: NDArray[np.int64],
    ) -> JointClasses:
        """The joint classes with one more release, given the class of each of its records."""
        everybody, first = np.unique(np.append(self.records, records), return_index=True)
        both = np.append(self.units, units)[first]
        before = np.full(everybody.size, NOT_SHOWN, dtype=np.int64)
        before[np.searchsorted(everybody, self.records)] = self.of_record
        now = np.full(everybody.size, NOT_SHOWN, dtype=np.int64)
        now[np.searchsorted(everybody, records)] = class_of
        width = int(now.max(initial=NOT_SHOWN)) + 2
        joint = np.unique((before + 1) * width + now + 1, return_inverse=True)[1]
        shown = (before != NOT_SHOWN) | (now != NOT_SHOWN)
        return JointClasses(everybody, both, np.where(shown, joint, NOT_SHOWN))

    def sizes(self) -> NDArray[np.int64]:
        """The number of units of each joint class."""
        shown = self.of_record != NOT_SHOWN
        if not shown.any():
            return np.zeros(0, dtype=np.int64)
        joint = np.unique(self.of_record[shown], return_inverse=True)[1]
        unit = np.unique(self.units[shown], return_inverse=True)[1]
        pairs = np.unique(joint.astype(np.int64) * (int(unit.max()) + 1) + unit)
        return np.bincount(pairs // (int(unit.max()) + 1)).astype(np.int64)

    def of_records(self, records: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The joint class of some records; `NOT_SHOWN` for those that were never shown."""
        if not self.records.size:
            return np.full(records.size, NOT_SHOWN, dtype=np.int64)
        place = np.searchsorted(self.records, records).clip(max=self.records.size - 1)
        known = self.records[place] == records
        return np.where(known, self.of_record[place], NOT_SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointOutcome(PlainValues):
    """What a release is worth together with the earlier ones; numbers of units."""

    earlier: int
    """Releases of the same source before this one."""
    known: int
    """Records of this source that an earlier release has shown."""
    required: int
    """The least that any of the releases promised for its classes."""
    smallest: int
    """The smallest joint class of all releases, this one included."""
    below: int
    """Units in joint classes that are smaller than required."""
    already: int
    """Those of them that were so before this release."""
    average_risk: float
    """The chance that an attacker who joins all releases picks the right one, on average."""
    accepted: str | None = None
    """Why joint classes below what is required were accepted, in the officer's words."""

    @classmethod
    def of(
        cls,
        joint: JointClasses,
        before: JointClasses,
        *,
        earlier: int,
        known: int,
        required: int,
        accepted: str | None,
    ) -> JointOutcome:
        """Measure the joint classes of all releases, and those before this one."""
        sizes, sizes_before = joint.sizes(), before.sizes()
        total = int(sizes.sum())
        return cls(
            earlier=earlier,
            known=known,
            required=required,
            smallest=int(sizes.min(initial=total)),
            below=int(sizes[sizes < required].sum()),
            already=int(sizes_before[sizes_before < required].sum()),
            average_risk=sizes.size / total if total else 0.0,
            accepted=accepted,
        )

    @property
    def holds(self) -> bool:
        """Whether no joint class has become smaller than required by this release."""
        return self.below <= self.already


@dataclass(frozen=True, slots=True)
class JointClassSize(SensitiveModel):
    """In each class every joint class of the earlier releases has `least` units, or none.

    Guarantee: the joint classes with this release, of those that it shows, have `least` units.
    """

    method_name: ClassVar[str] = "joint-class-size"
    column: str | None = EARLIER
    least: tuple[int, ...] = ()
    """For each joint class of the earlier releases, the units that it must keep together."""

    def judge(self, classes: Classes) -> Verdict:
        """A few of one joint class stay few in every part: all of them must go."""
        rows = self.histogram(classes)
        few = rows.counts < np.array(self.least, dtype=np.int64)[rows.values]
        must_go = np.zeros(classes.sizes.size, dtype=np.int64)
        np.add.at(must_go, rows.class_of[few], rows.counts[few])
        return Verdict(must_go == 0, must_go)

    def judge_units(self, classes: Classes) -> Verdict:
        """Units with records of several joint classes count for each of them."""
        assert classes.units is not None
        by_unit = classes.units[EARLIER]
        satisfied = np.ones(classes.sizes.size, dtype=np.bool_)
        least = np.array(self.least, dtype=np.int64)
        width = least.size
        counts = np.zeros(0, dtype=np.int64)
        cells = [
            each.class_of.astype(np.int64) * width + each.values
            for each in (by_unit.single, by_unit.candidates)
        ]
        found, place = np.unique(np.concatenate(cells), return_inverse=True)
        counts = np.zeros(found.size, dtype=np.int64)
        np.add.at(counts, place, np.append(by_unit.single.counts, by_unit.candidates.counts))
        satisfied[(found // width)[counts < least[found % width]]] = False
        return Verdict(satisfied, np.zeros(satisfied.size, dtype=np.int64))

    def promise(self) -> str:
        return Message("tables.history.promise", k=max(self.least, default=1))

    def protects(self) -> str:
        return Message("tables.history.protects")

    def leaves_open(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class JointRemainder(JointClassSize):
    """Of each joint class of the earlier releases, none is left unshown, or `least` are, or all.

    Where a release hides too few of a joint class, those few are told from the others. Then it
    hides the others too: the classes that have any of them.
    """

    method_name: ClassVar[str] = "joint-remainder"
    totals: tuple[int, ...] = ()
    """For each joint class, all the records that it has, also those that are not in the table."""
    judges_table: ClassVar[bool] = True

    def judge(self, classes: Classes) -> Verdict:
        """Send classes away until no joint class has a small remainder."""
        rows = self.histogram(classes)
        least, totals = np.array(self.least), np.array(self.totals)
        kept = np.ones(classes.sizes.size, dtype=np.bool_)
        while True:
            entries = kept[rows.class_of]
            shown = np.zeros(totals.size, dtype=np.int64)
            np.add.at(shown, rows.values[entries], rows.counts[entries])
            hidden = totals - shown
            torn = (shown > 0) & (hidden > 0) & (hidden < least)
            gone = rows.class_of[entries & torn[rows.values]]
            if not gone.size:
                return Verdict(kept, np.zeros(kept.size, dtype=np.int64))
            kept[gone] = False


def joint_models(
    table: CodedTable,
    joint: JointClasses,
    before: NDArray[np.int64],
    required: int,
    *,
    whole: bool,
) -> tuple[CodedSensitive, Sequence[SensitiveModel]]:
    """The earlier joint class of each row as a column, and the models about it.

    Args:
        table: the table to be published.
        joint: the joint classes of the earlier releases.
        before: the one that all records of a row were in.
        required: how many units a joint class needs.
        whole: whether all rows are recoded at once, so that what is not kept is not shown.
    """
    numbers, value_of_row = np.unique(before, return_inverse=True)
    sizes = joint.sizes()
    # Classes without records of this table are of no concern; new records are number 0, or none.
    totals = np.bincount(joint.of_record[joint.of_record >= 0], minlength=sizes.size)
    place_of = np.unique(joint.of_record[joint.of_record >= 0])
    places = np.searchsorted(place_of, numbers).clip(max=max(0, place_of.size - 1))
    is_new = numbers == NOT_SHOWN
    # A joint class that is too small already has nothing left to keep.
    is_large = is_new | ((sizes[places] if sizes.size else 0) >= required)
    least = np.where(is_large, required, 1)
    in_all = totals[place_of][places] if place_of.size else np.zeros(numbers.size, dtype=np.int64)
    here = np.bincount(value_of_row, weights=table.counts).astype(np.int64)
    column = SensitiveColumn(EARLIER, here)
    coded = CodedSensitive(column, value_of_row.astype(np.int32))
    models: list[SensitiveModel] = [JointClassSize(least=tuple(least.tolist()))]
    if whole and table.units is None:
        # Those that are new were never shown: hiding some of them tells nothing.
        shown = np.where(is_new, column.totals, in_all)
        spared = np.where(is_new, 0, least)
        models.append(JointRemainder(least=tuple(spared.tolist()), totals=tuple(shown.tolist())))
    return coded, models
