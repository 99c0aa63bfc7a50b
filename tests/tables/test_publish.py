"""What `publish` promises of any release, checked by a program that trusts nothing it says."""

from __future__ import annotations

import datetime as dt
import pathlib
import pickle
import traceback
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.tables.recoding.plain import Path, Row, evaluate, exhaustive, generalise
from tests.tables.recoding.strategies import tables

from celosia import KAnonymity, Seeded, System
from celosia.core.errors import Cancelled, CelosiaError, InputError, PrivacyError, PrivacyWarning
from celosia.core.progress import Step
from celosia.tables import (
    Column,
    Dates,
    Hierarchy,
    Intervals,
    Mask,
    Ordered,
    Role,
    Schema,
    TableRelease,
    Tree,
    publish,
)

Table = tuple[list[list[Path]], list[Row]]

limits = st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0])
ignore_warnings = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")


def frame_of(table: Table) -> pl.DataFrame:
    """The rows with a name each, a sensitive number that tells them apart, and a plain column."""
    hierarchies, rows = table
    columns: dict[str, list[Any]] = {"name": [f"person {n}" for n in range(len(rows))]}
    columns |= {f"c{n}": [row[n] for row in rows] for n in range(len(hierarchies))}
    columns |= {"number": list(range(len(rows))), "parity": [n % 2 == 0 for n in range(len(rows))]}
    return pl.DataFrame(columns)


def levels_of(release: TableRelease) -> tuple[int, ...]:
    """The node that all records share."""
    levels = tuple(level for level in release.solution.levels if level is not None)
    assert len(levels) == len(release.solution.columns)
    return levels


def schema_of(table: Table) -> Schema:
    hierarchies, _ = table
    return Schema.of(
        identifiers=["name"],
        quasi_identifiers={
            f"c{n}": Hierarchy.from_paths(paths) for n, paths in enumerate(hierarchies)
        },
        sensitive=["number"],
        insensitive=["parity"],
        accept_raw={"number": "it tells the rows of a test apart"},
    )


def allowed(limit: float, rows: int) -> int:
    """The whole number of records in a share of them, the share taken as it is written."""
    return floor(Fraction(str(limit)) * rows)


def published(table: Table, k: int, limit: float, **options: Any) -> TableRelease | None:
    """The release; None where no node of the lattice can be released, by definition."""
    hierarchies, rows = table
    if not exhaustive(rows, hierarchies, k, allowed(limit, len(rows))):
        with pytest.raises(PrivacyError):
            publish(frame_of(table), schema_of(table), KAnonymity(k), suppression=limit, **options)
        return None
    return publish(frame_of(table), schema_of(table), KAnonymity(k), suppression=limit, **options)


def released_rows(table: Table, data: pl.DataFrame) -> list[tuple[Any, ...]]:
    """The released labels of each row, and which row it is."""
    names = [f"c{n}" for n in range(len(table[0]))]
    return [(*map(str, row[:-1]), row[-1]) for row in data.select(*names, "number").iter_rows()]


def is_sound(table: Table, released: list[tuple[Any, ...]], node: tuple[int, ...], k: int) -> bool:
    """Whether released rows are the rows at a node, `*` in exactly the classes smaller than k."""
    hierarchies, rows = table
    labels = generalise(rows, hierarchies, node)
    sizes = Counter(labels)
    stars = ("*",) * len(hierarchies)
    return all(
        tuple(shown) == (labels[number] if sizes[labels[number]] >= k else stars)
        for *shown, number in released
    )


@ignore_warnings
@settings(max_examples=150)
@given(tables(), st.integers(2, 5), limits)
def test_every_release_is_some_node_with_exactly_its_small_classes_suppressed(
    table: Table, k: int, limit: float
) -> None:
    release = published(table, k, limit)
    if release is None:
        return
    hierarchies, rows = table
    assert sorted(release.data["number"]) == list(range(len(rows)))  # each record once
    nodes = product(*(range(len(paths[0])) for paths in hierarchies))
    released = released_rows(table, release.data)
    fitting = [node for node in nodes if is_sound(table, released, node, k)]
    assert fitting
    gone = min(evaluate(rows, hierarchies, node, k).suppressed for node in fitting)
    assert gone <= allowed(limit, len(rows))


