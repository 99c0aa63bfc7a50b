"""The command line called in this process, in an empty folder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import MARK, Result, Run

from celosia import Seeded, datasets
from celosia.cli.main import main
from celosia.graphs import generators


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call `celosia` as a user in an empty folder would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "CELOSIA_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    # Whose name is that of its file, also where the tests are run as `python -m pytest`.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)

    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["celosia", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Result(end.value.code, said.out, said.err)

    return call


@pytest.fixture
def people(run: Run, tmp_path: Path) -> Path:
    """Sixty people of five ages and three postal codes, with a planted disease."""
    path = tmp_path / "people.csv"
    rows = [f"name{i},{20 + i % 5},0{100 + i % 3},{MARK}-{i % 20}" for i in range(60)]
    path.write_text("\n".join(["name,age,zip,disease", *rows]) + "\n")
    return path


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """The schema of these people."""
    path = tmp_path / "people.toml"
    path.write_text(
        '[columns.name]\nrole = "identifier"\n[columns.age]\nrole = "quasi-identifier"\n'
        '[columns.zip]\nrole = "quasi-identifier"\nhierarchy = { method = "mask" }\n'
        '[columns.disease]\nrole = "sensitive"\n'
    )
    return path


@pytest.fixture(scope="session")
def made_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 150 customers, their 1,500 orders and a policy; a planted value in one row."""
    folder = tmp_path_factory.mktemp("made") / "shop"
    datasets.tpch(0.001, maker="celosia").save(folder)
    customers = pl.read_parquet(folder / "customer.parquet")
    segment = pl.when(pl.col("custkey") == 7).then(pl.lit(MARK)).otherwise(pl.col("mktsegment"))
    customers.with_columns(segment.alias("mktsegment")).write_parquet(folder / "customer.parquet")
    return folder


@pytest.fixture
def shop(run: Run, made_shop: Path, tmp_path: Path) -> Path:
    """A policy of its own, `shop/policy.toml`, with a budget of epsilon 10."""
    shutil.copytree(made_shop, tmp_path / "shop")
    return tmp_path / "shop" / "policy.toml"


@pytest.fixture
def friends(run: Run, tmp_path: Path) -> Path:
    """Eighty people, one of whom knows nobody, with planted names; a table, schema and recipe."""
    graph = generators.power_law(79, 200, 2.5, Seeded(1))
    names = [f"{MARK}-{number}" for number in range(80)]
    lines = [f"{names[one]} {names[other]}\n" for one, other in graph.edges.tolist()]
    (tmp_path / "friends.edges").write_text("".join(lines))
    rows = [f"{name},{20 + number % 40},here\n" for number, name in enumerate(names)]
    (tmp_path / "people.csv").write_text("".join(["name,age,city\n", *rows]))
    (tmp_path / "people.toml").write_text(
        '[columns.age]\nrole = "quasi-identifier"\n[columns.city]\nrole = "insensitive"\n'
    )
    (tmp_path / "recipe.toml").write_text(
        'schema = "people.toml"\n[[steps]]\nmethod = "microaggregation"\n'
        'columns = ["age"]\nk = 10\n'
    )
    return tmp_path
