"""Private microaggregation: its sensitivity over all neighbours of small tables, and its noise."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.private import PrivateMicroaggregation
from celosia.tables.private.microaggregation import group_starts


def largest_move(
    method: PrivateMicroaggregation, records: list[tuple[int, ...]], rows: int
) -> list[int]:
    """The largest change of the sums of each column, over all tables and all changes of a row."""
    names = [f"c{place}" for place in range(len(records[0]))]
    sums = {}
    for table in product(records, repeat=rows):
        if list(table) == sorted(table):  # the order of rows does not matter, as is tested below
            frame = pl.DataFrame(list(table), schema=names, orient="row")
            sums[table] = method.sums(frame, names)
    worst = [0] * len(names)
    for table, mine in sums.items():
        for place, record in product(range(rows), records):
            other = tuple(sorted((*table[:place], record, *table[place + 1 :])))
            for column in range(len(names)):
                moved = int(np.abs(mine[column] - sums[other][column]).sum())
                worst[column] = max(worst[column], moved)
    return worst


@pytest.mark.parametrize(("rows", "k"), [(5, 2), (6, 2), (6, 3), (5, 1)])
def test_changing_a_row_moves_all_sums_of_a_column_by_its_range_at_most(rows: int, k: int) -> None:
    method = PrivateMicroaggregation(epsilon=1, k=k, bounds={"c0": (0, 4)})
    worst = largest_move(method, [(value,) for value in range(5)], rows)
    assert worst == [4]
    assert method._noise(1, steps=4, groups=rows // k).sensitivity == 4


@pytest.mark.parametrize(("rows", "k"), [(4, 2), (6, 2), (5, 1)])
def test_changing_a_row_of_joint_groups_moves_each_sum_by_the_range_at_most(
    rows: int, k: int
) -> None:
    method = PrivateMicroaggregation(
        epsilon=1, k=k, bounds={"c0": (0, 1), "c1": (0, 2)}, order="joint"
    )
    worst = largest_move(method, list(product(range(2), range(3))), rows)
    groups = rows // k
    assert worst[0] <= groups * 1
    assert worst[1] <= groups * 2
    assert worst[1] > 2  # the bound of a column by itself would be too small here
    assert method._noise(2, steps=2, groups=groups).sensitivity == groups * 2


@pytest.mark.parametrize("order", ["separate", "joint"])
def test_the_order_of_the_rows_does_not_matter(order: str) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"c0": rng.integers(0, 5, 40), "c1": rng.integers(0, 3, 40)})
    method = PrivateMicroaggregation(
        epsilon=1, k=3, bounds={"c0": (0, 4), "c1": (0, 2)}, order=order
    )
    wanted = method.sums(frame, frame.columns)
    for seed in range(5):
        found = method.sums(frame.sample(fraction=1, shuffle=True, seed=seed), frame.columns)
        assert all(np.array_equal(one, two) for one, two in zip(wanted, found, strict=True))


def test_groups_are_made_by_position_alone() -> None:
    assert group_starts(10, 3).tolist() == [0, 3, 6]
    assert group_starts(3, 3).tolist() == [0]
    assert group_starts(5, 3).tolist() == [0]


def test_noise_of_means_is_that_of_range_over_k_and_epsilon() -> None:
    # One column: the means of g groups in joint order have noise of scale g * range / (k epsilon).
    frame = pl.DataFrame({"x": np.full(20_000, 0.5)})
    method = PrivateMicroaggregation(epsilon=1, k=500, bounds={"x": (0, 1)}, order="joint")
    rng = Seeded(4)
    draws = []
    for _ in range(50):
        done = method.apply(frame, ["x"], rng=rng)
        draws.append(done.frame["x"].to_numpy()[::500])
    deviation = float(np.concatenate(draws).std())
    wanted = np.sqrt(2) * 40 / 500
    # The deviation of 2000 Laplace draws is known to sqrt(5 / 8000) of itself: 2.5 %.
    assert abs(deviation / wanted - 1) < 0.125
    assert done.facts["deviation of a mean"]["x"] == pytest.approx(wanted, rel=1e-3)


def test_columns_share_epsilon_and_get_the_noise_of_their_range() -> None:
    frame = pl.DataFrame({"x": np.linspace(0, 1, 400), "y": np.linspace(0, 1, 400)})
    bounds = {"x": (0, 1), "y": (0, 10)}
    facts = (
        PrivateMicroaggregation(epsilon=2, k=20, bounds=bounds)
        .apply(frame, ["x", "y"], rng=Seeded(1))
        .facts["deviation of a mean"]
    )
    assert facts["x"] == pytest.approx(np.sqrt(2) * 1 / 20, rel=1e-3)  # epsilon 1 each
    assert facts["y"] == pytest.approx(np.sqrt(2) * 10 / 20, rel=1e-3)


def test_means_are_near_those_of_ordered_groups_when_epsilon_is_large() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 100, 1000)
    frame = pl.DataFrame({"age": values})
    method = PrivateMicroaggregation(epsilon=100, k=50, bounds={"age": (0, 100)})
    made = np.sort(method.apply(frame, ["age"], rng=Seeded(1)).frame["age"].to_numpy())
    means = np.repeat(np.sort(values).reshape(20, 50).mean(axis=1), 50)
    # Noise of scale 100 / (50 * 100) on each of 20 means: beyond 30 scales by chance 1e-12.
    assert np.abs(made - means).max() < 30 * 0.02


def test_ranks_of_columns_are_not_joined_but_those_of_joint_groups_are() -> None:
    x = np.random.default_rng(1).uniform(0, 1, 4000)
    frame = pl.DataFrame({"x": x, "y": x})
    bounds = {"x": (0, 1), "y": (0, 1)}
    apart = PrivateMicroaggregation(epsilon=10, k=400, bounds=bounds)
    made = apart.apply(frame, ["x", "y"], rng=Seeded(1)).frame
    # Exact ranks that stand beside each other are covered by no noise, so they are shuffled.
    assert abs(made.select(pl.corr("x", "y")).item()) < 5 / np.sqrt(4000)
    joint = PrivateMicroaggregation(epsilon=10, k=400, bounds=bounds, order="joint")
    assert (
        joint.apply(frame, ["x", "y"], rng=Seeded(1)).frame.select(pl.corr("x", "y")).item() > 0.9
    )
    assert any("lost" in line for line in apart.leaves_open(["x", "y"]))
    assert not any("lost" in line for line in joint.leaves_open(["x", "y"]))


def test_strange_cells_are_clamped_and_empty_ones_are_in_the_middle() -> None:
    frame = pl.DataFrame({"x": [np.inf, -np.inf, np.nan, None, 1e300, 0.25]})
    method = PrivateMicroaggregation(epsilon=1, k=1, bounds={"x": (0, 1)})
    steps = method.sums(frame, ["x"])[0] / 2**16
    assert steps.tolist() == [0, 0.25, 0.5, 0.5, 1, 1]


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"k": 4}, "CEL-Y023"),
        ({"k": 0}, "CEL-V200"),
        ({"bounds": {}}, "CEL-Y020"),
        ({"bounds": None}, "CEL-Y020"),
        ({"bounds": {"x": (1, 0)}}, "CEL-Y021"),
        ({"order": "own"}, "CEL-V200"),
        ({"epsilon": 0}, "CEL-I060"),
    ],
)
def test_what_cannot_be_grouped_is_refused(parameters: dict[str, object], code: str) -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    given: dict[str, object] = {"epsilon": 1, "k": 2, "bounds": {"x": (0, 9)}} | parameters
    with pytest.raises(InputError) as refusal:
        PrivateMicroaggregation(**given).apply(frame, ["x"], rng=Seeded(1))  # type: ignore[arg-type]
    assert refusal.value.code == code