@ignore_warnings
@settings(max_examples=100)
@given(tables(), st.integers(2, 5), limits)
def test_no_kept_class_is_smaller_than_k(table: Table, k: int, limit: float) -> None:
    release = published(table, k, limit)
    if release is None:
        return
    names = [f"c{n}" for n in range(len(table[0]))]
    sizes = Counter(release.data.select(names).rows())
    small = {labels: size for labels, size in sizes.items() if size < k}
    assert set(small) <= {("*",) * len(names)}


@ignore_warnings
@settings(max_examples=100)
@given(tables(), st.integers(2, 5), limits)
def test_the_figures_of_a_release_are_those_of_its_rows(table: Table, k: int, limit: float) -> None:
    release = published(table, k, limit)
    if release is None:
        return
    hierarchies, rows = table
    solution, risk = release.solution, release.risk
    levels = levels_of(release)
    plain = evaluate(rows, hierarchies, levels, k)
    kept = len(rows) - plain.suppressed
    assert is_sound(table, released_rows(table, release.data), levels, k)
    assert (solution.rows, solution.suppressed) == (len(rows), plain.suppressed)
    assert (risk.records, risk.suppressed, risk.classes) == (kept, plain.suppressed, plain.classes)
    assert solution.loss == pytest.approx(plain.loss, abs=1e-9)  # ten decimals kept per column
    assert sum(size * number for size, number in solution.class_sizes.items()) == kept
    assert min(solution.class_sizes) == risk.smallest >= k


@ignore_warnings
@settings(max_examples=100)
@given(tables(), st.integers(2, 12), limits)
def test_the_risks_of_a_release_agree_with_each_other(table: Table, k: int, limit: float) -> None:
    release = published(table, k, limit)
    if release is None:
        return
    risk = release.risk
    assert risk.average * risk.average_size == pytest.approx(1)
    assert risk.average <= risk.maximum <= 1 / k
    assert k < 10 or risk.at_risk == 0


@ignore_warnings
@settings(max_examples=75)
@given(tables(), st.integers(2, 5), limits)
def test_kept_order_is_the_order_of_the_input(table: Table, k: int, limit: float) -> None:
    release = published(table, k, limit, keep_order=True)
    if release is not None:
        assert release.data["number"].to_list() == list(range(len(table[1])))


@ignore_warnings
@settings(max_examples=75)
@given(tables(), st.integers(2, 5), limits)
def test_the_columns_that_are_not_generalised_pass_as_they_are(
    table: Table, k: int, limit: float
) -> None:
    release = published(table, k, limit, keep_order=True)
    if release is None:
        return
    original = frame_of(table)
    assert release.data.columns == [name for name in original.columns if name != "name"]
    assert_frame_equal(release.data.select("number", "parity"), original.select("number", "parity"))


@ignore_warnings
@settings(max_examples=75)
@given(tables(), st.integers(2, 5), limits)
def test_dropping_the_suppressed_leaves_exactly_the_kept_rows(
    table: Table, k: int, limit: float
) -> None:
    shown = published(table, k, limit, keep_order=True)
    dropped = published(table, k, limit, keep_order=True, drop_suppressed=True)
    if shown is None or dropped is None:
        return
    hierarchies, rows = table
    labels = generalise(rows, hierarchies, levels_of(shown))
    sizes = Counter(labels)
    kept = [number for number, label in enumerate(labels) if sizes[label] >= k]
    assert dropped.data["number"].to_list() == kept
    assert dropped.data.rows() == [shown.data.row(number) for number in kept]


