"""Noisy histograms and contingency tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.private import Contingency, NoisyHistogram

SEXES, HAIR = ("f", "m"), ("black", "brown", "red")


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "sex": rng.choice(SEXES, 3000, p=[0.6, 0.4]),
            "hair": rng.choice(HAIR, 3000, p=[0.5, 0.4, 0.1]),
            "age": rng.integers(10, 80, 3000),
        }
    )


def test_with_a_large_epsilon_a_histogram_is_the_exact_one(people: pl.DataFrame) -> None:
    method = NoisyHistogram(
        epsilon=100,
        domains={"sex": SEXES, "hair": HAIR},
        edges={"age": [0, 18, 65, 120]},  # type: ignore[dict-item]
        output="counts",
    )
    released = method.apply(people, people.columns, rng=Seeded(1)).frame
    # Noise of scale 3/100 is 0 but for a chance of 1e-14.
    ages = people["age"]
    assert dict(released.filter(column="age").select("value", "count").iter_rows()) == {
        "0-17": (ages < 18).sum(),
        "18-64": ((ages >= 18) & (ages < 65)).sum(),
        "65-120": (ages >= 65).sum(),
        None: 0,
    }
    sexes = dict(released.filter(column="sex").select("value", "count").iter_rows())
    assert sexes == {"f": (people["sex"] == "f").sum(), "m": (people["sex"] == "m").sum(), None: 0}
    rows = NoisyHistogram(epsilon=100, domains={"hair": HAIR}, output="rows")
    made = rows.apply(people.select("hair"), ["hair"], rng=Seeded(1)).frame
    assert made["hair"].sort().equals(people["hair"].sort())


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_counts_are_not_below_zero_and_all_columns_have_one_total(
    people: pl.DataFrame, delta: float
) -> None:
    method = NoisyHistogram(
        epsilon=0.05,
        delta=delta,
        domains={"sex": SEXES, "hair": HAIR},
        bounds={"age": (0, 120)},
        output="counts",
    )
    released = method.apply(people, people.columns, rng=Seeded(1)).frame
    assert released["count"].min() >= 0  # type: ignore[operator]
    totals = released.group_by("column").agg(pl.col("count").sum())["count"]
    assert totals.n_unique() == 1
    assert released.height == 3 + 4 + 17


def test_a_histogram_counts_with_the_noise_of_its_share(people: pl.DataFrame) -> None:
    facts = NoisyHistogram(epsilon=1, domains={"sex": SEXES, "hair": HAIR}).apply(
        people.select("sex", "hair"), ["sex", "hair"], rng=Seeded(1)
    )
    # Discrete Laplace of scale 2: variance 2 a / (1 - a)^2 with a = exp(-1/2).
    a = np.exp(-0.5)
    assert facts.facts["deviation of counts"] ** 2 == pytest.approx(2 * a / (1 - a) ** 2)


@pytest.mark.parametrize("orders", [(), (1,), (0, 1, 2), (5,)])
def test_with_a_large_epsilon_a_contingency_table_is_the_exact_one(
    people: pl.DataFrame, orders: tuple[int, ...]
) -> None:
    method = Contingency(
        epsilon=100,
        domains={"sex": SEXES, "hair": HAIR},
        bounds={"age": (10, 79)},
        bins=2,
        orders=orders,
    )
    released = method.apply(people, people.columns, rng=Seeded(1)).frame
    assert released.height == 3 * 4 * 3
    halves = people.with_columns(
        age=pl.when(pl.col("age") < 45).then(pl.lit("10-44")).otherwise(pl.lit("45-79"))
    )
    wanted = halves.group_by(people.columns).agg(pl.len().cast(pl.Int64).alias("count"))
    found = released.filter(pl.col("count") > 0)
    assert found.sort(people.columns).equals(wanted.sort(people.columns))


@pytest.mark.parametrize("orders", [(), (1,), (0, 1)])
def test_noisy_tables_are_counts_and_as_many_rows_are_drawn_as_they_count(
    people: pl.DataFrame, orders: tuple[int, ...]
) -> None:
    narrow = people.select("sex", "hair")
    domains = {"sex": SEXES, "hair": HAIR}
    tables = [
        Contingency(epsilon=0.1, domains=domains, orders=orders, output=output)
        .apply(narrow, narrow.columns, rng=Seeded(1))
        .frame
        for output in ("counts", "rows")
    ]
    assert tables[0]["count"].min() >= 0  # type: ignore[operator]
    assert tables[0]["count"].sum() == tables[1].height
    drawn = tables[1].group_by("sex", "hair").len().filter(pl.col("len") > 0)
    counted = tables[0].filter(pl.col("count") > 0)
    both = drawn.join(counted, on=["sex", "hair"], nulls_equal=True)
    assert both.height == drawn.height == counted.height
    assert (both["len"] == both["count"]).all()


def test_margins_of_their_own_lower_the_error_of_the_margins() -> None:
    rng = np.random.default_rng(2)
    values = tuple(range(60))
    frame = pl.DataFrame({"a": rng.integers(0, 60, 200_000), "b": rng.integers(0, 60, 200_000)})
    errors = {}
    for orders in ((), (1,)):
        method = Contingency(epsilon=1, domains={"a": values, "b": values}, orders=orders)
        released = method.apply(frame, ["a", "b"], rng=Seeded(3)).frame
        found = released.group_by("a").agg(pl.col("count").sum()).drop_nulls("a").sort("a")["count"]
        errors[orders] = float(np.abs(found.to_numpy() - np.bincount(frame["a"])).mean())
    # Sums of 61 cells with noise of deviation 1.4 against one of deviation 4.2: 11 to 4 on average.
    assert errors[(1,)] < 0.7 * errors[()]


def test_a_number_of_rows_can_be_public(people: pl.DataFrame) -> None:
    for kind in (NoisyHistogram, Contingency):
        method = kind(epsilon=1, domains={"hair": HAIR}, output="rows", rows=123)
        made = method.apply(people.select("hair"), ["hair"], rng=Seeded(1))
        assert made.frame.height == 123


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"bounds": {"count": (0, 2**20), "hair": (0, 9)}, "bins": 2**20}, "CEL-Y024"),
        ({"domains": {"count": (1, 2), "hair": (1, 2)}}, "CEL-Y025"),
        ({"domains": {"count": (1, 2), "hair": (1, 2)}, "orders": 1}, "CEL-I060"),
        ({"domains": {"count": (1, 2), "hair": (1, 2)}, "orders": (-1,)}, "CEL-I060"),
        ({"domains": {"count": (1, 2), "hair": (1, 2)}, "output": "table"}, "CEL-I060"),
    ],
)
def test_tables_that_cannot_be_counted_are_refused(
    parameters: dict[str, object], code: str
) -> None:
    frame = pl.DataFrame({"count": [1, 2], "hair": [1, 2]})
    with pytest.raises(InputError) as refusal:
        Contingency(epsilon=1, **parameters).apply(frame, frame.columns, rng=Seeded(1))  # type: ignore[arg-type]
    assert refusal.value.code == code
