"""Private maps, visits, flows and synthetic traces: bounds, noise, budgets and audits."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from tests.traces.small_city import points, small_city

from celosia.accounting import Budget
from celosia.assess.audit import audit
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.core.methods import method_from_dict
from celosia.core.randomness import Seeded, Source
from celosia.traces import Traces, private
from celosia.traces.private import grids
from celosia.traces.private import trips as model
from celosia.traces.private.bounding import bounded
from celosia.traces.private.grids import consistent, least_squares
from celosia.traces.private.mechanism import grid_keys


def without(traces: Traces, person: int) -> Traces:
    """The same without one person: a neighbour."""
    return traces.select(traces.person != person)


def test_a_person_is_in_at_most_c_different_cells() -> None:  # check 13
    traces = small_city().traces
    for most in (1, 3):
        kept = bounded(traces.units(), grid_keys(traces, 16), most, rng=Seeded(1))
        assert np.bincount(kept.unit).max() <= most
        assert np.unique(np.stack([kept.unit, kept.key]), axis=1).shape[1] == kept.key.size
        assert (grid_keys(traces, 16)[kept.point] == kept.key).all()


def test_cells_are_chosen_uniformly_and_not_by_their_number_of_points() -> None:  # check 13
    units = np.zeros(104, dtype=np.int64)
    keys = np.concatenate([np.zeros(101, dtype=np.int64), [1, 2, 3]])
    rng = Seeded(5)
    chosen = np.array([bounded(units, keys, 1, rng=rng).key[0] for _ in range(4000)])
    # Each of four cells with chance 1/4: six standard errors of 4,000 draws are 0.041.
    assert np.abs(np.bincount(chosen, minlength=4) / 4000 - 0.25).max() < 6 * sqrt(3 / 16 / 4000)


def test_a_thousand_further_points_of_a_person_change_c_cells_by_one() -> None:  # check 13
    traces = small_city().traces
    rng = np.random.Generator(np.random.PCG64(1))
    north, east = traces.plane.places(traces.x, traces.y)
    more = Traces.of(
        traces.declaration,
        np.concatenate([traces.names.gather(traces.person).to_numpy(), ["new"] * 1000]),
        np.concatenate([traces.time, 1_772_500_000 + rng.permutation(100_000)[:1000]]),
        np.concatenate([north, 39.9 + 0.2 * rng.random(1000)]),
        np.concatenate([east, -3.1 + 0.2 * rng.random(1000)]),
    )
    for most in (1, 4):
        # All cells of the others are kept, so that the choice is the same; the new one has `most`.
        kept = bounded(more.units(), grid_keys(more, 8), most, rng=Seeded(2))
        new = kept.unit == more.names.to_list().index("new")
        assert new.sum() == most


def one_point_each() -> Traces:
    """A random point of each person of a city, moved into the square of the city."""
    from celosia.datasets import city

    made = city(seed=20_261)
    kept = bounded(
        made.traces.units(), np.zeros(made.traces.size, dtype=np.int64), 1, rng=Seeded(1)
    )
    traces = made.traces.select(np.sort(kept.point))
    known = replace(traces.declaration, region=[39.91007, -3.1174, 40.08993, -2.8826])
    x, y = known.plane.clamp(traces.x, traces.y)
    return replace(traces, declaration=known, x=x, y=y)


def range_errors(traces: Traces, size: int, seed: int) -> tuple[float, float]:
    """The mean relative error on squares of 1 % and 10 % of the area, sanity bound 0.1 %."""
    answer = private.UniformGrid(epsilon=1, size=size).measure(traces, rng=Seeded(seed)).value
    told = np.array(list(answer.values()), dtype=np.float64).reshape(size, size)
    west, south, east, north = traces.plane.bounds
    x = (traces.x - west + 0.5) / (east - west + 1)
    y = (traces.y - south + 0.5) / (north - south + 1)
    rng = np.random.Generator(np.random.PCG64(seed))
    edges = np.arange(size + 1) / size
    found = []
    for share in (0.01, 0.1):
        width, errors = sqrt(share), []
        for a, b in rng.random((200, 2)) * (1 - width):
            true = ((x >= a) & (x < a + width) & (y >= b) & (y < b + width)).sum()
            wide, high = (
                np.clip(np.minimum(edges[1:], low + width) - np.maximum(edges[:-1], low), 0, None)
                * size
                for low in (a, b)
            )
            errors.append(abs(high @ told @ wide - true) / max(true, 1.0))
        found.append(float(np.mean(errors)))
    return found[0], found[1]


def test_the_error_of_uniform_grids() -> None:  # check 14
    traces = one_point_each()
    fine, coarse = (
        np.mean([range_errors(traces, size, seed) for seed in range(8)], axis=0)
        for size in (64, 10)
    )
    assert 0.35 <= coarse[0] <= 0.55
    assert 0.04 <= coarse[1] <= 0.09
    assert (fine > 2.5 * coarse).all()


def test_the_shares_of_a_quadtree_sum_to_epsilon_exactly() -> None:  # check 14
    tree = private.Quadtree(epsilon=1, height=5)
    assert sum(tree.shares) == 1
    known = (0.0866, 0.1092, 0.1375, 0.1733, 0.2183, 0.2751)
    assert [round(float(share), 4) for share in tree.shares] == list(known)


def test_what_a_person_adds_to_all_levels_of_a_quadtree_costs_epsilon() -> None:
    tree = private.Quadtree(epsilon=1, height=3, per_person=7)
    assert sum(tree.per_person / law.scale for law in tree.laws) == 1


def test_least_squares_are_those_of_a_solver() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    levels = [rng.integers(0, 50, 4**level) for level in range(3)]
    epsilons = [0.2, 0.3, 0.5]
    rows, values = [], []
    for level, counts in enumerate(levels):
        width = 2**level
        for cell, value in enumerate(counts):
            row = np.zeros(16)
            for leaf in range(16):
                if (leaf // 4 // (4 // width), leaf % 4 // (4 // width)) == (
                    cell // width,
                    cell % width,
                ):
                    row[leaf] = epsilons[level]
            rows.append(row)
            values.append(value * epsilons[level])
    expected = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    assert least_squares(levels, epsilons) == pytest.approx(expected)


def test_children_of_an_adaptive_grid_sum_to_their_parent() -> None:  # check 14
    children = np.array([1.0, 5.0, -2.0, 4.0])
    found = consistent(20.0, children, 2)
    assert found.sum() == pytest.approx((4 * 20 + 8) / 5)
    assert np.diff(found) == pytest.approx(np.diff(children))
    traces = small_city().traces
    made = private.AdaptiveGrid(epsilon=50, people=120)
    measured = made.measure(traces, rng=Seeded(1))
    assert len(measured.value) == sum(cut**2 for cut in measured.parts["cuts"])
    assert sum(measured.value.values()) == pytest.approx(120, abs=15)


def test_one_person_moves_the_transitions_by_at_most_the_trips_counted() -> None:  # check 15
    traces = small_city(40, 4).traces
    traces = replace(traces, declaration=replace(traces.declaration, trip_gap=600.0))
    for person in range(5):
        mine = traces.select(traces.person == person)
        trips = model.trips_of(mine, 8, 12)
        found = model.count_model(trips, 8, 12)
        assert found.transitions.sum() <= trips.size * model.UNIT
        assert found.ends.sum() == found.lengths.sum() == found.hours.sum() == trips.size
        # Nothing is lost either: all but the rounding of one unit for each transition.
        assert found.transitions.sum() >= trips.size * model.UNIT - trips.cells.size - trips.size


def test_a_measured_region_is_refused_in_every_private_release() -> None:  # check 15
    known = small_city().traces
    measured = replace(known, declaration=replace(known.declaration, is_measured=True))
    for ask in (
        lambda: private.grid(measured, epsilon=1),
        lambda: private.visits(measured, epsilon=1, grid=4),
        lambda: private.flows(measured, epsilon=1, grid=4),
        lambda: private.synthetic(measured, private.SyntheticTraces(epsilon=1)),
        lambda: private.collect_cells(measured, epsilon=1),
    ):
        with pytest.raises(PrivacyError, match="measured on the data"):
            ask()


def test_lengths_and_sizes_are_declared_numbers() -> None:  # check 15
    for wrong in ({"max_steps": None}, {"size": 0}, {"per_person": 0}, {"epsilon": 0}):
        with pytest.raises(InputError):
            method_from_dict(
                {"synthetic-traces": private.SyntheticTraces},
                {"method": "synthetic-traces", "epsilon": 1} | wrong,
            )
    with pytest.raises(InputError, match="whole number from 1"):
        private.UniformGrid(epsilon=1, size=0)
    with pytest.raises(InputError, match="whole number from 1"):
        private.UniformGrid(epsilon=1, per_person=-1)


def tiny() -> Traces:
    """Three persons in the corner of a region; the third may leave."""
    return points(
        ["a", "b", "c", "c", "c"], [0, 0, 0, 60, 120], [40.01, 40.01, 40.01, 40.15, 40.02],
        [-3.99, -3.98, -3.99, -3.75, -3.98], trip_gap=30.0,
    )  # fmt: skip


@pytest.mark.parametrize("halved", [True, False])
def test_an_audit_of_the_adaptive_grid_catches_two_levels_at_full_price(
    halved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # check 16, A12
    if not halved:
        monkeypatch.setattr(grids, "HALF", Fraction(1))
    price = Fraction(3, 2)
    traces = points(["a"], [0], [40.01], [-3.99])
    empty = traces.select(np.zeros(1, dtype=bool))

    def run(given: Traces, rng: Source) -> float:
        made = grids.refined(given, np.arange(given.size), 1, price, rng=rng)
        # The best that both levels tell together of the person's cell: twice its count.
        return float(made.first[0] + made.counts[0].sum())

    found = audit(run, traces, empty, claim=1.5, samples=700, rng=Seeded(4), last_bits=False)
    assert (found.verdict == "violated") != halved


@pytest.mark.parametrize("fault", [False, True])
def test_an_audit_of_flows_between_places_catches_a_threshold_without_delta(
    fault: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # check 16, A12: a flow of one person alone
    mechanism = private.PlaceFlows(epsilon=1, delta=1e-3)
    if fault:
        monkeypatch.setattr(private.PlaceFlows, "threshold", 1)
    six = 6 * [40.01], 6 * [-3.99]
    traces = Traces.of(
        points(["a"], [0], [40.01], [-3.99]).declaration,
        ["a", "a", "b", "b", "c", "c"],
        [0, 60] * 3,
        *six,
        place=["x", "y", "x", "y", "z", "y"],
    )

    def run(given: Traces, rng: Source) -> list[float]:
        found = mechanism.measure(given, rng=rng).value
        return [found.get(flow, 0.0) for flow in ("x -> y", "z -> y")]

    found = audit(
        run, traces, without(traces, 2), claim=mechanism.privacy_loss(), samples=300, rng=Seeded(5)
    )
    assert (found.verdict == "violated") == fault


def test_flows_over_declared_areas_put_noise_on_zero_cells(tmp_path: Path) -> None:  # check 17
    rings = [
        [
            [-4.0 + 0.1 * i, 40.0],
            [-3.9 + 0.1 * i, 40.0],
            [-3.9 + 0.1 * i, 40.2],
            [-4.0 + 0.1 * i, 40.2],
            [-4.0 + 0.1 * i, 40.0],
        ]
        for i in range(3)
    ]
    shapes = [
        {
            "properties": {"name": f"county{n}"},
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }
        for n, ring in enumerate(rings)
    ]
    (tmp_path / "counties.geojson").write_text(json.dumps({"features": shapes}))
    found = points(
        ["a", "a", "b"], [0, 3600, 0], [40.1] * 3, [-3.95, -3.85, -3.95],
        areas=str(tmp_path / "counties.geojson"),
    )  # fmt: skip
    answer = private.flows(found, epsilon=0.5, rng=Seeded(1))
    assert len(answer.value) == 4 * 3  # three counties and what lies outside
    assert sum(value != 0 for value in answer.value.values()) > 5
    sure = private.flows(found, epsilon=90, rng=Seeded(1))
    assert sure.value["county0 -> county1"] == 1


def test_flows_between_undeclared_places_need_a_delta() -> None:  # check 17
    known = points(["a"], [0], [40.1], [-3.9]).declaration
    people = [f"p{n}" for n in range(60) for _ in range(2)]
    found = Traces.of(
        known, people, [0, 60] * 60, [40.1] * 120, [-3.9] * 120,
        place=["bar", "shop"] * 59 + ["clinic", "home"],
    )  # fmt: skip
    with pytest.raises(PrivacyError, match="need a delta"):
        private.flows(found, epsilon=1)
    answer = private.flows(found, epsilon=1, delta=1e-6, rng=Seeded(1))
    assert list(answer.value) == ["bar -> shop"]
    assert answer.delta == 1e-6
    law = private.PlaceFlows(epsilon=1, delta=1e-6)
    assert law.law.tail(law.threshold - 1) <= 1e-6 < law.law.tail(law.threshold - 2)


def test_a_budget_pays_for_answers_of_the_same_unit() -> None:
    traces = small_city().traces
    budget = Budget(epsilon=1, neighbours=private.one_unit("person"))
    private.grid(traces, epsilon=0.6, budget=budget, rng=Seeded(1))
    with pytest.raises(BudgetExceeded):
        private.synthetic(traces, private.SyntheticTraces(epsilon=0.6), budget=budget)
    private.synthetic(traces, private.SyntheticTraces(epsilon=0.4, trips=2), budget=budget)
    assert len(budget.history) == 2


def test_a_unit_that_was_not_declared_is_refused() -> None:
    with pytest.raises(InputError, match="declared unit is trip"):
        private.release(small_city().traces, private.UniformGrid(epsilon=1, unit="trip"))


def test_guarantees_name_the_unit_and_the_bound() -> None:  # check 46
    answer = private.grid(small_city().traces, epsilon=1, per_person=3, rng=Seeded(1))
    promised = answer.guarantee
    assert promised.unit == "person"
    assert promised.neighbours == "add or remove one person"
    assert promised.simulation
    assert any("3 contributions" in gap for gap in promised.leaves_open)
    assert promised.assumes


def test_synthetic_trips_stay_in_the_region_and_follow_the_model(tmp_path: Path) -> None:
    made = small_city()
    known = replace(made.traces.declaration, trip_gap=600.0)
    traces = replace(made.traces, declaration=known)
    method = private.SyntheticTraces(epsilon=80, size=4, trips=300, per_person=10)
    release = private.synthetic(traces, method, rng=Seeded(1))
    assert release.data["trace"].n_unique() == 300
    samples = release.samples
    assert samples is not None
    west, south, east, _ = traces.plane.bounds
    assert (samples.box[:, 0] >= west).all()
    assert (samples.box[:, 2] <= east).all()
    assert (samples.box[:, 1] >= south).all()
    # With hardly any noise the ends of trips are where those of people are: 300 draws.
    cells = grid_keys(replace(traces, x=samples.box[:, 0], y=samples.box[:, 1]), 4)
    first = np.unique(samples.trace, return_index=True)[1]
    true = model.trips_of(traces, 4, 12)
    shares = np.bincount(true.cells[true.starts[:-1]], minlength=16) / true.size
    found = np.bincount(cells[first], minlength=16) / 300
    assert np.abs(found - shares).sum() < 0.3
    again = type(release).load(release.save(tmp_path / "new.csv"))
    assert again.data.equals(release.data)
    assert release.guarantee.neighbours == "add or remove one person"


@pytest.mark.parametrize("changes", [{}, {"refine": False}, {"private_length": True}])
def test_the_parts_of_a_model_of_trips_cost_epsilon(changes: dict[str, bool]) -> None:
    method = private.SyntheticTraces(epsilon=0.7, per_person=3, **changes)
    assert 3 * sum(method.shares.values()) == Fraction(7, 10)


def corner(people: int = 300) -> Traces:
    """Persons who stay in one corner of the region, and one who goes through all of it."""
    far = [40.01 + 0.018 * each for each in range(10)]
    return points(
        [*map(str, range(people)), *["far"] * 10],
        [*range(people), *range(0, 600, 60)],
        [40.01] * people + far,
        [-3.99] * people + [-3.99] * 10,
    )


def test_a_refined_grid_says_where_inside_a_cell_trips_pass() -> None:
    traces = corner()
    west, south, east, _ = traces.plane.bounds
    near = []
    for refine in (True, False):
        method = private.SyntheticTraces(epsilon=50, size=2, trips=200, refine=refine)
        samples = private.synthetic(traces, method, rng=Seeded(1)).samples
        assert samples is not None
        x, y = samples.box[:, 0] - west, samples.box[:, 1] - south
        near.append(((x < (east - west) / 8) & (y < (east - west) / 8)).mean())
    # Uniform in a cell of half the side, a quarter of its side is a sixteenth of its area.
    assert near[0] > 0.8
    assert near[1] < 0.2


def test_a_private_length_cuts_the_longest_trips() -> None:
    method = private.SyntheticTraces(epsilon=50, size=8, max_steps=100, private_length=True)
    learnt = method.learn(corner(), rng=Seeded(1))
    assert learnt.longest == 1, "19 of 20 trips have one cell, and one has eight"
    assert learnt.counts.lengths.shape == (4, 1)
    assert method.learn(corner(0), rng=Seeded(1)).longest <= 100
    assert (
        private.SyntheticTraces(epsilon=1, max_steps=9).learn(corner(), rng=Seeded(1)).longest == 9
    )


@pytest.mark.parametrize("part", ["refined", "longest"])
def test_an_audit_of_the_refined_grid_and_the_length(part: str) -> None:  # check 16, A12
    method = private.SyntheticTraces(
        epsilon=3, size=2, max_steps=5, per_person=2, private_length=True
    )

    def run(traces: Traces, rng: Source) -> list[float]:
        learnt = method.learn(traces, rng=rng)
        assert learnt.refined is not None
        return [learnt.longest] if part == "longest" else learnt.refined.first.tolist()

    claim = float(2 * method.shares[part])
    found = audit(run, tiny(), without(tiny(), 2), claim=claim, samples=300, rng=Seeded(1))
    assert found.verdict != "violated"


def test_positions_by_local_privacy() -> None:
    traces = small_city(120, 4).traces
    found = private.collect_cells(traces, epsilon=6, size=2, rng=Seeded(1))
    assert found["reports"] == 120
    assert sum(found["estimates"].values()) == pytest.approx(120, abs=1e-6)


def test_moves_by_local_privacy() -> None:
    """Trips from collected moves stay on the grid; one report of a person says one move."""
    traces = small_city(120, 4).traces
    names = private.transition_names(3)
    assert len(set(names)) == len(names) == 9 + 2 * (2 * 6 + 2 * 4) + 9
    held = private.random_transitions(traces, size=3, rng=Seeded(1))
    assert len(held) == 120
    assert set(held) <= set(names)
    found = private.collect_transitions(traces, epsilon=6, size=3, max_steps=4, rng=Seeded(1))
    assert found.reports == 120
    release = private.synthetic_from(
        found, traces.declaration, trips=50, max_steps=4, rng=Seeded(2)
    )
    assert release.guarantee.simulation
    assert release.data.height == len(release.samples.trace)  # type: ignore[union-attr]
    made = release.samples
    assert made is not None
    lengths = np.bincount(made.trace)
    assert lengths.size == 50
    assert lengths.max() <= 4
    west, south, east, north = traces.plane.bounds
    assert (made.box[:, 0] >= west).all()
    assert (made.box[:, 1] >= south).all()
    assert (made.box[:, 2] <= east).all()
    assert (made.box[:, 3] <= north).all()
    with pytest.raises(InputError):
        private.transition_protocol(epsilon=1, size=17)