@ignore_warnings
@settings(max_examples=75)
@given(tables(), st.integers(2, 5), limits)
def test_publishing_the_kept_rows_again_changes_nothing(table: Table, k: int, limit: float) -> None:
    release = published(table, k, limit, keep_order=True, drop_suppressed=True)
    if release is None:
        return
    names = [f"c{n}" for n in range(len(table[0]))]
    flat = Schema.of(
        quasi_identifiers={name: Ordered() for name in names},
        insensitive=["number", "parity"],
        accept_raw={"number": "it tells the rows of a test apart"},
    )
    again = publish(release.data, flat, KAnonymity(k), suppression=0, keep_order=True)
    assert (again.solution.levels, again.solution.loss) == ((0,) * len(names), 0.0)
    assert_frame_equal(again.data, release.data)


@ignore_warnings
@settings(max_examples=50)
@given(tables(max_columns=2), st.integers(2, 4), limits)
def test_a_second_model_never_lowers_the_loss(table: Table, k: int, limit: float) -> None:
    one, two = published(table, k, limit), published(table, k + 2, limit)
    if one is None or two is None:
        return
    both = publish(
        frame_of(table),
        schema_of(table),
        [KAnonymity(k), KAnonymity(k + 2)],
        suppression=limit,
    )
    assert both.solution == two.solution
    assert both.solution.loss >= one.solution.loss
    assert both.guarantee.promise.startswith(f"{k}-anonymity and {k + 2}-anonymity over c0")


PEOPLE: dict[str, list[Any]] = {
    "name": ["Ana", "Bea", "Cai", "Dan", "Eva"],
    "age": [21, 22, 23, 24, 61],
    "sex": ["F", "F", "M", "M", "F"],
    "disease": ["flu", "flu", "cold", "cold", "flu"],
}
ROLES = Schema.of(
    identifiers=["name"],
    quasi_identifiers={"age": Intervals(widths=(10,), domain=(0, 99)), "sex": None},
    sensitive=["disease"],
)


def in_order(data: Any) -> TableRelease:
    return publish(data, ROLES, KAnonymity(2), suppression=0.2, keep_order=True)


def arrow(columns: dict[str, list[Any]]) -> Any:
    return pl.DataFrame(columns).to_arrow()


@ignore_warnings
@pytest.mark.parametrize(
    "make",
    [pl.DataFrame, pl.LazyFrame, pd.DataFrame, arrow, dict],
    ids=["polars", "lazy", "pandas", "arrow", "mapping"],
)
def test_every_kind_of_table_gives_the_same_release(
    make: Callable[[dict[str, list[Any]]], Any],
) -> None:
    release = in_order(make(PEOPLE))
    assert release.data.rows() == [
        ("20-29", "F", "flu"),
        ("20-29", "F", "flu"),
        ("20-29", "M", "cold"),
        ("20-29", "M", "cold"),
        ("*", "*", "flu"),
    ]


@ignore_warnings
def test_the_input_is_left_as_it_was() -> None:
    frame, panda, table = pl.DataFrame(PEOPLE), pd.DataFrame(PEOPLE), arrow(PEOPLE)
    columns = {name: list(values) for name, values in PEOPLE.items()}
    for data in (frame, panda, table, columns):
        in_order(data)
    assert_frame_equal(frame, pl.DataFrame(PEOPLE))
    pd.testing.assert_frame_equal(panda, pd.DataFrame(PEOPLE))
    assert table.equals(arrow(PEOPLE))
    assert columns == PEOPLE


def test_columns_left_raw_keep_their_type_when_nobody_is_suppressed() -> None:
    table = pl.DataFrame(
        {
            "age": pl.Series([30, 30, 40, 40], dtype=pl.UInt8),
            "born": [dt.date(1990, 1, 1)] * 2 + [dt.date(1980, 1, 1)] * 2,
            "zip": pl.Series(["a", "a", "b", "b"], dtype=pl.Categorical),
            "weight": [1.5, 1.5, 2.0, 2.0],
        }
    )
    release = publish(table, Schema.of(quasi_identifiers=table.columns), KAnonymity(2))
    assert release.solution.levels == (0, 0, 0, 0)
    # Categories become text: their list may hold values that no row has any more.
    assert release.data.schema == table.schema | {"zip": pl.String}
    assert_frame_equal(release.data, table.cast({"zip": pl.String}), check_row_order=False)


