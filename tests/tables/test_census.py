"""The published results on the 1994 census extract, figure by figure (specification, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

import polars as pl
import pytest

from celosia import KAnonymity, datasets
from celosia.assess.risk import RiskProfile, measure
from celosia.tables import Role, Schema, TableRelease, publish
from celosia.tables.coded_table import code_column
from celosia.tables.recoding import Lattice, find_optimum

Publisher = Callable[[int, float], TableRelease]

LOSS_TOLERANCE = 1e-5
"""Percentage points: some losses are printed as 32-bit floats."""

RISK_TOLERANCE = 1e-9

NAMES = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
NAMES += ["salary-class"]


@pytest.fixture(scope="session")
def rows(real: pl.DataFrame) -> pl.DataFrame:
    return real


@pytest.fixture(scope="session")
def schema() -> Schema:
    """The census schema with its quasi-identifiers in the order of the published levels."""
    given = {column.name: column for column in datasets.census_schema().columns}
    return Schema(tuple(given[name] for name in [*NAMES, "occupation"]))


@pytest.fixture(scope="session")
def lattice(rows: pl.DataFrame, schema: Schema) -> Lattice:
    return Lattice([code_column(rows[c.name], c) for c in schema.quasi_identifiers])


@pytest.fixture(scope="session")
def published(rows: pl.DataFrame, schema: Schema) -> Iterator[Publisher]:
    @cache
    def make(k: int, limit: float) -> TableRelease:
        return publish(rows, schema, KAnonymity(k), suppression=limit)

    yield make
    make.cache_clear()


def levels(digits: str) -> tuple[int, ...]:
    return tuple(int(digit) for digit in digits)


class Printed(NamedTuple):
    """A row of the published tables, for k-anonymity without a suppression limit."""

    k: int
    loss: float
    average: float
    largest: int
    smallest: int
    classes: int
    kept: int
    suppressed: int
    levels: str


PRINTED = [
    Printed(2, 10.755107672663633, 20.22309899569584, 1250, 2, 1394, 28191, 1971, "03001000"),
    Printed(5, 16.21326131666998, 54.011583011583014, 1340, 5, 518, 27978, 2184, "03002100"),
    Printed(8, 18.8452728927623, 73.67391304347827, 1340, 8, 368, 27112, 3050, "03002100"),
    Printed(12, 20.483907217969088, 121.19736842105263, 1685, 12, 228, 27633, 2529, "03002110"),
    Printed(15, 21.276112589866925, 132.18357487922705, 1685, 15, 207, 27362, 2800, "03002110"),
    Printed(17, 21.909891188744024, 140.65284974093265, 1685, 17, 193, 27146, 3016, "03002110"),
    Printed(20, 23.118892328526375, 157.24705882352941, 1685, 20, 170, 26732, 3430, "03002110"),
    Printed(25, 24.76722, 181.70833333333334, 1685, 25, 144, 26166, 3996, "03002110"),
]

# k, average risk %, maximum risk %, at risk %
RISKS = [
    (2, 4.9448405519492034, 50, 13.107019970912703),
    (5, 1.8514547144184716, 20, 4.5821717063406965),
    (8, 1.3573325464738861, 12.5, 1.5343759221009147),
    (12, 0.8251004234067962, 8.333333333333333, 0),
    (15, 0.7565236459323149, 6.666666666666667, 0),
    (17, 0.7109703087010978, 5.8823529411764705, 0),
    (20, 0.6359419422415083, 5, 0),
    (25, 0.5503324925475809, 4, 0),
]


class Computed(NamedTuple):
    """A reference run of the specification, with a suppression limit or another k."""

    k: int
    limit: float
    loss: float
    levels: str
    classes: int
    suppressed: int
    smallest: int
    largest: int


COMPUTED = [
    Computed(3, 1.0, 13.632950, "03001100", 914, 1922, 3, 1340),
    Computed(4, 1.0, 15.284784, "03001100", 736, 2456, 4, 1340),
    Computed(10, 1.0, 19.801190, "03002110", 250, 2297, 10, 1685),
    Computed(50, 1.0, 29.499948, "03012010", 72, 5124, 52, 1679),
    Computed(100, 1.0, 33.443199, "03013010", 40, 4732, 104, 3156),
    Computed(5, 0.0, 54.221083, "04123200", 26, 0, 5, 10489),
    Computed(5, 0.01, 29.883267, "03023110", 147, 233, 5, 6134),
    Computed(5, 0.02, 24.647716, "03022110", 222, 506, 5, 3218),
    Computed(5, 0.05, 17.012279, "03002110", 397, 1346, 5, 1685),
    Computed(5, 0.1, 16.213261, "03002100", 518, 2184, 5, 1340),
    Computed(2, 0.0, 47.928505, "04113200", 52, 0, 2, 6319),
    Computed(2, 0.05, 11.450326, "03001100", 1266, 1218, 2, 1340),
    Computed(25, 0.0, 61.317178, "04113220", 8, 0, 406, 7884),
    Computed(25, 0.05, 29.542496, "04012110", 75, 1293, 25, 3125),
]


def counts(release: TableRelease) -> tuple[tuple[int | None, ...], int, int, int, int, int]:
    risk = release.risk
    return (
        release.solution.levels,
        risk.classes,
        risk.records,
        release.solution.suppressed,
        risk.smallest,
        risk.largest,
    )


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"k={row.k}")
def test_k_anonymity_gives_the_printed_levels_classes_and_loss(
    published: Publisher, row: Printed
) -> None:
    release = published(row.k, 1.0)
    assert counts(release) == (
        levels(row.levels),
        row.classes,
        row.kept,
        row.suppressed,
        row.smallest,
        row.largest,
    )
    assert release.risk.average_size == pytest.approx(row.average, rel=1e-12)
    assert 100 * release.solution.loss == pytest.approx(row.loss, abs=LOSS_TOLERANCE)


def test_the_loss_of_five_anonymity_has_every_printed_digit(published: Publisher) -> None:
    assert repr(100 * published(5, 1.0).solution.loss) == "16.21326131666998"


@pytest.mark.parametrize(
    ("k", "average", "maximum", "at_risk"), RISKS, ids=[f"k={row[0]}" for row in RISKS]
)
def test_k_anonymity_leaves_the_printed_risk(
    published: Publisher, k: int, average: float, maximum: float, at_risk: float
) -> None:
    risk = published(k, 1.0).risk
    assert 100 * risk.average == pytest.approx(average, abs=RISK_TOLERANCE)
    assert 100 * risk.maximum == pytest.approx(maximum, abs=RISK_TOLERANCE)
    assert 100 * risk.at_risk == pytest.approx(at_risk, abs=RISK_TOLERANCE)


@pytest.mark.parametrize("row", COMPUTED, ids=lambda row: f"k={row.k}, limit={row.limit:.0%}")
def test_other_k_and_limits_give_the_reference_figures(published: Publisher, row: Computed) -> None:
    release = published(row.k, row.limit)
    assert counts(release) == (
        levels(row.levels),
        row.classes,
        30_162 - row.suppressed,
        row.suppressed,
        row.smallest,
        row.largest,
    )
    assert 100 * release.solution.loss == pytest.approx(row.loss, abs=LOSS_TOLERANCE)


@pytest.mark.parametrize(
    ("limit", "loss"),
    [(0.0, 0.573150966), (0.02, 0.313713035), (0.05, 0.241932365), (1.0, 0.220411928)],
)
def test_occupation_as_a_ninth_quasi_identifier_gives_the_reference_loss(
    rows: pl.DataFrame, schema: Schema, limit: float, loss: float
) -> None:
    nine = Schema(tuple(replace(c, role=Role.QUASI_IDENTIFIER) for c in schema.columns))
    solution = publish(rows, nine, KAnonymity(5), suppression=limit).solution
    assert solution.search is not None
    assert solution.search.nodes == 12_960
    assert solution.loss == pytest.approx(loss, abs=5e-10)  # nine decimals are given


def test_the_raw_rows_have_the_published_risk(rows: pl.DataFrame, published: Publisher) -> None:
    raw = measure(rows, NAMES)
    assert (raw.records, raw.classes, raw.unique, raw.largest) == (30_162, 12_458, 8_841, 137)
    assert 100 * raw.average == pytest.approx(41.304, abs=5e-4)  # three decimals are given
    assert 100 * raw.at_risk == pytest.approx(63.325, abs=5e-4)
    assert published(5, 1.0).risk_before == raw


def test_the_hierarchies_have_the_published_leaves_and_levels(lattice: Lattice) -> None:
    leaves = [len(column.hierarchy.leaves) for column in lattice.columns]
    assert leaves == [2, 100, 5, 7, 16, 41, 8, 2]
    assert lattice.shape == (2, 5, 2, 3, 4, 3, 3, 2)
    assert lattice.nodes == 4320


def test_the_hierarchy_of_occupation_has_the_published_leaves_and_levels(
    rows: pl.DataFrame, schema: Schema
) -> None:
    column = next(column for column in schema.columns if column.name == "occupation")
    hierarchy = column.hierarchy_for(rows["occupation"].unique())
    assert (len(hierarchy.leaves), hierarchy.levels) == (14, 3)


@pytest.mark.parametrize(
    ("name", "losses"),
    [
        ("sex", [0, 1]),
        ("age", [0, 0.040404, 0.090909, 0.191919, 1]),
        ("race", [0, 1]),
        ("marital-status", [0, 0.433161, 1]),
        ("education", [0, 0.189844, 0.366773, 1]),
        ("native-country", [0, 0.272876, 1]),
        ("workclass", [0, 0.285648, 1]),
        ("salary-class", [0, 1]),
    ],
)
def test_each_level_of_a_column_costs_the_published_loss(
    lattice: Lattice, name: str, losses: list[float]
) -> None:
    number = NAMES.index(name)
    got = [lattice.loss.column(number, total) for total in lattice.loss.leaf_sums[number]]
    assert got == pytest.approx(losses, abs=5e-7)  # six decimals are given


def test_ages_fall_into_the_published_groups(rows: pl.DataFrame, lattice: Lattice) -> None:
    # The published labels are one year off; ours say what the groups hold.
    groups = lattice.columns[1].labels_at(3).value_counts(name="rows")
    assert dict(groups.iter_rows()) == {
        "1-20": 1998,
        "21-40": 15762,
        "41-60": 10596,
        "61-80": 1731,
        "81-100": 75,
    }


@pytest.mark.parametrize(
    ("column", "value", "count"),
    [
        ("sex", "Male", 20_380),
        ("race", "Other", 231),
        ("marital-status", "Married-AF-spouse", 21),
        ("workclass", "Without-pay", 14),
        ("salary-class", ">50K", 7_508),
        ("education", "Preschool", 45),
        ("native-country", "Holand-Netherlands", 1),
        ("occupation", "Armed-Forces", 9),
        ("age", 36, 852),
    ],
)
def test_the_rows_have_the_published_value_counts(
    rows: pl.DataFrame, column: str, value: object, count: int
) -> None:
    assert (rows[column] == value).sum() == count


def test_the_search_finds_the_best_of_all_4320_nodes(lattice: Lattice) -> None:
    models = [KAnonymity(5)]
    every = [lattice.evaluate(node, models) for node in product(*(range(n) for n in lattice.shape))]
    for limit, allowed in ((0.02, 603), (1.0, 30_161)):
        best = min(
            (outcome for outcome in every if outcome.suppressed <= allowed),
            key=lambda outcome: lattice.loss.total(outcome.leaf_sums),
        )
        assert find_optimum(lattice, models, suppression=limit).best == best


def test_loss_never_falls_as_k_grows(published: Publisher) -> None:
    losses = [published(k, 1.0).solution.loss for k in (2, 3, 4, 5, 8, 10, 12, 15, 17, 20, 25, 50)]
    assert all(before <= after for before, after in pairwise(losses))


@pytest.mark.parametrize("k", [2, 5, 25])
def test_loss_never_falls_as_the_limit_falls(published: Publisher, k: int) -> None:
    losses = [published(k, limit).solution.loss for limit in (1.0, 0.1, 0.05, 0.02, 0.01, 0.0)]
    assert all(before <= after for before, after in pairwise(losses))


def test_the_released_rows_show_what_the_release_claims(
    published: Publisher, rows: pl.DataFrame
) -> None:
    release = published(5, 0.02)
    suppressed = release.data.filter(pl.all_horizontal(pl.col(NAMES) == "*"))
    kept = release.data.join(suppressed, on=NAMES, how="anti")
    sizes = kept.group_by(NAMES).len()["len"]
    assert (sizes.min(), sizes.len(), suppressed.height) == (5, 222, 506)
    assert sorted(release.data["occupation"]) == sorted(rows["occupation"])


def test_the_released_rows_measure_as_the_release_says(published: Publisher) -> None:
    release = published(5, 0.02)
    assert measure(release.data, NAMES) == release.risk


def test_the_generated_census_can_be_published_as_the_real_one() -> None:
    people = datasets.census(3_000)
    release = publish(people, datasets.census_schema(), KAnonymity(5), suppression=0.05)
    assert release.data.height == 3_000
    measured: RiskProfile = measure(release.data, NAMES)
    assert measured.smallest >= 5
    assert measured.suppressed == release.solution.suppressed <= 150
