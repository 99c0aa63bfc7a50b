"""One answer as a release: its words are true, it comes back from files, and it is paid for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from html import unescape
from math import exp, nan
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.english_words import english_words
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting import Budget
from celosia.accounting.belief import belief_interval
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.core.messages import speaking
from celosia.core.randomness import Seeded, Source
from celosia.mechanisms import (
    CHANGE_ONE,
    Count,
    Exponential,
    Gaussian,
    GaussianCounts,
    Geometric,
    Histogram,
    KeyHistogram,
    Laplace,
    Mean,
    Mechanism,
    Median,
    MostFrequent,
    NoisyAnswer,
    NumericSparse,
    Quantiles,
    Sparse,
    SparseVector,
    Sum,
    Variance,
    per_unit,
    release,
)
from celosia.mechanisms.answer_report import on_a_line
from celosia.mechanisms.guarantees import guarantee_of
from celosia.mechanisms.table_release import release_from_table
from celosia.mechanisms.values import format_rounded_up

AGES = [20 + place % 50 for place in range(200)]
WARDS = ["a"] * 90 + ["b"] * 60 + ["c"] * 50
EACH: list[tuple[Mechanism[Any, Any], Any]] = [
    (Count(epsilon=0.5), AGES),
    (Sum(epsilon=0.5, lower=0, upper=100), AGES),
    (Mean(epsilon=0.5, lower=0, upper=100), AGES),
    (Variance(epsilon=0.5, lower=0, upper=100, neighbours=CHANGE_ONE), AGES),
    (Median(epsilon=0.5, lower=0, upper=100), AGES),
    (Quantiles(epsilon=0.7, lower=0, upper=100), AGES),
    (Histogram(epsilon=0.5, edges=[0, 40, 100]), AGES),
    (Histogram(epsilon=0.5, categories=[20, 21], other=True), AGES),
    (Histogram(epsilon=0.5, categories=[True, False]), [True, False, True]),
    (KeyHistogram(epsilon=0.5, delta=1e-6), WARDS),
    (MostFrequent(epsilon=0.5, categories=["a", "b", "c"], count=2), WARDS),
    (Laplace(epsilon=0.5, sensitivity=2), 7.25),
    (Gaussian(epsilon=0.5, delta=1e-6, sensitivity=1), 7.25),
    (GaussianCounts(rho=0.1), [5, 6]),
    (Geometric(epsilon=0.5), 7),
    (Exponential(epsilon=0.5), [3, 4, 5]),
    (SparseVector(0.5, threshold=5), [1, 2, 900]),
    (SparseVector(0.5, threshold=5, numeric=0.5), [1, 2, 900]),
    (Sparse(0.5, threshold=5, positives=40, delta=1e-6), [1, 2, 900]),
    (NumericSparse(0.5, threshold=5), [1, 2, 900]),
    (per_unit(Count(epsilon=0.5), 3), AGES),
    (per_unit(Quantiles(epsilon=0.5, lower=0, upper=100), 3), AGES),
]


def _no_constants(name: str) -> NoReturn:
    raise AssertionError(f"{name} is not JSON")


@pytest.mark.parametrize(("mechanism", "x"), EACH, ids=lambda each: str(each)[:60])
def test_an_answer_of_every_mechanism_comes_back_from_its_files(
    mechanism: Mechanism[Any, Any], x: Any, tmp_path: Path
) -> None:
    told = release(mechanism, x, rng=Seeded(3))
    for name in ("answer.json", "answer.csv", "answer.parquet"):
        assert NoisyAnswer.load(told.save(tmp_path / name)) == told
        certificate = (tmp_path / f"{name}.cert.json").read_text("utf-8")
        json.loads(certificate, parse_constant=_no_constants)
    json.loads((tmp_path / "answer.json").read_text("utf-8"), parse_constant=_no_constants)
    page = told.document().html()
    assert "What is promised" in page
    assert "<script" not in page
    assert told.guarantee.promise in str(told)


@pytest.mark.parametrize(("mechanism", "x"), EACH, ids=lambda each: str(each)[:60])
def test_the_promise_in_words_is_what_the_mechanism_keeps(
    mechanism: Mechanism[Any, Any], x: Any
) -> None:
    told = release(mechanism, x, rng=Seeded(3))
    loss = mechanism.privacy_loss()
    if told.epsilon is None:
        assert told.guarantee.promise == f"{loss.rho:g}-zero-concentrated differential privacy"
    else:
        # A hair more than stated for parts of an epsilon that floats round up one by one.
        assert loss.delta(told.epsilon * (1 + 1e-12)) <= told.delta
        factor = float(told.guarantee.protects.split("more than ")[1].split(" times")[0])
        assert exp(told.epsilon) <= factor <= exp(told.epsilon) * 1.001
        assert (told.delta > 0) == ("further chance" in told.guarantee.protects)
    assert told.guarantee.neighbours == str(mechanism.neighbours)
    assert told.guarantee.unit == mechanism.neighbours.unit


def test_the_words_name_the_right_kind_of_promise() -> None:
    assert guarantee_of(Count(epsilon=0.3)).promise == "0.3-differential privacy"
    assert (
        guarantee_of(Quantiles(epsilon=0.7, lower=0, upper=1)).promise == "0.7-differential privacy"
    )
    keys = guarantee_of(KeyHistogram(epsilon=1, delta=1e-6))
    assert keys.promise == "(1, 1e-06)-differential privacy"
    assert guarantee_of(GaussianCounts(rho=0.5)).promise.startswith("0.5-zero-concentrated")
    # With a delta that is not needed the promise stays pure.
    assert guarantee_of(Sparse(1.0, threshold=5, delta=1e-6)).promise == "1-differential privacy"
    many = Sparse(1.0, threshold=5, positives=500, delta=1e-6)
    assert guarantee_of(many).promise == "(1, 1e-06)-differential privacy"


def test_what_is_assumed_is_said_where_it_is_not_enforced() -> None:
    units = per_unit(Count(epsilon=1), 3, unit="patient")
    assert "no patient has more than 3 rows in the table" in guarantee_of(units).assumes
    assert (
        "no patient has more than 3 rows in the table"
        not in guarantee_of(units, bounded=True).assumes
    )
    empty = "that the table is not empty is no secret"
    assert empty in guarantee_of(units).assumes
    assert empty not in guarantee_of(per_unit(Count(epsilon=1, may_be_empty=True), 3)).assumes
    assert any(
        "declared 2" in told for told in guarantee_of(Laplace(epsilon=1, sensitivity=2)).assumes
    )
    monotone = guarantee_of(Exponential(epsilon=1, monotone=True)).assumes
    assert any("same direction" in told for told in monotone)


def test_what_stays_open_depends_on_the_neighbours() -> None:
    rows, changed = (
        guarantee_of(Count(epsilon=1)),
        guarantee_of(Count(epsilon=1, neighbours=CHANGE_ONE)),
    )
    assert any("several rows" in told for told in rows.leaves_open)
    assert not any("public" in told for told in rows.leaves_open)
    assert any("public" in told for told in changed.leaves_open)
    assert rows.protects.startswith("whether or not one row is in the table")
    assert changed.protects.startswith("whatever one row holds")
    customers = guarantee_of(per_unit(Count(epsilon=1), 2))
    assert not any("several rows" in told for told in customers.leaves_open)


@given(st.floats(1e-9, 1e9), st.integers(2, 9))
def test_a_shortened_number_never_says_less(number: float, digits: int) -> None:
    told = float(format_rounded_up(number, digits))
    assert Fraction(repr(number)) <= Fraction(repr(told)) <= Fraction(number) * (1 + Fraction(1, 9))


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (5, 1, 9),
        (5.5, 1.25, 9.75),
        ([1, 2.5], [0, 1.5], [2, 3.5]),
        ({"a": 1, "b": 2}, {"a": 0, "b": 1}, {"a": 2, "b": 3}),
        ({1: 4, 2: 5}, {1: 3, 2: 4}, {1: 5, 2: 6}),
        ({True: 4, False: 5}, {True: 3, False: 4}, {True: 5, False: 6}),
        ({None: 4, "a": 5}, {None: 3, "a": 4}, {None: 5, "a": 6}),
        ({0.25: 4, 1: 5, "x": 6}, {0.25: 3, 1: 4, "x": 5}, {0.25: 5, 1: 6, "x": 7}),
        ({}, {}, {}),
    ],
    ids=str,
)
def test_keys_of_any_kind_survive(value: Any, low: Any, high: Any, tmp_path: Path) -> None:
    told = replace(
        release(Count(epsilon=1), AGES, rng=Seeded(1)), value=value, interval=(low, high)
    )
    for name in ("a.json", "a.csv", "a.parquet"):
        back = NoisyAnswer.load(told.save(tmp_path / name))
        assert back == told
        assert (
            list(map(type, back.value or [])) == list(map(type, told.value or []))
            if (isinstance(value, dict))
            else True
        )
    frame = told.to_polars()
    assert frame.height == (len(value) if isinstance(value, (dict, list)) else 1)
    assert frame.columns == [
        *(["key"] if isinstance(value, dict) else []),
        "value",
        "lower",
        "upper",
    ]
    assert told.document().html()


def test_bins_and_quantiles_are_answered_by_name() -> None:
    bins = release(Histogram(epsilon=9, edges=[0, 40, 100]), AGES, rng=Seeded(1))
    drawn = Histogram(epsilon=9, edges=[0, 40, 100]).release(AGES, rng=Seeded(1))
    assert bins.value == dict(zip(["[0, 40)", "[40, 100]"], drawn.tolist(), strict=True))
    assert bins.interval is not None
    assert list(bins.interval[0]) == list(bins.value)
    quartiles = release(Quantiles(epsilon=9, lower=0, upper=100), AGES, rng=Seeded(1))
    assert list(quartiles.value) == [0.25, 0.5, 0.75]
    assert quartiles.to_polars().columns == ["key", "value"]


def test_replies_are_told_by_their_places() -> None:
    told = release(SparseVector(9, threshold=500), [1, 2, 900, 4], rng=Seeded(1))
    assert told.value == ["below", "below", "above"]
    assert "above at 3 (of 3 asked)" in str(told)
    numbers = release(SparseVector(9, threshold=500, numeric=0.5), [1, 900], rng=Seeded(1))
    assert isinstance(numbers.value[1], float)
    assert numbers.to_polars()["value"].dtype == pl.String


def test_a_bound_at_infinity_is_no_bound() -> None:
    class Endless(Count):
        def interval(self, *_: Any) -> Any:
            return -float("inf"), float("inf")

    assert release(Endless(epsilon=1), AGES, rng=Seeded(1)).interval is None


@pytest.mark.parametrize(
    ("mechanism", "warned"),
    [
        (Count(epsilon=9.99), False),
        (Count(epsilon=10), True),
        (per_unit(Count(epsilon=10), 4), True),
        (KeyHistogram(epsilon=12, delta=1e-6), True),
        (KeyHistogram(epsilon=1, delta=1.1e-6), True),
        (KeyHistogram(epsilon=1, delta=1e-6), False),
        (GaussianCounts(rho=0.1), False),
        (GaussianCounts(rho=20), True),
    ],
    ids=str,
)
def test_a_weak_promise_is_warned_of(mechanism: Mechanism[Any, Any], warned: bool) -> None:
    rows = [5] if isinstance(mechanism, GaussianCounts) else WARDS
    told = release(mechanism, rows, rng=Seeded(1))
    assert bool(told.warnings) == warned
    page = unescape(told.document().html())
    assert all(warning[1:] in page for warning in told.warnings)  # its first letter is a capital


@pytest.mark.parametrize(
    ("mechanism", "x"),
    [
        (Mean(epsilon=1, lower=0, upper=9), [1, nan]),
        (Mean(epsilon=1, lower=0, upper=9), []),
        (Sum(epsilon=1, lower=0, upper=9), ["planted"]),
        (Histogram(epsilon=1, categories=["a"]), [1, 2]),
        (Exponential(epsilon=1), [0.5]),
        (SparseVector(1, threshold=3), ["x"]),
    ],
    ids=str,
)
def test_bad_input_costs_nothing(mechanism: Mechanism[Any, Any], x: Any) -> None:
    budget = Budget(epsilon=1)
    with pytest.raises(InputError) as refused:
        release(mechanism, x, budget=budget, rng=ForbiddenSource())
    assert "planted" not in str(refused.value)
    assert budget.spent["epsilon"] == 0
    assert budget.history == ()


def test_a_bad_confidence_costs_nothing() -> None:
    budget = Budget(epsilon=1)
    with pytest.raises(InputError, match="confidence"):
        release(Count(epsilon=1), AGES, confidence=1.5, budget=budget, rng=ForbiddenSource())
    assert budget.history == ()


def test_an_exceeded_budget_draws_no_answer() -> None:
    budget = Budget(epsilon=1)
    release(Count(epsilon=0.75), AGES, budget=budget, question="first", rng=Seeded(1))
    with pytest.raises(BudgetExceeded):
        release(Count(epsilon=0.5), AGES, budget=budget, rng=ForbiddenSource())
    assert [charge.label for charge in budget.history] == ["first"]
    assert budget.remaining["epsilon"] == Fraction(1, 4)


def test_an_answer_that_another_one_outran_is_not_given() -> None:
    budget = Budget(epsilon=1)

    class Overtaken(Seeded):
        def raw(self, count: int) -> bytes:
            if not budget.history:
                budget.spend(Count(epsilon=1).privacy_loss())
            return super().raw(count)

    with pytest.raises(BudgetExceeded):
        release(Count(epsilon=1), AGES, budget=budget, rng=Overtaken(1))
    assert len(budget.history) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: KeyHistogram(epsilon=0.5, delta=1e-7),
        lambda: Sparse(0.5, threshold=5, positives=40, delta=1e-7),
        lambda: Gaussian(epsilon=0.5, delta=1e-7, sensitivity=1),
    ],
)
def test_a_promise_with_a_delta_is_charged_with_it(make: Callable[[], Any]) -> None:
    mechanism = make()
    inputs: dict[str, Any] = {"KeyHistogram": WARDS, "Sparse": [1, 2], "Gaussian": 3.5}
    x = inputs[type(mechanism).__name__]
    budget = Budget(epsilon=1, delta=1e-6, filter="basic")
    release(mechanism, x, budget=budget, rng=Seeded(1))
    spent = budget.spent
    assert 0 < spent["delta"] <= Fraction(1, 10**7)  # type: ignore[operator]
    assert 0.49 < float(spent["epsilon"] or 0) <= 0.5
    with pytest.raises(BudgetExceeded):
        release(replace(mechanism, epsilon=0.6), x, budget=budget, rng=ForbiddenSource())


def test_a_budget_for_others_is_not_charged() -> None:
    budget = Budget(epsilon=1)  # for rows
    with pytest.raises(PrivacyError):
        release(per_unit(Count(epsilon=0.5), 2), AGES, budget=budget, rng=ForbiddenSource())
    assert budget.history == ()


def test_a_seed_makes_a_simulation_and_entropy_does_not() -> None:
    simulated, real = (
        release(Count(epsilon=1), AGES, rng=Seeded(7)),
        release(Count(epsilon=1), AGES),
    )
    assert simulated.guarantee.simulation
    assert simulated.provenance.seed == 7
    assert "Simulation" in simulated.document().html()
    assert not real.guarantee.simulation
    assert real.provenance.seed is None
    assert "Simulation" not in real.document().html()


def test_the_report_tells_what_an_attacker_may_come_to_believe() -> None:
    page = release(Count(epsilon=1), AGES, rng=Seeded(1)).document().html()
    assert f"{belief_interval(0.5, 1).high:.2%}" in page  # 81.61%
    with_delta = (
        release(KeyHistogram(epsilon=1, delta=0.05), WARDS, rng=Seeded(1)).document().html()
    )
    assert f"{belief_interval(0.5, 1, delta=0.05).high:.2%}" in with_delta
    rho = release(GaussianCounts(rho=0.1), [5], rng=Seeded(1)).document().html()
    assert "What an attacker may come to believe" not in rho


def test_the_interval_is_drawn_where_it_lies() -> None:
    def place(value: float, interval: tuple[float, float]) -> float:
        return float(str(on_a_line(value, interval)).split('cx="')[1].split('"')[0])

    assert place(0, (0, 10)) == 90
    assert place(5, (0, 10)) == 300
    assert place(10, (0, 10)) == place(11, (0, 10)) == 510  # never outside
    assert place(3, (3, 3)) == 300


def test_the_source_is_never_asked_twice_for_one_answer() -> None:
    class Counting(Seeded):
        calls = 0

        def raw(self, count: int) -> bytes:
            self.calls += 1
            return super().raw(count)

    alone: Source = Counting(5)
    plain = Count(epsilon=1).release(AGES, rng=alone)
    through = Counting(5)
    assert release(Count(epsilon=1), AGES, rng=through).value == plain
    assert through.calls == alone.calls  # type: ignore[attr-defined]


def test_the_report_of_an_answer_speaks_spanish() -> None:
    visits: dict[str, list[Any]] = {"patient": [1, 1, 2, 3], "town": ["a", "b", "b", "c"]}
    counted = release_from_table(visits, Count(epsilon=12), unit="patient", rows_per_unit=1)
    listed = release_from_table(visits, Histogram(epsilon=1, categories=["a", "b"]), column="town")
    with speaking("es"):
        assert english_words(counted.document()) | english_words(listed.document()) == set()
        assert str(listed).startswith("histograma de town: ")
    assert json.loads(json.dumps(counted.guarantee.as_dict()))["neighbours"] == (
        "add or remove one patient"  # what is kept does not depend on the language
    )