@ignore_warnings
def test_raw_columns_become_text_when_somebody_is_suppressed() -> None:
    table = pl.DataFrame({"age": [30, 30, 41]})
    schema = Schema.of(quasi_identifiers=["age"])
    release = publish(table, schema, KAnonymity(2), suppression=0.4, keep_order=True)
    assert release.data["age"].to_list() == ["30", "30", "*"]


@pytest.mark.parametrize("drop", [False, True])
def test_the_curator_knows_the_source_of_each_row(drop: bool) -> None:
    options: dict[str, Any] = {"suppression": 0.5, "drop_suppressed": drop}
    release = publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2), **options)
    with pytest.warns(PrivacyWarning):
        kept = publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2), keep_order=True, **options)
    assert release.source_rows is not None
    assert kept.source_rows is not None
    order = np.argsort(release.source_rows)
    assert release.data[order].equals(kept.data)
    assert release.source_rows[order].tolist() == kept.source_rows.tolist()


def test_the_source_of_rows_stays_in_memory(tmp_path: pathlib.Path) -> None:
    release = publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2))
    assert pickle.loads(pickle.dumps(release)).source_rows is None
    release.save(tmp_path / "safe.csv")
    assert type(release).load(tmp_path / "safe.csv").source_rows is None
    assert "source_rows" not in (tmp_path / "safe.csv.cert.json").read_text("utf-8")
    assert "source_rows" not in repr(release)


def test_rows_are_shuffled_by_default() -> None:
    # Of 64! orders the original one comes up with a chance far below 1e-80.
    release = publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2))
    assert release.data["number"].to_list() != list(range(64))
    assert_frame_equal(release.data, SHUFFLED, check_row_order=False)


SHUFFLED = pl.DataFrame({"sex": ["F", "M"] * 32, "number": range(64)})
SHUFFLED_ROLES = Schema.of(
    quasi_identifiers=["sex"],
    sensitive=["number"],
    accept_raw={"number": "it tells the rows of a test apart"},
)


def test_a_seed_makes_a_simulation_that_can_be_repeated() -> None:
    first, second = (
        publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2), rng=Seeded(7)) for _ in range(2)
    )
    assert first.guarantee.simulation
    assert first.provenance.seed == 7
    assert_frame_equal(first.data, second.data)


def test_other_seeds_give_other_orders() -> None:
    orders = {
        tuple(publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2), rng=Seeded(n)).data["number"])
        for n in range(5)
    }
    assert len(orders) == 5


@pytest.mark.parametrize("rng", [None, System()])
def test_system_randomness_makes_a_real_release(rng: System | None) -> None:
    release = publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2), rng=rng)
    assert not release.guarantee.simulation
    assert release.provenance.seed is None


def test_keeping_the_order_is_warned_of_and_recorded() -> None:
    with pytest.warns(PrivacyWarning, match="original order") as caught:
        release = publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2), keep_order=True)
    assert [str(warning.message) for warning in caught] == list(release.warnings)
    assert release.certificate()["warnings"] == list(release.warnings)


def test_fewer_suppressed_records_than_k_are_warned_of_and_recorded() -> None:
    with pytest.warns(PrivacyWarning, match="a crowd of fewer than 2") as caught:
        release = publish(PEOPLE, ROLES, KAnonymity(2), suppression=0.2)
    assert [str(warning.message) for warning in caught] == list(release.warnings)


def test_dropping_the_suppressed_needs_no_warning() -> None:
    release = publish(PEOPLE, ROLES, KAnonymity(2), suppression=0.2, drop_suppressed=True)
    assert release.warnings == ()
    assert release.data.height == 4


