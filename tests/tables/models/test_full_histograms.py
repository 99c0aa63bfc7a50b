"""Histograms with a counter for every value say what compressed rows say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.tables.models.small_classes import NODES

from celosia.tables.models import (
    BetaLikeness,
    Classes,
    FullHistogram,
    Histogram,
    KAnonymity,
    SensitiveColumn,
    TCloseness,
    judge_all,
)

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]


@st.composite
def both(draw: st.DrawFn) -> tuple[Histogram, FullHistogram]:
    """The same classes of six values, each in both forms; some tables need the wider counters."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(1, 9)),
            min_size=1,
            max_size=30,
        )
    )
    class_of, value_of, counts = (np.array(each) for each in zip(*rows, strict=True))
    classes, class_of = np.unique(class_of, return_inverse=True)
    others = draw(st.sampled_from([0, 40_000]))
    totals = np.bincount(value_of, counts, minlength=6).astype(np.int64) + others
    column = SensitiveColumn("disease", totals, nodes=NODES)
    inside = (column, class_of, value_of.astype(np.int32), classes.size, counts)
    full = FullHistogram.of_classes(*inside)
    assert full is not None
    assert full.full.dtype == (np.int32 if others else np.int16)
    return Histogram.of_rows(*inside), full


def entries(rows: Histogram) -> list[list[int]]:
    return [rows.starts.tolist(), rows.values.tolist(), rows.counts.tolist()]


@settings(max_examples=100)
@given(both(), st.data())
def test_rows_are_the_same_before_and_after_a_merger(
    forms: tuple[Histogram, FullHistogram], data: st.DataObject
) -> None:
    rows, full = forms
    assert entries(full) == entries(rows)
    count = rows.starts.size - 1
    into = np.array([data.draw(st.integers(0, 1)) for _ in range(count)], dtype=np.int32)
    merged = Histogram.of_rows(
        rows.column, into[rows.class_of].astype(np.int64), rows.values, 2, rows.counts
    )
    assert entries(full.merged(into, 2)) == entries(merged)
    some = into == 0
    assert entries(full.where(some)) == entries(rows.where(some))


@settings(max_examples=100)
@given(
    both(),
    st.sampled_from(
        [
            TCloseness(0.2, "equal", "disease"),
            TCloseness(0.4, "hierarchical", "disease"),
            BetaLikeness(0.5, column="disease"),
        ]
    ),
    st.integers(0, 12),
)
def test_models_say_the_same_of_both(
    forms: tuple[Histogram, FullHistogram], model: TCloseness | BetaLikeness, least: int
) -> None:
    sizes = np.diff(np.concatenate([[0], np.cumsum(forms[0].counts)])[forms[0].starts])
    one, other = (model.judge(Classes(sizes, {"disease": form}, least=least)) for form in forms)
    assert one.satisfied.tolist() == other.satisfied.tolist()
    assert one.must_go.tolist() == other.must_go.tolist()


def test_a_column_of_many_values_has_no_full_form() -> None:
    column = SensitiveColumn("disease", np.ones(33, dtype=np.int64))
    nothing = np.zeros(1, dtype=np.int64)
    assert FullHistogram.of_classes(column, nothing, nothing.astype(np.int32), 1, None) is None


@pytest.mark.parametrize(
    ("k", "must_go"),
    [(2, [1, 3]), (5, [1, 3]), (6, [1, 8])],
)
def test_what_is_kept_of_a_class_is_as_many_records_as_any_class_has(
    k: int, must_go: Sequence[int]
) -> None:
    """Of 2 and 6 records, with a share of at most 0.6, 2 and 3 can be kept."""
    column = SensitiveColumn("disease", np.array([50, 50]))
    rows = Histogram.of_rows(
        column, np.array([0, 1, 1]), np.array([0, 0, 1], np.int32), 2, np.array([1, 2, 6])
    )
    classes = Classes(np.array([1, 8]), {"disease": rows})
    found = judge_all(classes, [KAnonymity(k), BetaLikeness(0.2, column="disease")])
    assert found.must_go.tolist() == must_go
