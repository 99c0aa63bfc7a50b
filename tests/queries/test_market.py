"""Prices in money: nothing is cheaper in parts, invoices follow the ledger, shares public facts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import cosh
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.queries.vaults import BY_ROW, POLICY, opened, shop

from celosia.core.errors import InputError, QueryRefused
from celosia.mechanisms import Gaussian
from celosia.queries import Vault
from celosia.queries.policy import (
    Policy,
    Spending,
    TablePolicy,
    policy_hash,
    policy_text,
    read_policy,
)
from celosia.queries.policy.market import Market, Repeated, check_market
from celosia.queries.policy.settings import Problems
from celosia.queries.sales import make_compensation, make_invoice

QUESTION = "SELECT COUNT(*) AS n FROM person"
EPSILONS = tuple(Fraction(each, 10) for each in (1, 2, 3, 4, 5, 6, 8, 10, 14, 20))


PLAIN = replace(POLICY, budget=Spending(epsilon=Fraction(10), delta=Fraction(0)))


def market_of(text: str) -> Market:
    market = read_policy(f"{policy_text(PLAIN)}\n[market]\n{text}").market
    assert market is not None
    return market


def problems_of(market: Market) -> list[str]:
    problems = Problems()
    check_market(market, ["ana"], problems)
    return [each.key for each in problems.items]


@cache
def precisions(epsilon: Fraction) -> tuple[float, ...]:
    """One divided by the variance, of integer Laplace noise and of Gaussian noise."""
    gaussian = Gaussian(epsilon=float(epsilon), delta=1e-6, sensitivity=1)
    return (cosh(float(epsilon)) - 1, float(gaussian.sigma) ** -2)


@st.composite
def markets(draw: st.DrawFn) -> Market:
    """Price lists whose price of one epsilon never rises."""
    at, price = Fraction(draw(st.integers(1, 5)), 10), Fraction(draw(st.integers(1, 50)))
    steps = [(at, price)]
    for _ in range(draw(st.integers(0, 3))):
        wider = at * draw(st.fractions(Fraction(11, 10), 3, max_denominator=10))
        most = price * wider / at
        price += (most - price) * draw(st.fractions(0, 1, max_denominator=10))
        at = wider
        steps.append((at, price))
    fee = Fraction(draw(st.integers(0, 300)), 100)
    return Market(prices=tuple(steps), fee=fee, factors=(("ana", Fraction(4, 5)),))


@given(markets(), st.sampled_from([None, "ana"]))
def test_no_bundle_of_answers_is_cheaper_than_one_that_is_as_exact(
    market: Market, analyst: str | None
) -> None:
    assert problems_of(market) == []
    for wanted in EPSILONS[4:]:
        price = market.price(wanted, analyst)
        for count in (2, 3):
            for parts in combinations_with_replacement(EPSILONS, count):
                paid = sum(market.price(each, analyst) for each in parts)
                # By averaging: precisions of independent answers add up; by splitting: epsilons do.
                exactness = zip(*map(precisions, parts), strict=True)
                reached = [sum(each) for each in exactness]
                as_exact = any(
                    mine >= goal for mine, goal in zip(reached, precisions(wanted), strict=True)
                )
                assert paid >= price or not (as_exact or sum(parts) >= wanted)


@pytest.mark.parametrize(
    ("steps", "cheaper"),
    [
        ([("0.1", 5), ("1", 60)], ("0.1", 10, "1")),  # ten at 5 instead of one at 60
        ([("0.5", 10), ("1", 8)], ("1", 1, "0.5")),  # more for less
    ],
)
def test_prices_that_can_be_undercut_are_refused(
    steps: list[tuple[str, int]], cheaper: tuple[str, int, str]
) -> None:
    market = Market(prices=tuple((Fraction(at), Fraction(price)) for at, price in steps))
    part, times, whole = cheaper
    assert times * market.price(Fraction(part)) < market.price(Fraction(whole))
    assert problems_of(market) == ["CEL-Q330.arbitrage"]


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("currency = 'EUR'", "no_prices"),
        ("per_epsilon = 3\nprices = [[1, 2]]", "no_prices"),
        ("prices = [[1, 2, 3]]", "no_steps"),
        ("per_epsilon = -3", "out_of_range"),
        ("prices = [[0, 3]]", "out_of_range"),
        ("per_epsilon = 3\ncompensation = 1.5", "compensation"),
        ("per_epsilon = 3\ncurrency = 'euro'", "currency"),
        ("per_epsilon = 3\nfactors = { ana = -1 }", "factor"),
    ],
)
def test_wrong_prices_are_refused(text: str, variant: str) -> None:
    with pytest.raises(InputError) as refused:
        market_of(text)
    assert refused.value.key == f"CEL-Q330.{variant}"


def test_a_factor_of_somebody_else_is_refused() -> None:
    market = Market(prices=((Fraction(1), Fraction(3)),), factors=(("eva", Fraction(1)),))
    assert problems_of(market) == ["CEL-Q330.unknown_analyst"]


def test_prices_are_written_and_read_and_change_no_hash() -> None:
    market = market_of("prices = [[0.1, 5], [1, '100/3']]\nfee = 0.5\nfactors = { ana = 0.8 }")
    policy = replace(PLAIN, market=market)
    again = read_policy(policy_text(policy))
    assert again.market == market
    assert policy_hash(policy) == policy_hash(PLAIN)


def selling(people: int | None = 100, repeated: Repeated = "charged") -> Policy:
    prices = market_of("per_epsilon = 30\nfee = 0.5\ncompensation = 0.7")
    market = replace(prices, repeated=repeated)

    def counted(table: TablePolicy) -> TablePolicy:
        return replace(table, rows=people) if table.name == "person" else table

    return replace(POLICY, market=market, tables=tuple(map(counted, POLICY.tables)))


def test_invoices_and_shares_follow_the_ledger(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path, selling()) as vault:
        assert vault.explain(QUESTION, epsilon=0.5).price == "price in money: 15.50 EUR"
        first = vault.sql(QUESTION, epsilon=0.5, analyst="ana")
        again = vault.sql(QUESTION, epsilon=0.5, analyst="ana")
        copy = vault.sql(QUESTION, epsilon=0.5, analyst="eva")
        records, spent = vault.ledger.history(), vault.ledger.spent
        vault.ledger.verify()
    assert first.rows == again.rows == copy.rows
    assert first.price == copy.price == "price in money: 15.50 EUR"
    assert again.price == "price in money: nothing is charged for a repeated answer"
    assert spent.as_dict()["epsilon"] == 0.5  # a copy costs money, and no budget
    mine, hers = (make_invoice(vault.policy, records, analyst=who) for who in ("ana", "eva"))
    assert [each.as_dict()["total"] for each in (mine, hers)] == ["15.50", "15.50"]
    assert [each.repeated for each in hers.sales] == [True]
    assert mine.document().html().count("15.50") == 2
    month = records[0].at[:7]
    assert make_invoice(vault.policy, records, analyst="ana", month=month) == replace(
        mine, month=month
    )
    assert not make_invoice(vault.policy, records, analyst="ana", month="1999-01").sales
    paid = make_compensation(vault.policy, records)
    assert paid.as_dict() == {
        "month": None,
        "currency": "EUR",
        "income": "31.00",
        "pool": "21.70",
        "people": 100,
        "per_person": "0.217000",
        "kept": "9.30",
    }


def test_a_free_copy_is_not_invoiced(tmp_path: Path) -> None:
    policy = selling(repeated="free")
    with opened(shop(Random(1)), tmp_path, policy) as vault:
        vault.sql(QUESTION, epsilon=0.5, analyst="ana")
        copy = vault.sql(QUESTION, epsilon=0.5, analyst="eva")
        records = vault.ledger.history()
    assert copy.price == "price in money: nothing is charged for a repeated answer"
    assert not make_invoice(policy, records, analyst="eva").sales


def test_what_has_no_public_number_of_people_pays_nobody() -> None:
    for policy, variant in ((selling(people=None), "no_people"), (POLICY, "no_market")):
        with pytest.raises(InputError) as refused:
            make_compensation(policy, ())
        assert refused.value.key == f"CEL-Q331.{variant}"
    with pytest.raises(InputError, match="YYYY-MM"):
        make_invoice(selling(), (), analyst="ana", month="11/2026")


def test_the_least_epsilon_has_the_wished_error_and_a_smaller_one_has_not(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        found = vault.least_epsilon(QUESTION, error=20)
        assert _error(vault, found) <= 20 < _error(vault, found * 0.98)
        with pytest.raises(QueryRefused) as refused:
            vault.least_epsilon(QUESTION, error=1e-9)
        assert refused.value.key == "CEL-Q332.out_of_reach"
        for wrong in (0, -1, "0%", "some", "nan"):
            with pytest.raises(InputError):
                vault.least_epsilon(QUESTION, error=wrong)


def test_a_share_of_the_answer_is_taken_of_a_released_one(tmp_path: Path) -> None:
    query = "SELECT COUNT(age) AS n, AVG(age) AS a FROM person"
    with opened(shop(Random(1), people=300), tmp_path, BY_ROW) as vault:
        with pytest.raises(QueryRefused) as unknown:
            vault.least_epsilon(query, error="5%")
        assert unknown.value.key == "CEL-Q332.no_size"
        assert "--epsilon 0.05" in unknown.value.fix
        (row,) = vault.sql(query, epsilon=2).rows
        spent = vault.ledger.spent
        found = vault.least_epsilon(query.lower().replace("person", "Person"), error="5%")
        assert vault.ledger.spent == spent

        def worst(epsilon: float) -> float:
            """The error of the mean: that of its sum from the middle of 0 to 100, and its count."""
            errors = {part.name: part.error for part in vault.explain(query, epsilon=epsilon).parts}
            count, total = errors.pop("COUNT(person.age)") or 0, next(iter(errors.values())) or 0
            mean = (total + abs(row["a"] - 50) * count) / (row["n"] - count)
            return float(max(count / row["n"], mean / row["a"]))

        assert worst(found) <= 0.05 < worst(0.98 * found)
        with pytest.raises(QueryRefused) as refused:
            vault.least_epsilon(query, error="0.0000001%")
        assert refused.value.key == "CEL-Q332.share_out_of_reach"


def test_nothing_public_tells_the_relative_error_of_a_variance(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path, BY_ROW) as vault:
        vault.sql("SELECT VARIANCE(age) AS v FROM person", epsilon=1)
        with pytest.raises(QueryRefused) as refused:
            vault.least_epsilon("SELECT VARIANCE(age) AS v FROM person", error="5%")
        assert refused.value.key == "CEL-Q332.not_public"


def _error(vault: Vault, epsilon: float) -> float:
    error = vault.explain(QUESTION, epsilon=epsilon).parts[0].error
    assert error is not None
    return error
