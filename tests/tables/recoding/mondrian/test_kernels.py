"""Each kernel equals its plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.tables.models import Histogram, SensitiveColumn
from celosia.tables.recoding.mondrian import _kernels


@settings(max_examples=200)
@given(st.lists(st.integers(-9, 9), max_size=40), st.data())
def test_sort_puts_the_first_numbers_in_order_and_leaves_the_rest(
    numbers: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(numbers)))
    array = np.array(numbers, dtype=np.int64)
    _kernels.sort(array, size)
    assert array.tolist() == sorted(numbers[:size]) + numbers[size:]


@settings(max_examples=150)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.data())
def test_the_histogram_of_stretches_is_that_of_their_rows(
    values: list[int], data: st.DataObject
) -> None:
    rows = np.array(data.draw(st.permutations(range(len(values)))), dtype=np.int32)
    cuts = data.draw(st.sets(st.integers(1, len(values)), max_size=5)) - {len(values)}
    bounds = np.array([0, *sorted(cuts), len(values)])
    nodes = np.column_stack([bounds[:-1], bounds[1:]])
    value_of_row = np.array(values, dtype=np.int32)
    found = _kernels.histogram(nodes, rows, value_of_row, 6, np.empty(0, dtype=np.int64))
    class_of = np.empty(len(values), dtype=np.int64)
    for number, (start, end) in enumerate(nodes):
        class_of[rows[start:end]] = number
    column = SensitiveColumn("s", np.bincount(value_of_row, minlength=6))
    plain = Histogram.of_rows(column, class_of, value_of_row, nodes.shape[0])
    assert found[0].tolist() == plain.starts.tolist()
    assert found[1].tolist() == plain.values.tolist()
    assert found[2].tolist() == plain.counts.tolist()
