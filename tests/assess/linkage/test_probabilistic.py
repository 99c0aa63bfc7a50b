"""Linkage by agreement: the counts, the fit, and the links, where the truth is known."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.assess.linkage import align, fit_agreement, probabilistic_linkage
from celosia.assess.linkage._kernels import best_patterns, count_patterns
from celosia.assess.linkage.probabilistic import patterns
from celosia.core.errors import InputError

NAMES = ("a", "b", "c", "d")
M = np.array([0.95, 0.9, 0.85, 0.8])
U = np.array([0.3, 0.1, 0.2, 0.05])
SHARE = 0.2


def _chances(m: NDArray[Any], u: NDArray[Any], share: float) -> NDArray[np.float64]:
    """The chance of each pattern of agreement without gaps."""
    agree = patterns(m.size) == 1
    whole = (patterns(m.size) != 2).all(axis=1)
    of_match = np.where(agree, m, 1 - m).prod(axis=1)
    of_other = np.where(agree, u, 1 - u).prod(axis=1)
    return np.asarray((share * of_match + (1 - share) * of_other) * whole)


def _standard_errors(pairs: int) -> NDArray[np.float64]:
    """From the expected information of the mixture, by numerical derivatives."""
    centre = np.array([*M, *U, SHARE])
    width, step = M.size, 1e-6

    def chance(at: NDArray[Any]) -> NDArray[np.float64]:
        return _chances(at[:width], at[width : 2 * width], float(at[-1]))

    base = chance(centre)
    seen = base > 0
    slopes = np.array(
        [
            (chance(centre + step * unit) - chance(centre - step * unit))[seen] / (2 * step)
            for unit in np.eye(centre.size)
        ]
    )
    information = pairs * (slopes / base[seen]) @ slopes.T
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(information))))


def test_the_chances_of_agreement_are_recovered_within_standard_errors() -> None:
    pairs = 50_000
    rng = np.random.default_rng(7)
    counts = rng.multinomial(pairs, _chances(M, U, SHARE))
    found = fit_agreement(counts, NAMES, share=0.1)
    assert found.converged
    off = np.array([*found.matched, *found.unmatched, found.share]) - [*M, *U, SHARE]
    # Nine estimates, each normal: all within four standard errors but in 1 of 1,700 seeds.
    errors = _standard_errors(pairs)
    assert (np.abs(off) < 4 * errors).all()
    # And the errors are no alibi: a fifth off is always told.
    assert (0.2 * np.array([*M, *U, SHARE]) > 4 * errors).all()


def test_with_exact_frequencies_the_fit_is_the_truth() -> None:
    counts = np.round(_chances(M, U, SHARE) * 1e12).astype(np.int64)
    found = fit_agreement(counts, NAMES, share=0.05)
    np.testing.assert_allclose(found.matched, M, atol=1e-4)
    np.testing.assert_allclose(found.unmatched, U, atol=1e-4)
    assert found.share == pytest.approx(SHARE, abs=1e-4)


def test_the_likelihood_never_falls_from_the_start_to_the_end() -> None:
    rng = np.random.default_rng(9)
    counts = rng.multinomial(10_000, _chances(M, U, SHARE))
    found = fit_agreement(counts, NAMES, share=0.1)

    def likelihood(m: NDArray[Any], u: NDArray[Any], share: float) -> float:
        seen = counts > 0
        return float(counts[seen] @ np.log(_chances(m, u, share)[seen]))

    best = likelihood(np.array(found.matched), np.array(found.unmatched), found.share)
    assert best >= likelihood(M, U, SHARE)


def test_a_share_that_is_known_is_kept() -> None:
    counts = np.round(_chances(M, U, SHARE) * 1e9).astype(np.int64)
    found = fit_agreement(counts, NAMES, share=SHARE, share_is_known=True)
    assert found.share == SHARE
    np.testing.assert_allclose(found.matched, M, atol=1e-3)


def test_weights_are_logarithms_of_likelihood_ratios_and_gaps_weigh_nothing() -> None:
    counts = np.round(_chances(M, U, SHARE) * 1e12).astype(np.int64)
    model = fit_agreement(counts, NAMES, share=0.1)
    m, u = np.array(model.matched), np.array(model.unmatched)
    weights = model.weights()
    assert weights[1 + 3 + 9 + 27] == pytest.approx(np.log2(m / u).sum())
    assert weights[0] == pytest.approx(np.log2((1 - m) / (1 - u)).sum())
    assert weights[2 * (1 + 3 + 9 + 27)] == 0
    assert model.posterior()[2 * (1 + 3 + 9 + 27)] == pytest.approx(model.share)


def _plain_pattern(one: NDArray[Any], other: NDArray[Any], tolerance: NDArray[Any]) -> int:
    digits = [
        2 if np.isnan(a - b) else int(abs(a - b) <= reach)
        for a, b, reach in zip(one, other, tolerance, strict=True)
    ]
    return sum(digit * 3**place for place, digit in enumerate(digits))


def test_kernels_count_and_choose_as_their_plain_twins() -> None:
    rng = np.random.default_rng(3)
    before, after = rng.integers(0, 4, (30, 3)).astype(float), rng.integers(0, 4, (12, 3)) * 1.0
    before[rng.random(before.shape) < 0.1] = np.nan
    tolerance = np.array([0.5, 1.0, 0.0])
    low, high = rng.integers(0, 15, 12), rng.integers(15, 31, 12)
    standing = rng.integers(0, 9, 27)
    counts, expected = np.zeros(27, np.int64), np.zeros(27, np.int64)
    lines = np.ascontiguousarray(before.T)
    count_patterns(lines, after, low, high, tolerance, counts)
    best, ties = best_patterns(lines, after, low, high, tolerance, standing)
    for i in range(12):
        found = [_plain_pattern(before[k], after[i], tolerance) for k in range(low[i], high[i])]
        np.add.at(expected, found, 1)
        stands = standing[found]
        assert (best[i], ties[i]) == (stands.max(), (stands == stands.max()).sum())
    assert (counts == expected).all()


def _masked(records: int, kept: float, seed: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    """Five columns of twelve categories, each cell drawn again with some chance."""
    rng = np.random.default_rng(seed)
    before = rng.integers(0, 12, (records, 5))
    redrawn = rng.integers(0, 12, before.shape)
    after = np.where(rng.random(before.shape) < kept, before, redrawn)
    return (
        {name: side[:, place].astype(str) for place, name in enumerate("abcde")}
        for side in (before, after)
    )  # type: ignore[return-value]


def test_agreement_of_masked_records_is_learnt_from_the_pairs_alone() -> None:
    before, after = _masked(1_500, 0.85)
    tables = align(before, after)
    found = probabilistic_linkage(tables)
    true = (tables.before == tables.after).mean(axis=0)
    # Some random pairs look like matches: the fit has a bias of its own beside the sampling error
    # of 1,500 matches, sqrt(0.86 * 0.14 / 1500) = 0.009; five of these leave room for it.
    assert np.abs(np.array(found.model.matched) - true).max() < 0.045
    assert np.abs(np.array(found.model.unmatched) - 1 / 12).max() < 0.005
    assert found.pairs == 1_500**2


def test_links_above_the_threshold_are_mostly_right_and_the_others_are_not_claimed() -> None:
    before, after = _masked(600, 0.85)
    found = probabilistic_linkage(align(before, after), matches=600)
    assert found.precision > 0.9
    assert 0 < found.linked < 600
    assert found.share > found.linked * found.precision / 600
    strict = probabilistic_linkage(align(before, after), matches=600, threshold=0.999)
    assert strict.linked < found.linked


def test_links_are_those_of_a_plain_search() -> None:
    before, after = _masked(80, 0.8)
    tables = align(before, after)
    found = probabilistic_linkage(tables, matches=80)
    weights = np.round(found.model.weights(), 9)
    reach = np.full(5, 0.5)
    for i in range(80):
        worth = np.array(
            [weights[_plain_pattern(tables.before[k], tables.after[i], reach)] for k in range(80)]
        )
        right = worth[i] == worth.max()
        assert found.chances[i] == pytest.approx(right / (worth == worth.max()).sum())


def test_blocks_are_never_crossed_and_empty_blocks_never_linked() -> None:
    before, after = _masked(300, 0.85)
    before["region"] = ["n", "s"] * 150
    after["region"] = ["s", "n"] + ["n", "s"] * 148 + [None, "x"]
    found = probabilistic_linkage(align(before, after), blocking=["region"], threshold=1e-9)
    assert found.pairs == 298 * 150
    assert found.chances[:2].tolist() == [0, 0]  # their true record is in the other block
    assert found.chances[-2:].tolist() == [0, 0]
    assert not found.claimed[-2:].any()


def test_one_to_one_links_have_the_greatest_sum_of_weights() -> None:
    before, after = _masked(6, 0.6, seed=4)
    tables = align(before, after)
    found = probabilistic_linkage(tables, matches=6, threshold=0.01, one_to_one=True)
    weights, is_link = found.model.weights(), found.model.posterior() >= 0.01
    table = np.array(
        [
            [_plain_pattern(old, new, np.full(5, 0.5)) for old in tables.before]
            for new in tables.after
        ]
    )
    worth = np.where(is_link[table], np.maximum(weights[table], 0), 0)
    lines = np.arange(6)
    sums = {order: worth[lines, order].sum() for order in permutations(range(6))}
    best = [order for order, total in sums.items() if total >= max(sums.values()) - 1e-6]
    right = {
        tuple(((np.array(order) == lines) & is_link[table[lines, order]]).tolist())
        for order in best
    }
    assert tuple((found.chances == 1).tolist()) in right
    assert len(right) < 2**6


def test_one_to_one_never_links_an_original_twice() -> None:
    before, after = _masked(200, 0.8)
    found = probabilistic_linkage(align(before, after), one_to_one=True)
    assert found.linked <= 200
    assert found.precision > 0.9


def test_numbers_agree_within_the_tolerance() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 4))
    noise = rng.uniform(-0.09, 0.09, x.shape)
    before, after = ({f"x{j}": side[:, j] for j in range(4)} for side in (x, x + noise))
    near = probabilistic_linkage(align(before, after), tolerance=0.1, matches=400)
    assert min(near.model.matched) > 0.97
    assert near.share > 0.7


def test_gaps_say_nothing_about_a_column() -> None:
    before, after = _masked(500, 0.9)
    after["a"] = [None] * 250 + list(after["a"][250:])
    tables = align(before, after)
    found = probabilistic_linkage(tables, matches=500)
    true = (tables.before[250:, 0] == tables.after[250:, 0]).mean()
    assert found.model.matched[0] == pytest.approx(true, abs=0.08)
    assert found.chances[:250].mean() < found.chances[250:].mean()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"tolerance": -1}, "CEL-A212"),
        ({"tolerance": "a"}, "CEL-A212"),
        ({"threshold": 0}, "CEL-A212"),
        ({"threshold": 1.5}, "CEL-A212"),
        ({"matches": 0}, "CEL-A212"),
        ({"blocking": ["a", "b", "c"]}, "CEL-A211"),
        ({"blocking": ["z"]}, "CEL-A201"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(asked: dict[str, Any], code: str) -> None:
    before, after = _masked(20, 0.8)
    with pytest.raises(InputError) as refused:
        probabilistic_linkage(align(before, after), **asked)
    assert refused.value.code == code


def test_too_many_pairs_are_refused_before_any_is_compared() -> None:
    many = {name: np.zeros(50_000) for name in "abc"}
    with pytest.raises(InputError) as refused:
        probabilistic_linkage(align(many, many))
    assert refused.value.code == "CEL-A213"
    few = {name: np.arange(5_000.0) for name in "abc"}
    with pytest.raises(InputError) as refused:
        probabilistic_linkage(align(few, few), one_to_one=True)
    assert refused.value.code == "CEL-A213"
