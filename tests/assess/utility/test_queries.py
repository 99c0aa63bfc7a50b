"""Random counts: expected ones against a plain enumeration, and the errors made of them."""

from __future__ import annotations

import json
import statistics
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import InputError
from celosia.assess.meaning import ExactMeaning
from celosia.assess.utility import compare, query_errors
from celosia.assess.utility.queries import Query, expected_count, random_query
from celosia.core.errors import Cancelled
from celosia.core.progress import Step
from celosia.core.randomness import Seeded

DOMAIN = ("1", "2", "3", "4")
tables_of_cells = st.lists(
    st.tuples(*[st.sampled_from([*DOMAIN, "*"])] * 3), min_size=1, max_size=12
)


@given(tables_of_cells, st.integers(0, 10_000))
def test_expected_counts_agree_with_a_plain_loop_over_rows(
    rows: list[tuple[str, str, str]], seed: int
) -> None:
    released = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    original = {name: list(DOMAIN) for name in "abc"}
    meanings = {name: ExactMeaning(DOMAIN) for name in "abc"}
    tables = compare(original, released, list("abc"), meanings=meanings, numeric=["a"])
    query = random_query(tables.columns, 3, Seeded(seed))
    plain = 0.0
    for row in rows:
        chance = 1.0
        for place, allowed in query.allowed.items():
            cell = row[place]
            inside = {value for value, is_in in zip(DOMAIN, allowed, strict=True) if is_in}
            chance *= len(inside) / 4 if cell == "*" else float(cell in inside)
        plain += chance
    spreads = [column.spread for column in tables.columns]
    assert expected_count(query, tables.after(), spreads) == pytest.approx(plain)


def test_a_worked_example_by_hand() -> None:
    tables = compare(
        {"age": [1, 2, 3, 4], "sex": list("FFMM")},
        {"age": ["*", "*", "3", "4"], "sex": ["F", "*", "M", "*"]},
        ["age", "sex"],
    )
    young_women = Query({0: np.array([1.0, 1.0, 0.0, 0.0]), 1: np.array([1.0, 0.0])})
    own = [column.itself() for column in tables.columns]
    spreads = [column.spread for column in tables.columns]
    assert expected_count(young_women, tables.before(), own) == 2
    assert expected_count(young_women, tables.after(), spreads) == 1 / 2 + 1 / 4


@given(tables_of_cells)
def test_the_same_table_has_no_error(rows: list[tuple[str, str, str]]) -> None:
    table = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    found = query_errors(compare(table, table, list("abc")), rng=Seeded(3), queries=20)
    assert found.largest == 0


def test_the_error_is_relative_with_a_sanity_bound() -> None:
    # One value: each query asks for all rows; half of them are gone.
    original, released = {"a": ["x"] * 1000}, {"a": ["x"] * 500}
    found = query_errors(compare(original, released, ["a"]), rng=Seeded(1), queries=9)
    assert (found.median, found.mean, found.ninetieth, found.largest) == (0.5, 0.5, 0.5, 0.5)


def test_a_true_count_of_nobody_is_judged_by_the_bound() -> None:
    # Nobody has y, but half of the release may: 500 against a bound of 1 % of 1000 rows.
    original = {"a": ["x"] * 1000}
    meaning = ExactMeaning(("x", "y"))
    tables = compare(original, {"a": ["*"] * 1000}, ["a"], meanings={"a": meaning})
    found = query_errors(tables, rng=Seeded(1), queries=40, sanity=0.01)
    assert found.largest == 50
    assert found.sanity == 0.01


def test_the_figures_are_those_of_the_single_errors() -> None:
    random = np.random.default_rng(5)
    original = {"a": random.integers(0, 9, 200), "b": random.choice(list("xyz"), 200)}
    released = {"a": original["a"][:150], "b": original["b"][50:]}
    tables = compare(original, released, ["a", "b"])
    found = query_errors(tables, rng=Seeded(8), queries=60)
    source, errors = Seeded(8), []
    for _ in range(60):
        query = random_query(tables.columns, 2, source)
        true = expected_count(query, tables.before(), [c.itself() for c in tables.columns])
        seen = expected_count(query, tables.after(), [c.spread for c in tables.columns])
        errors.append(abs(seen - true) / max(true, 0.2))
    assert found.median == pytest.approx(statistics.median(errors))
    assert found.mean == pytest.approx(statistics.fmean(errors))
    assert found.largest == pytest.approx(max(errors))
    assert sum(error <= found.ninetieth + 1e-12 for error in errors) >= 54


@pytest.mark.statistical
def test_every_number_of_columns_is_equally_likely() -> None:
    table = {name: ["x", "y"] for name in "abcd"}
    tables, source = compare(table, table, list("abcd")), Seeded(11)
    sizes = [len(random_query(tables.columns, 4, source).allowed) for _ in range(2000)]
    # Binomial with p = 1/4: five standard deviations are 5 * sqrt(2000 * 3/16) = 97.
    for size in range(1, 5):
        assert abs(sizes.count(size) - 500) < 97


def test_a_range_of_amounts_is_a_range_and_leaves_empty_cells_out() -> None:
    table = {"a": [*range(10), None]}
    tables, source = compare(table, table, ["a"]), Seeded(4)
    for _ in range(50):
        [allowed] = random_query(tables.columns, 1, source).allowed.values()
        inside = np.flatnonzero(allowed)
        assert inside.size == inside[-1] - inside[0] + 1
        assert allowed[-1] == 0


def test_the_same_seed_asks_the_same_and_another_does_not() -> None:
    original, released = {"a": list(range(50))}, {"a": list(range(25)) * 2}
    tables = compare(original, released, ["a"])
    same = [query_errors(tables, rng=Seeded(6), queries=30) for _ in range(2)]
    assert same[0] == same[1]
    assert query_errors(tables, rng=Seeded(7), queries=30) != same[0]


@pytest.mark.parametrize(
    "wrong",
    [{"queries": 0}, {"queries": 2.5}, {"most_columns": 0}, {"sanity": 0}, {"sanity": "much"}],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        query_errors(compare({"a": [1]}, {"a": [1]}, ["a"]), rng=Seeded(1), **wrong)
    assert caught.value.code == "CEL-A078"


def test_progress_can_stop_the_work() -> None:
    def stop(step: Step) -> None:
        raise Cancelled()

    with pytest.raises(Cancelled):
        query_errors(compare({"a": [1]}, {"a": [1]}, ["a"]), rng=Seeded(1), progress=stop)


def test_coarser_releases_of_the_real_rows_answer_worse(real: pl.DataFrame) -> None:
    names = ["sex", "age", "race"]
    ages = ExactMeaning(tuple(map(str, range(17, 91))))

    def median(released: pl.DataFrame) -> float:
        tables = compare(real, released, names, meanings={"age": ages})
        return query_errors(tables, rng=Seeded(2), queries=200).median

    starred = real.with_columns(age=pl.lit("*"))
    assert median(real) == 0
    assert 0 < median(starred) < median(starred.with_columns(race=pl.lit("*")))


def test_the_result_is_plain_json() -> None:
    found = query_errors(compare({"a": [1]}, {"a": [1]}, ["a"]), rng=Seeded(1), queries=3)
    assert json.loads(json.dumps(found.as_dict()))["queries"] == 3
    assert str(found).startswith("3 random counts: median relative error 0.0%")
