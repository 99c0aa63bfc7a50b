"""`celosia datasets` and `celosia demo`: something to start with, and nothing lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Run

from celosia import Schema, TableRelease, datasets, frames


def test_every_data_set_is_listed_with_what_it_is(run: Run) -> None:
    told = run("datasets")
    for entry in datasets.catalogue():
        assert entry.name in told.out.splitlines()
        assert entry.title in told.out
    assert "celosia datasets get NAME -o FILE" in told.err


def test_every_small_data_set_can_be_had(run: Run, tmp_path: Path) -> None:
    for entry in datasets.catalogue():
        if entry.name != "adult":
            told = run("datasets", "get", entry.name, "-o", f"{entry.name}.csv")
            assert (
                told.out == f"{entry.rows:,} rows, {len(entry.columns)} columns: {entry.name}.csv\n"
            )
            assert frames.read(tmp_path / f"{entry.name}.csv").columns == [*entry.columns]


def test_a_generated_table_comes_with_its_schema(run: Run, tmp_path: Path) -> None:
    command = ("datasets", "get", "census", "--rows", 50, "--seed", 3, "--schema", "census.toml")
    result = run(*command, "-o", "census.parquet", "--json").data()
    assert (result["rows"], result["data"], result["schema"]) == (
        50,
        "census.parquet",
        "census.toml",
    )
    table = frames.read(tmp_path / "census.parquet")
    assert table.equals(datasets.census(50, seed=3))
    Schema.load(tmp_path / "census.toml").check_columns(table.columns)


def test_a_shop_comes_as_a_folder_with_its_policy(run: Run, tmp_path: Path) -> None:
    told = run("datasets", "get", "tpch", "--scale", 0.001, "--seed", 7, "-o", "shop")
    assert told.code == 0, told.err
    assert told.out.splitlines() == [
        "policy: shop/policy.toml",
        "TPC-H at scale factor 0.001: 1,500 orders, made by Celosía with seed 7: shop",
    ]
    orders = frames.read(tmp_path / "shop" / "orders.parquet")
    assert orders.equals(datasets.tpch(0.001, seed=7, maker="celosia").tables["orders"])
    run("datasets", "get", "tpch", "--scale", 0.001, "-o", "shop").complains("CEL-I004")
    assert run("datasets", "get", "tpch", "--scale", 0.001, "-o", "shop", "--overwrite").code == 0
    assert "celosia datasets get tpch -o FOLDER" in run("datasets").err


def test_a_graph_comes_as_a_folder_with_its_policy(run: Run, tmp_path: Path) -> None:
    told = run("datasets", "get", "watdiv", "--triples", 10_000, "--seed", 7, "-o", "graph")
    assert told.code == 0, told.err
    assert told.out.splitlines() == [
        "policy: graph/policy.toml",
        "WatDiv-like graph: about 10,000 facts, 178 users, made with seed 7: graph",
    ]
    made = {path.name for path in (tmp_path / "graph").iterdir()}
    assert made == {"watdiv.nt", "watdiv.graph", "policy.toml"}
    lines = (tmp_path / "graph" / "watdiv.nt").read_bytes()
    assert lines == b"".join(datasets.watdiv(10_000, seed=7).lines())
    run("datasets", "get", "watdiv", "--scale", 0.01, "-o", "graph").complains("CEL-I004")
    again = run(
        "datasets", "get", "watdiv", "--scale", 0.01, "-o", "graph", "--overwrite", "--json"
    )
    assert (again.data()["triples"], again.data()["policy"]) == (10_000, "graph/policy.toml")
    assert "celosia datasets get watdiv -o FOLDER" in run("datasets").err


@pytest.mark.parametrize("name", ["patients", "suppression", "ethnic-postal", "five-attributes"])
def test_a_table_without_a_schema_does_not_get_that_of_another(
    name: str, run: Run, tmp_path: Path
) -> None:
    command = ("datasets", "get", name, "-o", "table.csv", "--schema", "table.toml")
    run(*command).complains("CEL-I039")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("nothing", "-o", "a.csv"), "CEL-D007"),
        (("censos", "-o", "a.csv", "--schema", "a.toml"), "CEL-D007"),
        (("adult", "--rows", "5", "-o", "a.csv"), "CEL-D008"),
        (("patients", "--seed", "5", "-o", "a.csv"), "CEL-D008"),
        (("census", "--path", "a.data", "-o", "a.csv"), "CEL-D008"),
        (("adult", "--path", "nothing.data", "-o", "a.csv"), "CEL-D004"),
        (("census", "--rows", "-5", "-o", "a.csv"), "CEL-D001"),
        (("census", "--seed", "-5", "-o", "a.csv"), "CEL-D002"),
        (("census", "-o", "a.docx"), "CEL-F012"),
        (("census", "-o", "no/a.csv"), "CEL-I005"),
        (("census", "-o", "a.csv", "--schema", "no/a.toml"), "CEL-I005"),
        (("census", "-o", "a.csv", "--schema", "./a.csv"), "CEL-I043"),
        (("census", "--scale", "0.1", "-o", "a.csv"), "CEL-D008"),
        (("tpch", "--rows", "5", "-o", "shop"), "CEL-D008"),
        (("tpch", "--schema", "a.toml", "-o", "shop"), "CEL-D008"),
        (("tpch", "--scale", "0", "-o", "shop"), "CEL-D020"),
        (("tpch", "--seed", "-1", "-o", "shop"), "CEL-D021"),
        (("tpch", "--triples", "10000", "-o", "shop"), "CEL-D008"),
        (("census", "--triples", "10000", "-o", "a.csv"), "CEL-D008"),
        (("watdiv", "--rows", "5", "-o", "graph"), "CEL-D008"),
        (("watdiv", "--triples", "5", "-o", "graph"), "CEL-D023"),
        (("watdiv", "--scale", "11", "-o", "graph"), "CEL-D023"),
        (("watdiv", "--scale", "nan", "-o", "graph"), "CEL-D023"),
        (("watdiv", "--seed", "-1", "-o", "graph"), "CEL-D024"),
        (("watdiv", "--scale", "1", "--triples", "10000", "-o", "graph"), "CEL-D026"),
        (("census",), "CEL-I040"),
    ],
    ids=str,
)
def test_a_wish_that_cannot_be_met_leaves_nothing(
    options: tuple[str, ...], code: str, run: Run, tmp_path: Path
) -> None:
    run("datasets", "get", *options).complains(code)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("kept", ["census.csv", "census.toml"])
def test_files_that_exist_are_kept(kept: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / kept).write_text("old")
    command = (
        "datasets",
        "get",
        "census",
        "--rows",
        9,
        "-o",
        "census.csv",
        "--schema",
        "census.toml",
    )
    run(*command).complains("CEL-I004")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(kept, "old")]
    assert run(*command, "--overwrite").code == 0


def test_the_demo_writes_everything_and_tells_how_to_go_on(run: Run, tmp_path: Path) -> None:
    told = run("demo")
    assert told.code == 0
    folder = tmp_path / "celosia-demo"
    assert {path.name for path in folder.iterdir()} == {
        "census.csv",
        "census.toml",
        "safe.csv",
        "safe.csv.cert.json",
        "report.html",
    }
    assert TableRelease.load(folder / "safe.csv").risk.smallest >= 5
    hint = told.err.partition("Do it yourself: celosia ")[2].split()
    assert run(*hint).code == 0, "what the demo proposes works"
    assert run("demo", "--json").data()["measures"]["risk"]["smallest"] >= 5, "twice, with no ado"


def test_the_demo_takes_no_file_of_the_user(run: Run, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("my own")
    run("demo", "--folder", ".").complains("CEL-I004")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_demo_refuses_a_file_for_a_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run("demo", "--folder", "file").complains("CEL-I041")


def test_what_is_installed_is_told_without_data(run: Run) -> None:
    facts = run("doctor", "--json").data()
    assert {"python", "system", "cores", "celosia", "polars", "duckdb"} <= set(facts)
    assert "│ celosia " in run("doctor").out


def test_every_error_code_can_be_looked_up(run: Run) -> None:
    listed = run("explain").out.splitlines()
    assert [line.split()[0] for line in listed] == [
        entry["code"] for entry in run("explain", "--json").data()
    ]
    told = run("explain", "cel-t011").out
    assert told.startswith("CEL-T011: Values that the hierarchy does not cover\n\nEvery value")
