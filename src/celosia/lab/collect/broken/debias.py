"""Bias taken off with the wrong number: another epsilon, another number of reports, half a term."""

from __future__ import annotations

from dataclasses import dataclass
from math import cosh

import numpy as np
from numpy.typing import NDArray

from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.rappor.rappor import Rappor
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.lab.collect.broken.example import BrokenProtocol
from celosia.sketches.hashing import digests

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BrokenHalfDebias(BrokenProtocol):
    """Signs of the Hadamard sketch freed of bias with epsilon / 2, as bits of the plain one are.

    The client tells its sign with the whole epsilon. Estimates are 1 + sech(epsilon / 2) times too
    large, 1.65 times at epsilon 2, and none of them nearer to the truth with more users.
    """

    citation = "The code behind a bachelor's thesis of the Universidad de Cádiz (2024), Tables 5.4 "
    citation += "and 5.6; and packages that copied the constant from one sketch to the other"
    flaw = Message("lab.collect.the_constant_of_the_plain_sketch")
    figure = Message("lab.collect.estimate_over_truth")

    epsilon: float = 2.0
    users: int = 20_000
    width: int = 64

    @property
    def factor(self) -> float:
        """coth(epsilon / 4) / coth(epsilon / 2)."""
        return 1 + 1 / cosh(min(self.epsilon / 2, 500))  # beyond, nothing is left to add

    @property
    def claimed(self) -> float:
        return 1.0

    @property
    def true(self) -> float:
        """Of a value that all users have."""
        return self.factor + (self.factor - 1) / (self.width - 1)

    def spoiled(self, estimates: Floats, width: int, counts: NDArray[np.int64]) -> Floats:
        """What the fault makes of right estimates of values with these counts."""
        users = int(counts.sum())
        spoiled = (estimates * (width - 1) / width + users / width) * self.factor
        return (spoiled - users / width) * (width / (width - 1))

    def measure(self, *, rng: Source, runs: int) -> float:
        made = HadamardCountMean(epsilon=self.epsilon, hashes=16, width=self.width)
        found = []
        for _ in range(runs):
            reports = made.client(rng=rng).privatise(np.zeros(self.users, dtype=np.int64))
            counts = made.server().absorb(reports).estimate([0]).counts
            found.append(self.spoiled(counts, self.width, np.array([self.users]))[0] / self.users)
        return float(np.mean(found))


@dataclass(frozen=True, kw_only=True)
class BrokenTotalDebias(BrokenProtocol):
    """Pieces of the fragment puzzle freed of bias with all reports, not with those of a position.

    Every estimate of a piece is shifted by the same number, so the most common pieces stay the most
    common; but the numbers mean nothing, and no cut by significance can work.
    """

    citation = "The code behind a bachelor's thesis of the Universidad de Cádiz (2024), C-15"
    flaw = Message("lab.collect.only_one_report_in_five_is")
    figure = Message("lab.collect.estimate_of_a_piece_over_truth")

    users: int = 20_000

    @property
    def puzzle(self) -> FragmentPuzzle:
        """The protocol, with sketches for one word."""
        return FragmentPuzzle(epsilon=8, fragment_epsilon=6, hashes=16, fragment_hashes=16)

    @property
    def claimed(self) -> float:
        return 1.0

    @property
    def true(self) -> float:
        """Of the piece of a word that all users have."""
        made = self.puzzle
        width = made.fragments.width
        extra = made.positions - 1  # reports of other positions, for each of this one
        shift = extra * (made.fragments.debias / 2 - 0.5 + 1 / width) * (width / (width - 1))
        return 1 - shift

    def measure(self, *, rng: Source, runs: int) -> float:
        """The mean over runs and positions."""
        made = self.puzzle
        found = []
        for _ in range(runs):
            server = made.server().absorb(made.client(rng=rng).privatise(["cool"] * self.users))
            spelling = made.spelling
            pieces = spelling.pieces(["cool"])
            _, sketches = server.sketches()
            for place, sketch in enumerate(sketches):
                keys = spelling.tagged(spelling.digests(pieces), pieces[:, place])
                sums, right = sketch.sums_of(digests(keys)), sketch.users
                sketch.users = server.users  # the fault
                found.append(sketch.counts_from(sums)[0] / right)
        return float(np.mean(found))


@dataclass(frozen=True, kw_only=True)
class BrokenOffset(BrokenProtocol):
    """RAPPOR's bits freed of p N in place of (p + f (q - p) / 2) N.

    What is left, f / (2 (1 - f)) of all reports in every bit, looks like a value that many have.
    """

    citation = "The code behind a bachelor's thesis of the Universidad de Cádiz (2024), C-16d"
    flaw = Message("lab.collect.the_permanent_stage_sets_bits_too")
    figure = Message("lab.collect.users_with_a_bit_that_nobody")

    f: float = 0.5
    users: int = 20_000

    @property
    def claimed(self) -> float:
        """0."""
        return 0.0

    @property
    def true(self) -> float:
        """The shift f / (2 (1 - f))."""
        return self.f / (2 * (1 - self.f))

    def measure(self, *, rng: Source, runs: int) -> float:
        """The mean over runs and bits."""
        made = Rappor(f=self.f, p=0.5, q=0.75, bits=16, hashes=1, cohorts=1)
        unset = ~made.filters(digests([0]), np.array([0]))[0]
        low, high = (each / 2**32 for each in made.heads)
        found = []
        for _ in range(runs):
            reports = made.client(rng=rng).privatise(np.zeros(self.users, dtype=np.int64))
            ones = made.server().absorb(reports)._state()["ones"][0][unset]
            counts = (ones - low * self.users) / ((1 - self.f) * (high - low))  # the fault
            found.append(float(np.mean(counts)) / self.users)
        return float(np.mean(found))
