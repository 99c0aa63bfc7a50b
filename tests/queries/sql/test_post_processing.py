"""What is computed from noisy answers: the released numbers and nothing else go into it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import duckdb
import pytest
from tests.queries.vaults import POLICY, exact, opened, shop

from celosia.core.errors import QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.emission import Target
from celosia.queries.planning.aggregates import find_required_totals
from celosia.queries.policy import read_policy
from celosia.queries.post_processing import post_process
from celosia.queries.results import _largest_error
from celosia.queries.sql import compile

NUMBERS = (("a", 4), ("b", 0), ("c", 9), ("d", None))
ROWS = [{"k": key, "n": number, "s": 100} for key, number in NUMBERS]


def test_rows_are_computed_ordered_and_passed_over() -> None:
    query = (
        "SELECT id AS k, COUNT(*) AS n, SUM(id) AS s, s / n AS m, m * 2 AS twice FROM part "
        "GROUP BY id"
    )
    rows = [row for _, row in post_process(ROWS, compile(query, POLICY).post_processing)]
    assert [row["m"] for row in rows] == [25, None, pytest.approx(100 / 9), None]
    assert [row["twice"] for row in rows] == [50, None, pytest.approx(200 / 9), None]
    found = post_process(
        ROWS, compile(f"{query} ORDER BY m DESC LIMIT 2 OFFSET 1", POLICY).post_processing
    )
    assert [place for place, _ in found] == [2, 1]
    assert [row["k"] for _, row in found] == ["c", "b"]
    kept = post_process(ROWS, compile(f"{query} HAVING twice > 30", POLICY).post_processing)
    assert [row["k"] for _, row in kept] == ["a"]


def test_an_answer_may_have_any_name() -> None:
    query = "SELECT id AS k, COUNT(*) AS n, SUM(id) AS {}, {} / n AS {} FROM part GROUP BY id"
    for summed, divided in (("celosia_place", "x"), ("s", "celosia_place"), ("answers", "part")):
        rows = [{"k": row["k"], "n": row["n"], summed: row["s"]} for row in ROWS]
        steps = compile(
            f"{query.format(summed, summed, divided)} ORDER BY n", POLICY
        ).post_processing
        found = {row["k"]: (row[summed], row[divided]) for _, row in post_process(rows, steps)}
        assert found["a"] == (100, 25)
        assert found["b"] == (100, None)


def test_an_answer_is_computed_from_the_numbers_that_were_released(tmp_path: Path) -> None:
    query = (
        "SELECT town, SUM(age) AS s, COUNT(*) AS n, SUM(age) / COUNT(*) AS mean FROM person "
        "GROUP BY town ORDER BY mean DESC LIMIT 2 OFFSET 1"
    )
    with opened(shop(Random(3), people=40, orders=9), tmp_path) as vault:
        answer = vault.sql(query, epsilon=1)
    assert len(answer.rows) == 2
    for row, bounds in zip(answer.rows, answer.intervals, strict=True):
        assert row["mean"] == pytest.approx(row["s"] / row["n"])
        assert bounds["n"] is not None
        assert bounds["mean"] is None or bounds["mean"][0] <= row["mean"] <= bounds["mean"][1]


def test_a_filter_and_a_sample_are_answered(tmp_path: Path) -> None:
    rows = shop(Random(3), people=300, orders=9)
    query = (
        "SELECT VAR_SAMP(age), VAR_POP(age), COUNT(*) FILTER (WHERE town = 'A'), "
        "COUNT_IF(age > 50) FROM (SELECT * FROM person WHERE age BETWEEN 0 AND 100) AS p"
    )
    with opened(rows, tmp_path) as vault:
        answer = vault.sql(query, epsilon=100)
    found = list(answer.rows[0].values())
    # Five totals at epsilon 20 each: noise of scale 2,500 / 20 on squares of 150,000 and more, and
    # of a twentieth of a row on counts.
    assert found == pytest.approx([float(each) for each in exact(rows, query)[0]], rel=0.02)
    assert found[0] > found[1]


def test_squares_of_decimal_numbers_of_many_places_are_added_up() -> None:
    policy = read_policy(
        """
name = "wide"
database = { path = "wide.duckdb" }
budget = { epsilon = 1 }
unit = { name = "row" }
[tables.t.columns]
x = { type = "number", lower = 0, upper = 200000000 }
n = { type = "integer", lower = 0, upper = 100000 }
"""
    )
    target = Target(policy=policy)
    with duckdb.connect() as wide:
        wide.execute("CREATE TABLE t (x DECIMAL(38, 30), n INTEGER)")
        wide.execute("INSERT INTO t VALUES (99999999, 50000), (1.5, 0), (NULL, 100000)")
        for column, expected in (("x", 1 + (1e8 - 1.5) ** 2), ("n", 2 * 50_000**2)):
            question = compile(f"SELECT VAR_POP({column}) FROM t", policy)
            squares = find_required_totals(question, target).totals[1]
            assert squares.argument is not None
            text = squares.argument.sql(dialect="duckdb")
            ((found,),) = wide.execute(f"SELECT SUM({text}) FROM t").fetchall()
            assert found == pytest.approx(expected)


def test_a_product_that_no_type_holds_is_refused_before_it_is_charged(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "wide.duckdb")) as wide:
        wide.execute("CREATE TABLE t (a DECIMAL(38, 30), b DECIMAL(38, 30))")
        wide.execute("INSERT INTO t VALUES (1.5, 2)")
    policy = read_policy(
        f"""
name = "wide"
database = {{ path = "{tmp_path / "wide.duckdb"}" }}
budget = {{ epsilon = 1 }}
unit = {{ name = "row" }}
[tables.t.columns]
a = {{ type = "number", lower = 0, upper = 10 }}
b = {{ type = "number", lower = 0, upper = 10 }}
"""
    )
    with Vault.open(policy, rng=Seeded(1)) as vault:
        with pytest.raises(QueryRefused) as refused:
            vault.sql("SELECT SUM(a * b) AS s FROM t", epsilon=1)
        assert refused.value.code == "CEL-Q162"
        assert vault.ledger.history() == ()
        assert vault.sql("SELECT SUM(CAST(a AS DOUBLE) * CAST(b AS DOUBLE)) FROM t", epsilon=1)


def test_the_reach_of_noise_is_told_without_the_rest_of_a_subtraction() -> None:
    assert 1059.91 - 1000.0 != 59.91
    assert _largest_error(1000.0, (940.09, 1059.91)) == 59.91
    assert _largest_error(7, (2.0, 12.0)) == 5
    third = _largest_error(1 / 3, (0.0, 1 / 3))
    assert third is not None
    assert 1 / 3 <= third < 1 / 3 + 1e-14
    assert _largest_error(1, (0.0, float("inf"))) == float("inf")
    assert _largest_error(None, (0.0, 1.0)) is None
