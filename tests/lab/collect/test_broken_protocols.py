"""The broken protocols break as they are said to, and ours do not."""

from __future__ import annotations

import os
import subprocess
import sys
from math import inf, isclose, log

import numpy as np
import pytest

from celosia.assess.audit import audit
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.estimates import post_process
from celosia.collect.rappor.rappor import Rappor
from celosia.core.randomness import Seeded, Source
from celosia.lab.collect.broken import (
    BROKEN,
    BrokenEpsilonToF,
    BrokenHalfDebias,
    BrokenOffset,
    BrokenProtocol,
    BrokenRescaling,
    BrokenSaltedHash,
    BrokenStickyRappor,
    BrokenTotalDebias,
)
from celosia.lab.collect.law import rmse
from celosia.sketches.hashing import digest, digests

NEAR = {
    # Of twenty runs: the standard error of each, four times.
    BrokenEpsilonToF: 4 * 4 / (0.2 * 20_000 * 16) ** 0.5 / 0.73,  # 4 h times that of a log-odds
    BrokenHalfDebias: 4 * 1.65 * 1.4 / (20 * 20_000) ** 0.5,
    BrokenTotalDebias: 4 * 1.3 / (20 * 5 * 4_000) ** 0.5,
    BrokenOffset: 4 * 4 / (20 * 15 * 20_000) ** 0.5,
    BrokenRescaling: 4 * 0.2,
    BrokenSaltedHash: 4 * (1 / 4096) ** 0.5,
}


@pytest.mark.statistical
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: type(broken).__name__)
def test_the_figure_is_wrong_as_it_is_said_to_be(broken: BrokenProtocol) -> None:
    shown = broken.measure(rng=Seeded(31), runs=20)
    if broken.true == inf:
        assert shown == inf
    else:
        assert abs(shown - broken.true) < NEAR[type(broken)]
        assert abs(shown - broken.claimed) > NEAR[type(broken)]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: type(broken).__name__)
def test_each_names_its_flaw_and_itself_as_broken(broken: BrokenProtocol) -> None:
    facts = broken.as_dict()
    assert facts["name"].startswith("Broken")
    assert facts["flaw"]
    assert facts["citation"]
    assert (facts["true"] is None) == (broken.true == inf)
    assert "should be" in str(broken)


@pytest.mark.statistical
def test_an_audit_finds_the_permanent_stage_that_never_clears_a_bit() -> None:
    broken = BrokenStickyRappor()
    right = Rappor(f=0.5, p=0.25, q=0.75, bits=8, hashes=1, cohorts=1)

    def kept(value: int, rng: Source, size: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        codes = np.full(size, digest(value), dtype=np.uint64)
        return right.permanent(right.filters(codes, np.zeros(size, dtype=np.int64)), rng)

    found = audit(broken.kept, 0, 1, claim=broken.claimed, samples=40_000, rng=Seeded(32))
    assert found.verdict == "violated"
    assert found.lower > 5 > 2 * broken.claimed
    sound = audit(kept, 0, 1, claim=broken.claimed, samples=40_000, rng=Seeded(32))
    assert sound.verdict != "violated"
    assert sound.lower > 0.8 * broken.claimed


@pytest.mark.parametrize("hashes", [1, 2, 4])
def test_the_conversion_forgets_the_number_of_hash_functions(hashes: int) -> None:
    broken = BrokenEpsilonToF(epsilon=2, hashes=hashes)
    assert isclose(broken.true, 2 * hashes, rel_tol=0.02)  # f is rounded to two digits
    assert isclose(broken.protocol.lasting_epsilon, broken.true, rel_tol=1e-6)
    ours = Rappor.for_epsilon(lasting=2, one=1, hashes=hashes)
    assert ours.lasting_epsilon <= 2


def test_half_an_epsilon_makes_estimates_1_65_times_too_large() -> None:
    assert isclose(BrokenHalfDebias(epsilon=2).factor, 1.648, abs_tol=5e-4)
    ours = HadamardCountMean(epsilon=2)
    assert isclose(ours.debias * (2 * ours.coin.chance - 1), 1, rel_tol=1e-12)
    half = 1 / np.tanh(0.5)
    assert isclose(half / ours.debias, BrokenHalfDebias(epsilon=2).factor, rel_tol=1e-6)


@pytest.mark.statistical
def test_norm_sub_is_better_than_raw_where_rescaling_is_many_times_worse() -> None:
    broken = BrokenRescaling()
    raw, real, few = broken.raw(Seeded(33)), broken.real, slice(0, broken.common)
    ours = post_process(raw, broken.users, kind="norm-sub")
    theirs = broken.clipped_and_rescaled(raw, broken.users)
    assert isclose(ours.sum(), broken.users, rel_tol=1e-9)
    assert isclose(theirs.sum(), broken.users, rel_tol=1e-9)
    assert rmse(theirs[few], real[few]) > 12 * rmse(raw[few], real[few])
    assert rmse(ours, real) < rmse(raw, real)


def test_pythons_hash_differs_between_processes_and_ours_does_not() -> None:
    program = "from celosia.sketches.hashing import digest; print(hash('cool'), digest('cool'))"
    said = []
    for salt in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": salt},
        )
        said.append(done.stdout.split())
    assert said[0][0] != said[1][0]
    assert said[0][1] == said[1][1] == str(digest("cool"))


@pytest.mark.statistical
def test_our_puzzle_frees_each_position_of_its_own_bias() -> None:
    broken = BrokenTotalDebias()
    puzzle = broken.puzzle
    reports = puzzle.client(rng=Seeded(34)).privatise(["cool"] * broken.users)
    server = puzzle.server().absorb(reports)
    pieces = puzzle.spelling.pieces(["cool"])
    _, sketches = server.sketches()
    for place, sketch in enumerate(sketches):
        keys = puzzle.spelling.tagged(puzzle.spelling.digests(pieces), pieces[:, place])
        counts, errors = sketch.estimated_digests(digests(keys))
        assert abs(counts[0] - sketch.users) < 4 * errors[0]


@pytest.mark.statistical
def test_our_bit_counts_have_no_offset() -> None:
    ours = Rappor(f=0.5, p=0.5, q=0.75, bits=16, hashes=1, cohorts=1)
    users = 20_000
    reports = ours.client(rng=Seeded(35)).privatise(np.zeros(users, dtype=np.int64))
    counted = ours.server().absorb(reports).bit_counts()
    unset = ~ours.filters(digests([0]), np.array([0]))[0]
    assert np.all(np.abs(counted.counts[0][unset]) < 5 * counted.errors[0][unset])
    assert isclose(log(ours.lasting_epsilon), log(2 * log(3)), rel_tol=1e-6)
