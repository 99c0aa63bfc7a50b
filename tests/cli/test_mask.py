"""`celosia mask` and `celosia assess map`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import MARK, Run

RECIPE = """
schema = "people.toml"
[[steps]]
method = "microaggregation"
columns = ["age"]
k = 10
[[steps]]
method = "pram"
columns = ["zip"]
stay = 0.8
"""


@pytest.fixture
def recipe(people: Path, schema: Path, tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE)
    return path


@pytest.mark.usefixtures("recipe")
def test_a_recipe_masks_a_file_with_certificate_and_report(run: Run, tmp_path: Path) -> None:
    told = run("mask", "people.csv", "-r", "recipe.toml", "-o", "safe.csv", "--report", "r.html")
    assert told.code == 0, told.err
    for line in ("data: safe.csv", "certificate: safe.csv.cert.json", "report: r.html"):
        assert line in told.out.splitlines()
    made = pl.read_csv(tmp_path / "safe.csv")
    assert made.columns == ["age", "zip", "disease"]
    assert made.height == 60
    page = (tmp_path / "r.html").read_text("utf-8")
    assert MARK not in told.out + told.err + page
    again = run("mask", "people.csv", "-r", "recipe.toml", "-o", "safe.csv")
    assert again.code == 2
    assert "--overwrite" in again.err


@pytest.mark.usefixtures("recipe")
def test_the_same_seed_writes_the_same_file(run: Run, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        told = run("mask", "people.csv", "-r", "recipe.toml", "--seed", 4, "-o", name)
        assert "Simulation: made with a seed" in told.err
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.usefixtures("people", "schema")
def test_one_method_needs_no_recipe(run: Run) -> None:
    command = ("mask", "people.csv", "-s", "people.toml", "--method", "mdav:k=12")
    data = run(*command, "-c", "age", "--json").data()
    assert data["provenance"]["parameters"]["steps"] == [
        {"method": "mdav", "columns": ["age"], "k": 12}
    ]
    assert data["guarantee"]["promise"]
    assert MARK not in json.dumps(data)


@pytest.mark.usefixtures("recipe")
def test_bad_wishes_are_refused_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    out = ("-o", "safe.csv")
    run("mask", "people.csv", *out).complains("CEL-V018")
    run("mask", "people.csv", "-r", "recipe.toml", "--method", "mdav", *out).complains("CEL-V018")
    run("mask", "people.csv", "-r", "recipe.toml", "-q", "age", *out).complains("CEL-V018")
    run("mask", "people.csv", "-s", "people.toml", "-c", "age", *out).complains("CEL-V018")
    one = ("mask", "people.csv", "-s", "people.toml", *out)
    run(*one, "-c", "age", "--method", "noise:amount=").complains("CEL-I060")
    run(*one, "-c", "disease", "--method", "noise:amount=0.1").complains("CEL-V004")
    run(*one, "-c", "ag", "--method", "noise:0.1").complains("CEL-V003")
    assert not (tmp_path / "safe.csv").exists()


def test_the_methods_are_listed(run: Run) -> None:
    told = run("mask", "--methods")
    assert told.code == 0
    for name in ("mdav", "noise", "rank-swap", "pram", "copula", "marginals"):
        assert name in told.out.splitlines()


@pytest.mark.usefixtures("people")
def test_maskings_are_placed_on_a_map(run: Run, tmp_path: Path) -> None:
    command = ("assess", "map", "people.csv", "-c", "age", "--seed", 2)
    told = run(*command, "--method", "noise:amount=0.1,2", "--plot", "m.svg", "--report", "m.html")
    assert told.code == 0, told.err
    assert "noise amount=2" in told.out
    assert (tmp_path / "m.svg").read_text().startswith("<svg")
    found = run(*command, "--method", "mdav:k=3", "--json").data()
    assert [point["name"] for point in found["points"]] == ["none", "mdav k=3"]
    run(*command, "--method", "noise:amount").complains("CEL-V021")
    run(*command, "--risk", "luck").complains("CEL-A241")


@pytest.fixture
def shoppers(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "shoppers.csv"
    rows = [f"{MARK}-{i},{20 + i % 30},{i % 7 * 10}" for i in range(200)]
    path.write_text("\n".join(["name,age,spent", *rows]) + "\n")
    return path


@pytest.mark.usefixtures("shoppers")
@pytest.mark.parametrize("method", ["copula", "trees", "bayesian-network"])
def test_a_synthetic_table_has_new_rows_and_promises_nothing(
    method: str, run: Run, tmp_path: Path
) -> None:
    command = ("synthesise", "shoppers.csv", "--method", method, "--identifier", "name")
    told = run(*command, "--rows", 90, "-o", "fake.csv", "--report", "r.html")
    assert told.code == 0, told.err
    made = pl.read_csv(tmp_path / "fake.csv")
    assert made.columns == ["age", "spent"]
    assert made.height == 90
    assert "no formal guarantee" in told.out
    assert MARK not in told.out + (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.usefixtures("shoppers")
def test_private_synthesis_states_its_epsilon(run: Run) -> None:
    command = ("synthesise", "shoppers.csv", "--identifier", "name")
    method = "marginals:epsilon=1,bounds={age=[0, 100], spent=[0, 100]}"
    data = run(*command, "--method", method, "--seed", 3, "--json").data()
    assert "(1, 1e-09)-differential privacy" in data["guarantee"]["promise"]
    assert data["measures"]["figures"] == {}
    run(*command, "--method", "marginals").complains("CEL-I063")


@pytest.mark.usefixtures("shoppers")
def test_domains_of_private_synthesis_come_from_the_schema(run: Run, tmp_path: Path) -> None:
    schema = tmp_path / "shoppers.toml"
    schema.write_text("""
        [columns.name]
        role = "identifier"
        [columns.age]
        role = "quasi-identifier"
        hierarchy = { method = "intervals", widths = [10], domain = [0, 99] }
        [columns.spent]
        role = "sensitive"
        type = "integer"
        hierarchy = { method = "tree", tree = ["0", "10", "20", "30", "40", "50", "60"] }
    """)
    method = "adaptive-marginals:epsilon=2"
    command = ("synthesise", "shoppers.csv", "--schema", "shoppers.toml", "--method", method)
    told = run(*command, "-o", "fake.csv", "--seed", 3)
    assert told.code == 0, told.err
    made = pl.read_csv(tmp_path / "fake.csv")
    assert made.columns == ["age", "spent"]
    assert made["age"].drop_nulls().is_between(0, 99).all()
    assert made["spent"].drop_nulls().is_in(range(0, 61, 10)).all()
    assert 100 < made.height < 300
    data = run(*command, "--seed", 3, "--json").data()
    assert "(2, 1e-09)-differential privacy" in data["guarantee"]["promise"]
    # What a hierarchy is built from the data for is not declared.
    schema.write_text(schema.read_text().replace(", domain = [0, 99]", ""))
    run(*command).complains("CEL-Y020")


@pytest.mark.usefixtures("shoppers")
def test_exact_figures_beside_a_private_table_are_for_the_curator_alone(
    run: Run, tmp_path: Path
) -> None:
    method = "marginals:epsilon=1,bounds={age=[0, 100], spent=[0, 100]}"
    command = ("synthesise", "shoppers.csv", "--identifier", "name", "--method", method)
    told = run(*command, "--seed", 3, "-o", "a.csv", "--report", "a.html")
    assert told.code == 0, told.err
    seen = told.out + told.err + (tmp_path / "a.html").read_text("utf-8")
    assert "pMSE" not in seen
    assert "--curator shows it" in seen
    assert told.out.rstrip().splitlines()[-1].count("pMSE") == 0
    shown = run(*command, "--seed", 3, "--curator", "-o", "b.csv", "--report", "b.html")
    assert "For the curator only" in shown.out + shown.err
    assert "pMSE" in shown.out
    assert "pMSE" not in shown.out.rstrip().splitlines()[-1]  # the line of the promise
    report = (tmp_path / "b.html").read_text("utf-8")
    assert "For the curator only" in report
    # The certificate beside the data is the same, whoever looks.
    assert "pMSE" not in (tmp_path / "b.csv.cert.json").read_text("utf-8")
    assert run(*command, "--seed", 3, "--json").data().get("curator") is None
    data = run(*command, "--seed", 3, "--curator", "--json").data()
    assert data["curator"]["compared"]
    assert data["measures"]["figures"] == {}


@pytest.mark.usefixtures("shoppers")
def test_a_table_without_declarations_stands_for_a_weighted_population(
    run: Run, tmp_path: Path
) -> None:
    method = "discover={age='integer'},weight='spent',most_weight=60,rows=50"
    command = ("synthesise", "shoppers.csv", "--identifier", "name", "--seed", 3, "-o", "w.csv")
    told = run(*command, "--method", f"adaptive-marginals:epsilon=4,{method}")
    assert told.code == 0, told.err
    assert "epsilon for domains 0.4" in told.out
    made = pl.read_csv(tmp_path / "w.csv")
    assert made.shape == (50, 2)
    assert made["spent"].n_unique() == 1
    run(*command, "--method", "adaptive-marginals:epsilon=4,weight='spent'").complains("CEL-Y030")


def test_related_tables_are_made_from_a_folder(run: Run, tmp_path: Path) -> None:
    made = run("datasets", "get", "clinic", "--rows", 300, "-o", "clinic")
    assert made.code == 0, made.err
    command = ("synthesise", "clinic", "--tables", "clinic/clinic.toml", "--seed", 1)
    private = ("--method", "adaptive-marginals:epsilon=4")
    told = run(*command, *private, "-o", "made", "--report", "r.html")
    assert told.code == 0, told.err
    persons, visits = (pl.read_csv(tmp_path / f"made/{name}.csv") for name in ("persons", "visits"))
    assert visits["person"].is_in(persons["person"].implode()).all()
    assert "a row of persons with all rows of visits" in (tmp_path / "r.html").read_text("utf-8")
    data = run(*command, *private, "--json").data()
    assert data["measures"]["tables"]["visits"]["rows of one person"] == 6
    run(*command, "--method", "copula").complains("CEL-Y031")
    run(*command, *private, "--identifier", "person").complains("CEL-Y031")
    run(*command, *private, "-o", "clinic").complains("CEL-N024")
    (tmp_path / "clinic/visits.csv").unlink()
    assert run(*command, *private).code == 2


@pytest.mark.usefixtures("shoppers")
def test_synthesis_refuses_methods_that_keep_rows(run: Run, tmp_path: Path) -> None:
    command = ("synthesise", "shoppers.csv", "--identifier", "name", "-o", "fake.csv")
    run(*command, "--method", "pram:stay=0.9").complains("CEL-V022")
    assert not (tmp_path / "fake.csv").exists()


@pytest.mark.usefixtures("shoppers")
def test_synthesis_tries_membership_on_a_holdout(run: Run, tmp_path: Path) -> None:
    lines = (tmp_path / "shoppers.csv").read_text().splitlines()
    (tmp_path / "others.csv").write_text("\n".join([lines[0], *lines[150:]]) + "\n")
    command = ("synthesise", "shoppers.csv", "--identifier", "name", "--sensitive", "spent")
    told = run(*command, "--holdout", "others.csv", "--report", "r.html", "--seed", 3)
    assert told.code == 0, told.err
    assert "membership AUC" in told.out
    page = (tmp_path / "r.html").read_text("utf-8")
    assert MARK not in told.out + page
    run(*command, "--holdout", "others.csv", "-o", "others.csv", "--overwrite").complains(
        "CEL-I007"
    )


@pytest.mark.usefixtures("shoppers")
def test_one_strange_cell_does_not_show_in_a_private_table(run: Run, tmp_path: Path) -> None:
    method = "marginals:epsilon=1,bounds={age=[0, 100], spent=[0, 100]}"
    command = ("--method", method, "--identifier", "name", "--seed", 3)
    plain = run("synthesise", "shoppers.csv", *command, "-o", "plain.csv")
    strange = tmp_path / "strange.csv"
    strange.write_text((tmp_path / "shoppers.csv").read_text() + "somebody,unknown,12.5\n")
    told = run("synthesise", "strange.csv", *command, "-o", "told.csv")
    assert plain.code == told.code == 0, told.err
    kinds = [pl.read_csv(tmp_path / name).schema for name in ("plain.csv", "told.csv")]
    assert kinds[0] == kinds[1]


@pytest.mark.usefixtures("people", "schema")
def test_an_engine_masks_what_it_can_and_says_what_it_cannot(run: Run, tmp_path: Path) -> None:
    table = pl.read_csv(tmp_path / "people.csv", schema_overrides={"zip": pl.String})
    table.write_parquet(tmp_path / "people.parquet")
    command = ("mask", "people.parquet", "--engine", "duckdb", "-s", "people.toml", "-c", "age")
    told = run(*command, "--method", "rounding:base=10", "-o", "safe.parquet")
    assert told.code == 0, told.err
    assert "certificate: safe.parquet.cert.json" in told.out.splitlines()
    assert "not measured on an engine: records linked back by distance" in told.out
    found = pl.read_parquet(tmp_path / "safe.parquet")
    assert found["age"].sort().to_list() == sorted(round(age / 10) * 10 for age in table["age"])
    assert MARK not in told.out + told.err
    whole = run(*command, "--method", "mdav:k=5", "-o", "other.parquet")
    whole.complains("CEL-V207")
    assert not (tmp_path / "other.parquet").exists()
    run(*command, "--method", "rounding:base=10").complains("CEL-P113")
    lines = run("mask", "--methods").out.splitlines()
    for name, reach in (
        ("rounding", "row by row"),
        ("mdav", "needs all rows in memory"),
        ("noise", "row by row, after the values of its columns were counted; or needs all rows"),
    ):
        assert lines[lines.index(name) + 3].startswith(f"  on an engine: {reach}")