def test_a_warning_points_at_the_line_that_published() -> None:
    with pytest.warns(PrivacyWarning) as caught:
        publish(SHUFFLED, SHUFFLED_ROLES, KAnonymity(2), keep_order=True)
    assert caught[0].filename == __file__


def test_the_parameters_are_recorded() -> None:
    release = publish(PEOPLE, ROLES, KAnonymity(2), suppression=0.2, drop_suppressed=True)
    assert release.provenance.made_by == "celosia.publish"
    assert release.provenance.parameters == {
        "models": [{"method": "k-anonymity", "k": 2}],
        "suppression": 0.2,
        "quasi_identifiers": ["age", "sex"],
        "metric": {"method": "loss"},
        "method": "lattice",
        "local": False,
        "levels": None,
        "time_limit": None,
        "keep_order": False,
        "sort": [],
        "drop_suppressed": True,
        "accept_raw": {},
    }


def test_the_line_of_a_release_tells_promise_loss_and_suppression() -> None:
    release = publish(PEOPLE, ROLES, KAnonymity(2), suppression=0.2, drop_suppressed=True)
    assert "2-anonymity over age, sex: smallest class 2, loss " in str(release)
    assert "1 of 5 records suppressed" in str(release)


HOLES = pl.DataFrame({"age": [30, None, 30, 40, None, 40], "sex": ["F"] * 6})


def test_empty_cells_are_refused_with_column_count_and_row() -> None:
    with pytest.raises(InputError, match=r"column 'age': 2 .*empty \(first at row 2\)") as caught:
        publish(HOLES, Schema.of(quasi_identifiers=["age", "sex"]), KAnonymity(2))
    assert (caught.value.code, caught.value.details["row"]) == ("CEL-T010", 2)


def with_holes(level: int) -> TableRelease:
    """The table with its empty ages as a value, published at one level."""
    rule = Hierarchy.from_paths([("30", "young", "*"), ("40", "old", "*")])
    ages = Column("age", Role.QUASI_IDENTIFIER, hierarchy=rule, missing="value")
    table = HOLES.select("age") if level == 0 else HOLES.select("age").head(5)
    return publish(table, Schema((ages,)), KAnonymity(2), suppression=0.2, keep_order=True)


@ignore_warnings
def test_empty_cells_can_be_a_value_and_stay_empty() -> None:
    assert_frame_equal(with_holes(0).data, HOLES.select("age"))


@ignore_warnings
def test_empty_cells_stay_empty_beside_suppressed_ones() -> None:
    assert with_holes(1).data["age"].to_list() == ["30", None, "30", "*", None]


@ignore_warnings
def test_empty_cells_count_as_a_class_of_their_own() -> None:
    table = pl.DataFrame({"age": [30, 30, 30, None]})
    ages = Column("age", Role.QUASI_IDENTIFIER, missing="value")
    release = publish(table, Schema((ages,)), KAnonymity(2), suppression=0.25, keep_order=True)
    assert release.data["age"].to_list() == ["30", "30", "30", "*"]


@ignore_warnings
def test_a_cell_that_reads_missing_is_not_an_empty_one() -> None:
    table = pl.DataFrame({"age": ["(missing)", "(missing)", "40", "40", "50"]})
    schema = Schema.of(quasi_identifiers=["age"])
    release = publish(table, schema, KAnonymity(2), suppression=0.2, keep_order=True)
    assert release.data["age"].to_list() == ["(missing)", "(missing)", "40", "40", "*"]


@ignore_warnings
def test_a_cell_that_reads_missing_can_stand_beside_an_empty_one() -> None:
    table = pl.DataFrame({"age": ["(missing)", "(missing)", None, None]})
    schema = Schema((Column("age", Role.QUASI_IDENTIFIER, missing="value"),))
    release = publish(table, schema, KAnonymity(2), suppression=0, keep_order=True)
    assert release.data["age"].to_list() == ["(missing)", "(missing)", None, None]


