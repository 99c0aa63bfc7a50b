"""Pairs are neighbours, and the search finds the one that hurts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log
from typing import Any

import pytest
from tests.assess.audit import suspects

from celosia.assess.audit import Pair, pairs, pairs_for, search
from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.laplace import Geometric, Laplace
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.responses.kary_response import KaryResponse
from celosia.mechanisms.selection.exponential import Exponential
from celosia.mechanisms.sparse import SparseVector
from celosia.mechanisms.statistics.mean import NormalisedMean


def distance(pair: Pair) -> tuple[int, int]:
    """Rows that only the first and only the second has."""
    first, second = Counter(pair.first), Counter(pair.second)
    return (first - second).total(), (second - first).total()


@pytest.mark.parametrize("made", [pairs.rows, pairs.key_rows])
def test_rows_differ_by_one_step_of_the_relation(made: Any) -> None:
    def all_of(neighbours: Neighbours) -> Iterable[Pair]:
        found = made(0.0, 1.0, neighbours=neighbours) if made is pairs.rows else made()
        return found if made is pairs.rows else made(neighbours=neighbours)

    assert {distance(pair) for pair in all_of(ADD_REMOVE)} == {(0, 1)}
    assert {distance(pair) for pair in all_of(CHANGE_ONE)} == {(1, 1)}


@pytest.mark.parametrize("monotone", [False, True])
def test_scores_and_streams_move_by_the_sensitivity_at_most(monotone: bool) -> None:
    found = [
        *pairs.scores(4, 2, monotone=monotone),
        *pairs.streams(2, sensitivity=2, monotone=monotone),
    ]
    signs = set()
    for pair in found:
        moves = [after - before for before, after in zip(pair.first, pair.second, strict=True)]
        assert max(map(abs, moves)) == 2
        signs.add(min(moves) < 0 < max(moves))
    assert signs == ({False} if monotone else {False, True})


def test_vectors_move_by_the_sensitivity_in_sum() -> None:
    for pair in (*pairs.vectors(4, 3.0), *pairs.vectors(4, 2), *pairs.vectors(3, 1)):
        moves = [after - before for before, after in zip(pair.first, pair.second, strict=True)]
        assert sum(map(abs, moves)) in (1, 2, 3.0)
    (only,) = pairs.vectors(3, 1, one_coordinate=True)
    assert only.second == [1, 0, 0]


@pytest.mark.parametrize(
    ("mechanism", "first", "second"),
    [
        (Geometric(epsilon=1, sensitivity=2), 0, 2),
        (Laplace(epsilon=1, sensitivity=0.5), 0.0, 0.5),
        (Laplace(epsilon=1, sensitivity=1, dimension=2), [0, 0], [1, 0]),
        (Exponential(epsilon=1), [0, 0, 0], [1, 0, 0]),
        (SparseVector(1, threshold=9, positives=1), [9, 9], [10, 8]),
        (KaryResponse(epsilon=1, categories=("a", "b")), "a", "b"),
        (NormalisedMean(epsilon=1, lower=0, upper=2), [0], [0, 2]),
        (NormalisedMean(epsilon=1, lower=0, upper=2, may_be_empty=True), [], [2]),
    ],
    ids=str,
)
def test_pairs_follow_from_the_fields_of_a_mechanism(
    mechanism: Mechanism[Any, Any], first: Any, second: Any
) -> None:
    found = pairs_for(mechanism)
    assert any(pair.first == first and pair.second == second for pair in found)
    for pair in found:
        mechanism.release(pair.first, rng=Seeded(1))
        mechanism.release(pair.second, rng=Seeded(1))


@pytest.mark.statistical
def test_the_search_finds_the_pair_that_hurts_and_says_which() -> None:
    steps: list[Step] = []
    found = search(
        suspects.clamped_mean(0.1, 0, 1),
        pairs.rows(0.0, 1.0),
        claim=0.1,
        samples=40_000,
        rng=Seeded(11),
        progress=steps.append,
        name="Algorithm 3",
        last_bits=False,
    )
    assert found.verdict == "violated"
    assert 0.3 < found.lower <= log(2) + 0.05
    assert "1 rows" in found.pair
    assert found.name == "Algorithm 3"
    assert steps[0].total == 20


@pytest.mark.statistical
@pytest.mark.parametrize(("variant", "verdict"), [("a1", "consistent"), ("a6", "violated")])
def test_the_search_tells_a_broken_sparse_vector_from_a_right_one(
    variant: str, verdict: str
) -> None:
    mechanism = suspects.a1(1, 2) if variant == "a1" else suspects.a6(1)
    found = search(
        mechanism, pairs.streams(2, lengths=(1, 2)), claim=1, samples=40_000, rng=Seeded(12)
    )
    assert found.verdict == verdict


def test_a_search_needs_pairs() -> None:
    with pytest.raises(InputError) as caught:
        search(suspects.laplace(1), [])
    assert caught.value.code == "CEL-A106"
    with pytest.raises(InputError) as caught:
        search(suspects.laplace(1))
    assert caught.value.code == "CEL-A106"
