"""Files of SPSS, Stata and SAS with their labels, and tables of databases."""

from __future__ import annotations

import sqlite3
import sys
import traceback
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

from celosia import frames
from celosia.core.errors import InputError

CODED = pl.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "area": [1.0, 1.0, 2.0, 3.0],
        "weight": [1.5, 2.25, 3.0, 1.0],
        "town": ["Lima", "", "Cusco", "Puno"],
    }
)
LABELS: dict[str, dict[int | float, str]] = {
    "sex": {1: "man", 2: "woman"},
    "area": {1: "coast", 2: "other", 3: "other"},
}
SHOWN = {
    "sex": ["man", "woman", "9", None],
    "area": ["coast", "coast", "other (2)", "other (3)"],
    "weight": [1.5, 2.25, 3.0, 1.0],
    "town": ["Lima", None, "Cusco", "Puno"],
}


def _survey(folder: Path, ending: str) -> Path:
    path = folder / f"survey.{ending}"
    if ending == "dta":
        pyreadstat.write_dta(CODED, str(path), variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(CODED, str(path), variable_value_labels=LABELS)
    return path


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_codes_become_their_labels_and_two_codes_of_one_label_stay_apart(
    tmp_path: Path, ending: str
) -> None:
    path = _survey(tmp_path, ending)
    assert frames.read(path).to_dict(as_series=False) == SHOWN
    parts = list(frames.read_chunks(path, rows=3))
    assert [part.height for part in parts] == [3, 1]
    assert pl.concat(parts).to_dict(as_series=False) == SHOWN


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_chunks_put_together_are_the_whole_file(tmp_path: Path, ending: str, rows: int) -> None:
    table = pl.DataFrame(
        {
            "whole": [None, 1.0, 2.0, 3.0, None, 5.0],
            "late": [1.0, 2.0, 3.0, 4.0, 5.0, 6.5],
            "none": pl.Series([None] * 6, dtype=pl.Float64),
            "text": ["", "", "a", "b", "", "c"],
        }
    )
    path = tmp_path / f"table.{ending}"
    writers: dict[str, Any] = {
        "sav": pyreadstat.write_sav,
        "dta": pyreadstat.write_dta,
        "xpt": pyreadstat.write_xport,
    }
    writers[ending](table, str(path))
    parts = list(frames.read_chunks(path, rows=rows))
    assert [part.height for part in parts] == [rows] * (6 // rows) + [6 % rows] * (6 % rows > 0)
    assert pl.concat(parts).rows() == frames.read(path).rows()
    whole = frames.read(path).schema
    assert {n: k for n, k in parts[0].schema.items() if n != "none"} == {
        n: k for n, k in whole.items() if n != "none"
    }


def test_codes_are_kept_where_asked(tmp_path: Path) -> None:
    path = _survey(tmp_path, "sav")
    assert frames.read(path, codes=["sex"])["sex"].to_list() == [1, 2, 9, None]
    assert frames.read(path, codes=["sex"])["area"].to_list() == SHOWN["area"]
    assert frames.read(path, codes="*")["area"].to_list() == [1, 1, 2, 3]
    assert frames.read(path, types={"sex": "integer"})["sex"].to_list() == [1, 2, 9, None]
    with pytest.raises(InputError, match="sexo"):
        frames.read(path, codes=["sexo"])


def test_values_that_spss_declares_as_missing_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(CODED, str(path), missing_ranges={"sex": [9]})
    assert frames.read(path)["sex"].to_list() == [1, 2, None, None]


def test_sas_transport_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "survey.xpt"
    pyreadstat.write_xport(CODED, str(path))
    assert frames.read(path).columns == ["sex", "area", "weight", "town"]
    assert frames.read(path)["weight"].to_list() == [1.5, 2.25, 3.0, 1.0]


@pytest.mark.parametrize("name", ["a.sav", "a.dta", "a.sas7bdat", "a.db"])
def test_a_damaged_file_is_refused_without_a_cell(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"secret cell" * 50)
    with pytest.raises(InputError) as caught:
        frames.read(path)
    assert caught.value.code == "CEL-F014"
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_options_of_other_sources_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    for given in ({"query": "people"}, {"codes": ["a"]}):
        with pytest.raises(InputError) as caught:
            frames.read(tmp_path / "a.csv", **given)
        assert caught.value.code == "CEL-F021"
    with pytest.raises(InputError, match="delimiter"):
        frames.read(_survey(tmp_path, "sav"), delimiter=";")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite file with one table."""
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (age INTEGER, zip TEXT, pay REAL)")
        rows = [(39, "05345", 1.5), (None, "05349", 2.0), (50, "05345", None)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    return path


PEOPLE = {"age": [39, None, 50], "zip": ["05345", "05349", "05345"], "pay": [1.5, 2.0, None]}


def test_the_one_table_of_a_sqlite_file_needs_no_name(database: Path) -> None:
    assert frames.read(database).to_dict(as_series=False) == PEOPLE
    assert frames.read(database, query="people", columns=["zip"]).columns == ["zip"]
    older = frames.read(database, query="SELECT zip AS code FROM people WHERE age > 40")
    assert older.to_dict(as_series=False) == {"code": ["05345"]}


def test_several_tables_are_told_by_name(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute('CREATE VIEW "old ones" AS SELECT * FROM people WHERE age > 40')
    with pytest.raises(InputError, match="old ones") as caught:
        frames.read(database)
    assert caught.value.code == "CEL-F030"


@pytest.mark.parametrize("scheme", ["sqlite:///{}", "sqlite+pysqlite:///{}", "adbc+sqlite:{}"])
def test_addresses_are_read_by_sqlalchemy_and_adbc(database: Path, scheme: str) -> None:
    address = scheme.format(database)
    assert frames.read(address, query="people").to_dict(as_series=False) == PEOPLE
    assert next(frames.read_chunks(address, query="people", rows=2)).height == 2
    with pytest.raises(InputError) as caught:
        frames.read(address, query="SELECT secret FROM nowhere")
    assert caught.value.code == "CEL-F030"
    with pytest.raises(InputError, match="named"):
        frames.read(address)


class Postgres:
    """A driver that answers as that of PostgreSQL: `numeric` is text of an opaque type."""

    Error = ValueError

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def connect(self, uri: str) -> Postgres:
        return self

    def cursor(self) -> Postgres:
        return self

    def __enter__(self) -> Postgres:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, statement: str) -> None:
        pass

    def fetch_arrow_table(self) -> pa.Table:
        return self._table


@pytest.mark.parametrize("alone", [False, True])
def test_a_numeric_column_of_postgresql_is_read_by_adbc_with_all_its_digits(
    monkeypatch: pytest.MonkeyPatch, *, alone: bool
) -> None:
    kind = pa.opaque(pa.string(), "numeric", "PostgreSQL")
    amounts = pa.ExtensionArray.from_storage(kind, pa.array(["12.50", None, "-3.125"]))
    columns = {"amount": amounts} if alone else {"a": [1, 2, 3], "amount": amounts, "z": [4, 5, 6]}
    driver = Postgres(pa.table(columns))
    monkeypatch.setitem(sys.modules, "adbc_driver_fake", ModuleType("adbc_driver_fake"))
    monkeypatch.setitem(sys.modules, "adbc_driver_fake.dbapi", driver)
    found = frames.read("adbc+fake:x", query="people")
    assert found.columns == list(columns)
    assert found["amount"].to_list() == [Decimal("12.500"), None, Decimal("-3.125")]
    assert found["amount"].dtype.is_numeric()


@pytest.mark.parametrize(
    "statement", ["DELETE FROM people", "DROP TABLE people", "SELECT 1; DROP TABLE people"]
)
def test_a_source_is_never_changed(database: Path, statement: str) -> None:
    with pytest.raises(InputError):
        frames.read(database, query=statement)
    with pytest.raises(InputError):
        frames.read(f"sqlite:///{database}", query=statement)
    with pytest.raises(InputError):
        frames.read(f"adbc+sqlite:{database}", query=statement)
    assert frames.read(database).height == 3


@pytest.mark.parametrize("address", ["nonsense://host/base", "adbc+nonsense:x"])
def test_an_address_without_a_driver_says_so(address: str) -> None:
    with pytest.raises(InputError) as caught:
        frames.read(address, query="people")
    assert caught.value.code == "CEL-F029"


def test_a_column_of_sqlite_with_two_kinds_of_values_is_refused(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO people VALUES ('secret', '1', 1.0)")
    with pytest.raises(InputError) as caught:
        frames.read(database)
    assert caught.value.code == "CEL-F005"
    assert "secret" not in "".join(traceback.format_exception(caught.value))