def test_a_column_without_any_value_can_be_published_where_empty_is_a_value() -> None:
    table = pl.DataFrame({"age": pl.Series([None] * 4, dtype=pl.String), "sex": ["F"] * 4})
    ages = Column("age", Role.QUASI_IDENTIFIER, missing="value")
    schema = Schema((ages, Column("sex", Role.QUASI_IDENTIFIER)))
    release = publish(table, schema, KAnonymity(2), suppression=0)
    assert release.data["age"].null_count() == 4


ALIKE = {"sex": ["F", "F", "M", "M"]}
SEX = Schema.of(quasi_identifiers=["sex"])


def refusal(data: Any, schema: Schema, models: Any = None, **options: Any) -> CelosiaError:
    with pytest.raises(CelosiaError) as caught:
        publish(data, schema, KAnonymity(2) if models is None else models, **options)
    return caught.value


@pytest.mark.parametrize("limit", [0.0, 0.5, 1.0])
def test_k_larger_than_the_table_cannot_be_promised(limit: float) -> None:
    error = refusal(ALIKE, SEX, KAnonymity(5), suppression=limit)
    assert isinstance(error, PrivacyError)
    assert error.code == "CEL-P001"
    assert (error.details["rows"], error.details["smallest"]) == (4, 5)


def test_k_as_large_as_the_table_makes_one_class() -> None:
    release = publish(ALIKE, SEX, KAnonymity(4), suppression=0)
    assert release.data["sex"].to_list() == ["*"] * 4
    assert (release.solution.loss, release.solution.class_sizes) == (1.0, {4: 1})


def test_a_table_without_rows_is_refused() -> None:
    assert refusal(pl.DataFrame(ALIKE).clear(), SEX).code == "CEL-P015"


def test_one_row_cannot_be_hidden() -> None:
    assert refusal({"sex": ["F"]}, SEX, suppression=1.0).code == "CEL-P001"


def test_no_model_is_refused() -> None:
    assert refusal(ALIKE, SEX, []).code == "CEL-P014"


def test_no_quasi_identifier_is_refused() -> None:
    schema = Schema((Column("sex", Role.SENSITIVE),))
    assert refusal(ALIKE, schema).code == "CEL-P013"


@pytest.mark.parametrize("limit", [-0.01, 1.5, float("nan"), "5%", None])
def test_a_suppression_limit_out_of_range_is_refused(limit: Any) -> None:
    assert refusal(ALIKE, SEX, suppression=limit).code == "CEL-P011"


@pytest.mark.parametrize("limit", [np.float64(0.5), np.float64(0)])
def test_a_suppression_limit_may_come_from_an_array(limit: float) -> None:
    assert publish(ALIKE, SEX, KAnonymity(2), suppression=limit).solution.suppressed == 0


def test_a_truth_value_is_no_suppression_limit() -> None:
    assert refusal(ALIKE, SEX, suppression=True).code == "CEL-P011"


@pytest.mark.parametrize("models", [5, "k=5", [5]], ids=str)
def test_what_is_no_model_is_refused_in_words(models: Any) -> None:
    assert isinstance(refusal(ALIKE, SEX, models), InputError)


def test_a_column_that_the_table_lacks_is_refused_with_the_nearest_name() -> None:
    error = refusal(ALIKE, Schema.of(quasi_identifiers=["sexe"]))
    assert error.code == "CEL-S010"
    assert "'sexe' (did you mean 'sex'?)" in str(error)


def test_a_column_without_a_role_is_refused() -> None:
    error = refusal(ALIKE | {"name": ["a", "b", "c", "d"]}, SEX)
    assert (error.code, error.details["columns"]) == ("CEL-S011", ["name"])


@pytest.mark.parametrize("data", [None, 5, "table.csv", [1, 2], {"sex": 5}])
def test_what_is_no_table_is_refused(data: Any) -> None:
    assert refusal(data, SEX).code == "CEL-F001"


