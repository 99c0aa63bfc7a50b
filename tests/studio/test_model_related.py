"""Related tables in the studio: what is guessed, what is declared, and the files of a run."""

from __future__ import annotations

import json
import shlex
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

from celosia.cli.app import app
from celosia.core.errors import InputError
from celosia.datasets.clinic import DECLARATION, clinic
from celosia.studio.related import jobs, model
from celosia.studio.uploads import Brought
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress
from celosia.tables.private.related import RelatedTables, SyntheticTables

QUIET = JobProgress(lambda text: None)
PATIENTS = (
    "id_paciente;Nombre;Fecha;CP;Renta\n0007;Ñuño Pérez;03/02/1980;08001;1.200,50\n"
    "0008;Ana Gómez;13/02/1980;08002;900,00\n0009;Eva Ruiz;23/02/1980;08001;\n"
)
VISITS = "visita;id_paciente;Planta\n1;0007;cirugía\n2;0007;medicina\n3;0009;cirugía\n"


def bring(work: Work, name: str, text: str | bytes) -> dict[str, Any]:
    """Put a file in the folder as the upload does, and read it."""
    file = f"upload{Path(name).suffix}"
    content = text.encode("utf-8") if isinstance(text, str) else text
    work.path(file).write_bytes(content)
    return jobs.bring(QUIET, folder=str(work.folder), brought=Brought(file=file, shown=name))


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """An empty work."""
    return Work.at(str(tmp_path))


def test_files_that_come_one_after_the_other_are_linked_by_their_keys(work: Work) -> None:
    bring(work, "Visitas 2024.csv", VISITS)
    state = bring(work, "pacientes.csv", PATIENTS)
    assert [each["name"] for each in state["tables"]] == ["visitas_2024", "pacientes"]
    visits, patients = state["form"]["visitas_2024"], state["form"]["pacientes"]
    assert (visits["parent"], visits["foreign_key"]) == ("pacientes", "id_paciente")
    assert (patients["parent"], patients["key"]) == (None, "id_paciente")
    assert visits["key"] is None
    assert patients["columns"]["Nombre"]["treatment"] == model.LEFT_OUT
    assert not list(work.folder.glob("upload*"))
    found = RelatedTables.from_table(model.declaration(state["form"], state["tables"]))
    assert found.root == "pacientes"  # the visits came first, and hang on it
    assert found.tables["visitas_2024"].file == "Visitas 2024.csv"
    assert dict(found.tables["pacientes"].discover or {})["Renta"] == "decimal"


def test_what_was_chosen_stays_when_another_table_comes(work: Work) -> None:
    state = bring(work, "pacientes.csv", PATIENTS)
    state["form"]["pacientes"]["columns"]["CP"] = {"treatment": model.VALUES, "values": ["08001"]}
    work.save("related", state)
    state = bring(work, "visitas.csv", VISITS)
    assert state["form"]["pacientes"]["columns"]["CP"]["values"] == ["08001"]
    assert state["form"]["visitas"]["parent"] == "pacientes"
    state = bring(work, "pacientes.csv", PATIENTS.replace("Renta", "Ingresos"))  # other columns
    assert "CP" in state["form"]["pacientes"]["columns"]
    assert state["form"]["pacientes"]["columns"]["CP"]["treatment"] != model.VALUES


