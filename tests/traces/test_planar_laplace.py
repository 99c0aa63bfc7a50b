"""Geo-indistinguishable traces: the printed promise, and what averaging finds."""

from __future__ import annotations

from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.traces.small_city import small_city

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.traces import PlanarLaplace, PublishOptions, method_from, publish
from celosia.traces.attacks import AttackedTraces, ByAveraging


def release_of(method: PlanarLaplace, period: str = "whole", seed: int = 1) -> Any:
    traces = small_city(300, 14, 20_261).traces
    options = PublishOptions(pseudonym=period, assess=False)
    return traces, publish(traces, method, options=options, rng=Seeded(seed))


def home_error(method: PlanarLaplace) -> float:
    traces, release = release_of(method)
    attacked = AttackedTraces(original=traces, release=release.samples)
    return ByAveraging().run(attacked, rng=Seeded(1)).facts["median_error_metres"]


def test_the_promise_says_level_radius_step_rounding_and_draws() -> None:  # check 6
    _, release = release_of(PlanarLaplace(times=4, within=200))
    promise = release.guarantee.promise
    charged = release.outcome.facts["distinct_cells_charged"]
    factor = exp(log(4) / 200 * sqrt(2) * 10)
    assert f"{factor:.3f}" == "1.103"
    for part in (
        "level 4",
        "within 200 m",
        "1.103",
        "lattice of 10 m",
        "14.1 m",
        f"{charged} draws",
    ):
        assert part in promise


def test_fresh_noise_averages_away_and_sticky_noise_does_not() -> None:  # check 7
    fresh = PlanarLaplace(times=4, within=200, repeat="independent", draws=1000)
    assert 35 <= home_error(fresh) <= 55
    assert home_error(PlanarLaplace(times=4, within=200)) >= 200


def test_sticky_noise_shows_one_place_for_each_person_and_cell() -> None:
    traces, release = release_of(PlanarLaplace(times=4, within=200, window="1min"))
    samples = release.samples
    factor = 20
    west, south, _, _ = traces.plane.bounds
    cells = {
        (p, (int(x) - west) // factor, (int(y) - south) // factor)
        for p, x, y in zip(traces.person.tolist(), traces.x, traces.y, strict=True)
    }
    shown = set(map(tuple, np.column_stack([samples.persons, samples.box[:, :2]]).tolist()))
    assert len(shown) <= len(cells) == release.outcome.facts["draws"]


def test_a_budget_of_draws_drops_further_points() -> None:
    fresh = PlanarLaplace(times=4, within=200, repeat="independent", draws=5)
    _, release = release_of(fresh)
    assert np.bincount(release.samples.persons).max() == 5
    assert release.outcome.facts["distinct_cells_charged"] == 5


def test_noise_has_its_mean_radius() -> None:
    method = PlanarLaplace(times=4, within=200, repeat="independent", draws=10_000, window="1min")
    traces, release = release_of(method, "none")
    # Points keep their times: sums over all points need no pairs. The variance of an axis is
    # 3 / epsilon^2, so the mean of n moves stays within six standard errors of 0.
    deviation = sqrt(3) / (log(4) / 200) / traces.plane.step
    size = traces.size
    assert release.samples.size == size
    moved = release.samples.box[:, 0].mean() - traces.x.mean()
    assert abs(moved) < 6 * deviation / sqrt(size)
    spread = release.samples.box[:, 0].var() - traces.x.var()
    # The variance itself: its error is about sqrt(2 kurtosis / n) of both variances together.
    assert spread == pytest.approx(deviation**2, abs=6 * 3 * traces.x.var() / sqrt(size))


def test_independent_noise_needs_a_budget() -> None:
    with pytest.raises(InputError, match="needs draws"):
        PlanarLaplace(times=4, within=200, repeat="independent")


@pytest.mark.parametrize(
    "wrong", [{"times": 1}, {"times": 0.5}, {"within": 0}, {"times": float("inf")}]
)
def test_levels_that_promise_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        method_from("planar-laplace", {"times": 4, "within": 200} | wrong)


def test_a_public_prior_moves_places_to_its_cells(tmp_path: Path) -> None:
    traces = small_city().traces
    plane = traces.plane
    x, y = np.meshgrid(np.arange(-600, 601, 100), np.arange(-600, 601, 100))
    north, east = plane.places(x.ravel().astype(np.int32), y.ravel().astype(np.int32))
    prior = pl.DataFrame({"latitude": north, "longitude": east, "weight": 1 / north.size})
    prior.write_csv(tmp_path / "prior.csv")
    method = PlanarLaplace(times=4, within=200, prior=str(tmp_path / "prior.csv"))
    release = publish(traces, method, options=PublishOptions(assess=False), rng=Seeded(1))
    cells = plane.cells(north, east)
    allowed = set(zip(cells[0].tolist(), cells[1].tolist(), strict=True))
    assert release.samples is not None
    assert set(map(tuple, release.samples.box[:, :2].tolist())) <= allowed
    assert any("prior is public" in each for each in release.guarantee.assumes)
    prior.with_columns(weight=pl.lit(1.0)).write_csv(tmp_path / "bad.csv")
    with pytest.raises(InputError, match="do not sum to 1"):
        publish(traces, PlanarLaplace(times=4, within=200, prior=str(tmp_path / "bad.csv")))
