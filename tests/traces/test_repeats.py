"""Noise for several points of a person: kept by a key, or saved by a private test."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from tests.traces.small_city import small_city

from celosia.core.errors import InputError
from celosia.core.pseudonyms.keys import Key
from celosia.core.randomness import Seeded
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.traces import PlanarLaplace, PublishOptions, TraceRelease, Traces, publish
from celosia.traces.planar import DiscretePlanarLaplace
from celosia.traces.planar.repeats import Predicted, keyed_draws, predictive_draws

QUIET = DiscretePlanarLaplace(Fraction(30))
"""Noise that is 0 but for a chance of 4 exp(-30)."""


def published(traces: Traces, method: PlanarLaplace) -> TraceRelease:
    options = PublishOptions(assess=False, pseudonym="whole")
    return publish(traces, method, options=options, rng=Seeded(1))


def shown(release: TraceRelease) -> set[tuple[int, ...]]:
    samples = release.samples
    assert samples is not None
    return set(map(tuple, np.column_stack([samples.persons, samples.box[:, :2]]).tolist()))


def test_a_key_keeps_the_noise_of_a_cell_over_releases(tmp_path: Path) -> None:
    path = str(Key.new(Seeded(3)).save(tmp_path / "noise.key"))
    traces = small_city().traces
    method = PlanarLaplace(times=4, within=200, noise_key=path)
    half = traces.time < np.median(traces.time)
    both = shown(published(traces, method))
    parts = [shown(published(traces.select(part), method)) for part in (half, ~half)]
    assert parts[0] | parts[1] == both, "every place of a part is a place of the whole"
    assert parts[0] & parts[1], "homes are in both"
    other = str(Key.new(Seeded(4)).save(tmp_path / "other.key"))
    again = shown(published(traces, PlanarLaplace(times=4, within=200, noise_key=other)))
    assert len(again & both) < len(both) / 50
    assert "rounded to a lattice of 200 m" in published(traces, method).guarantee.promise


def test_without_a_key_releases_add_up() -> None:
    traces = small_city().traces
    method = PlanarLaplace(times=4, within=200)
    first = publish(traces, method, options=PublishOptions(assess=False), rng=Seeded(1))
    second = publish(traces, method, options=PublishOptions(assess=False), rng=Seeded(2))
    assert len(shown(first) & shown(second)) < len(shown(first)) / 50


def test_keyed_draws_have_the_law() -> None:
    law = DiscretePlanarLaplace(Fraction(1, 2))
    size = 4000
    x, y = keyed_draws(law, Key(bytes(range(32))), [("cell", str(n)) for n in range(size)])
    # The mean radius is 3.973 and its deviation at most the root of the mean square, sqrt(6) / t.
    assert np.hypot(x, y).mean() == pytest.approx(
        law.mean_radius, abs=5 * sqrt(6) / 0.5 / sqrt(size)
    )
    share = ((x == 0) & (y == 0)).mean()
    chance = law.mass(0, 0)
    assert share == pytest.approx(chance, abs=5 * sqrt(chance / size))


def plain(person: list[int], x: list[int], reach: int, draws: int) -> list[int | None]:
    """The definition without noise: stay at the last place while it is near."""
    found: list[int | None] = []
    last: dict[int, int] = {}
    used: dict[int, int] = {}
    for who, at in zip(person, x, strict=True):
        near = who in last and abs(at - last[who]) <= reach
        if not near and used.get(who, 0) < draws:
            last[who], used[who] = at, used.get(who, 0) + 1
            near = True
        found.append(last[who] if near else None)
    return found


def test_the_last_place_is_shown_again_while_it_is_near() -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    person = np.sort(rng.integers(0, 30, 600))
    x = rng.integers(-60, 60, 600)
    test = DiscreteLaplace(Fraction(1, 40))  # nearly no noise
    made = predictive_draws(
        person, x, 0 * x, law=QUIET, test=test, reach=50, draws=3, rng=Seeded(1)
    )
    expected = plain(person.tolist(), x.tolist(), 50, 3)
    assert made.shown.tolist() == [each is not None for each in expected]
    assert [each for each, there in zip(made.x.tolist(), made.shown, strict=True) if there] == [
        each for each in expected if each is not None
    ]
    assert 30 <= made.draws <= 90


@pytest.mark.parametrize("east", [True, False])
def test_the_test_has_its_noise(east: bool) -> None:
    """Two points of each person, the second 3 steps beyond the reach."""
    people = 3000
    person = np.repeat(np.arange(people), 2)
    far = np.tile([0, 43], people)
    x, y = (far, 0 * far) if east else (0 * far, far)
    test = DiscreteLaplace(Fraction(4))
    made: Predicted = predictive_draws(
        person, x, y, law=QUIET, test=test, reach=40, draws=1, rng=Seeded(2)
    )
    chance = test.tail(3)  # 43 + noise <= 40
    kept = made.shown[1::2].mean()
    assert kept == pytest.approx(chance, abs=5 * sqrt(chance / people))


def test_predictive_noise_is_published_within_its_bounds() -> None:
    traces = small_city().traces
    method = PlanarLaplace(times=4, within=200, repeat="predictive", draws=4, tests=30)
    release = published(traces, method)
    assert release.samples is not None
    assert np.bincount(release.samples.persons).max() <= 30
    per_person = np.unique([row[0] for row in shown(release)], return_counts=True)[1]
    assert per_person.max() <= 4
    assert "at most 4 draws and 30 tests of 0.1 draws each" in release.guarantee.promise


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"repeat": "predictive"}, "CEL-J022"),
        ({"repeat": "predictive", "draws": 3, "noise_key": "k"}, "CEL-J022"),
        ({"repeat": "predictive", "draws": 3, "test_share": 0.0}, "CEL-I060"),
    ],
)
def test_what_promises_nothing_is_refused(wrong: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        PlanarLaplace(times=4, within=200, **wrong)  # type: ignore[arg-type]
    assert caught.value.code == code


def test_a_missing_key_is_refused(tmp_path: Path) -> None:
    method = PlanarLaplace(times=4, within=200, noise_key=str(tmp_path / "none.key"))
    with pytest.raises(InputError) as caught:
        published(small_city().traces, method)
    assert caught.value.code == "CEL-I072"
