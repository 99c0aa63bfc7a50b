"""Tables in which a person, or a household, has several records."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import KAnonymity, tables
from celosia.core.errors import InputError, PrivacyError, PrivacyWarning
from celosia.engines import DuckDBTables
from celosia.tables import Schema
from celosia.tables.models import (
    AverageRisk,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    Model,
)

QUASI = {"age": tables.Mask(), "zip": tables.Mask()}


def visits(records: int = 600, people: int = 150) -> pl.DataFrame:
    """Visits to a doctor: some people come often, others once."""
    rng = np.random.default_rng(5)
    person = (rng.random(records) ** 2 * people).astype(int)
    return pl.DataFrame(
        {
            "patient": [f"p{each}" for each in person],
            "home": [f"h{each // 3}" for each in person],
            "age": [str(20 + each * 7 % 60) for each in person],
            "zip": [f"{each:03d}" for each in rng.integers(0, 120, records)],
            "disease": rng.choice(["flu", "cold", "gout", "cough"], records).tolist(),
        }
    )


def schema(**unit: Any) -> Schema:
    return Schema.of(
        quasi_identifiers=QUASI, sensitive=["disease"], identifiers=["patient", "home"], **unit
    )


BY_PERSON = schema(person="patient")


def quiet_publish(
    frame: pl.DataFrame, roles: Schema, models: Model | list[Model], **how: Any
) -> tables.TableRelease:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return tables.publish(frame, roles, models, **how)


def units_of_classes(release: tables.TableRelease, unit: pl.Series) -> dict[object, set[str]]:
    """By what a reader sees: whose records are in each class of a release."""
    assert release.source_rows is not None
    found: dict[object, set[str]] = defaultdict(set)
    for labels, row in zip(release.data.select(*QUASI).rows(), release.source_rows, strict=True):
        if labels != ("*", "*"):
            found[labels].add(unit[int(row)])
    return found


def test_ten_records_of_one_person_are_no_crowd() -> None:
    table = pl.DataFrame({"patient": ["a"] * 10, "age": ["30"] * 10})
    roles = Schema.of(quasi_identifiers=["age"], person="patient")
    with pytest.raises(PrivacyError) as refused:
        tables.publish(table, roles, KAnonymity(5))
    assert "records of 1 unit" in str(refused.value)
    by_record = Schema.of(quasi_identifiers=["age"], identifiers=["patient"], unit="record")
    assert tables.publish(table, by_record, KAnonymity(5)).risk.smallest == 10


@pytest.mark.parametrize("method", ["lattice", "mondrian"])
@pytest.mark.parametrize("column", ["patient", "home"])
def test_every_class_has_k_people_or_households(method: str, column: str) -> None:
    frame = visits()
    roles = schema(person="patient") if column == "patient" else schema(household="home")
    release = quiet_publish(frame, roles, KAnonymity(7), method=method)
    crowds = units_of_classes(release, frame[column])
    assert min(map(len, crowds.values())) >= 7
    assert Counter(map(len, crowds.values())) == release.solution.class_sizes
    assert release.risk.smallest == min(map(len, crowds.values()))


def test_records_of_few_people_pass_only_where_records_are_counted() -> None:
    frame = visits()
    by_record = quiet_publish(frame, schema(unit="record"), KAnonymity(7), method="mondrian")
    by_person = quiet_publish(frame, BY_PERSON, KAnonymity(7), method="mondrian")
    assert min(map(len, units_of_classes(by_record, frame["patient"]).values())) < 7
    assert by_person.solution.loss > by_record.solution.loss


def test_a_household_of_several_people_is_the_larger_unit() -> None:
    both = schema(person="patient", household="home")
    assert (both.unit, both.unit_column) == ("household", "home")
    frame = visits()
    release = quiet_publish(frame, both, KAnonymity(4))
    assert release.solution.units is not None
    assert release.solution.units.number == frame["home"].n_unique()
    assert min(map(len, units_of_classes(release, frame["patient"]).values())) >= 4


def test_a_value_that_all_people_of_a_class_have_is_not_diverse() -> None:
    """Each has one other disease: 6 different values by records, and everybody has the flu."""
    rows = [(f"p{p}", d) for p in range(5) for d in ("flu", f"other {p}")]
    frame = pl.DataFrame(rows, schema=["patient", "disease"], orient="row")
    frame = frame.with_columns(age=pl.lit("30"))
    roles = Schema.of(quasi_identifiers=["age"], sensitive=["disease"], person="patient")
    with pytest.raises(PrivacyError):
        tables.publish(frame, roles, [KAnonymity(5), DistinctDiversity(3)])
    by_record = Schema.of(quasi_identifiers=["age"], sensitive=["disease"])
    tables.publish(
        frame.drop("patient"), by_record, [KAnonymity(5), DistinctDiversity(3)], suppression=0
    )


WAYS: list[tuple[str, list[Model]]] = [
    ("lattice", [KAnonymity(4), DistinctDiversity(2)]),
    ("lattice", [AverageRisk(0.1), KAnonymity(3)]),
    ("mondrian", [KAnonymity(5)]),
]


@pytest.mark.parametrize(("method", "models"), WAYS)
def test_file_and_engine_publish_what_memory_does(
    tmp_path: Path, method: str, models: list[Model]
) -> None:
    frame = visits()
    source = tmp_path / "visits.parquet"
    frame.write_parquet(source)
    memory = quiet_publish(frame, BY_PERSON, models, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        file = tables.publish_file(
            source, tmp_path / "file.parquet", BY_PERSON, models, method=method, chunk_rows=70
        )
        with DuckDBTables() as engine:
            on = tables.publish_on(
                engine, source, tmp_path / "on.parquet", BY_PERSON, models, method=method
            )
    for other in (file, on):
        assert other.solution.levels == memory.solution.levels
        assert other.solution.units == memory.solution.units
        assert other.solution.suppressed == memory.solution.suppressed
        assert other.solution.loss == pytest.approx(memory.solution.loss, abs=1e-5)
    labels = Counter(memory.data.select(*QUASI).rows())
    for name in ("file", "on"):
        written = pl.read_parquet(tmp_path / f"{name}.parquet")
        assert written.columns == ["age", "zip", "disease"]
        assert Counter(written.select(*QUASI).rows()) == labels


def test_an_identifier_that_repeats_is_refused_with_its_counts(tmp_path: Path) -> None:
    frame = visits()
    source = tmp_path / "visits.parquet"
    frame.write_parquet(source)
    roles = Schema.of(quasi_identifiers=QUASI, identifiers=["patient"], other_columns="insensitive")
    target = tmp_path / "out.parquet"

    def on_engine() -> object:
        with DuckDBTables() as engine:
            return tables.publish_on(engine, source, target, roles, KAnonymity(5))

    for publish in (
        lambda: tables.publish(frame, roles, KAnonymity(5)),
        lambda: tables.publish_file(source, target, roles, KAnonymity(5), chunk_rows=100),
        on_engine,
    ):
        with pytest.raises(InputError) as refused:
            publish()
        assert refused.value.code == "CEL-P068"
        assert refused.value.details["records"] == 600
        assert refused.value.details["distinct"] == frame["patient"].n_unique()
        assert 'person = "patient"' in str(refused.value)
    assert not target.exists()


def test_an_identifier_that_does_not_repeat_needs_no_person() -> None:
    frame = visits().with_columns(visit=pl.int_range(600).cast(pl.String)).drop("patient", "home")
    roles = Schema.of(quasi_identifiers=QUASI, sensitive=["disease"], identifiers=["visit"])
    assert quiet_publish(frame, roles, KAnonymity(5)).solution.units is None


def test_records_without_a_person_are_refused() -> None:
    frame = visits().with_columns(
        patient=pl.when(pl.int_range(600) < 3).then(None).otherwise("patient")
    )
    with pytest.raises(InputError) as refused:
        tables.publish(frame, BY_PERSON, KAnonymity(5))
    assert (refused.value.code, refused.value.details["rows"]) == ("CEL-T015", 3)


def test_the_check_counts_people_where_their_column_is_there() -> None:
    copy = pl.DataFrame({"patient": list("aabbcc"), "age": ["20-29"] * 6})
    roles = Schema.of(quasi_identifiers=["age"], person="patient")
    assert tables.check(copy, roles, KAnonymity(3)).holds
    assert not tables.check(copy, roles, KAnonymity(4)).holds
    with pytest.raises(InputError) as refused:
        tables.check(copy.drop("patient"), roles, KAnonymity(4))
    assert refused.value.code == "CEL-P069"


@pytest.mark.parametrize(
    ("models", "how"),
    [
        ([KMap(5)], {}),
        ([EntropyDiversity(2, estimator="grassberger")], {}),
        ([KAnonymity(5)], {"method": "mondrian-relaxed"}),
    ],
)
def test_what_has_no_meaning_for_people_is_refused(
    models: list[Model], how: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as refused:
        tables.publish(visits(), BY_PERSON, models, **how)
    assert refused.value.code == "CEL-P062"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"person": "age"}, "CEL-S015"),
        ({"unit": "person"}, "CEL-S015"),
        ({"person": 3}, "CEL-S015"),
        ({"person": "patient", "unit": "vist"}, "CEL-S007"),
    ],
)
def test_a_schema_refuses_a_unit_that_is_none(settings: dict[str, object], code: str) -> None:
    table = {"table": settings, "columns": {"age": {"role": "quasi-identifier"}}}
    with pytest.raises(InputError) as refused:
        Schema.from_table(table)
    assert refused.value.code == code


def test_a_schema_file_names_the_person(tmp_path: Path) -> None:
    file = tmp_path / "schema.toml"
    file.write_text(
        '[table]\nperson = "patient"\n[columns.age]\nrole = "quasi-identifier"\n', "utf-8"
    )
    roles = Schema.load(file)
    assert (roles.unit, roles.unit_column) == ("person", "patient")
    assert roles.role_of("patient") is tables.Role.IDENTIFIER


def test_the_release_says_what_becomes_of_people() -> None:
    frame = visits()
    with pytest.warns(PrivacyWarning, match="knows all records of a person"):
        release = tables.publish(frame, BY_PERSON, KAnonymity(5))
    units = release.solution.units
    assert units is not None
    records = Counter(frame["patient"])
    assert units.number == len(records)
    assert units.several == sum(count > 1 for count in records.values())
    assert release.guarantee.unit == "person"
    text = str(release.document())
    assert "p1" not in text
    assert "knows all records" in text
    facts = release.solution.as_dict()
    assert type(release.solution).from_dict(facts) == release.solution


def test_people_known_by_all_their_records_are_counted_by_brute_force() -> None:
    frame = visits()
    release = quiet_publish(frame, BY_PERSON, KAnonymity(5))
    assert release.source_rows is not None
    assert release.solution.units is not None
    seen: dict[str, Counter[object]] = defaultdict(Counter)
    for labels, row in zip(release.data.select(*QUASI).rows(), release.source_rows, strict=True):
        if labels != ("*", "*"):
            seen[frame["patient"][int(row)]][labels] += 1
    signatures = Counter(frozenset(each.items()) for each in seen.values())
    alone = sum(1 for each in signatures.values() if each == 1)
    assert release.solution.units.singled_out == alone > 0


def test_raw_columns_are_measured_by_people() -> None:
    """Every note is shared by three records, all of one person."""
    people = [n // 3 for n in range(300)]
    frame = pl.DataFrame(
        {
            "patient": [f"p{n}" for n in people],
            "age": [str(20 + n % 4) for n in people],
            "note": [f"note {n}" for n in people],
        }
    )
    how: dict[str, Any] = {"quasi_identifiers": ["age"], "insensitive": ["note"]}
    with pytest.raises(PrivacyError) as refused:
        tables.publish(frame, Schema.of(**how, person="patient"), KAnonymity(5))
    assert refused.value.code == "CEL-P080"
    quiet_publish(frame, Schema.of(**how, identifiers=["patient"], unit="record"), KAnonymity(5))
