"""Mondrian: cut the table into boxes as small as the models allow, each released as one class.

Full-domain generalisation takes every value of a column to the same level. Mondrian recodes in many
dimensions: it cuts the records in two along the column in which they spread most, then each side
along its own widest column, and so on until no cut leaves parts that meet the models. Crowded
regions keep fine labels, and no record is suppressed.

- *Numbers and dates* are cut between two values, as near the middle as can be.
- *Other columns* are cut along their hierarchy: the largest children of the node that holds all
  records, up to half of these, become parts of their own; the rest stay together under the old
  label. So every cut tells more about some records, and about none of them less.
- *Relaxed* cuts may go through the records of one number where no cut between two numbers is
  possible. Records that were alike may then differ in their labels, and ranges may share an end.
  What counts for the models is what records share in the release: parts with the same labels are
  one class.

Reference: LeFevre, DeWitt & Ramakrishnan 2006, Mondrian multidimensional k-anonymity.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.numbers import real
from celosia.core.progress import Progress, silent
from celosia.tables.coded_table import CodedColumn, CodedSensitive
from celosia.tables.models import Classes, Histogram, KAnonymity, Model, judge_all
from celosia.tables.recoding.mondrian.cuts import Judge, cut_by_counts, cut_by_judgement
from celosia.tables.recoding.mondrian.partition import Partition
from celosia.tables.recoding.mondrian.rank_table import RankTable
from celosia.tables.recoding.search import infeasibility_error
from celosia.tables.units import CodedUnits


def partition(
    columns: Sequence[CodedColumn],
    models: Sequence[Model],
    *,
    sensitive: Sequence[CodedSensitive] = (),
    relaxed: bool = False,
    weights: Sequence[float] | None = None,
    counts: NDArray[np.int64] | None = None,
    units: CodedUnits | None = None,
    progress: Progress = silent,
) -> Partition:
    """Cut a table into classes that meet every model and are as small as Mondrian finds them.

    Args:
        columns: the quasi-identifiers.
        models: what each class must meet.
        sensitive: the columns that models about sensitive values name.
        relaxed: whether records with the same number may go to both sides of a cut.
        weights: how much each column counts when the widest one is chosen; a heavy column is cut
            sooner and keeps finer labels. 1 for each if not given.
        counts: how many records each row stands for, where the table was grouped before; cuts must
            then not be relaxed, for these tell records of a row apart.
        units: the people or households that models count; `counts` are then weights.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-P040 a model that does not judge class by class, CEL-P041 weights that are
            none, CEL-P043 no column or no model.
        PrivacyError: CEL-P001 not even the whole table as one class meets the models, CEL-P042
            parts that meet the models but not together, where a relaxed cut gave them one label.

    >>> from celosia.tables.hierarchies import Hierarchy
    >>> pets = Hierarchy.from_paths([("cat", "*"), ("dog", "*"), ("owl", "*")])
    >>> pet = CodedColumn("pet", pets, np.array([0, 0, 1, 1, 1, 2], dtype=np.int32))
    >>> partition([pet], [KAnonymity(2)]).sizes.tolist()
    [3, 3]
    """
    _check(columns, models)
    assert not (relaxed and counts is not None), "a row of several records cannot be cut"
    rank_table = RankTable(
        columns, _weights(weights, len(columns)), relaxed=bool(relaxed), counts=counts
    )
    counting = units is None and all(isinstance(model, KAnonymity) for model in models)
    judge = Judge(rank_table, models, () if counting else sensitive, units)
    whole = judge.classes(np.array([[0, rank_table.records]], dtype=np.int64))
    least = max(model.smallest for model in models)
    if int(whole.sizes[0]) < least or not judge_all(whole, models).satisfied.all():
        raise infeasibility_error(whole, models, suppression=0.0)
    if counting:
        cut_by_counts(rank_table, least, progress)
    else:
        cut_by_judgement(rank_table, judge, least, progress)
    cut = Partition.of(rank_table)
    merged = cut.merge_equal_labels()
    if merged is not cut:
        _check_joined(merged, models, () if counting else sensitive, counts, units)
    return merged


def _check(columns: Sequence[CodedColumn], models: Sequence[Model]) -> None:
    if not columns or not models:
        raise InputError("CEL-P043", columns=len(columns), models=len(models))
    for model in models:
        if model.judges_table or model.needs_population:
            raise InputError("CEL-P040", model=model.promise())


def _weights(weights: Sequence[float] | None, columns: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(columns)
    numbers = [real(weight) for weight in weights]
    good = [number for number in numbers if number is not None and 0 <= number < inf]
    if len(good) != columns or len(numbers) != columns:
        raise InputError("CEL-P041", columns=columns, weights=list(weights))
    return np.array(good, dtype=np.float64)


def _check_joined(
    joined: Partition,
    models: Sequence[Model],
    sensitive: Sequence[CodedSensitive],
    counts: NDArray[np.int64] | None,
    units: CodedUnits | None,
) -> None:
    """Models that hold for each of two classes hold for both as one, all that we know of."""
    class_of = joined.class_of_row.astype(np.int64)
    histograms = {
        each.column.name: Histogram.of_rows(
            each.column, class_of, each.value_of_row, joined.classes, counts
        )
        for each in sensitive
    }
    classes = Classes(joined.sizes, histograms)
    if units is not None:
        classes = units.classes(class_of, joined.classes)
    if not judge_all(classes, models).satisfied.all():
        raise PrivacyError("CEL-P042")
