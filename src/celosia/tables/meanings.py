"""What the labels of a release may stand for, by the schema that it was made with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED, Meaning
from celosia.core.errors import InputError
from celosia.frames import TableLike, as_frame, as_text
from celosia.tables.coded_table import CodedColumn, code_column
from celosia.tables.hierarchies import Dates, Hierarchy, Mask
from celosia.tables.recoding.mondrian.axis import is_ranged
from celosia.tables.recoding.mondrian.meaning import RangeMeaning
from celosia.tables.schema import Column, Schema

BY_VALUE_ALONE = (Mask, Dates)
"""Rules by which the label of a value does not depend on the other values (of its length)."""


class LabelMeaning:
    """Labels of a hierarchy and ranges of its leaves, read by one and the same column.

    >>> ages = Hierarchy.from_paths([("21", "20s", "*"), ("23", "20s", "*"), ("35", "30s", "*")])
    >>> both = LabelMeaning(ages, _ranges(ages))
    >>> [both.stands_for(label).tolist() for label in ("20s", "[23, 35]", "21", "*")]
    [[0, 1], [1, 2], [0], [0, 1, 2]]
    """

    def __init__(
        self, hierarchy: Hierarchy, ranges: RangeMeaning | None, strangers: tuple[str, ...] = ()
    ):
        self._hierarchy = hierarchy
        self._ranges = ranges
        self._values = (*hierarchy.leaves, *strangers)
        self._strangers = {
            text: place for place, text in enumerate(strangers, len(hierarchy.leaves))
        }

    @property
    def values(self) -> tuple[str, ...]:
        """The leaves, and after them the labels of values that no record here has."""
        return self._values

    def stands_for(self, label: str) -> NDArray[np.int64]:
        """Positions of what the label may be; none if it is no label."""
        if label == SUPPRESSED:
            return np.arange(len(self._values), dtype=np.int64)
        if label in self._strangers:
            return np.array([self._strangers[label]], dtype=np.int64)
        found = self._hierarchy.stands_for(label)
        if self._ranges is None:
            return found
        return np.union1d(found, self._ranges.stands_for(label)).astype(np.int64)

    def groups(
        self, values: Sequence[str], most: int
    ) -> tuple[tuple[str, ...], NDArray[np.int64]] | None:
        """The labels of the finest level with at most so many, and the place of each value's there.

        A value that the hierarchy does not know is a group of its own. None where only the root
        has so few labels.

        >>> zips = Hierarchy.from_paths([("476", "47*", "*"), ("479", "47*", "*"),
        ...                              ("1", "1**", "*")])
        >>> LabelMeaning(zips, None).groups(["1", "476", "479"], 2)
        (('1**', '47*'), array([0, 1, 1]))
        """
        tree = self._hierarchy
        level = next((at for at in range(tree.height) if len(tree.labels[at]) <= most), None)
        if level is None:
            return None
        known = {leaf: tree.labels[level][tree.nodes[level, at]] for leaf, at in tree.index.items()}
        mine = [known.get(value, value) for value in values]
        labels = sorted(set(mine))
        place = {label: at for at, label in enumerate(labels)}
        return tuple(labels), np.array([place[each] for each in mine], dtype=np.int64)


def meanings(
    schema: Schema,
    *,
    original: TableLike | None = None,
    known: TableLike | None = None,
    released: TableLike | None = None,
) -> dict[str, Meaning]:
    """For each quasi-identifier that can be read, what its released labels may stand for.

    A hierarchy is read as it is, and so is a rule that lists all values, such as a tree. Any other
    rule needs the values that the hierarchy was built from: those of the original, or else, for
    what they are worth, those of another table of people. A column without either is left out, and
    its labels can only be compared as text.

    Args:
        schema: the one that the release was made with.
        original: the table that was released.
        known: raw values of some people, such as those in an attacker's table. What a mask or a
            rule of dates makes of a value does not depend on the others, so a label that none of
            these people has is taken for a value of another person.
        released: the release, where `known` is given.

    Raises:
        InputError: CEL-T011 values of the original that a hierarchy does not cover.

    >>> from celosia.tables.hierarchies import Mask
    >>> schema = Schema.of(quasi_identifiers={"zip": Mask()})
    >>> found = meanings(schema, original={"zip": ["47677", "47602"]})
    >>> found["zip"].stands_for("476**").tolist(), meanings(schema)
    ([0, 1], {})
    """
    sources = [None if table is None else as_frame(table) for table in (original, known, released)]
    found: dict[str, Meaning] = {}
    for column in schema.quasi_identifiers:
        cells = [
            None if table is None or column.name not in table.columns else table[column.name]
            for table in sources
        ]
        meaning = _meaning(column, *cells)
        if meaning is not None:
            found[column.name] = meaning
    return found


def _meaning(
    column: Column, original: pl.Series | None, known: pl.Series | None, released: pl.Series | None
) -> Meaning | None:
    if original is not None and original.len() > original.null_count():
        return _of_coded(_coded(column, original.drop_nulls()))
    whole = _whole(column)
    if whole is not None:
        return LabelMeaning(whole, _ranges(whole))
    if known is None or known.len() == known.null_count():
        return None
    coded = _coded(column, known.drop_nulls())
    if released is None or not isinstance(column.hierarchy, BY_VALUE_ALONE):
        return _of_coded(coded)
    plain = _of_coded(coded)
    labels = as_text(released).drop_nulls().unique(maintain_order=True).to_list()
    strange = [label for label in labels if not plain.stands_for(label).size]
    # Labels of which none is understood were made by another rule: better refused than ignored.
    if len(strange) == sum(label != SUPPRESSED for label in labels):
        return plain
    return _of_coded(coded, tuple(strange))


def _whole(column: Column) -> Hierarchy | None:
    """The hierarchy of a column, if it does not depend on the values of a table."""
    if column.hierarchy is None or isinstance(column.hierarchy, Hierarchy):
        return column.hierarchy
    try:
        return column.hierarchy.build(pl.Series([], dtype=pl.String))
    except InputError:  # without values it has no leaves
        return None


def _coded(column: Column, values: pl.Series) -> CodedColumn:
    return code_column(values.alias(column.name).unique(maintain_order=True), column)


def _of_coded(coded: CodedColumn, strangers: tuple[str, ...] = ()) -> LabelMeaning:
    ranges = RangeMeaning(coded) if is_ranged(coded) else None
    return LabelMeaning(coded.hierarchy, ranges, strangers)


def _ranges(hierarchy: Hierarchy) -> RangeMeaning | None:
    """Ranges over the leaves of a hierarchy that are all numbers or all dates."""
    texts = pl.Series(hierarchy.leaves, dtype=pl.String)
    for values in (
        texts.cast(pl.Int64, strict=False),
        texts.cast(pl.Float64, strict=False),
        texts.str.to_date("%Y-%m-%d", strict=False),
    ):
        if not values.null_count():
            nobody = np.empty(0, dtype=np.int32)
            return RangeMeaning(CodedColumn("", hierarchy, nobody, value_of_leaf=values))
    return None
