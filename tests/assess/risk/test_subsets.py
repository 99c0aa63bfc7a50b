"""Sets of columns against plain counting by their definitions."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.risk import column_risks, suda_weight
from celosia.core.errors import Cancelled, InputError
from celosia.core.progress import Step

Row = tuple[int | None, ...]
NAMES = ("a", "b", "c", "d")

tables = st.lists(
    st.tuples(*[st.sampled_from([None, *range(wide)]) for wide in (1, 2, 4, 9)]), max_size=25
)


def frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.Int64), orient="row")


def parts(width: int, largest: int) -> list[tuple[int, ...]]:
    return [subset for size in range(1, largest + 1) for subset in combinations(range(width), size)]


def counts(rows: list[Row], subset: tuple[int, ...]) -> Counter[Row]:
    return Counter(tuple(row[i] for i in subset) for row in rows)


def alone(rows: list[Row], record: int, subset: tuple[int, ...]) -> bool:
    return counts(rows, subset)[tuple(rows[record][i] for i in subset)] == 1


def minimal_uniques(rows: list[Row], record: int, largest: int) -> list[tuple[int, ...]]:
    unique = [subset for subset in parts(len(NAMES), largest) if alone(rows, record, subset)]
    return [subset for subset in unique if not any(set(other) < set(subset) for other in unique)]


@settings(max_examples=25)
@given(tables, st.integers(1, 5))
def test_every_set_is_counted_as_it_is_defined(rows: list[Row], largest: int) -> None:
    found = column_risks(frame(rows), at_most=largest)
    wanted = parts(4, min(largest, 4))
    assert [risk.columns for risk in found.subsets] == [
        tuple(NAMES[i] for i in subset) for subset in wanted
    ]
    for risk, subset in zip(found.subsets, wanted, strict=True):
        sizes = counts(rows, subset).values()
        assert risk.unique == pytest.approx(list(sizes).count(1) / max(1, len(rows)))
        assert risk.average == pytest.approx(len(sizes) / max(1, len(rows)))


@settings(max_examples=25)
@given(tables, st.integers(1, 4))
def test_scores_sum_over_the_minimal_uniques_of_each_record(rows: list[Row], largest: int) -> None:
    found = column_risks(frame(rows), at_most=largest)
    per_set: Counter[tuple[int, ...]] = Counter()
    for record in range(len(rows)):
        minimal = minimal_uniques(rows, record, largest)
        per_set.update(minimal)
        wanted = sum(suda_weight(len(subset), largest, 4) for subset in minimal)
        assert found.suda[record] == wanted
    for risk in found.subsets:
        assert risk.minimal == per_set[tuple(NAMES.index(name) for name in risk.columns)]


@settings(max_examples=25)
@given(tables.filter(bool))
def test_minimal_sets_have_no_part_that_does_the_same(rows: list[Row]) -> None:
    found = column_risks(frame(rows), at_most=4)
    for chosen, enough in ((found.minimal_keys, len(rows)), (found.minimal_unique_sets, 1)):
        able = [
            set(part)
            for part in parts(4, 4)
            if list(counts(rows, part).values()).count(1) >= enough
        ]
        least = [part for part in able if not any(other < part for other in able)]
        assert {frozenset(NAMES.index(name) for name in key) for key in chosen} == {
            frozenset(part) for part in least
        }


@settings(max_examples=25)
@given(tables.filter(bool))
def test_contributions_are_shapley_values_once_all_sets_are_known(rows: list[Row]) -> None:
    found = column_risks(frame(rows), at_most=4)
    share = {frozenset[str](): 0.0} | {
        frozenset(risk.columns): risk.unique for risk in found.subsets
    }
    for name in NAMES:
        value = sum(
            factorial(len(others))
            * factorial(3 - len(others))
            / factorial(4)
            * (share[others | {name}] - share[others])
            for others in share
            if name not in others
        )
        assert found.contributions[name] == pytest.approx(value)
    assert sum(found.contributions.values()) == pytest.approx(share[frozenset(NAMES)])


def test_the_scores_of_a_table_by_hand() -> None:
    table = pl.DataFrame(
        {
            "sex": ["F", "F", "M", "M", "M"],
            "age": [30, 40, 30, 40, 40],
            "city": ["x", "x", "x", "y", "x"],
        }
    )
    found = column_risks(table, at_most=2)
    # Record 3 is alone by its city: (3-1)(3-2). Records 0, 1 and 2 are by sex and age: (3-2).
    # Record 4 shares each pair of its values with another.
    assert found.suda.tolist() == [1.0, 1.0, 1.0, 2.0, 0.0]
    assert found.minimal_unique_sets == (("city",), ("sex", "age"))
    assert found.minimal_keys == ()


def test_the_weight_of_a_minimal_unique_counts_what_lies_above() -> None:
    assert [suda_weight(size, 4, 4) for size in (1, 2, 3, 4)] == [6, 2, 1, 1]
    assert [suda_weight(size, 2, 10) for size in (1, 2)] == [72, 8]


def test_a_key_is_found_and_nothing_above_it() -> None:
    table = pl.DataFrame({"id": range(50), "sex": ["F", "M"] * 25})
    found = column_risks(table)
    assert found.minimal_keys == (("id",),)
    assert found.subsets[2].minimal == 0
    assert found.contributions["id"] > found.contributions["sex"]


def test_columns_may_be_chosen_and_may_have_any_name() -> None:
    table = pl.DataFrame({"*": [1, 2, 2], "^a": ["x", "x", "y"], "b": [1.5, 1.5, None]})
    found = column_risks(table, ["*", "^a"])
    assert found.columns == ("*", "^a")
    assert [risk.unique for risk in found.subsets] == pytest.approx([1 / 3, 1 / 3, 1])


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 3000), st.integers(1, 2000))
def test_many_values_are_counted_too(seed: int, rows: int, wide: int) -> None:
    generator = np.random.default_rng(seed)
    one, two = generator.integers(0, wide, (2, rows))
    found = column_risks(pl.DataFrame({"one": one, "two": two}), at_most=2)
    sizes = list(Counter(zip(one.tolist(), two.tolist(), strict=True)).values())
    assert found.subsets[2].unique == pytest.approx(sizes.count(1) / rows)
    assert found.subsets[2].average == pytest.approx(len(sizes) / rows)


def test_three_hundred_columns_are_answered_for_pairs_and_refused_beyond() -> None:
    generator = np.random.default_rng(1)
    wide = pl.DataFrame({f"c{i}": generator.integers(0, 3, 5) for i in range(300)})
    assert len(column_risks(wide, at_most=2).subsets) == 300 + 300 * 299 // 2
    with pytest.raises(InputError, match="at_most=2") as caught:
        column_risks(wide)
    assert caught.value.code == "CEL-A025"
    with pytest.raises(InputError, match="Name fewer columns"):
        column_risks(wide, most_subsets=10)


@pytest.mark.parametrize("more", [{"at_most": 0}, {"at_most": 1.5}, {"most_subsets": 0}])
def test_sizes_that_make_no_sense_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        column_risks(frame([]), **more)
    assert caught.value.code == "CEL-A024"


def test_no_columns_and_unknown_columns_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        column_risks(frame([]), [])
    assert caught.value.code == "CEL-A002"
    with pytest.raises(InputError) as caught:
        column_risks(frame([]), ["a", "e"])
    assert caught.value.code == "CEL-A003"


def test_progress_is_told_and_may_stop_the_work() -> None:
    steps: list[Step] = []
    column_risks(frame([(0, 0, 0, 0)]), progress=steps.append)
    assert steps[-1] == Step("columns", 14, 14)

    def stop(step: Step) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        column_risks(frame([(0, 0, 0, 0)]), progress=stop)


def test_the_risks_are_plain_values_and_one_line() -> None:
    found = column_risks(frame([(0, 0, 0, 0), (0, 1, 0, 0)]))
    assert json.loads(json.dumps(found.as_dict()))["special_records"] == 2
    assert "\n" not in str(found)
