"""Global recoding: every value of a column becomes a more general one that contains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Parameter, check_list, parameter
from celosia.core.randomness import Source
from celosia.frames import as_text
from celosia.tables.hierarchies import Builder, Hierarchy, from_table
from celosia.tables.hierarchies.hierarchy import check_text
from celosia.tables.masking.coding.top_bottom import interval_labels
from celosia.tables.masking.method import (
    TEXTS,
    WHOLE,
    CellFunction,
    MaskingMethod,
    MethodResult,
    Reach,
    Work,
    cells,
    check_columns,
    check_number,
    numbers,
)
from celosia.tables.masking.value_counts import ValueCounts


def _check_breaks(value: Any) -> tuple[float, ...]:
    breaks = tuple(check_number(each) for each in check_list(value))
    if not breaks or any(low >= high for low, high in pairwise(breaks)):
        raise ValueError
    return breaks


def _check_mapping(value: Any) -> dict[str, str]:
    found = _check_table(value)
    if not found or not all(isinstance(each, str) for pair in found.items() for each in pair):
        raise ValueError
    return found


def _check_table(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError
    return dict(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoding(MaskingMethod):
    """One rule for the whole column, so that equal values stay equal; the result is text.

    Exactly one of `breaks`, `mapping` and `hierarchy` is given. Empty cells stay empty.

    Args:
        breaks: rising numbers. A value between two of them becomes '[0,10)', which holds its lower
            end and not its upper one; before the first it becomes '<0', from the last on '≥20'.
        labels: with `breaks`, the labels instead: one for each interval and the two ends beyond;
            or one for each interval only, and values beyond the breaks are refused.
        mapping: the label of each value.
        other: with `mapping`, the label of values it does not name; without it they are refused.
        hierarchy: a hierarchy as a schema writes it: {method = "mask"}, {method = "intervals",
            widths = [10]}, {method = "tree", tree = {...}} or {file = "age.csv"}.
        level: with `hierarchy`, how many levels above the values.

    Guarantee: none by itself; what is released is true. Measure the classes afterwards.

    Reference: Willenborg & de Waal 2001; Samarati 2001 for hierarchies.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"age": [3, 11, 7, 19], "zip": ["08500", "08242", "17600", None]})
    >>> Recoding(breaks=(0, 10, 20)).apply(frame, ["age"], rng=Seeded(7)).frame["age"].to_list()
    ['[0,10)', '[10,20)', '[0,10)', '[10,20)']
    >>> region = Recoding(hierarchy={"method": "mask", "levels": [3]}, level=1)
    >>> region.apply(frame, ["zip"], rng=Seeded(7)).frame["zip"].to_list()
    ['08***', '08***', '17***', None]
    """

    method_name: ClassVar[str] = "recoding"
    randomised: ClassVar[bool] = False
    truthful: ClassVar[bool] = True
    reaches: ClassVar[tuple[Reach, ...]] = ("row", "facts")

    breaks: tuple[float, ...] | None = parameter(
        None,
        check=_check_breaks,
        allowed="tables.must_be.rising_numbers",
        example="[20, 40, 60]",
        is_main=True,
    )
    labels: tuple[str, ...] = parameter((), like=TEXTS, kind="values")
    mapping: Mapping[str, str] | None = field(
        default=None,
        hash=False,
        metadata={
            "parameter": Parameter(
                check=_check_mapping,
                allowed="tables.must_be.labels_by_value",
                example='{ Divorced = "alone", Widowed = "alone" }',
                is_main=True,
            )
        },
    )
    other: str | None = parameter(None, kind="text", check=check_text)
    hierarchy: Mapping[str, Any] | None = field(
        default=None,
        hash=False,
        metadata={
            "parameter": Parameter(
                check=_check_table,
                allowed="tables.must_be.hierarchy_table",
                example='{ method = "intervals", widths = [10] }',
                is_main=True,
            )
        },
    )
    level: int = parameter(1, like=WHOLE, least=0)

    def check(self) -> None:
        """Refuse two rules at once, and what belongs to a rule that is not given."""
        given = self._exactly_one("breaks", "mapping", "hierarchy")
        partners = {"labels": "breaks", "other": "mapping", "level": "hierarchy"}
        extras = {"labels": self.labels != (), "other": self.other is not None}
        extras["level"] = self.level != 1
        for name, partner in partners.items():
            if extras[name] and given != partner:
                raise InputError(
                    "CEL-V201.belongs",
                    method=self.method_name,
                    first=name,
                    second=given,
                    partner=partner,
                )
        if self.breaks is not None and self.labels:
            inner, every = len(self.breaks) - 1, len(self.breaks) + 1
            if len(self.labels) not in (inner, every):
                raise InputError(
                    "CEL-V201.labels_of_breaks", method=self.method_name, all=every, inner=inner
                )
        if self.hierarchy is not None and "file" not in self.hierarchy:
            from_table(self.hierarchy, folder=Path())  # a rule now, a file when it is read

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_columns(frame, columns, self.method_name)
        recoded = [self._recoded(cells(frame, name), name) for name in columns]
        facts = {
            name: {
                "values": cells(frame, name).drop_nulls().n_unique(),
                "labels": labels.drop_nulls().n_unique(),
            }
            for name, labels in zip(columns, recoded, strict=True)
        }
        named = [labels.alias(name) for name, labels in zip(columns, recoded, strict=True)]
        return MethodResult(frame=frame.with_columns(named), facts=facts)

    @property
    def reach(self) -> Reach:
        """The levels of a rule are made from the values that there are."""
        made_here = self.hierarchy is not None and "file" not in self.hierarchy
        return "facts" if made_here else "row"

    def cell_function(
        self, column: pl.Series, value_counts: Callable[[], ValueCounts]
    ) -> CellFunction:
        """Labels by breaks or a mapping, or of all values that a hierarchy has."""
        if self.hierarchy is None:
            return CellFunction(partial(_labelled, self, None))
        if self.reach == "facts":
            texts = as_text(_without_nan(value_counts().values)).unique()
            known = self._by_level(texts, column.name)
            facts = {"values": len(known), "labels": len(set(known.values()))}
            return CellFunction(partial(_labelled, self, known), facts)
        tree = from_table(self.hierarchy, folder=Path())
        assert isinstance(tree, Hierarchy), "a file holds all leaves"
        known = self._by_level(pl.Series(tree.leaves, dtype=pl.String), column.name)
        return CellFunction(partial(_labelled, self, known))

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (Message("masking.gap.rare_label"),)

    def _recoded(
        self, column: pl.Series, name: str, known: Mapping[str, str | None] | None = None
    ) -> pl.Series:
        """The labels of some cells; of a hierarchy they may be `known` beforehand."""
        if self.breaks is not None:
            return self._by_breaks(column, name)
        texts = as_text(_without_nan(column))
        distinct = texts.drop_nulls().unique()
        if self.mapping is not None:
            known = {text: self.mapping.get(text, self.other) for text in distinct}
            unknown = [text for text, label in known.items() if label is None]
            if unknown:
                count = int(texts.is_in(unknown).sum())
                raise InputError("CEL-V270.mapping", column=name, count=count)
        elif known is None:
            known = self._by_level(distinct, name)
        else:
            absent = sum(text not in known for text in distinct)
            if absent:
                raise InputError("CEL-V270.hierarchy", column=name, count=absent)
            known = {text: known[text] for text in distinct}
        return texts.replace_strict(known, return_dtype=pl.String)

    def _by_breaks(self, column: pl.Series, name: str) -> pl.Series:
        assert self.breaks is not None
        values = numbers(column.to_frame(name), [name], self.method_name)[:, 0]
        places = np.searchsorted(np.array(self.breaks), values, side="right")
        empty = np.isnan(values)
        labels: tuple[str | None, ...] = self.labels or interval_labels(self.breaks)
        if len(labels) < len(self.breaks):
            beyond = int(((places == 0) | (places == len(self.breaks)))[~empty].sum())
            if beyond:
                raise InputError("CEL-V270.breaks", column=name, count=beyond)
            labels = (None, *labels, None)
        places[empty] = len(labels)
        return pl.Series([*labels, None], dtype=pl.String).gather(places)

    def _by_level(self, distinct: pl.Series, name: str) -> dict[str, str | None]:
        assert self.hierarchy is not None
        if distinct.is_empty():
            return {}
        made: Hierarchy | Builder = from_table(self.hierarchy, folder=Path())
        tree = made if isinstance(made, Hierarchy) else made.build(distinct)
        if self.level > tree.height:
            raise InputError("CEL-V271", level=self.level, column=name, height=tree.height)
        absent = sum(text not in tree.index for text in distinct)
        if absent:
            raise InputError("CEL-V270.hierarchy", column=name, count=absent)
        return {text: tree.label(text, level=self.level) for text in distinct}


def _labelled(
    method: Recoding, known: Mapping[str, str | None] | None, column: pl.Series, _: Source
) -> pl.Series:
    return method._recoded(column.alias(""), column.name, known)


def _without_nan(series: pl.Series) -> pl.Series:
    return series.fill_nan(None) if series.dtype.is_float() else series
