"""What each of many releases may spend within a total."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.accounting import PureLoss, advanced, explain, optimal
from celosia.accounting.splits import split
from celosia.core.errors import InputError
from celosia.core.numbers import exact


def shares(total: float, releases: int, delta: float) -> dict[str, float]:
    return {
        share.name: share.epsilon for share in split(total, releases=releases, delta=delta).shares
    }


def test_the_published_example_of_ten_thousand_databases() -> None:
    found = shares(1.0, 10_000, exp(-32))
    assert found["advanced composition"] == pytest.approx(0.00123104, abs=1e-8)
    assert found["advanced composition, corollary"] == pytest.approx(1 / 1600)
    assert found["optimal composition"] > found["advanced composition"]


@settings(deadline=None, max_examples=30)
@given(
    total=st.floats(0.05, 8),
    releases=st.integers(1, 300),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
)
def test_every_share_stays_within_the_total(total: float, releases: int, delta: float) -> None:
    found = shares(total, releases, delta)
    whole = exact(total)
    part = exact(found.pop("equal parts"))
    assert whole is not None
    assert part is not None
    assert part * releases <= whole
    best = found["optimal composition"]
    assert optimal(releases, best, slack=delta).epsilon <= total * (1 + 1e-9)
    assert advanced(releases, found["advanced composition"], slack=delta).epsilon <= total
    # An epsilon one part in a thousand larger is too much.
    assert optimal(releases, 1.001 * best, slack=delta).epsilon > total * (1 - 1e-9)


def test_what_is_split_composes_again_within_the_total() -> None:
    best = split(1.0, releases=100, delta=1e-6).best
    assert best.name == "optimal composition"
    together = explain([PureLoss(Fraction(best.epsilon))] * 100, delta=1e-6).tightest
    assert together.epsilon == pytest.approx(1, rel=1e-3)


def test_without_a_delta_parts_are_equal() -> None:
    found = split(0.3, releases=3, delta=0)
    assert [share.epsilon for share in found.shares] == [0.1]
    assert found.as_dict()["shares"] == [{"name": "equal parts", "epsilon": 0.1, "best": True}]
    assert split(2, releases=1, delta=0).best.epsilon == 2


@pytest.mark.parametrize(
    ("total", "releases", "delta", "code"),
    [
        (0, 10, 0.1, "CEL-I060"),
        (float("nan"), 10, 0.1, "CEL-I060"),
        (1, 0, 0.1, "CEL-I060"),
        (1, 10**7, 0.1, "CEL-I060"),
        (1, 10, 1, "CEL-I060"),
    ],
)
def test_impossible_splits_are_refused(
    total: float, releases: int, delta: float, code: str
) -> None:
    with pytest.raises(InputError) as refusal:
        split(total, releases=releases, delta=delta)
    assert refusal.value.code == code
