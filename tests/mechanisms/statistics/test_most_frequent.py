"""The most frequent categories: the law of each choice, the price, and what is refused."""

from __future__ import annotations

from itertools import permutations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from tests.effort import examples
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.core.errors import InputError
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms import (
    ADD_REMOVE,
    CHANGE_ONE,
    Exponential,
    MostFrequent,
    NoisyMax,
    PermuteAndFlip,
    TopSelection,
)

ROWS = ["a"] * 5 + ["b"] * 4 + ["c"] * 2 + ["d"]
COUNTS = [5, 4, 2]
KINDS: dict[str, Any] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
    "noisy-max": NoisyMax,
}


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, CHANGE_ONE], ids=str)
@pytest.mark.parametrize("method", KINDS)
def test_two_choices_are_drawn_one_after_the_other(method: str, neighbours: Neighbours) -> None:
    top = MostFrequent(
        epsilon=2, categories=["a", "b", "c"], count=2, selection=method, neighbours=neighbours
    )
    one = KINDS[method](epsilon=1, monotone=neighbours == ADD_REMOVE, neighbours=neighbours)
    rng, trials = Seeded(8), examples(8000)
    drawn = [top.release(ROWS, rng=rng) for _ in range(trials)]
    first = one.probabilities(COUNTS)
    for i, j in permutations(range(3), 2):
        rest = [place for place in range(3) if place != i]
        second = one.probabilities([COUNTS[place] for place in rest])[rest.index(j)]
        chance = first[i] * second
        found = drawn.count(("abc"[i], "abc"[j])) / trials
        # Six deviations of a binomial share: a false alarm in less than 1e-8 of all cases.
        assert abs(found - chance) <= 6 * sqrt(chance * (1 - chance) / trials)


@pytest.mark.parametrize("method", KINDS)
@pytest.mark.parametrize("count", [1, 3])
def test_all_choices_together_cost_epsilon(method: str, count: int) -> None:
    top = MostFrequent(epsilon=0.6, categories=list("abcd"), count=count, selection=method)
    assert top.privacy_loss().pure == pytest.approx(0.6, rel=1e-12)
    assert top.sensitivity == 1


def test_several_exponential_choices_are_top_selection() -> None:
    top = MostFrequent(epsilon=1, categories=list("abc"), count=2, selection="exponential")
    peer = TopSelection(epsilon=1, count=2, monotone=True)
    assert top.privacy_loss() == peer.privacy_loss()
    assert top.accuracy(0.9) == peer.accuracy(0.9, size=3)
    places = [peer.release(COUNTS, rng=Seeded(seed)).tolist() for seed in range(20)]
    named = [top.release(ROWS, rng=Seeded(seed)) for seed in range(20)]
    assert named == [tuple("abc"[place] for place in each) for each in places]


def test_a_changed_row_needs_twice_the_noise() -> None:
    added, changed = (
        MostFrequent(epsilon=1, categories=list("abc"), neighbours=neighbours).accuracy()
        for neighbours in (ADD_REMOVE, CHANGE_ONE)
    )
    assert changed == pytest.approx(2 * added)


@pytest.mark.parametrize("method", KINDS)
def test_the_shortfall_stays_within_the_stated_error(method: str) -> None:
    top = MostFrequent(epsilon=1, categories=list("abcd"), selection=method)
    counts = {"a": 12, "b": 9, "c": 3, "d": 0}
    rows = [key for key, size in counts.items() for _ in range(size)]
    rng, bound = Seeded(3), top.accuracy(0.8)
    missed = np.mean([12 - counts[str(top.release(rows, rng=rng)[0])] > bound for _ in range(2000)])
    assert missed <= 0.2 + 6 * sqrt(0.2 * 0.8 / 2000)


def test_no_rows_are_answered_only_if_that_is_allowed() -> None:
    with pytest.raises(InputError) as refused:
        MostFrequent(epsilon=1, categories=list("ab")).release([], rng=ForbiddenSource())
    assert refused.value.code == "CEL-M082"
    free = MostFrequent(epsilon=1, categories=list("ab"), may_be_empty=True)
    assert {free.release([], rng=Seeded(seed))[0] for seed in range(30)} == {"a", "b"}


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"epsilon": 0}, "CEL-I060"),
        ({"count": 0}, "CEL-I060"),
        ({"count": 3}, "CEL-M065"),
        ({"count": 1.5}, "CEL-I060"),
        ({"categories": []}, "CEL-M086"),
        ({"categories": "ab"}, "CEL-M086"),
        ({"categories": ["a", "a"]}, "CEL-M086"),
        ({"categories": ["a", 1]}, "CEL-M086"),
        ({"selection": "noisymax"}, "CEL-I060"),
        ({"may_be_empty": 1}, "CEL-I060"),
        ({"neighbours": "rows"}, "CEL-I060"),
    ],
    ids=str,
)
def test_a_bad_wish_is_refused(wish: dict[str, Any], code: str) -> None:
    given: dict[str, Any] = {"epsilon": 1, "categories": ["a", "b"]} | wish
    with pytest.raises(InputError) as refused:
        MostFrequent(**given)
    assert refused.value.code == code