def test_300_other_columns_pass_as_they_are() -> None:
    others = {f"column {n}": [n, n + 1, n + 2, n + 3] for n in range(300)}
    schema = Schema.of(quasi_identifiers=["sex"], other_columns=Role.INSENSITIVE)
    release = publish(ALIKE | others, schema, KAnonymity(2))
    assert release.data.shape == (4, 301)
    assert_frame_equal(release.data, pl.DataFrame(ALIKE | others), check_row_order=False)


def test_other_columns_can_be_dropped_as_identifiers() -> None:
    schema = Schema.of(quasi_identifiers=["sex"], other_columns=Role.IDENTIFIER)
    release = publish(ALIKE | {"name": list("abcd")}, schema, KAnonymity(2))
    assert release.data.columns == ["sex"]


@pytest.mark.parametrize(
    "make",
    [
        lambda role: Schema.of(quasi_identifiers=["sex"], other_columns=role),
        lambda role: Schema((Column("sex", Role.QUASI_IDENTIFIER), Column("name", role))),
    ],
    ids=["other columns", "column"],
)
def test_an_identifier_is_never_released_however_its_role_was_written(
    make: Callable[[Any], Schema],
) -> None:
    try:
        release = publish(ALIKE | {"name": list("abcd")}, make("identifier"), KAnonymity(2))
    except InputError:
        return  # refusing the text is as good as understanding it
    assert release.data.columns == ["sex"]


def test_a_constant_quasi_identifier_costs_nothing() -> None:
    table = ALIKE | {"country": ["Chile"] * 4, "year": [2026] * 4}
    schema = Schema.of(quasi_identifiers=["sex", "country", "year"])
    solution = publish(table, schema, KAnonymity(2)).solution
    assert (solution.levels, solution.loss) == ((0, 0, 0), 0.0)


def test_a_constant_column_alone_is_one_class() -> None:
    schema = Schema.of(quasi_identifiers=["country"])
    release = publish({"country": ["Chile"] * 4}, schema, KAnonymity(4), suppression=0)
    assert release.data["country"].to_list() == ["Chile"] * 4


def test_the_quasi_identifiers_may_stand_in_another_order_than_the_columns() -> None:
    schema = Schema.of(quasi_identifiers=["sex", "age"])
    table = pl.DataFrame({"age": [30, 30, 40, 40], "sex": list("FFMM")})
    release = publish(table, schema, KAnonymity(2))
    assert release.data.columns == ["age", "sex"]
    assert [column.name for column in release.solution.columns] == ["sex", "age"]


def test_publishing_stops_when_told_to() -> None:
    def stop(step: Step) -> None:
        raise Cancelled()

    with pytest.raises(Cancelled):
        publish(ALIKE, SEX, KAnonymity(2), progress=stop)


def test_progress_names_the_stages_in_order() -> None:
    steps: list[Step] = []
    publish(ALIKE, SEX, KAnonymity(2), progress=steps.append)
    stages = list(dict.fromkeys(step.stage for step in steps))
    measuring = "Measuring the columns that are published as they are"
    assert stages == [
        "Reading the columns",
        measuring,
        "Searching the lattice",
        "Recoding the table",
    ]


MARKER = "zebra" + "4711"
NUMBER = 47_110_815


def texts(value: Any = MARKER) -> dict[str, list[Any]]:
    return {"secret": [value, value, value, value]}


def rule(hierarchy: Any) -> Schema:
    return Schema.of(quasi_identifiers={"secret": hierarchy})


PLAIN = Schema.of(quasi_identifiers=["secret"])

