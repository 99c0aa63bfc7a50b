"""A draft of a schema fits the table that it was made from, empty cells included."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from celosia import tables
from celosia.frames import read
from celosia.tables import KAnonymity, Schema, draft_schema

TOWNS = ("Lugo", "Vigo", "Ferrol", "Burgos", "Soria", "Zamora", "Toledo", "Cuenca", "Elche", "")
AGES = ("", "NA", "31", "47", "52", "60", "18")
POSTAL = ("27001", "36201", "", "NA", "15401", "09001")
BORN = ("1963-08-19", "", "1971-01-02", "NA", "1980-05-05")


def messy(rows: int = 120) -> str:
    """A CSV file with empty cells and `NA` in every column."""
    lines = [
        f"{AGES[i % 7]},{('F', '', 'M', 'NA')[i % 4]},{POSTAL[i % 6]},{TOWNS[i % 10]},"
        f"{BORN[i % 5]},{('flu', '', 'NA')[i % 3]}"
        for i in range(rows)
    ]
    return "\n".join(["age,sex,zip,town,birth date,disease", *lines]) + "\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "messy.csv"
    path.write_text(messy())
    return path


def test_a_draft_publishes_the_table_that_it_was_made_from(table: Path) -> None:
    frame = read(table)
    release = tables.publish(frame, draft_schema(frame).schema, KAnonymity(3), suppression=0.1)
    assert release.risk.maximum <= 1 / 3


def test_the_file_of_a_draft_says_the_same(table: Path, tmp_path: Path) -> None:
    draft = draft_schema(read(table))
    (tmp_path / "messy.toml").write_text(draft.text())
    assert Schema.load(tmp_path / "messy.toml") == draft.schema


def test_empty_cells_are_declared_and_counted_where_there_are_any(table: Path) -> None:
    draft = draft_schema(read(table))
    missing = {column.name: column.missing for column in draft.schema.columns}
    assert missing == dict.fromkeys(("age", "sex", "zip", "town", "birth date"), "value") | {
        "disease": "refuse"  # released as it is, empty or not
    }
    assert 'missing = "value"  # 30 cells are empty' in draft.text()
    assert [each.empty for each in draft.findings] == [18, 30, 20, 12, 24, 40]


def test_a_whole_table_gets_no_word_about_empty_cells() -> None:
    draft = draft_schema(pl.DataFrame({"sex": ["F", "M"] * 5, "age": [*range(20, 30)]}))
    assert "missing" not in draft.text()


def test_towns_are_told_to_need_groups_of_the_users_own(table: Path) -> None:
    draft = draft_schema(read(table))
    assert draft.nominal == ("town",)
    assert "region" in draft.text().partition('[columns."town"]')[2].partition("[")[0]


def test_cells_that_hold_na_do_not_hide_a_postal_code() -> None:
    codes = [f"{27000 + place}" if place % 3 else "NA" for place in range(60)]
    draft = draft_schema({"zip": codes})
    assert draft.findings[0].kind == "postal code"
    assert draft.findings[0].share == pytest.approx(40 / 60)


def test_an_identifier_that_repeats_tells_people_apart(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"patient id": [i // 2 for i in range(60)], "age": [20 + i // 2 % 3 for i in range(60)]}
    )
    draft = draft_schema(frame)
    assert draft.schema.person == "patient id"
    (tmp_path / "visits.toml").write_text(draft.text())
    assert Schema.load(tmp_path / "visits.toml") == draft.schema
    release = tables.publish(frame, draft.schema, KAnonymity(3))
    assert release.risk.smallest >= 3
    assert draft_schema({"id": range(60), "age": [30] * 60}).schema.person is None
