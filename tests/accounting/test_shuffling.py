"""Shuffled local reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, exp, factorial, log, prod, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.pairs import Law, hockey_stick, worst

from celosia.accounting import shuffling
from celosia.accounting.blankets import Blanket, OwnBits
from celosia.accounting.losses import ComposedLoss
from celosia.accounting.shuffling import amplify_by_shuffling, closed_form
from celosia.core.errors import InputError


def responses(table: tuple[int, ...], choices: int, epsilon: float) -> Law:
    """The exact law of the histogram of shuffled k-ary randomised responses."""
    bottom = exp(epsilon) + choices - 1
    law: dict[Hashable, float] = {(0,) * choices: 1.0}
    for value in table:
        step: dict[Hashable, float] = defaultdict(float)
        for counts, mass in law.items():
            assert isinstance(counts, tuple)
            for answer in range(choices):
                chance = (exp(epsilon) if answer == value else 1.0) / bottom
                told = tuple(each + (i == answer) for i, each in enumerate(counts))
                step[told] += mass * chance
        law = step
    return law


def clones(reports: int, share: float, local: float) -> tuple[Law, Law]:
    """The pair of clone counts written out."""
    one: dict[Hashable, float] = defaultdict(float)
    other: dict[Hashable, float] = defaultdict(float)
    truth = exp(local) / (1 + exp(local))
    for c in range(reports):
        some = comb(reports - 1, c) * share**c * (1 - share) ** (reports - 1 - c)
        for a in range(c + 1):
            mass = some * comb(c, a) / 2**c
            one[a + 1, c - a] += mass * truth
            one[a, c - a + 1] += mass * (1 - truth)
            other[a + 1, c - a] += mass * (1 - truth)
            other[a, c - a + 1] += mass * truth
    return one, other


def blanket(reports: int, local: float, hits: float, overlap: float, epsilon: float) -> float:
    """The bound of the blanket over every possible count of outcomes."""
    ratio, factor = exp(local), exp(epsilon)
    share = 1 / (1 + hits * (ratio - 1))
    values = (ratio - factor, 1 - factor * ratio, ratio * (1 - factor), 1 - factor, 0.0)
    masses = [share * each for each in (hits - overlap, hits - overlap, overlap)]
    masses += [share * (1 - 2 * hits + overlap), 1 - share]
    total = 0.0
    for counts in product(range(reports + 1), repeat=4):
        left = reports - sum(counts)
        if left >= 0:
            every = (*counts, left)
            height = sum(n * value for n, value in zip(every, values, strict=True))
            ways = factorial(reports) // prod(map(factorial, every))
            chance = prod(mass**n for n, mass in zip(every, masses, strict=True))
            total += max(0.0, height) * ways * chance
    return total / reports


@pytest.mark.parametrize("local", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("reports", [1, 2, 7])
def test_the_numerical_bound_is_the_lesser_of_clones_and_blanket(
    local: float, reports: int
) -> None:
    generic = clones(reports, exp(-local), local)
    for hits, overlap in ((None, 0.0), (0.5, 0.0), (1 / 3, 0.0), (0.5, 0.25), (0.1, 0.01)):
        loss = amplify_by_shuffling(local, reports=reports, hits=hits, overlap=overlap)
        for epsilon in (0.0, local / 10, local / 3, local * 0.9):
            exact = hockey_stick(*generic, epsilon)
            if hits is not None:
                exact = min(exact, blanket(reports, local, hits, overlap, epsilon))
            # The grid may add a little, and never takes away.
            assert exact * (1 - 1e-14) <= loss.delta(epsilon) <= exact * (1 + 1e-5) + 1e-14


@pytest.mark.parametrize("reports", [1, 2, 3])
def test_a_blanket_of_many_levels_is_summed_exactly(reports: int) -> None:
    bits = [OwnBits(Fraction(3, 4), Fraction(1, 4), 1), OwnBits(Fraction(1, 2), Fraction(1, 8), 1)]
    law = Blanket.of_own_bits(bits)
    assert law is not None
    local = log(9 * 7)
    loss = amplify_by_shuffling(local, reports=reports, blanket=law)
    atoms = [*law.outcomes, (1 - law.share, 0.0, 0.0)]
    for epsilon in (0.0, 0.4, 1.5):
        total = 0.0
        for drawn in product(atoms, repeat=reports):
            height = sum(a - exp(epsilon) * b for _, a, b in drawn)
            total += max(0.0, height) * prod(chance for chance, _, _ in drawn)
        exact = min(total / reports, hockey_stick(*clones(reports, exp(-local), local), epsilon))
        # Steps are a 16th of a standard deviation or shorter, so splits add less than a thousandth.
        assert exact * (1 - 1e-12) <= loss.delta(epsilon) <= exact * (1 + 1e-3) + 1e-14


@pytest.mark.parametrize("reports", [100_000])
@pytest.mark.parametrize("hits", [0.5, 0.02])
def test_a_finer_grid_lowers_the_bound_by_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch, reports: int, hits: float
) -> None:
    usual = amplify_by_shuffling(2.0, reports=reports, hits=hits).epsilon(1e-6)
    monkeypatch.setattr(shuffling, "GRID", 2**16)
    shuffling._blanket.cache_clear()
    finer = amplify_by_shuffling(2.0, reports=reports, hits=hits).epsilon(1e-6)
    shuffling._blanket.cache_clear()
    assert finer * (1 - 1e-6) <= usual <= finer * 1.003


def test_less_overlap_never_gives_a_smaller_bound() -> None:
    found = [
        amplify_by_shuffling(2.0, reports=1000, hits=0.25, overlap=overlap).epsilon(1e-6)
        for overlap in (0.0, 0.05, 0.1, 0.2)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > 1.2 * found[-1]


@pytest.mark.parametrize("local", [0.3, 1.0, 2.5])
@pytest.mark.parametrize(("choices", "reports"), [(2, 1), (2, 4), (2, 9), (3, 2), (3, 5), (4, 3)])
def test_no_pair_of_shuffled_tables_exceeds_the_bound(
    local: float, choices: int, reports: int
) -> None:
    special = amplify_by_shuffling(local, reports=reports, choices=choices)
    general = amplify_by_shuffling(local, reports=reports)
    closest = 0.0
    for others in combinations_with_replacement(range(choices), reports - 1):
        one = responses((0, *others), choices, local)
        other = responses((1, *others), choices, local)
        for epsilon in (0.0, local / 8, local / 3, local * 0.8):
            exact = worst(one, other, epsilon)
            assert exact <= special.delta(epsilon) + 1e-14
            assert exact <= general.delta(epsilon) + 1e-14
            closest = max(closest, exact / special.delta(epsilon))
    # Copies are told apart from true values in the bound only, so it cannot be far off.
    assert closest > 0.6


@pytest.mark.parametrize("choices", [2, 3, 16, 1000])
def test_answers_by_choice_are_never_worse_than_those_of_any_randomiser(choices: int) -> None:
    some = amplify_by_shuffling(1.0, reports=10_000, choices=choices).epsilon(1e-6)
    assert some <= amplify_by_shuffling(1.0, reports=10_000).epsilon(1e-6) * (1 + 1e-6)


def test_the_closed_form_is_that_of_the_theorem() -> None:
    local, count, delta = 1.0, 100_000, 1e-6
    gain = 8 * sqrt(exp(local) * log(4 / delta)) / sqrt(count) + 8 * exp(local) / count
    expected = log(1 + (exp(local) - 1) / (exp(local) + 1) * gain)
    assert closed_form(local, reports=count, delta=delta) == pytest.approx(expected)
    # Its condition: epsilon_0 <= ln(n / (16 ln(2/delta))).
    edge = log(count / (16 * log(2 / delta)))
    assert closed_form(edge - 0.001, reports=count, delta=delta) < edge - 0.001
    assert closed_form(edge + 0.001, reports=count, delta=delta) == edge + 0.001
    assert closed_form(1.0, reports=10, delta=delta) == 1.0


@settings(max_examples=8)
@given(
    local=st.floats(0.05, 5),
    reports=st.integers(1, 100_000),
    delta=st.floats(1e-10, 1e-3),
    more=st.integers(2, 10),
)
def test_more_reports_hide_better_and_shuffling_never_harms(
    local: float, reports: int, delta: float, more: int
) -> None:
    one = amplify_by_shuffling(local, reports=reports).epsilon(delta)
    assert one <= local * (1 + 1e-12)
    assert one <= closed_form(local, reports=reports, delta=delta) * (1 + 1e-12)
    assert amplify_by_shuffling(local, reports=reports * more).epsilon(delta) <= one * (1 + 1e-6)
    assert amplify_by_shuffling(local, reports=reports, choices=2).epsilon(delta) <= one * (
        1 + 1e-6
    )


def test_epsilon_and_delta_are_inverse() -> None:
    loss = amplify_by_shuffling(2.0, reports=5000)
    at = loss.epsilon(1e-7)
    assert loss.delta(at) <= 1e-7 < loss.delta(at * 0.999)
    assert loss.epsilon(0.0) == loss.pure == 2.0
    assert loss.delta(2.0) == 0.0


def test_runs_of_clone_counts_cost_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = amplify_by_shuffling(1.0, reports=10_000).delta(0.0533)
    monkeypatch.setattr(shuffling, "RUNS", 40)
    shuffling._clones.cache_clear()
    rough = amplify_by_shuffling(1.0, reports=10_000).delta(0.0533)
    shuffling._clones.cache_clear()
    assert exact < rough < 1.2 * exact


def test_a_million_reports_gain_more_than_the_closed_form_tells() -> None:
    found = amplify_by_shuffling(4.0, reports=1_000_000).epsilon(1e-8)
    assert 0.02 < found < closed_form(4.0, reports=1_000_000, delta=1e-8) / 2


def test_two_shuffled_collections_compose_by_their_curve() -> None:
    one = amplify_by_shuffling(1.0, reports=2000)
    both = ComposedLoss((one, one))
    assert one.epsilon(1e-6) < both.epsilon(1e-6) < 2 * one.epsilon(5e-7)
    law = one.distribution()
    for epsilon in (0.0, 0.05, 0.1):
        assert law.get_delta_for_epsilon(epsilon) >= one.delta(epsilon) * (1 - 1e-9)
        assert law.get_delta_for_epsilon(epsilon) <= one.delta(epsilon) * 1.05 + 1e-9


@pytest.mark.parametrize(
    ("code", "local", "reports", "choices"),
    [
        ("CEL-I060", 0, 10, None),
        ("CEL-I060", float("inf"), 10, None),
        ("CEL-I060", 1000, 10, 2),
        ("CEL-I060", 1, 0, None),
        ("CEL-I060", 1, 10, 1),
        ("CEL-I060", 1, 2.5, None),
    ],
)
def test_bad_numbers_are_refused(
    code: str, local: float, reports: int, choices: int | None
) -> None:
    with pytest.raises(InputError) as caught:
        amplify_by_shuffling(local, reports=reports, choices=choices)
    assert caught.value.code == code


def test_it_prints_and_serialises() -> None:
    loss = amplify_by_shuffling(Fraction(1, 2), reports=10, choices=2)
    assert str(loss) == "10 shuffled reports of local epsilon 0.5"
    assert loss.as_dict() == {
        "kind": "shuffled",
        "local_epsilon": 0.5,
        "reports": 10,
        "hits": 0.5,
        "overlap": 0.0,
    }


@pytest.mark.parametrize(("hits", "overlap"), [(0, 0), (1, 0.5), (0.25, 0.3), (0.75, 0.4)])
def test_shares_that_no_randomiser_has_are_refused(hits: float, overlap: float) -> None:
    with pytest.raises(InputError) as caught:
        amplify_by_shuffling(1.0, reports=10, hits=hits, overlap=overlap)
    assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("epsilon", [-1.0, float("nan"), "1"])
def test_a_delta_is_told_for_an_epsilon_only(epsilon: object) -> None:
    with pytest.raises(InputError) as caught:
        amplify_by_shuffling(1.0, reports=10).delta(epsilon)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"
