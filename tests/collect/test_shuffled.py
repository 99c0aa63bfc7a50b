"""What shuffling adds to the promise of each protocol."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb, exp, prod

import pytest
from tests.accounting.pairs import Law, worst

from celosia.accounting import amplify_by_shuffling
from celosia.accounting.blankets import OwnBits
from celosia.collect import (
    CountMean,
    DBitFlip,
    FragmentPuzzle,
    HadamardCountMean,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    OneBitMean,
    OptimisedUnary,
    PrefixTree,
    PrivateCardinality,
    ProjectiveGeometry,
    Protocol,
    Rappor,
    RapporWords,
    SubsetSelection,
    SymmetricUnary,
)
from celosia.collect.oracles.unary import _Unary

Outcomes = dict[object, float]


def of_sets(members: list[set[object]], outcomes: list[object], epsilon: float) -> list[Outcomes]:
    """The law of one report for each value: outcomes in its set are e^epsilon times as likely."""
    laws = []
    for inside in members:
        weights = {each: exp(epsilon) if each in inside else 1.0 for each in outcomes}
        total = sum(weights.values())
        laws.append({each: weight / total for each, weight in weights.items()})
    return laws


def of_bits(protocol: _Unary) -> list[Outcomes]:
    """The law of one report for each value, bit by bit."""
    own, other = float(protocol.support.own), float(protocol.support.other)
    size = len(protocol.values)
    laws: list[Outcomes] = []
    for value in range(size):
        law: Outcomes = {}
        for bits in product((0, 1), repeat=size):
            chances = [own if place == value else other for place in range(size)]
            law[bits] = prod(c if b else 1 - c for b, c in zip(bits, chances, strict=True))
        laws.append(law)
    return laws


def shuffled(laws: list[Outcomes], table: tuple[int, ...]) -> Law:
    """The exact law of shuffled reports: how many there are of each outcome."""
    law: dict[Hashable, float] = {(): 1.0}
    for value in table:
        step: dict[Hashable, float] = defaultdict(float)
        for seen, mass in law.items():
            assert isinstance(seen, tuple)
            for outcome, chance in laws[value].items():
                step[tuple(sorted((*seen, outcome), key=repr))] += mass * chance
        law = step
    return law


THREE = (0, 1, 2)
NONE = Fraction(0)
KINDS = {
    "grr": (
        KaryResponse(epsilon=1, domain=THREE),
        of_sets([{0}, {1}, {2}], [0, 1, 2], 1.0),
    ),
    "ss": (
        SubsetSelection(epsilon=1, domain=THREE, size=2),
        of_sets([{0, 1}, {0, 2}, {1, 2}], [0, 1, 2], 1.0),
    ),
    "hcms": (  # one row of two columns: the sign differs at one of two places
        HadamardCountMean(epsilon=1, hashes=1, width=2),
        of_sets([{"a+", "b+"}, {"a+", "b-"}], ["a+", "a-", "b+", "b-"], 1.0),
    ),
    "olh": (  # two functions; the values collide under the second
        LocalHashing(epsilon=1, buckets=2),
        of_sets([{"f0", "g0"}, {"f1", "g0"}], ["f0", "f1", "g0", "g1"], 1.0),
    ),
    "oue": (OptimisedUnary(epsilon=1, domain=(0, 1)), None),
    "sue": (SymmetricUnary(epsilon=1, domain=(0, 1)), None),
}


@pytest.mark.parametrize("name", KINDS)
def test_no_pair_of_shuffled_tables_exceeds_the_bound_of_the_protocol(name: str) -> None:
    protocol, laws = KINDS[name]
    if laws is None:
        assert isinstance(protocol, _Unary)
        laws = of_bits(protocol)
    closest = 0.0
    for reports in (1, 3):
        loss = protocol.shuffled(reports)
        for others in combinations_with_replacement(range(len(laws)), reports - 1):
            one, other = (shuffled(laws, (value, *others)) for value in (0, 1))
            for epsilon in (0.0, 0.2, 0.6):
                exact = worst(one, other, epsilon)
                assert exact <= loss.delta(epsilon) * (1 + 1e-9) + 1e-14
                closest = max(closest, exact / loss.delta(epsilon))
    assert closest > (0.4 if name == "olh" else 0.9)  # one report alone is exact


def test_blankets_are_the_shares_of_outcomes_of_one_and_of_two_values() -> None:
    def shares(protocol: Protocol) -> tuple[Fraction, Fraction]:
        found = protocol.blanket
        assert isinstance(found, tuple)
        return found

    assert shares(KaryResponse(epsilon=1, domain=range(5))) == (Fraction(1, 5), NONE)
    five = SubsetSelection(epsilon=1, domain=range(5), size=2)
    assert shares(five) == (Fraction(comb(4, 1), comb(5, 2)), Fraction(1, comb(5, 2)))
    plane = ProjectiveGeometry(epsilon=1, domain=range(5), order=3, coordinates=3)
    assert shares(plane) == (Fraction(4, 13), Fraction(1, 13))  # lines of 4 points, meeting in 1
    assert shares(HadamardResponse(epsilon=1, domain=range(5), blocks=1)) == (
        Fraction(1, 2),
        Fraction(1, 4),
    )
    assert shares(HadamardResponse(epsilon=4, domain=range(50), blocks=8)) == (
        Fraction(1, 16),
        NONE,
    )
    assert shares(HadamardCountMean(epsilon=1)) == (Fraction(1, 2), Fraction(1, 4))
    assert shares(OneBitMean(epsilon=1)) == (Fraction(1, 2), NONE)
    assert shares(PrefixTree(epsilon=2, bits=16)) == (Fraction(1, 8), NONE)  # of its local hashing
    assert float(shares(CountMean(epsilon=2))[0]) == pytest.approx(1 / (1 + exp(1)))
    assert float(shares(OptimisedUnary(epsilon=2, domain=THREE))[0]) == pytest.approx(
        1 / (1 + exp(2))
    )


def of_own_bits(sets: list[set[int]], parts: list[OwnBits]) -> list[Outcomes]:
    """The law of one report for each value, by the bits that it sets in each of its parts."""
    laws: list[Outcomes] = []
    for own in sets:
        law: Outcomes = {}
        for bits in product((0, 1), repeat=len(parts)):
            chances = [float(p.own if at in own else p.other) for at, p in enumerate(parts)]
            law[bits] = prod(c if b else 1 - c for b, c in zip(bits, chances, strict=True))
        laws.append(law)
    return laws


def of_drawn_bits(protocol: DBitFlip) -> list[Outcomes]:
    """The law of one report for each bucket, over all draws of buckets and all answers."""
    truth = protocol.coin.chance
    drawn = list(combinations(range(protocol.buckets), protocol.bits))
    laws: list[Outcomes] = []
    for value in range(protocol.buckets):
        law: Outcomes = {}
        for asked, bits in product(drawn, product((0, 1), repeat=protocol.bits)):
            tosses = (
                truth if b == (a == value) else 1 - truth for a, b in zip(asked, bits, strict=True)
            )
            law[asked, bits] = prod(tosses) / len(drawn)
        laws.append(law)
    return laws


FILTER = Rappor(f=Fraction(1, 4), p=Fraction(1, 4), q=Fraction(3, 4), hashes=2, bits=4)
LESS = Rappor(f=0, p=Fraction(7, 8), q=Fraction(1, 2), hashes=1, bits=2)
"""A bit of the value is sent as 1 more rarely than others."""
PUZZLE = FragmentPuzzle(epsilon=2)
COINS = [Fraction(each.coin.heads, 2**32) for each in (PUZZLE.words, PUZZLE.fragments)]
OF_TEXT = [OwnBits(own=each, other=1 - each) for each in COINS]
DRAWN = {
    (bits, buckets): DBitFlip(epsilon=2, bits=bits, buckets=buckets)
    for bits, buckets in ((1, 2), (1, 3), (2, 2), (2, 3), (3, 4))
}
LEVELS: dict[str, tuple[Protocol, list[Outcomes]]] = {
    # Bits of two values, bits that two values share, and hashes that collide.
    "rappor": (FILTER, of_own_bits([{0, 1}, {2, 3}, {1, 2}, {0}], [FILTER.own_bits] * 4)),
    "rappor shared": (FILTER, of_own_bits([{0, 1}, {1, 2}, {3}], [FILTER.own_bits] * 4)),
    "rappor less": (LESS, of_own_bits([{0}, {1}], [LESS.own_bits] * 2)),
    "rappor-words": (
        RapporWords(words=replace(FILTER, hashes=1), grams=LESS),
        of_own_bits([{0, 2}, {1, 3}, {0, 3}], [FILTER.own_bits] * 2 + [LESS.own_bits] * 2),
    ),
    "sfp": (
        PUZZLE,
        of_own_bits([{0, 2}, {1, 3}, {0, 3}], [each for each in OF_TEXT for _ in (1, 2)]),
    ),
    **{f"dbitflip {key}": (each, of_drawn_bits(each)) for key, each in DRAWN.items()},
}


@pytest.mark.parametrize("name", LEVELS)
def test_no_pair_of_shuffled_tables_exceeds_the_bound_of_more_levels(name: str) -> None:
    protocol, laws = LEVELS[name]
    closest = 0.0
    for reports in (1, 2, 3) if len(laws[0]) <= 8 else (1, 2):
        loss = protocol.shuffled(reports)
        for others in combinations_with_replacement(range(len(laws)), reports - 1):
            one, other = (shuffled(laws, (value, *others)) for value in (0, 1))
            for epsilon in (0.0, 0.2, 0.6):
                exact = worst(one, other, epsilon)
                assert exact <= loss.delta(epsilon) * (1 + 1e-9) + 1e-14
                closest = max(closest, exact / loss.delta(epsilon))
    assert closest > (0.5 if name == "rappor shared" else 0.99)  # one report alone is exact


def test_protocols_of_more_levels_are_never_worse_than_any_and_mostly_far_better() -> None:
    made = [each for each, _ in LEVELS.values()]
    for protocol in (*made, PrivateCardinality(epsilon=2)):
        own = protocol.shuffled(1000)
        any_bound = amplify_by_shuffling(protocol.loss.pure, reports=1000)
        for epsilon in (0.05, 0.3):
            assert own.delta(epsilon) <= any_bound.delta(epsilon)
        assert own.delta(0.3) < any_bound.delta(0.3) / 2
    cardinality = PrivateCardinality(epsilon=2)
    assert cardinality.blanket == OptimisedUnary(epsilon=2, domain=THREE).blanket


def test_a_law_that_is_too_large_is_not_worked_out() -> None:
    many = Rappor(hashes=300, f=Fraction(9, 10), bits=2000)
    assert many.blanket is None
    assert many.shuffled(100).delta(1) == amplify_by_shuffling(many.loss.pure, reports=100).delta(1)
    assert Rappor(hashes=200, f=0, p=Fraction(1, 2**32), q=1).blanket is None
