"""Two tables side by side: what labels stand for, empty cells, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.assess.utility.meanings import Groups

from celosia import InputError
from celosia.assess.utility import EMPTY, Spread, SpreadRule, compare, distances, distributions

AGES = Groups(("30", "20", "25", "40"), {"20-29": ["20", "25"], "30-49": ["30", "40"]})


def after(released: dict[str, list[str | None]], spread: str = "uniform") -> dict[str, float]:
    original = {"age": [20, 20, 20, 25, 30, 40]}
    tables = compare(original, released, ["age"], meanings={"age": AGES}, spread=spread)  # type: ignore[arg-type]
    [found] = distributions(tables)
    return dict(zip(found.values, found.after, strict=True))


def test_a_label_counts_evenly_for_each_of_its_values() -> None:
    assert after({"age": ["20-29", "30-49", "30-49", "40"]}) == {
        "20": 0.125,
        "25": 0.125,
        "30": 0.25,
        "40": 0.5,
    }


def test_a_label_may_count_as_the_original_distribution_has_its_values() -> None:
    found = after({"age": ["20-29", "30-49", "30-49", "40"]}, "original")
    assert found == {"20": 0.1875, "25": 0.0625, "30": 0.25, "40": 0.5}


def test_amounts_are_put_in_order_whatever_order_their_meaning_has() -> None:
    assert list(after({"age": ["20"]})) == ["20", "25", "30", "40"]


def test_a_star_may_be_any_value_even_if_the_meaning_does_not_know_it() -> None:
    assert set(after({"age": ["*"]}).values()) == {0.25}


def test_an_empty_cell_is_a_value_of_its_own_and_a_star_may_be_one() -> None:
    tables = compare(
        pl.DataFrame({"sex": ["F", "M", None]}), pl.DataFrame({"sex": ["*", "M", None]}), ["sex"]
    )
    [found] = distributions(tables)
    assert found.values == ("F", "M", EMPTY)
    assert found.before == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert found.after == pytest.approx([1 / 9, 4 / 9, 4 / 9])


def test_a_meaning_with_a_leaf_for_empty_cells_gets_no_second_one() -> None:
    meaning = Groups(("F", "M", EMPTY), {})
    frame = pl.DataFrame({"sex": ["F", None]})
    [found] = distributions(compare(frame, frame, ["sex"], meanings={"sex": meaning}))
    assert found.values == ("F", "M", EMPTY)
    assert found.before == found.after == (0.5, 0.0, 0.5)


def test_a_star_that_is_an_original_value_stands_for_itself() -> None:
    [found] = distributions(compare({"a": ["*", "x"]}, {"a": ["*", "*"]}, ["a"]))
    assert dict(zip(found.values, found.after, strict=True)) == {"*": 1.0, "x": 0.0}


def test_values_that_only_the_release_has_are_compared_as_well() -> None:
    [found] = distributions(compare({"a": [1, 1]}, {"a": [1, 3]}, ["a"]))
    assert (found.values, found.before, found.after) == (("1", "3"), (1.0, 0.0), (0.5, 0.5))


def test_suppressed_records_are_counted_and_left_out_on_request() -> None:
    original = {"a": ["x", "y", "y"], "b": ["1", "2", "2"]}
    released = {"a": ["*", "*", "y"], "b": ["*", "2", "2"]}
    assert compare(original, released, ["a", "b"]).suppressed == 1
    tables = compare(original, released, ["a", "b"], drop_suppressed=True)
    assert (tables.rows_after, tables.suppressed) == (2, 1)


def test_a_table_of_stars_alone_is_generalised_rather_than_gone() -> None:
    tables = compare({"a": ["x", "y"]}, {"a": ["*", "*"]}, ["a"], drop_suppressed=True)
    assert tables.rows_after == 2


rows = st.lists(
    st.tuples(st.sampled_from(["20", "25", "20-29", "*", "40"]), st.sampled_from("FM*")),
    min_size=1,
    max_size=25,
)


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_the_released_rows_does_not_matter(
    released: list[tuple[str, str]], shuffler: random.Random
) -> None:
    original: dict[str, list[object]] = {"age": [20, 25, 30, 40], "sex": ["F", "M", "F", "F"]}

    def measured(table: list[tuple[str, str]]) -> object:
        ages, sexes = zip(*table, strict=True)
        tables = compare(
            original, {"age": ages, "sex": sexes}, ["age", "sex"], meanings={"age": AGES}
        )
        return [found.as_dict() for found in distances(tables)]

    shuffled = released[:]
    shuffler.shuffle(shuffled)
    assert measured(shuffled) == measured(released)


@given(
    st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=6),
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
)
def test_a_spread_gives_what_a_plain_loop_gives(
    members: list[set[int]], weights: list[int]
) -> None:
    spread = Spread.weighted(
        [np.array(sorted(found)) for found in members], np.array(weights, dtype=np.float64)
    )
    mass = [0.0] * 6
    for count, found in enumerate(members, 1):
        total = sum(weights[value] for value in found)
        for value in found:
            mass[value] += count * (weights[value] / total if total else 1 / len(found))
    counts = np.arange(1, len(members) + 1, dtype=np.float64)
    assert spread.mass(counts) == pytest.approx(mass)
    assert spread.expected(np.ones(6)) == pytest.approx(1)


ONE = {"a": ["secret", "y"]}


@pytest.mark.parametrize(
    ("code", "ask"),
    [
        ("CEL-A070", lambda: compare(ONE, ONE, [])),
        ("CEL-A070", lambda: compare(ONE, {"a": pl.Series([], dtype=pl.String)}, ["a"])),
        ("CEL-A071", lambda: compare(ONE, {"b": [1, 2]}, ["a"])),
        ("CEL-A071", lambda: compare(ONE, ONE, ["a"], numeric=["b"])),
        ("CEL-A072", lambda: compare(ONE, ONE, ["a"], meanings={"a": Groups(("y",), {})})),
        (
            "CEL-A073",
            lambda: compare({"a": ["y"]}, ONE, ["a"], meanings={"a": Groups(("y",), {})}),
        ),
        ("CEL-A074", lambda: compare(ONE, ONE, ["a"], numeric=["a"])),
        ("CEL-A075", lambda: compare(ONE, {"a": ["y"]}, ["a"], aligned=True)),
        ("CEL-A076", lambda: compare(ONE, ONE, ["a"], spread="even")),  # type: ignore[arg-type]
        ("CEL-A077", lambda: distributions(compare(ONE, ONE, ["a"]), bins=1)),
    ],
)
def test_what_cannot_be_compared_is_refused_and_no_cell_is_named(
    code: str, ask: Callable[[], object]
) -> None:
    with pytest.raises(InputError) as caught:
        ask()
    assert caught.value.code == code
    assert caught.value.fix
    assert "secret" not in str(caught.value)
    assert "secret" not in str(caught.value.details)


def test_a_false_claim_of_alignment_is_refused_and_a_true_one_is_not() -> None:
    original = {"age": [20, 30, 25]}
    meanings = {"age": AGES}
    right, wrong = ["20-29", "*", "25"], ["30-49", "20-29", "*"]
    tables = compare(original, {"age": right}, ["age"], meanings=meanings, aligned=True)
    assert tables.is_aligned
    with pytest.raises(InputError, match="in 2 rows") as caught:
        compare(original, {"age": wrong}, ["age"], meanings=meanings, aligned=True)
    assert caught.value.code == "CEL-A083"
    assert not compare(original, {"age": wrong}, ["age"], meanings=meanings).is_aligned


@pytest.mark.parametrize("spread", ["uniform", "original"])
def test_alignment_is_judged_by_what_a_label_may_be_not_by_its_share(spread: SpreadRule) -> None:
    tables = compare(
        {"age": [30, 20]},
        {"age": ["30-49", "20-29"]},
        ["age"],
        meanings={"age": AGES},
        spread=spread,
        aligned=True,
    )
    assert tables.column("age").covers().all()


def test_a_column_without_a_meaning_may_differ_in_aligned_tables() -> None:
    assert compare({"a": [1, 2]}, {"a": [2, 2]}, ["a"], aligned=True).is_aligned


def test_a_representation_shows_no_values() -> None:
    tables = compare(ONE, ONE, ["a"])
    assert "secret" not in repr(tables)
    assert "secret" not in repr(tables.column("a"))


def test_the_tables_stay_as_they_were() -> None:
    before, released = pl.DataFrame({"a": [1, None]}), pl.DataFrame({"a": ["*", "1"]})
    copies = before.clone(), released.clone()
    distances(compare(before, released, ["a"]))
    assert before.equals(copies[0])
    assert released.equals(copies[1])
