"""From counted bits to counts of values: fits, errors, tests of significance."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import norm

from celosia.collect.rappor._kernels import positive_lasso
from celosia.collect.rappor.decoding import BitCounts, _significant
from celosia.collect.rappor.rappor import Rappor, RapporServer
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import digests

USERS = 500_000
EXPECTED = USERS * (1 - np.exp(-0.5)) * np.exp(-np.arange(26) / 2)
"""How many of 500,000 users have each value of int(Exp(2)) on average."""


def counted(
    protocol: Rappor,
    counts: NDArray[np.int64],
    law: np.random.Generator,
    *,
    cohorts: list[float] | None = None,
) -> RapporServer:
    """A server that has counted reports, its sums drawn from their exact law.

    Given who is in which cohort, each sum is one of independent bits: two binomials.
    """
    server = protocol.server()
    shares = cohorts or [1 / protocol.cohorts] * protocol.cohorts
    split = law.multinomial(counts, shares)
    low, high = (float(each) for each in protocol.chances)
    values = digests(list(range(counts.size)))
    for cohort in range(protocol.cohorts):
        members = split[:, cohort]
        there = members @ protocol.filters(values, np.full(counts.size, cohort))
        server.reports[cohort] = members.sum()
        rest = members.sum() - there
        server.ones[cohort] = law.binomial(there, high) + law.binomial(rest, low)
    server.users = int(server.reports.sum())
    return server


def drawn(law: np.random.Generator) -> NDArray[np.int64]:
    return np.bincount(np.minimum(law.exponential(2.0, USERS).astype(int), 25), minlength=26)


def pooled(sizes: dict[str, int], runs: int = 8) -> tuple[float, float]:
    """Mean absolute and root mean square error of decoding, over fresh hashes and data."""
    law = np.random.default_rng(7)
    errors = []
    for run in range(runs):
        protocol = Rappor(f=0.5, p=0.5, q=0.75, key=f"run {run}", **sizes)
        counts = drawn(law)
        found = counted(protocol, counts, law).decode(range(26)).estimates.counts
        errors.append(found - counts)
    return float(np.abs(errors).mean()), sqrt(float(np.square(errors).mean()))


def test_errors_on_the_published_data_are_those_of_a_correct_decoding() -> None:
    assert 700 < pooled({"bits": 128, "hashes": 8, "cohorts": 1})[1] < 1100
    assert 350 < pooled({"bits": 128, "hashes": 32, "cohorts": 1})[1] < 600


def test_one_hash_function_is_no_constant() -> None:
    assert pooled({"bits": 128, "hashes": 1, "cohorts": 1})[0] < 3000


def test_cohorts_repair_filters_that_are_too_short() -> None:
    single = pooled({"bits": 16, "hashes": 8, "cohorts": 1})
    several = pooled({"bits": 16, "hashes": 8, "cohorts": 8})
    assert several[0] < single[0]
    assert several[1] < single[1]
    assert 700 < several[0] < 1700  # 788 to 1,622 in the reference


def test_real_reports_decode_as_drawn_sums_do() -> None:
    protocol = Rappor(bits=16, hashes=8, cohorts=8, f=0.5, p=0.5, q=0.75)
    values = np.minimum(np.random.default_rng(3).exponential(2.0, 100_000).astype(int), 25)
    server = protocol.server().absorb(protocol.client(rng=Seeded(4)).privatise(values))
    counts = np.bincount(values, minlength=26)
    found = server.estimate(range(26))
    scores = (found.counts - counts) / found.errors
    # 26 dependent squares of about 1: their mean is above 2.2 once in thousands of runs.
    assert 0.3 < float((scores**2).mean()) < 2.2
    assert np.corrcoef(found.counts, counts)[0, 1] > 0.99


@pytest.mark.parametrize(
    ("sizes", "cohorts"),
    [
        ({"bits": 64, "hashes": 2, "cohorts": 1}, None),
        ({"bits": 16, "hashes": 2, "cohorts": 3}, [0.6, 0.3, 0.1]),
        ({"bits": 16, "hashes": 2, "cohorts": 16}, None),
    ],
)
def test_estimates_are_unbiased_with_the_stated_errors(
    sizes: dict[str, int], cohorts: list[float] | None
) -> None:
    protocol = Rappor(f=0.25, p=0.2, q=0.8, key="twelve", **sizes)
    counts = np.array([9_000, 5_000, 3_000, 1_000, 500, 200, 100, 50, 20, 0, 0, 0])
    law = np.random.default_rng(5)
    runs = 400
    made = [
        counted(protocol, counts, law, cohorts=cohorts).estimate(range(12)) for _ in range(runs)
    ]
    scores = np.array([(each.counts - counts) / each.errors for each in made])
    assert np.all(np.abs(scores.mean(axis=0)) < 4 / sqrt(runs))
    # 4,800 squares, dependent within a run: known to about 3 percent. Errors that were 0.8 or 1.25
    # times the true ones would give 1.56 or 0.64.
    assert 0.9 < float((scores**2).mean()) < 1.1
    held = np.mean([np.abs(each) < 1.96 for each in scores])
    assert abs(held - 0.95) < 0.012


def test_errors_hold_where_little_but_the_choice_of_cohorts_is_random() -> None:
    protocol = Rappor(bits=8, hashes=2, cohorts=12, f=0.01, p=0.01, q=0.99)
    counts = np.array([9_000, 5_000, 3_000, 1_000, 500, 200, 100, 50])
    law = np.random.default_rng(5)
    made = [counted(protocol, counts, law).estimate(range(8)) for _ in range(400)]
    scores = np.array([(each.counts - counts) / each.errors for each in made])
    # 3,200 squares, dependent within a run: known to about 4 percent; noise alone would give
    # far more than 1.
    assert 0.88 < float((scores**2).mean()) < 1.12


def test_forgetting_the_sizes_of_cohorts_would_be_seen() -> None:
    protocol = Rappor(f=0.25, p=0.2, q=0.8, bits=16, hashes=2, cohorts=3, key="twelve")
    counts = np.array([9_000, 5_000, 3_000, 1_000, 500, 200, 100, 50, 20, 0, 0, 0])
    law = np.random.default_rng(5)
    made = [counted(protocol, counts, law, cohorts=[0.6, 0.3, 0.1]) for _ in range(100)]
    for server in made:  # as if all cohorts had the same size
        server.reports[:] = server.reports.sum() // 3
    wrong = [server.estimate(range(12)).counts - counts for server in made]
    assert np.abs(np.mean(wrong, axis=0)).max() > 1_000


def test_the_guide_to_the_variance_holds_for_separated_filters() -> None:
    protocol = Rappor(bits=4096, hashes=4, cohorts=1, f=0.25, p=0.2, q=0.8)
    counts = np.array([5_000, 1_000, 0])
    law = np.random.default_rng(6)
    found = np.array([counted(protocol, counts, law).estimate(range(3)).counts for _ in range(600)])
    expected = [protocol.variance(6_000, count=each) for each in counts.tolist()]
    # 600 squares each: 5.8 percent; three of them pooled: 3.3 percent.
    assert abs(float((np.square(found - counts) / expected).mean()) - 1) < 0.1


def test_the_error_falls_with_users_hashes_and_costs() -> None:
    def share(users: int, **others: float) -> float:
        return sqrt(Rappor(**others).variance(users)) / users  # type: ignore[arg-type]

    assert share(10_000) > share(100_000) > share(1_000_000)
    assert share(10_000, hashes=1) > share(10_000, hashes=4)
    assert share(10_000, f=0.75) > share(10_000, f=0.5) > share(10_000, f=0.1)
    by_cost = [Rappor.for_epsilon(lasting=20, one=each).variance(1) for each in (1, 2, 4, 8, 15)]
    assert by_cost == sorted(by_cost, reverse=True)


def test_the_order_of_candidates_changes_nothing() -> None:
    protocol = Rappor(bits=64, hashes=2, cohorts=2)
    server = counted(protocol, np.array([900, 500, 100, 0]), np.random.default_rng(1))
    one, other = server.estimate([0, 1, 2, 3]), server.estimate([2, 0, 3, 1])
    assert np.allclose([one[each] for each in range(4)], [other[each] for each in range(4)])


def test_more_candidates_than_cells_are_refused_before_anything_is_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    protocol = Rappor(bits=8, hashes=1, cohorts=2)
    server = counted(protocol, np.array([500, 100]), np.random.default_rng(1))
    monkeypatch.setattr(BitCounts, "design", lambda *_: pytest.fail("they were hashed"))
    with pytest.raises(InputError) as refusal:
        server.estimate(range(17))
    assert refusal.value.code == "CEL-R033"


def test_candidates_that_bits_cannot_tell_apart_are_refused_but_decoded() -> None:
    protocol = Rappor(bits=8, hashes=1, cohorts=1)
    counts = np.zeros(20, dtype=int)
    counts[0] = 100_000
    server = counted(protocol, counts, np.random.default_rng(1))
    with pytest.raises(InputError) as refusal:
        server.estimate(range(20))
    assert refusal.value.code == "CEL-R033"
    with pytest.raises(InputError):
        server.estimate([0, 0])
    found = server.decode(range(20))
    assert found.as_dict()["users"] == 100_000


def test_a_server_without_reports_knows_nothing() -> None:
    server = Rappor().server()
    found = server.estimate([1, 2])
    assert found.counts.tolist() == [0, 0]
    assert np.all(np.isinf(found.errors))
    assert not server.decode([1, 2]).candidates
    assert not server.decode([]).candidates


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 16), st.floats(0, 3))
def test_the_positive_lasso_is_optimal(seed: int, size: int, bits: int, penalty: float) -> None:
    law = np.random.default_rng(seed)
    columns = (law.random((size, bits)) < 0.4) * law.uniform(0.5, 2, (size, bits))
    target = law.normal(1, 3, bits)
    starts = np.concatenate([[0], np.cumsum((columns > 0).sum(axis=1))]).astype(np.int64)
    places = np.nonzero(columns)[1].astype(np.int64)
    penalties = np.full(size, penalty)
    even = law.uniform(0, 0.2, bits) * (seed % 2)  # what all columns have less, or nothing
    weights = columns[columns > 0]
    found = positive_lasso(starts, places, weights, even, target, penalties, 1e-10, 200_000)
    columns[(columns > 0).any(axis=1)] -= even
    slope = columns @ (target - found @ columns) - penalties
    # The conditions of Karush, Kuhn and Tucker.
    assert np.all(found >= 0)
    assert np.all(slope < 1e-6)
    assert np.all(np.abs(slope[(found > 0)]) < 1e-6)
    if penalty == 0:
        least = nnls(columns.T, target)[1]
        assert abs(np.linalg.norm(target - found @ columns) - least) < 1e-6


def test_non_negative_least_squares_is_that_of_scipy() -> None:
    protocol = Rappor(bits=64, hashes=4, cohorts=2)
    server = counted(protocol, drawn(np.random.default_rng(2)), np.random.default_rng(3))
    bits = server.bit_counts()
    design = bits.design(digests(list(range(26)))).toarray()
    there = np.flatnonzero(nnls(design.T, bits.target)[0])
    fitted, *_ = np.linalg.lstsq(
        (design[there] - bits.even).T, bits.target - bits.users * bits.even, rcond=None
    )
    found = server.decode(range(26)).estimates.counts
    assert np.array_equal(np.flatnonzero(found), there)
    assert np.allclose(found[there], fitted, atol=1)


@pytest.mark.parametrize("cohorts", [2, 8])
def test_values_that_nobody_asks_about_do_not_raise_those_that_are_asked_about(
    cohorts: int,
) -> None:
    """The first value is absent, the second is rare; most reports have values that are not asked
    about, some of them common. Hash functions are others in each run."""
    law = np.random.default_rng(11)
    every = np.array([0, 500, 20_000, 8_000, *[50] * 400])
    runs, scores, inside = 300, [], np.zeros(3, dtype=np.int64)
    for run in range(runs):
        protocol = Rappor(bits=64, hashes=2, cohorts=cohorts, f=0.25, key=f"run {run}")
        found = counted(protocol, every, law).estimate([0, 1, 2])
        scores.append((found.counts - every[:3]) / found.errors)
        low, high = found.interval(0.95)
        inside += (low <= every[:3]) & (every[:3] <= high)
    # Means of scores within 4 standard errors; coverage of 0.95 within 4 (and 0.02 for plug-in).
    assert np.all(np.abs(np.mean(scores, axis=0)) < 4 / np.sqrt(runs))
    assert np.all(np.abs(inside / runs - 0.95) < 0.02 + 4 * np.sqrt(0.95 * 0.05 / runs))


def test_values_that_nobody_asks_about_do_not_make_absent_ones_found() -> None:
    law = np.random.default_rng(12)
    wrong, runs = 0, 60
    for run in range(runs):
        for candidates in (40, 600):  # by non-negative least squares, and by the Lasso
            protocol = Rappor(bits=64, hashes=2, cohorts=4, f=0.25, key=f"run {run}")
            every = np.zeros(1200, dtype=int)
            every[0], every[candidates:] = 60_000, 400_000 // (1200 - candidates)
            found = counted(protocol, every, law).decode(range(candidates)).candidates
            assert found[:1] == (0,)
            wrong += len(found) > 1
    # A false one in 5 % of all runs at most: 6 are expected, 16 are four standard errors more.
    assert wrong <= 16


def test_absent_values_are_rarely_found_and_common_ones_always() -> None:
    protocol = Rappor(bits=64, hashes=2, cohorts=4, f=0.25, p=0.2, q=0.8)
    law = np.random.default_rng(8)
    runs, wrong = 200, 0
    # More candidates than there are bits: selected by the Lasso.
    for candidates, counts in ((60, [6_000, 3_000]), (400, [6_000, 3_000])):
        for _ in range(runs // 2):
            every = np.zeros(candidates, dtype=int)
            every[: len(counts)] = counts
            found = counted(protocol, every, law).decode(range(candidates))
            assert found.threshold < 3_000 / 2
            assert found.found[:2].all()
            wrong += bool(found.found[2:].any())
    # At most 5 percent of runs, with three standard errors of 200 runs.
    assert wrong / runs < 0.05 + 3 * sqrt(0.05 * 0.95 / runs)


def test_a_value_at_the_threshold_is_found_about_half_of_the_time() -> None:
    protocol = Rappor(bits=1024, hashes=2, cohorts=1, f=0.25, p=0.2, q=0.8)
    law = np.random.default_rng(9)
    users = 20_000
    wanted = norm.isf(0.05 / 5) * sqrt(protocol.variance(users))
    counts = np.array([users - int(wanted), int(wanted), 0, 0, 0])
    found = [counted(protocol, counts, law).decode(range(5)) for _ in range(200)]
    assert all(isclose_to(each.threshold, wanted) for each in found)
    share = np.mean([each.found[1] for each in found])
    assert abs(share - 0.5) < 4 * sqrt(0.25 / 200)


def isclose_to(one: float, other: float) -> bool:
    return abs(one - other) < 1e-6 * other


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_false_discoveries_are_bounded_by_the_rule_of_benjamini_and_hochberg(
    tests: list[float],
) -> None:
    size = len(tests)
    passing = [rank for rank in range(1, size + 1) if sorted(tests)[rank - 1] <= 0.05 * rank / size]
    expected = max(passing, default=0)
    found = _significant(np.array(tests), 0.05, "fdr")
    assert found.sum() == expected
    assert not expected or max(np.array(tests)[found]) <= min(np.array(tests)[~found], default=1)


def test_decoding_refuses_what_it_does_not_know() -> None:
    with pytest.raises(InputError) as refusal:
        Rappor().server().decode([1], correction="none")
    assert refusal.value.code == "CEL-R034"


def test_what_was_decoded_is_told_in_plain_values() -> None:
    protocol = Rappor(bits=64, hashes=2, cohorts=2)
    server = counted(protocol, np.array([50_000, 30_000, 0]), np.random.default_rng(1))
    found = server.decode(range(3), correction="fdr", confidence=0.9999)
    assert found.candidates == (0, 1)
    assert str(found) == "2 of 3 candidates found in 80,000 reports (rappor)"
    said = found.as_dict()
    assert said["found"] == [True, True, False]
    assert said["values"] == ["0", "1", "2"]
