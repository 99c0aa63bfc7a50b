"""Releases sorted by what they show: the order tells nothing that the values do not tell."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from celosia import InputError, KAnonymity, Seeded, datasets, frames
from celosia.engines.duckdb_tables import DuckDBTables
from celosia.tables import Intervals, Schema, publish, publish_file, publish_on

TABLE = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(60)],
        "age": [20 + i % 40 for i in range(60)],
        "note": ["b", "a", "c"] * 20,
    }
)
SCHEMA = Schema.of(
    identifiers=["name"],
    quasi_identifiers={"age": Intervals(bounds=((0, 30, 40, 120),))},
    insensitive=["note"],
)
ORDER = [(age, note) for age in ("0-29", "30-39", "40-119") for note in "abc"]


def order_of(frame: pl.DataFrame) -> list[tuple[str, str]]:
    return frame.select("age", "note").unique(maintain_order=True).rows()


def test_memory_files_and_engines_sort_alike(tmp_path: Path) -> None:
    source = tmp_path / "raw.parquet"
    frames.write(TABLE, source)
    sort = ("age", "note")
    release = publish(TABLE, SCHEMA, KAnonymity(5), sort=sort)
    assert order_of(release.data) == ORDER
    assert release.certificate()["provenance"]["parameters"]["sort"] == ["age", "note"]
    publish_file(source, tmp_path / "f.csv", SCHEMA, KAnonymity(5), sort=sort, chunk_rows=7)
    with DuckDBTables() as engine:
        target = tmp_path / "e.parquet"
        publish_on(engine, source, target, SCHEMA, KAnonymity(5), sort=sort)
    rows = release.data.rows()
    assert frames.read(tmp_path / "f.csv").rows() == rows
    assert frames.read(target).rows() == rows


def test_rows_that_show_the_same_stay_shuffled() -> None:
    # Sorted by age alone, the first of 20 rows of a class is each of them equally often.
    firsts = set()
    for seed in range(40):
        release = publish(TABLE, SCHEMA, KAnonymity(5), sort="age", rng=Seeded(seed))
        assert release.source_rows is not None
        assert release.data["age"].is_sorted()
        firsts.add(int(release.source_rows[0]))
    assert len(firsts) > 5  # by chance 40 draws of 20 rows meet 5 or fewer: below 20**5 (1/4)**40


@pytest.mark.parametrize(
    ("sort", "kept", "code"),
    [
        ("name", False, "CEL-P082"),
        ("agee", False, "CEL-P082"),
        ("age", True, "CEL-P062"),
    ],
)
def test_an_order_that_would_tell_more_is_refused(sort: str, kept: bool, code: str) -> None:
    with pytest.raises(InputError) as error:
        publish(TABLE, SCHEMA, KAnonymity(5), sort=sort, keep_order=kept)
    assert error.value.code == code


def test_a_table_of_an_engine_has_no_order(tmp_path: Path) -> None:
    source = tmp_path / "raw.parquet"
    frames.write(TABLE, source)
    certificate = tmp_path / "c.json"
    with DuckDBTables() as engine, pytest.raises(InputError) as error:
        publish_on(
            engine, source, "safe", SCHEMA, KAnonymity(5), sort="age", certificate=certificate
        )
    assert error.value.code == "CEL-P082"
    assert not certificate.exists()


def test_the_published_patients_come_out_as_published() -> None:
    patients, schema = datasets.examples.patients(), datasets.examples.patients_schema()
    release = publish(patients, schema, KAnonymity(3), suppression=0, sort=["zip", "age"])
    assert release.solution.levels == (1, 1)
    found = release.data.select("zip", "age").rows()
    assert found == [("476**", "2*")] * 3 + [("476**", "3*")] * 3 + [("4790*", ">=40")] * 3
