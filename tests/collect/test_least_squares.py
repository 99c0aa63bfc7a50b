"""Least squares over a sketch: no collisions between candidates."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from tests.collect.plain import EXPONENTIAL, agrees, many_runs, theory

from celosia.collect.count_mean.base import least_squares
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import HashFamily, digests


def test_counts_are_those_of_a_dense_solver() -> None:
    family = HashFamily(key=b"dense", rows=6, width=8)
    generator = np.random.default_rng(1)
    cells, shares = generator.random((6, 8)) * 100, generator.random(6) + 0.5
    found = digests(range(10))
    columns = family.every_column(found)
    dense = np.zeros((48, 11))
    for row in range(6):
        for value in range(10):
            dense[8 * row + columns[row, value], value] += shares[row]
        dense[8 * row : 8 * row + 8, 10] = shares[row] / 8
    expected = np.linalg.lstsq(dense, cells.reshape(-1))[0][:10]
    assert least_squares(cells, shares, found, family) == pytest.approx(
        expected, rel=1e-4, abs=0.01
    )


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [CountMean, HadamardCountMean])
def test_collisions_are_gone_and_the_error_is_as_told(
    kind: type[CountMean] | type[HadamardCountMean],
) -> None:
    def made(key: str) -> CountMean | HadamardCountMean:
        return kind(epsilon=2, hashes=32, width=32, key=key)

    errors, told = many_runs(made, EXPONENTIAL, 60, solve=True)
    spread = (told**2).mean()
    assert (abs(errors.mean(axis=0)) <= 4 * np.sqrt(spread / 60)).all()
    assert agrees((errors**2).mean(axis=1), spread)
    # The mean over rows has an error of 790 and more here.
    plain = sqrt(theory(made("any"), EXPONENTIAL).mean())
    assert sqrt((errors**2).mean()) < 0.5 * plain


@pytest.mark.statistical
def test_values_that_are_no_candidates_count_as_spread_evenly() -> None:
    protocol = CountMean(epsilon=4, hashes=64, width=64)
    values = np.concatenate([np.zeros(20_000, np.int64), np.arange(20_000) % 5000 + 10])
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise(values))
    found = server.estimate([0, 1], solve=True)
    assert found.counts == pytest.approx([20_000, 0], abs=5 * found.errors.max())


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [CountMean, HadamardCountMean])
def test_errors_hold_where_common_values_are_no_candidates(
    kind: type[CountMean] | type[HadamardCountMean],
) -> None:
    """The four values of 6,000 reports are not asked about; hashes are others in each run."""
    counts = np.array([8000, 500, 0, *[1000] * 10, *[6000] * 4, *[50] * 100])
    values = np.repeat(np.arange(counts.size), counts)
    runs, scores = 100, []
    for run in range(runs):
        protocol = kind(epsilon=3, hashes=16, width=64, key=f"run {run}")
        server = protocol.server().absorb(protocol.client(rng=Seeded(run)).privatise(values))
        found = server.estimate(list(range(3)), solve=True)
        scores.append((found.counts - counts[:3]) / found.errors)
    # The mean square of scores is 1; 300 of them, and a tenth for errors that are estimated.
    assert abs(np.square(scores).mean() - 1) < 0.1 + 4 * sqrt(2 / 300)


def test_candidates_that_cells_cannot_tell_apart_are_refused() -> None:
    server = CountMean(epsilon=2, hashes=2, width=8).server()
    for candidates in (list(range(8)), ["a", "a"]):
        with pytest.raises(InputError) as caught:
            server.estimate(candidates, solve=True)
        assert caught.value.code == "CEL-R018"
    assert server.estimate(list(range(7)), solve=True).counts.tolist() == [0] * 7
