"""A release is judged by its labels alone, and tampering shows."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_models import Whole, kept_classes
from tests.tables.recoding.strategies import KINDS, TREE, People, people
from tests.tables.test_explore import frame_of, schema_of

from celosia import KAnonymity
from celosia.core.errors import InputError, PrivacyError, PrivacyWarning
from celosia.tables import (
    AverageRisk,
    DistinctDiversity,
    Hierarchy,
    KMap,
    Schema,
    TCloseness,
    check,
    publish,
)
from celosia.tables.models import Model

ignore_warnings = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
models = st.one_of(
    *(
        KINDS[kind]
        for kind in KINDS
        if kind not in {"k-map", "delta-presence"}  # which need a population
    )
)


@ignore_warnings
@settings(max_examples=100)
@given(people(), st.lists(models, min_size=1, max_size=2), st.sampled_from([0.0, 0.3, 1.0]))
def test_every_release_passes_its_own_check(
    table: People, asked: list[Model], suppression: float
) -> None:
    schema = schema_of(table)
    try:
        release = publish(frame_of(table), schema, asked, suppression=suppression)
    except PrivacyError:
        return
    found = check(release.data, schema, asked)
    assert found.holds
    assert found.suppressed == release.solution.suppressed
    assert found.records == release.risk.records
    assert found.classes == release.risk.classes


@settings(max_examples=150)
@given(people(), models)
def test_any_table_is_judged_as_defined(table: People, model: Model) -> None:
    raw = (0,) * len(table.hierarchies)
    classes = {label: one for label, one in table.classes(raw).items() if one.values}
    kept = kept_classes(classes, Whole(table.values, TREE), [model])
    found = check(frame_of(table), schema_of(table), model)
    (verdict,) = found.models
    assert verdict.holds == found.holds == (kept == set(classes))
    assert verdict.classes == len(classes) - len(kept)
    gone = [one for label, one in classes.items() if label not in kept]
    assert verdict.records == sum(len(one.values) for one in gone)


LETTERS = Hierarchy.from_paths([(leaf, "*") for leaf in "xyz"])
ROLES = Schema.of(identifiers=["name"], quasi_identifiers={"a": LETTERS}, sensitive=["illness"])
PEOPLE = pl.DataFrame(
    {
        "name": [f"n{number}" for number in range(9)],
        "a": [*"xxxxyyyyz"],
        "illness": ["flu", "flu", "cough", "cough", "flu", "flu", "cough", "cough", "flu"],
    }
)
ASKED: list[Model] = [KAnonymity(4), DistinctDiversity(2), TCloseness(0.1)]


@pytest.fixture
def released() -> pl.DataFrame:
    with pytest.warns(PrivacyWarning):  # one suppressed record is no crowd
        release = publish(PEOPLE, ROLES, ASKED, suppression=0.2)
    data = release.data.sort("a", "illness")
    return pl.concat([data.filter(pl.col("a") != "*"), data.filter(pl.col("a") == "*")])


def changed(data: pl.DataFrame, row: int, **cells: Any) -> pl.DataFrame:
    columns = {name: data[name].to_list() for name in data.columns}
    for name, cell in cells.items():
        columns[name][row] = cell
    return pl.DataFrame(columns)


def failing(data: pl.DataFrame) -> list[str]:
    return [model.promise for model in check(data, ROLES, ASKED).models if not model.holds]


def test_a_release_without_its_identifiers_is_checked_by_the_same_schema(
    released: pl.DataFrame,
) -> None:
    assert "name" not in released.columns
    found = check(released, ROLES, ASKED)
    assert (found.holds, found.records, found.suppressed, found.classes) == (True, 8, 1, 2)
    assert check(released.with_columns(name=pl.lit("?")), ROLES, ASKED).holds


def test_a_record_moved_to_another_class_shows(released: pl.DataFrame) -> None:
    moved = changed(released, 0, a="y")
    assert "4-anonymity" in failing(moved)


def test_a_changed_label_shows(released: pl.DataFrame) -> None:
    assert "4-anonymity" in failing(changed(released, 0, a="q"))


def test_a_suppressed_record_made_visible_again_shows(released: pl.DataFrame) -> None:
    raw = changed(released, 8, a="z")
    assert len(failing(raw)) == 3
    assert check(raw, ROLES, ASKED).models[0].records == 1


def test_a_changed_sensitive_value_shows(released: pl.DataFrame) -> None:
    flat = changed(changed(released, 0, illness="flu"), 1, illness="flu")
    assert failing(flat) == ["distinct 2-diversity of illness", failing(flat)[1]]
    assert "closeness" in failing(flat)[1]


@pytest.mark.parametrize(
    ("table", "models", "code"),
    [
        (PEOPLE.head(0), KAnonymity(2), "CEL-P015"),
        (PEOPLE.drop("a"), KAnonymity(2), "CEL-S010"),
        (PEOPLE.drop("illness"), KAnonymity(2), "CEL-S010"),
        (PEOPLE.with_columns(more=pl.lit(1)), KAnonymity(2), "CEL-S011"),
        (PEOPLE, KMap(2), "CEL-P006"),
        (PEOPLE, DistinctDiversity(2, "a"), "CEL-P007"),
    ],
)
def test_what_cannot_be_checked_is_refused(table: pl.DataFrame, models: Model, code: str) -> None:
    with pytest.raises(InputError) as refused:
        check(table, ROLES, models)
    assert refused.value.code == code


def test_average_risk_counts_all_classes_together() -> None:
    table = pl.DataFrame({"a": [*"xxxxxyz"], "illness": ["flu"] * 7})
    roles = Schema.of(quasi_identifiers={"a": LETTERS}, sensitive=["illness"])
    assert not check(table, roles, AverageRisk(0.4)).holds
    assert check(table, roles, AverageRisk(0.43)).holds  # 3 classes of 7 records
