"""The bounds side by side."""

from __future__ import annotations

import json
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.accounting.explanation import explain
from celosia.accounting.losses import ApproximateLoss, ComposedLoss, PureLoss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.core.errors import InputError

NAMES = [
    "sum of epsilons",
    "advanced composition",
    "zero-concentrated",
    "Renyi",
    "privacy loss distribution",
]


def test_every_bound_is_shown_and_the_tightest_is_marked() -> None:
    found = explain([PureLoss(Fraction("0.1"))] * 100, delta=1e-6)
    assert [row["name"] for row in found.rows()] == NAMES
    assert [row["tightest"] for row in found.rows()] == [False] * 4 + [True]
    epsilons = [row["epsilon"] for row in found.rows()]
    assert epsilons == sorted(epsilons, reverse=True)
    assert found.tightest.epsilon == ComposedLoss((PureLoss(Fraction("0.1")),) * 100).epsilon(1e-6)
    assert found.tightest_adaptive.name == "Renyi"


def test_few_releases_are_best_summed() -> None:
    found = explain([PureLoss(Fraction(1))], delta=0.0)
    assert found.tightest.name == "sum of epsilons"
    assert [bound.epsilon for bound in found.bounds][1:4] == [inf] * 3
    assert "larger delta" in found.bounds[2].reason


def test_an_infinite_bound_says_why() -> None:
    gaussian = explain([GaussianLoss(Fraction(100), 1), PureLoss(Fraction("0.1"))], delta=1e-6)
    assert gaussian.bounds[0].epsilon == inf
    assert gaussian.bounds[0].reason == "a release has no epsilon with delta 0"
    spent = explain([ApproximateLoss(Fraction("0.1"), 1e-5)] * 3, delta=1e-6)
    assert all(bound.epsilon == inf and bound.reason for bound in spent.bounds)
    assert "3e-05" in spent.bounds[0].reason


def test_bounds_say_whether_losses_may_be_chosen_on_the_way() -> None:
    found = explain([PureLoss(Fraction("0.1"))] * 3, delta=1e-6)
    assert [bound.adaptive for bound in found.bounds] == [True, False, True, True, False]


def test_the_table_is_text_and_the_values_are_plain() -> None:
    found = explain(
        [PureLoss(Fraction("0.1"))] * 2 + [ConcentratedLoss(Fraction("0.01"))], delta=1e-6
    )
    text = str(found)
    assert text.count("<- tightest") == 1
    assert all(name in text for name in NAMES)
    assert "infinite" in text
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["bounds"][0]["epsilon"] is None
    assert plain["delta"] == 1e-6


def test_a_bad_delta_is_refused() -> None:
    with pytest.raises(InputError):
        explain([PureLoss(Fraction(1))], delta=2)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.integers(1, 30).map(lambda tenth: PureLoss(Fraction(tenth, 20))),
            st.integers(1, 30).map(lambda tenth: LaplaceLoss(Fraction(tenth), 3)),
            st.integers(1, 30).map(lambda tenth: GaussianLoss(Fraction(10 * tenth), 2)),
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([1e-9, 1e-6, 1e-3]),
)
def test_no_bound_is_below_the_distribution(losses: list[PureLoss], delta: float) -> None:
    bounds = {bound.name: bound.epsilon for bound in explain(losses, delta=delta).bounds}
    tight = bounds["privacy loss distribution"]
    # The distribution is exact up to its grid, which is finer than a ten-thousandth of its spread.
    assert all(epsilon >= tight * (1 - 1e-3) - 1e-6 for epsilon in bounds.values())
    assert bounds["Renyi"] <= bounds["zero-concentrated"] * 1.02 + 1e-6
