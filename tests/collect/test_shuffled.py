"""What shuffling adds to the promise of each protocol."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, exp, prod

import pytest
from tests.accounting.pairs import Law, worst

from celosia.accounting import amplify_by_shuffling
from celosia.collect import (
    CountMean,
    DBitFlip,
    HadamardCountMean,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    OneBitMean,
    OptimisedUnary,
    PrefixTree,
    ProjectiveGeometry,
    Protocol,
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
        assert found is not None
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


def test_a_protocol_of_more_levels_has_the_bound_of_any_protocol() -> None:
    protocol = DBitFlip(epsilon=2, buckets=8, bits=2)
    assert protocol.blanket is None
    found = protocol.shuffled(1000).epsilon(1e-6)
    assert found == amplify_by_shuffling(2, reports=1000).epsilon(1e-6)
    assert found > SymmetricUnary(epsilon=2, domain=THREE).shuffled(1000).epsilon(1e-6)
