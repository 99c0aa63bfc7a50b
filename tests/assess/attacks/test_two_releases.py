"""Two releases of the same people, joined by position and by what they share."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.assess.attacks import complementary, tuple_order
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.datasets import weak_releases

MEANINGS = weak_releases.release_hierarchies()
QI = ["ethnic", "birth", "sex", "postal"]


def test_position_gives_all_twelve_rows_back() -> None:
    first, second = weak_releases.in_order_releases()
    found = tuple_order(first, second, columns=["ethnic", "postal"], meanings=MEANINGS)
    assert (found.exposed_people, found.share, found.greatest) == (12, 1, 1)
    assert found.facts["cells_recovered"] == found.facts["cells"] == 24
    assert found.facts["correlation"] == 1


def test_without_meanings_labels_of_another_level_do_not_fit() -> None:
    first, second = weak_releases.in_order_releases()
    found = tuple_order(first, second, columns=["ethnic", "postal"])
    assert (found.facts["rows_that_fit"], found.exposed_people) == (0, 0)


def test_a_shuffled_release_is_recognised_as_safe() -> None:
    first, second = weak_releases.in_order_releases()
    many_first = pl.concat([first] * 50)
    many_second = pl.concat([second] * 50)
    order = Seeded(7).permutation(600)
    shuffled = tuple_order(
        many_first, many_second[order.tolist()], columns=["ethnic", "postal"], meanings=MEANINGS
    )
    # Half of all pairs fit by chance; the share of 600 rows has a deviation of 0.02, doubled by
    # the division by one half, so 0.2 is five of them.
    assert abs(shuffled.facts["correlation"] or 0) < 0.2
    assert shuffled.exposed_people == 0
    assert shuffled.greatest < 0.2


def test_where_any_two_rows_fit_the_worst_is_assumed() -> None:
    one = pl.DataFrame({"sex": ["F", "M"], "zip": ["*", "*"]})
    other = pl.DataFrame({"sex": ["*", "*"], "zip": ["1", "2"]})
    found = tuple_order(one, other, columns=["sex", "zip"])
    assert found.facts["correlation"] is None
    assert found.exposed_people == 2


def test_a_shared_column_shows_that_the_order_differs() -> None:
    one = pl.DataFrame({"sex": ["F", "M"], "zip": ["*", "*"], "ill": ["a", "b"]})
    other = pl.DataFrame({"sex": ["*", "*"], "zip": ["1", "2"], "ill": ["b", "a"]})
    found = tuple_order(one, other, columns=["sex", "zip"], also=["ill"])
    assert found.exposed_people == 0
    assert found.facts["rows_that_fit"] == 0


@given(
    st.lists(st.tuples(*[st.sampled_from(["05345", "05351", "05340", "*", None])] * 2), min_size=1)
)
def test_recovered_cells_are_those_with_one_common_value(
    rows: list[tuple[str | None, str | None]],
) -> None:
    def values(label: str | None) -> set[str | None]:
        tree = MEANINGS["postal"]
        if label is None:
            return {None}
        if label == "*":
            return {None, *tree.values}
        return {tree.values[place] for place in tree.stands_for(label)}

    sides = [
        pl.Series("postal", side, dtype=pl.String).to_frame() for side in zip(*rows, strict=True)
    ]
    found = tuple_order(*sides, columns="postal", meanings=MEANINGS)
    shared = [len(values(one) & values(other)) for one, other in rows]
    assert found.facts["rows_recovered"] == shared.count(1)
    assert found.facts["rows_that_fit"] == sum(count > 0 for count in shared)


def test_tables_of_different_length_cannot_be_joined_by_position() -> None:
    first, second = weak_releases.in_order_releases()
    with pytest.raises(InputError) as caught:
        tuple_order(first, second.head(3), columns=["ethnic"])
    assert caught.value.code == "CEL-A058"


def test_the_complementary_releases_give_two_people_away() -> None:
    first, second = weak_releases.complementary_releases()
    shuffled = second[Seeded(1).permutation(12).tolist()]
    found = complementary(first, shuffled, QI, on="problem", meanings=MEANINGS)
    assert (found.facts["pairs"], found.facts["compatible_pairs"]) == (18, 14)
    assert (found.people, found.facts["singletons"], found.exposed_people) == (12, 2, 2)
    assert found.facts["doubtful_singletons"] == 2  # obesity of either, with the code of the other
    rows = sorted(row for one in found.exposed for row in one.rows)
    assert [weak_releases.twice_released().row(row)[3:] for row in rows] == [
        ("05345", "short of breath"),
        ("05346", "hypertension"),
    ]


def test_a_release_joined_with_itself_tells_nothing_new() -> None:
    first, _ = weak_releases.complementary_releases()
    found = complementary(first, first, QI, on="problem", meanings=MEANINGS)
    assert found.exposed_people == 0


CELLS = st.tuples(
    st.sampled_from(["05345", "05346", "05340", "05300", "*"]),
    st.sampled_from(["female", "male", "not reported", None]),
    st.sampled_from(["a", "b", None]),
)


@given(st.lists(CELLS, min_size=1, max_size=8), st.lists(CELLS, min_size=1, max_size=8))
def test_the_join_equals_trying_every_pair(
    one: list[tuple[str, str | None, str | None]], other: list[tuple[str, str | None, str | None]]
) -> None:
    def values(column: str, label: str | None) -> frozenset[str | None]:
        tree = MEANINGS[column]
        if label is None:
            return frozenset({None})
        every = frozenset(tree.values[place] for place in tree.stands_for(label))
        root = label in ("*", tree.labels[-1][0])
        return frozenset({None, *tree.values}) if root else every

    schema = dict.fromkeys(["postal", "sex", "problem"], pl.String)
    tables = [pl.DataFrame(rows, schema=schema, orient="row") for rows in (one, other)]
    found = complementary(tables[0], tables[1], ["postal", "sex"], on="problem", meanings=MEANINGS)
    joined = [
        (i, j) for i, j in product(range(len(one)), range(len(other))) if one[i][2] == other[j][2]
    ]
    fitting = {
        (i, j): (
            values("postal", one[i][0]) & values("postal", other[j][0]),
            values("sex", one[i][1]) & values("sex", other[j][1]),
        )
        for i, j in joined
    }
    fitting = {pair: narrowed for pair, narrowed in fitting.items() if all(narrowed)}
    sizes = Counter(fitting.values())
    partners = Counter(i for i, _ in fitting), Counter(j for _, j in fitting)
    exposed = {
        i
        for (i, j), narrowed in fitting.items()
        if sizes[narrowed] == 1 and 1 in (partners[0][i], partners[1][j])
    }
    lone = sum(size == 1 for size in sizes.values())
    assert found.facts["pairs"] == len(joined)
    assert found.facts["compatible_pairs"] == len(fitting)
    assert sorted(found.sizes.tolist()) == sorted(sizes.values())
    assert found.facts["doubtful_singletons"] == lone - (found.facts["singletons"] or 0)
    assert {row for group in found.exposed for row in group.rows} == exposed


@pytest.mark.parametrize(("names", "on"), [([], ["problem"]), (QI, []), (QI, ["sex"])])
def test_a_join_needs_columns_of_both_kinds(names: list[str], on: list[str]) -> None:
    first, second = weak_releases.complementary_releases()
    with pytest.raises(InputError) as caught:
        complementary(first, second, names, on=on)
    assert caught.value.code == "CEL-A059"


def test_many_equal_rows_are_joined_as_one() -> None:
    rows = 20_000
    table = pl.DataFrame({"sex": ["F"] * rows, "ill": ["a"] * rows})
    found = complementary(table, table, "sex", on="ill")
    assert found.facts["pairs"] == found.facts["compatible_pairs"] == rows**2
    assert np.array_equal(found.sizes, [rows**2])


def test_progress_is_told() -> None:
    steps: list[Step] = []
    first, second = weak_releases.complementary_releases()
    tuple_order(first, second, columns=QI, meanings=MEANINGS, progress=steps.append)
    assert {step.stage for step in steps} == {"Comparing positions"}
    complementary(first, second, QI, on="problem", meanings=MEANINGS, progress=steps.append)
    assert steps[-1].stage == "Joining the releases"
