"""Columns published as they are must not single records out, on any path, unless accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import InputError, KAnonymity, PrivacyError, Schema
from celosia.core.release import certificate_path
from celosia.engines import DuckDBTables
from celosia.tables import Column, Role, TableRelease, publish, publish_file
from celosia.tables.account import RawColumns
from celosia.tables.release import PublishedTable
from celosia.tables.run_on_engine import publish_on

ROWS = 400
REASON = "Only the bank knows it."


@pytest.fixture(scope="module")
def bills() -> pl.DataFrame:
    """Ages and sexes with a disease of few kinds, and two columns on which nearly all are alone."""
    draws = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": draws.integers(20, 80, ROWS),
            "sex": draws.choice(["F", "M"], ROWS),
            "disease": draws.choice(["flu", "asma", "gripe"], ROWS),
            "bill": draws.integers(0, 10**6, ROWS),
            "limit": draws.integers(0, 150, ROWS),
        }
    )


SCHEMA = Schema.of(
    quasi_identifiers=["age", "sex"], sensitive=["disease"], insensitive=["bill", "limit"]
)
Publisher = Callable[..., PublishedTable]


@pytest.fixture(params=["memory", "file", "engine"])
def publisher(request: pytest.FixtureRequest, bills: pl.DataFrame, tmp_path: Path) -> Publisher:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    bills.write_parquet(source)

    def run(schema: Schema = SCHEMA, **options: Any) -> PublishedTable:
        if request.param == "memory":
            return publish(bills, schema, KAnonymity(5), **options)
        if request.param == "file":
            return publish_file(source, target, schema, KAnonymity(5), chunk_rows=90, **options)
        with DuckDBTables() as engine:
            return publish_on(engine, source, target, schema, KAnonymity(5), **options)

    return run


def test_records_that_raw_columns_single_out_are_refused_with_the_figures(
    publisher: Publisher, bills: pl.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises(PrivacyError) as refused:
        publisher()
    error = refused.value
    together = bills.select("disease", "bill", "limit")
    alone = int((together.group_by(together.columns).len()["len"] == 1).sum())
    assert (error.code, error.details["alone"], error.details["records"]) == (
        "CEL-P080", alone, ROWS
    )  # fmt: skip
    assert error.details["columns"] == ["bill", "limit"]
    assert {path.name for path in tmp_path.iterdir()} <= {"raw.parquet"}


def test_what_is_accepted_in_writing_is_published_and_kept(publisher: Publisher) -> None:
    release = publisher(accept_raw=["bill", "limit"], reason=REASON)
    assert release.raw is not None
    assert {each.name: each.accepted for each in release.raw.columns} == {
        "disease": None, "bill": REASON, "limit": REASON
    }  # fmt: skip
    assert release.provenance.parameters["accept_raw"] == {"bill": REASON, "limit": REASON}
    page = release.document().html()
    assert REASON in page
    assert "Columns published as they are" in page
    assert release.raw.published is not None
    assert release.raw.published.alone >= release.raw.together.alone > 0.95 * ROWS


def test_a_column_that_was_not_accepted_is_still_measured(publisher: Publisher) -> None:
    with pytest.raises(PrivacyError) as refused:
        publisher(accept_raw="bill", reason=REASON)
    assert refused.value.details["columns"] == ["limit"]


def test_all_paths_measure_the_same(bills: pl.DataFrame, tmp_path: Path) -> None:
    source = tmp_path / "raw.parquet"
    bills.write_parquet(source)
    options: dict[str, Any] = {"accept_raw": ["bill", "limit"], "reason": REASON}
    whole = publish(bills, SCHEMA, KAnonymity(5), drop_suppressed=True, **options)
    for chunk in (90, 1000):
        file = publish_file(
            source, tmp_path / "f.csv", SCHEMA, KAnonymity(5), drop_suppressed=True,
            chunk_rows=chunk, **options,
        )  # fmt: skip
        assert file.raw == whole.raw
    with DuckDBTables() as engine:
        target = tmp_path / "e.parquet"
        made = publish_on(
            engine, source, target, SCHEMA, KAnonymity(5), drop_suppressed=True, **options
        )
    assert made.raw == whole.raw


def test_few_kinds_of_a_disease_are_no_reason_to_refuse(bills: pl.DataFrame) -> None:
    schema = Schema.of(quasi_identifiers=["age", "sex"], sensitive=["disease"])
    release = publish(bills.select("age", "sex", "disease"), schema, KAnonymity(5))
    assert release.raw is not None
    assert release.raw.together.combinations == 3


def test_a_table_without_raw_columns_says_nothing_of_them(bills: pl.DataFrame) -> None:
    schema = Schema.of(quasi_identifiers=["age", "sex"])
    release = publish(bills.select("age", "sex"), schema, KAnonymity(5))
    assert release.raw is None
    assert "published as they are" not in release.document().html()


def test_the_reason_may_stand_in_the_schema(bills: pl.DataFrame, tmp_path: Path) -> None:
    roles = ("quasi-identifier", "quasi-identifier", "sensitive", "sensitive", "quasi-identifier")
    lines = [
        f'[columns.{name}]\nrole = "{role}"\n'
        for name, role in zip(bills.columns, roles, strict=True)
    ]
    lines[3] += f'accept_raw = "{REASON}"\n'
    (tmp_path / "bills.toml").write_text("".join(lines))
    release = publish(bills, Schema.load(tmp_path / "bills.toml"), KAnonymity(5))
    assert release.raw is not None
    assert release.raw.columns[1].accepted == REASON
    target = release.save(tmp_path / "safe.csv")
    assert json.loads(certificate_path(target).read_text())["measures"]["raw"]["columns"]
    assert TableRelease.load(target).raw == release.raw
    assert RawColumns.from_dict(release.raw.as_dict()) == release.raw


@pytest.mark.parametrize(
    ("options", "variant"),
    [
        ({"accept_raw": ["bill"]}, "reason"),
        ({"accept_raw": ["bill"], "reason": "  "}, "reason"),
        ({"reason": REASON}, "no column"),
        ({"accept_raw": ["age"], "reason": REASON}, "not published as they are"),
        ({"accept_raw": ["nothing"], "reason": REASON}, "not published as they are"),
    ],
)
def test_an_acceptance_names_raw_columns_and_a_reason(
    bills: pl.DataFrame, options: dict[str, Any], variant: str
) -> None:
    with pytest.raises(InputError, match=variant) as refused:
        publish(bills, SCHEMA, KAnonymity(5), **options)
    assert refused.value.code == "CEL-P081"


def test_a_schema_accepts_raw_columns_only_and_with_a_reason() -> None:
    for role, reason in ((Role.QUASI_IDENTIFIER, REASON), (Role.SENSITIVE, " ")):
        with pytest.raises(InputError) as refused:
            Column("bill", role, accept_raw=reason)
        assert refused.value.code == "CEL-P081"
