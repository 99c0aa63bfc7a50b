"""The interval of an answer holds the number that is told with it, however small the epsilon."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from random import Random

import pytest
from tests.queries.vaults import BY_ROW, POLICY, capped, opened, shop

from celosia.core.randomness import Seeded
from celosia.queries import QueryAnswer
from celosia.queries.algebra import Aggregate, AggregateKind
from celosia.queries.planning.aggregates import Derivation
from celosia.queries.policy import Policy
from celosia.queries.results import estimate

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM orders",
    "SELECT COUNT(DISTINCT status) AS n FROM orders",
    "SELECT SUM(price) AS n FROM orders",
    "SELECT AVG(price) AS n FROM orders",
    "SELECT VARIANCE(price) AS n FROM orders",
    "SELECT town, COUNT(*) AS n FROM person GROUP BY town",
    "SELECT COUNT(*) AS n FROM message",
]


def _holds(answer: QueryAnswer) -> None:
    for row, ends in zip(answer.rows, answer.intervals, strict=True):
        interval, number = ends["n"], row["n"]
        if interval is not None and number is not None:
            assert interval[0] <= number <= interval[1], answer.question
        if interval is not None and "price" not in answer.question:
            assert interval[1] >= 0


@pytest.mark.parametrize(
    "policy",
    [BY_ROW, POLICY, capped(POLICY, orders__person=4)],
    ids=["by row", "chosen caps", "declared caps"],
)
def test_an_interval_holds_the_number_of_its_answer(policy: Policy, tmp_path: Path) -> None:
    tiny = replace(policy, least_epsilon=Fraction(0))
    with opened(shop(Random(1)), tmp_path, tiny, rng=Seeded(3)) as vault:
        for question in QUESTIONS:
            for _ in range(2):
                _holds(vault.sql(question, epsilon=1e-4, fresh=True))


def test_a_count_below_zero_says_so(tmp_path: Path) -> None:
    tiny = replace(BY_ROW, least_epsilon=Fraction(0))
    with opened(shop(Random(1)), tmp_path, tiny) as vault:
        answers = [vault.sql(QUESTIONS[0], epsilon=1e-4, fresh=True) for _ in range(12)]
    assert {answer.value < 0 for answer in answers} == {True, False}
    for answer in answers:
        assert (answer.value < 0) == any("is below 0" in words for words in answer.warnings)


@pytest.mark.parametrize("kind", ["rows", "count", "distinct"])
def test_a_count_is_whole_even_if_its_noise_is_on_a_finer_grid(kind: AggregateKind) -> None:
    """Its bounds are rounded outwards, and so hold no less."""
    recipe = Derivation(aggregate=Aggregate(kind, "n"), label="n", totals=("n",))
    cell = estimate(recipe, [85], [(80.0, inf)], [Fraction(1, 8)])
    assert cell == (11, (10.0, inf))
    assert isinstance(cell[0], int)
    assert estimate(recipe, [85], [(83.0, 90.0)], [Fraction(1, 8)]) == (11, (10.0, 12.0))
    sum_recipe = Derivation(aggregate=Aggregate("sum", "n"), label="n", totals=("n",))
    assert estimate(sum_recipe, [85], [(80.0, inf)], [Fraction(1, 8)]) == (10.625, (10.0, inf))
