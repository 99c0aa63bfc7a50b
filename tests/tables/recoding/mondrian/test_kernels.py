"""Each kernel equals its plain twin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia import DistinctDiversity, KAnonymity, datasets
from celosia.tables.coded_table import CodedSensitive, code_table
from celosia.tables.models import Histogram, Model, SensitiveColumn
from celosia.tables.recoding import _kernels as recoding_kernels
from celosia.tables.recoding import mondrian
from celosia.tables.recoding.mondrian import _kernels, _plain_kernels, rank_table


@settings(max_examples=200)
@given(st.lists(st.integers(-9, 9), max_size=40), st.data())
def test_sort_puts_the_first_numbers_in_order_and_leaves_the_rest(
    numbers: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(numbers)))
    array = np.array(numbers, dtype=np.int64)
    recoding_kernels.sort(array, size)
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


@pytest.mark.parametrize(("relaxed", "grouped"), [(False, False), (True, False), (False, True)])
def test_kernels_of_the_first_run_cut_as_compiled_ones_do(
    relaxed: bool, grouped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = code_table(datasets.census(400, seed=5), datasets.census_schema(), ["occupation"])
    counts = np.arange(400, dtype=np.int64) % 3 + 1 if grouped else None

    def cut(models: list[Model], sensitive: Sequence[CodedSensitive]) -> mondrian.Partition:
        return mondrian.partition(
            table.columns, models, sensitive=sensitive, relaxed=relaxed, counts=counts
        )

    cases: list[tuple[list[Model], Sequence[CodedSensitive]]] = [
        ([KAnonymity(5)], ()),
        ([KAnonymity(4), DistinctDiversity(2, column="occupation")], table.sensitive),
    ]
    for models, sensitive in cases:
        expected = cut(models, sensitive)
        with monkeypatch.context() as patch:
            patch.setattr(rank_table, "kernels_for", lambda cells: _plain_kernels.plain_kernels())
            found = cut(models, sensitive)
        assert found.class_of_row.tolist() == expected.class_of_row.tolist()
        assert found.lowest.tolist() == expected.lowest.tolist()
        assert found.highest.tolist() == expected.highest.tolist()


def test_tables_do_without_compiling_until_it_has_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, float]] = []

    def does_without(name: str, cost: float) -> bool:
        asked.append((name, cost))
        return cost < 1

    monkeypatch.setattr(_plain_kernels, "does_without", does_without)
    monkeypatch.setattr(_plain_kernels, "is_compiled", lambda kernel: False)
    assert _plain_kernels.kernels_for(1_250_000) is _plain_kernels.plain_kernels()
    assert _plain_kernels.kernels_for(5_000_000) is _kernels
    assert asked == [("mondrian", 0.5), ("mondrian", 2.0)]
    monkeypatch.setattr(_plain_kernels, "is_compiled", lambda kernel: True)
    assert _plain_kernels.kernels_for(1000) is _kernels