def test_a_database_brings_its_tables_and_a_declaration_fills_the_form(
    work: Work, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as base:
        for name, frame in clinic(30).tables.items():
            base.execute(f"CREATE TABLE {name} ({', '.join(frame.columns)})")
            places = ", ".join("?" * frame.width)
            base.executemany(f"INSERT INTO {name} VALUES ({places})", frame.rows())
        base.commit()
    state = bring(work, "clinic.db", (tmp_path / "clinic.db").read_bytes())
    assert {each["name"] for each in state["tables"]} == {"persons", "visits"}
    assert state["form"]["visits"]["parent"] == "persons"
    state = bring(work, "clinic.toml", DECLARATION)
    assert state["form"]["persons"]["columns"]["age"] == {
        "treatment": model.BOUNDS,
        "bounds": [0, 99],
    }
    declared = model.declaration(state["form"], state["tables"])
    wanted = RelatedTables.from_table(tomllib.loads(DECLARATION))
    found = RelatedTables.from_table(tomllib.loads(model.declaration_text(declared)))
    assert found == wanted


def test_what_is_no_declaration_or_too_much_is_refused(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = bring(work, "pacientes.csv", PATIENTS)
    with pytest.raises(InputError, match="has no parent"):
        bring(work, "a.toml", '[tables.a]\nkey="x"\nbounds={y=[0,1]}\n[tables.b]\nbounds={y=[0,1]}')
    state["form"]["pacientes"]["columns"]["Renta"] = {
        "treatment": model.BOUNDS,
        "bounds": [0, None],
    }
    with pytest.raises(InputError) as refused:
        model.declaration(state["form"], state["tables"])
    assert refused.value.code == "CEL-W073"
    monkeypatch.setattr(jobs, "MOST_TABLES", 1)
    with pytest.raises(InputError) as refused:
        bring(work, "visitas.csv", VISITS)
    assert refused.value.code == "CEL-W111"


def test_tables_that_hang_on_each_other_are_not_guessed_to() -> None:
    column = {"kind": "integer", "empty": 0}
    tables = [
        {
            "name": name,
            "rows": 3,
            "columns": [
                {"name": f"{name}_id", "distinct": 3, **column},
                {"name": f"{other}_id", "distinct": 2, **column},
            ],
        }
        for name, other in (("boss", "clerk"), ("clerk", "boss"))
    ]
    form = model.guess(tables)
    assert sum(entry["parent"] is not None for entry in form.values()) <= 1
    assert sorted(model.ordered(form)) == ["boss", "clerk"]


def test_a_run_writes_tables_that_verify_and_the_texts_make_the_same(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, frame in clinic(60).tables.items():
        bring(work, f"{name}.csv", frame.write_csv())
    state = bring(work, "clinic.toml", DECLARATION)
    declared = model.declaration(state["form"], state["tables"])
    parameters = {"epsilon": 2.0, "degree": 2, "model_cells": 2000}
    folder = str(work.folder)
    jobs.run(QUIET, folder=folder, declared=declared, parameters=parameters, seed=5)
    result = work.load("made")
    assert result["simulation"] is True
    assert [each["name"] for each in result["tables"]] == ["persons", "visits"]
    shares = result["tables"][1]["rows_of_one"]
    assert sum(shares["before"]) == pytest.approx(1)
    assert sum(shares["after"]) == pytest.approx(1)
    there = tmp_path / "there"
    with ZipFile(work.path(jobs.ARCHIVE)) as archive:
        archive.extractall(there)
    made = SyntheticTables.load(there / "made")  # refuses what the certificate does not describe
    keys = made.tables["persons"]["person"].to_list()
    assert set(made.tables["visits"]["person"].to_list()) <= set(keys)
    for name in declared["tables"]:
        assert work.path(f"made-{name}.csv").is_file()
    monkeypatch.chdir(there)
    clinic(60).write("tables")
    Path("related.toml").write_bytes(work.path(jobs.DECLARED).read_bytes())
    (command, python) = (text for _name, text in model.code(None, parameters, seed=5))
    words = shlex.split(command.replace("-o made", "-o again"))
    assert words[:3] == ["celosia", "synthesise", "tables"]
    ended = CliRunner().invoke(app, words[1:])
    assert ended.exit_code == 0, ended.output
    for name, frame in SyntheticTables.load("again").tables.items():
        assert_frame_equal(frame, made.tables[name])
    compile(python, "text", "exec")
    assert json.loads(work.path("certificate.json").read_text())["kind"] == "synthetic tables"


def test_values_that_are_taken_from_the_cells_are_declared(work: Work) -> None:
    bring(work, "pacientes.csv", PATIENTS)
    state = jobs.fill(QUIET, folder=str(work.folder), table="pacientes")
    columns = state["form"]["pacientes"]["columns"]
    assert columns["Renta"]["bounds"] == [900.0, 1200.5]
    assert columns["CP"]["values"] == ["08001", "08002"]
    assert "values" not in columns["Nombre"]
    assert pl.read_parquet(work.path("pacientes.parquet"))["CP"][0] == "08001"
