"""Every client is audited by its reports alone, against the epsilon that it claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.assess.audit import Audit, audit
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.discovery.cardinality import LEAST_BUCKETS, PrivateCardinality
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.numbers.one_bit_mean import OneBitMean
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.oracles.unary import OptimisedUnary, SymmetricUnary
from celosia.collect.protocol import Protocol
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.rappor.words import RapporWords
from celosia.collect.registry import PROTOCOLS
from celosia.core.randomness import Seeded, Source
from celosia.lab.collect.broken import StickyRappor

SAMPLES = 60_000
FEW = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Case:
    """A protocol small enough for whole reports to be told apart, and two values far apart."""

    protocol: Protocol
    first: Any
    second: Any
    reached: float = 0.8
    """The share of epsilon that samples must show."""
    apart: bool = False
    """Whether to look at the bits of a report one by one: there are too many reports."""

    def reports(self, value: Any, rng: Source, size: int) -> NDArray[np.int64]:
        """Whole reports as numbers, or bit by bit."""
        values = np.full(size, value) if isinstance(value, int) else [value] * size
        packed = self.protocol.client(rng=rng).privatise(values).packed
        if self.apart:
            return np.unpackbits(packed, axis=1, bitorder="little").astype(np.int64)
        return packed.astype(np.int64) @ 256 ** np.arange(packed.shape[1])

    def audited(self, *, share: float = 1.0) -> Audit:
        """The audit of a claim of this share of epsilon."""
        claim = share * self.protocol.loss.epsilon(0)
        return audit(
            self.reports, self.first, self.second, claim=claim, samples=SAMPLES, rng=Seeded(41)
        )


SIGN = HadamardCountMean(epsilon=1, hashes=1, width=4, key="two")
BITS = Rappor(f=0.25, p=0.4, q=0.6, bits=4, hashes=1, cohorts=1, key="k")

CASES = {
    "cms": Case(CountMean(epsilon=1, key="two", hashes=1, width=4), "a", "b"),
    "hcms": Case(HadamardCountMean(epsilon=1, hashes=1, width=4, key="two"), "a", "b"),
    "sfp": Case(
        FragmentPuzzle(
            epsilon=1,
            fragment_epsilon=0.5,
            key="two",
            hashes=1,
            width=4,
            fragment_hashes=1,
            fragment_width=4,
            alphabet="ab",
            length=2,
            piece=1,
            tags=2,
        ),
        "aa",
        "bb",
        # Pieces of both texts may have the same column, and then only the texts differ.
        reached=0.4,
    ),
    "rappor": Case(Rappor(f=0.25, p=0.25, q=0.75, bits=4, hashes=1, cohorts=1, key="k"), "a", "b"),
    "dbitflip": Case(DBitFlip(epsilon=1, buckets=3, bits=2), 0, 1),
    "one-bit-mean": Case(OneBitMean(epsilon=1, lower=0, upper=1), 0, 1),
    "grr": Case(KaryResponse(epsilon=1, domain=FEW), "a", "b"),
    "oue": Case(OptimisedUnary(epsilon=1, domain=FEW), "a", "b"),
    "sue": Case(SymmetricUnary(epsilon=1, domain=FEW), "a", "b"),
    "olh": Case(LocalHashing(epsilon=1, buckets=3, pool=2), "a", "b"),
    "hr": Case(HadamardResponse(epsilon=1, domain=FEW), "a", "b"),
    "ss": Case(SubsetSelection(epsilon=1, domain=FEW), "a", "b"),
    "pgr": Case(ProjectiveGeometry(epsilon=1, domain=FEW), "a", "b"),
    "pem": Case(PrefixTree(epsilon=1, bits=2, oracle=SIGN), 0, 3),
    "rappor-words": Case(
        RapporWords(words=BITS, grams=BITS, alphabet="ab", length=2, gram=1), "aa", "bb"
    ),
    "cardinality": Case(
        PrivateCardinality(epsilon=1, buckets=LEAST_BUCKETS, key="two"), 0, 2, apart=True
    ),
}


def test_every_protocol_is_audited() -> None:
    assert set(CASES) == set(PROTOCOLS)
    for name, case in CASES.items():
        assert case.protocol.method_name == name
        assert case.protocol.report_bits <= 20


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_reports_show_nearly_the_epsilon_that_is_claimed_and_no_more(name: str) -> None:
    case = CASES[name]
    found = case.audited()
    assert found.verdict == "consistent"
    assert case.reached * case.protocol.loss.epsilon(0) < found.lower


@pytest.mark.statistical
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.reached > 0.5])
def test_half_of_the_epsilon_would_be_found_out(name: str) -> None:
    assert CASES[name].audited(share=0.5).verdict == "violated"


@pytest.mark.statistical
def test_a_client_that_never_clears_a_bit_is_found_out() -> None:
    right = Rappor(f=0.5, p=0.05, q=0.95, bits=4, hashes=1, cohorts=1, key="k")
    wrong = StickyRappor(f=0.5, p=0.05, q=0.95, bits=4, hashes=1, cohorts=1, key="k")
    assert Case(right, "a", "b").audited().verdict == "consistent"
    assert Case(wrong, "a", "b").audited().verdict == "violated"