LEAKS: dict[str, Callable[[], object]] = {
    "not in a tree": lambda: publish(texts(), rule(Tree(["a", "b"])), KAnonymity(2)),
    "not in a hierarchy": lambda: publish(
        texts(), rule(Hierarchy.from_paths([("a", "*")])), KAnonymity(2)
    ),
    "not a number": lambda: publish(texts(), rule(Intervals(widths=(5,))), KAnonymity(2)),
    "below the intervals": lambda: publish(
        texts(-NUMBER), rule(Intervals(widths=(5,))), KAnonymity(2)
    ),
    "outside the domain": lambda: publish(
        texts(NUMBER), rule(Intervals(widths=(5,), start=1, domain=(1, 9))), KAnonymity(2)
    ),
    "a fraction": lambda: publish(
        texts(NUMBER + 0.5), rule(Intervals(widths=(5,), style="range")), KAnonymity(2)
    ),
    "not a date": lambda: publish(texts(), rule(Dates()), KAnonymity(2)),
    "not in the format": lambda: publish(texts(), rule(Dates(format="%d/%m/%Y")), KAnonymity(2)),
    "not in the order": lambda: publish(texts(), rule(Ordered(order=("a", "b"))), KAnonymity(2)),
    "too long to mask": lambda: publish(texts(MARKER * 10), rule(Mask()), KAnonymity(2)),
    "an empty neighbour": lambda: publish({"secret": [MARKER, None]}, PLAIN, KAnonymity(2)),
    "mixed kinds": lambda: publish({"secret": [1, MARKER]}, PLAIN, KAnonymity(2)),
    "mixed kinds in pandas": lambda: publish(
        pd.DataFrame({"secret": [1, MARKER]}), PLAIN, KAnonymity(2)
    ),
    "nested": lambda: publish({"secret": [[MARKER], [MARKER]]}, PLAIN, KAnonymity(2)),
    "records": lambda: publish(pl.DataFrame({"secret": [{"x": MARKER}] * 2}), PLAIN, KAnonymity(2)),
    "bytes": lambda: publish({"secret": [MARKER.encode()] * 2}, PLAIN, KAnonymity(2)),
    "a text for a column": lambda: publish({"secret": MARKER}, PLAIN, KAnonymity(2)),
    "a text for a table": lambda: publish(MARKER, PLAIN, KAnonymity(2)),
    "columns of two lengths": lambda: publish(
        {"secret": [MARKER], "b": [1, 2]}, PLAIN, KAnonymity(2)
    ),
    "a pandas index": lambda: publish(
        pd.DataFrame({"secret": [1, 2]}, index=[MARKER, "b"]), PLAIN, KAnonymity(2)
    ),
    "too few rows": lambda: publish(texts(), PLAIN, KAnonymity(9)),
    "a wrong limit": lambda: publish(texts(), PLAIN, KAnonymity(2), suppression=2),
    "no model": lambda: publish(texts(), PLAIN, []),
    "an unknown column": lambda: publish(
        texts(), Schema.of(quasi_identifiers=["secrets"]), KAnonymity(2)
    ),
    "a column without role": lambda: publish(texts() | {"b": [1] * 4}, PLAIN, KAnonymity(2)),
    "two leaves alike": lambda: Hierarchy.from_paths([(MARKER, "*"), (MARKER, "*")]),
    "two parents": lambda: Hierarchy.from_paths([("a", MARKER, "x"), ("b", MARKER, "y")]),
    "ragged paths": lambda: Hierarchy.from_paths([("a", MARKER, "*"), (MARKER, "*")]),
    "no such leaf": lambda: Hierarchy.from_paths([("a", "*")]).label(MARKER, level=1),
}


@pytest.mark.parametrize("fault", LEAKS.values(), ids=LEAKS)
def test_no_error_shows_a_cell(fault: Callable[[], object]) -> None:
    with pytest.raises(CelosiaError) as caught:
        fault()
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    shown += repr(caught.value.as_dict()) + repr(caught.value.__context__)
    assert MARKER not in shown
    assert str(NUMBER) not in shown


@pytest.mark.parametrize("rows", [[1, 3], [0, 1, 2, 3]])
def test_values_outside_the_hierarchy_are_counted_with_their_first_row(rows: list[int]) -> None:
    cells = [MARKER if row in rows else "a" for row in range(4)]
    error = refusal({"secret": cells}, rule(Tree(["a", "b"])))
    assert error.code == "CEL-T011"
    assert f"{len(rows)} row" in str(error)
    assert error.details["values"] == 1
    assert error.details["row"] == rows[0] + 1
