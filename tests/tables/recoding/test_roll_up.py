"""Class tables rolled up in any order equal grouping from scratch."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain import Path, Row, generalise
from tests.tables.recoding.strategies import SENSITIVE, TREE, Node, People, coded, people

from celosia.tables.coded_table import code_sensitive
from celosia.tables.hierarchies import Hierarchy
from celosia.tables.recoding import Lattice, roll_up
from celosia.tables.schema import Column, Role


def check_classes(lattice: Lattice, table: People, node: Node) -> None:
    """Keys, sizes, histograms, population and the class of each row, against plain counting."""
    found = lattice.class_table(node)
    labels = table.labels(node)
    class_of = lattice.class_of_rows(node)
    assert len(np.unique(found.keys, axis=0)) == found.keys.shape[0]
    assert found.population is not None
    plain = table.classes(node)
    assert found.sizes.size == len(plain)
    assert sorted(found.population.tolist()) == sorted(one.people for one in plain.values())
    label_of = dict(zip(class_of.tolist(), labels, strict=True))
    assert len(set(label_of.values())) == len(label_of)  # one label a class
    assert [label_of[each] for each in class_of.tolist()] == labels
    (histogram,) = found.histograms
    for number, size in enumerate(found.sizes.tolist()):
        part = slice(histogram.starts[number], histogram.starts[number + 1])
        counts = dict(
            zip(histogram.values[part].tolist(), histogram.counts[part].tolist(), strict=True)
        )
        if number not in label_of:
            assert size == 0
            assert not counts
            continue
        one = plain[label_of[number]]
        known = sorted(set(table.values))  # values are numbered in the order of the hierarchy
        assert size == len(one.values)
        assert {known[value]: count for value, count in counts.items()} == Counter(one.values)
        assert list(counts) == sorted(counts)
        assert found.population[number] == one.people


def nodes_of(table: People) -> st.SearchStrategy[list[Node]]:
    return st.lists(st.sampled_from(table.nodes), min_size=1, max_size=8)


@pytest.mark.parametrize("few", [0, roll_up.FEW_CLASSES])
@settings(max_examples=120)
@given(people(max_columns=3), st.data())
def test_classes_do_not_depend_on_the_order_of_visits(
    few: int, table: People, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roll_up, "FEW_CLASSES", few)  # 0: always by half-way tables
        lattice = table.lattice()
        for node in data.draw(nodes_of(table)):
            check_classes(lattice, table, node)


@settings(max_examples=60)
@given(people(max_columns=3), st.data())
def test_classes_are_right_where_nothing_may_be_remembered(
    table: People, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roll_up, "KNOWN_CLASSES", 0)
        lattice = table.lattice()
        for node in data.draw(nodes_of(table)):
            check_classes(lattice, table, node)


@settings(max_examples=60)
@given(people(max_columns=3), st.data())
def test_combinations_are_numbered_as_their_class_table(table: People, data: st.DataObject) -> None:
    lattice = table.lattice()
    codes, sizes = lattice.combination_codes()
    for node in data.draw(nodes_of(table)):
        class_of = lattice.class_of_combinations(node)
        found = lattice.class_table(node)
        assert np.bincount(class_of, weights=sizes).tolist() == found.sizes.tolist()
        for column, steps in enumerate(lattice.codes_by_level()):
            # Combinations of one class have one code at the node's level, in every column.
            raised = steps[node[column]][codes[column]]
            pairs = set(zip(class_of.tolist(), raised.tolist(), strict=True))
            assert len(pairs) == found.sizes.size


@pytest.mark.parametrize("few", [0, roll_up.FEW_CLASSES])
def test_keys_of_several_words_carry_histograms_and_population(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 40 columns of 6 values need 120 bits: two words.
    monkeypatch.setattr(roll_up, "FEW_CLASSES", few)
    paths: list[Path] = [(str(leaf), f"g{leaf // 2}", "*") for leaf in range(6)]
    generator = np.random.default_rng(11)
    base = generator.integers(0, 6, size=(30, 40))

    def draw(number: int) -> list[Row]:
        return [
            tuple(str(cell) for cell in base[pick]) for pick in generator.integers(0, 30, number)
        ]

    table = People([paths] * 40, draw(150), generator.integers(0, 5, 150).tolist(), draw(60))
    lattice = table.lattice()
    assert lattice.class_table((0,) * 40).keys.shape[1] == 2
    for _ in range(12):
        # Most columns at the top, so that classes merge.
        node = tuple(int(level) for level in 2 - generator.choice(3, 40, p=[0.9, 0.07, 0.03]))
        check_classes(lattice, table, node)


def test_grouped_rows_carry_their_counts_into_histograms() -> None:
    paths: list[Path] = [("a", "*"), ("b", "*")]
    column = Column(SENSITIVE, Role.SENSITIVE, hierarchy=Hierarchy.from_paths(TREE))
    counts = np.array([3, 1, 2], dtype=np.int64)
    sensitive = code_sensitive(pl.Series(SENSITIVE, [4, 0, 4]), column, counts)
    assert sensitive.column.totals.tolist() == [1, 5]
    rows: list[Row] = [("a",), ("a",), ("b",)]
    lattice = Lattice(coded([paths], rows), counts, sensitive=[sensitive])
    (low,) = lattice.class_table((0,)).histograms
    (high,) = lattice.class_table((1,)).histograms
    assert (low.values.tolist(), low.counts.tolist()) == ([0, 1, 1], [1, 3, 2])
    assert (high.values.tolist(), high.counts.tolist()) == ([0, 1], [1, 5])
    assert generalise(rows, [paths], (1,)) == [("*",)] * 3
