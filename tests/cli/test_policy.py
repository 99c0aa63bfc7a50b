"""`celosia policy`: declared, not measured; every problem at once."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest
from tests.cli.running import MARK, Run

from celosia.queries import load_policy
from celosia.queries.policy import policy_hash

POLICY = "shop/policy.toml"


def changed(policy: Path, old: str, new: str) -> None:
    text = policy.read_text("utf-8")
    assert old in text
    policy.write_text(text.replace(old, new), "utf-8")


def test_a_sound_policy_is_called_so(run: Run, shop: Path) -> None:
    result = run("policy", "check", POLICY)
    assert result.code == 0, result.err
    last = result.out.splitlines()[-1]
    assert last == "sound: 8 tables, 3 of them private; budget epsilon 10, delta 1e-06"
    assert f"celosia policy check {POLICY} --connect" in result.err
    connected = run("policy", "check", POLICY, "--connect", "--json").data()
    assert connected["hash"] == policy_hash(load_policy(shop))
    assert connected["private"] == ["customer", "orders", "lineitem"]
    assert {path.suffix for path in shop.parent.iterdir()} == {".toml", ".parquet"}, "no ledger"


def test_the_curator_is_told_how_long_analysts_wait_for_undeclared_sizes(
    run: Run, shop: Path
) -> None:
    text = shop.read_text("utf-8")
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("rows ="))
    shop.write_text(bare, "utf-8")
    told = run("policy", "check", POLICY, "--connect")
    assert told.code == 0, told.err
    assert (
        "Table orders declares no number of rows. A plain count is answered after 4 s" in told.err
    )
    assert "With rows = 100000 under [tables.orders] it would be 1 s." in told.err
    advice = run("policy", "check", POLICY, "--json").data()["advice"]
    assert [each.split()[1] for each in advice] == ["orders", "lineitem"]
    shop.write_text(f"deadline = 2\n{bare}", "utf-8")
    assert "declares no number of rows" not in run("policy", "check", POLICY).err


def test_all_problems_of_a_policy_are_told_at_once(run: Run, shop: Path) -> None:
    changed(shop, "epsilon = 10", "epsilon = 0")
    changed(shop, 'key = "custkey"', 'key = "nationkey"')
    wrong = run("policy", "check", POLICY, "--json")
    assert (wrong.code, wrong.envelope()["code"]) == (2, "CEL-Q003")
    found = wrong.envelope()["details"]["problems"]
    assert {problem["code"] for problem in found} == {"CEL-Q010", "CEL-Q013"}
    lines = run("policy", "check", POLICY).err.splitlines()
    assert sum(line.startswith("  - ") for line in lines) == 2, "one line for each"


def test_a_policy_that_does_not_fit_the_database_is_refused(run: Run, shop: Path) -> None:
    changed(shop, "orderdate =", "orderday =")
    assert run("policy", "check", POLICY).code == 0, "the file alone does not tell"
    wrong = run("policy", "check", POLICY, "--connect")
    wrong.complains("CEL-Q018")
    assert "did you mean 'orderdate'" in wrong.err


def test_a_column_that_is_declared_unique_must_be(run: Run, shop: Path) -> None:
    orders = shop.parent / "orders.parquet"
    table = pl.read_parquet(orders)
    pl.concat([table, table.head(1)]).write_parquet(orders)
    run("policy", "check", POLICY, "--connect").complains("CEL-Q152")


def test_what_is_declared_is_shown(run: Run, shop: Path) -> None:
    result = run("policy", "show", POLICY)
    assert result.code == 0, result.err
    assert "orders (private)" in result.out
    assert "region (public, at most 5 rows)" in result.out
    assert "references customer.custkey" in result.out
    assert "0 to 600000 in steps of 0.01" in result.out
    assert "who may ask: any analyst" in result.out
    assert result.out.splitlines()[-1] == "tpch: budget epsilon 10, delta 1e-06"
    facts = run("policy", "show", POLICY, "--json").data()
    assert facts["hash"] == policy_hash(load_policy(shop))
    assert facts["unit"] == {"name": "customer", "table": "customer", "key": "custkey"}
    assert MARK not in result.out + str(facts)


def test_analysts_are_shown_with_their_budgets(run: Run, shop: Path) -> None:
    shop.write_text(shop.read_text("utf-8") + '\n[analysts.ana]\nepsilon = "1/3"\n', "utf-8")
    result = run("policy", "show", POLICY)
    assert "│ ana  │ epsilon 1/3, delta 1e-06 │" in result.out


@pytest.mark.usefixtures("shop")
def test_a_draft_of_files_only_lacks_what_a_person_must_decide(run: Run, tmp_path: Path) -> None:
    command = ("shop/customer.parquet", "shop/orders.parquet", "--name", "shop")
    result = run("policy", "draft", *command, "-o", "shop/draft.toml")
    assert result.code == 0, result.err
    assert "celosia policy check shop/draft.toml --connect" in result.err
    draft = tmp_path / "shop" / "draft.toml"
    text = draft.read_text("utf-8")
    assert MARK not in text
    assert 'files = { customer = "customer.parquet", orders = "orders.parquet" }' in text
    run("policy", "check", "shop/draft.toml").complains("CEL-Q003")
    for old, new in (
        (
            '# name = "customer"\n# table = "customer"\n# key',
            'name = "customer"\ntable = "customer"\nkey',
        ),
        ("# epsilon = 1\n# delta", "epsilon = 1\ndelta"),
        ('custkey = "integer"', 'custkey = { type = "integer", unique = true }'),
    ):
        text = text.replace(old, new, 1)
    before, heading, orders = text.partition("[tables.orders]")
    owner = orders.replace(
        '# references = { COLUMN = "TABLE.UNIQUE_COLUMN" }',
        'references = { custkey = "customer.custkey" }',
    )
    draft.write_text(before + heading + owner, "utf-8")
    assert run("policy", "check", "shop/draft.toml", "--connect").code == 0


def test_a_draft_of_a_database_names_its_tables_and_types(run: Run, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "visits.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (patient BIGINT, cost DECIMAL(9, 2), raw BLOB)")
        connection.execute(f"INSERT INTO visits VALUES (7, 1.5, '{MARK}')")
    result = run("policy", "draft", "visits.duckdb")
    assert 'path = "visits.duckdb"' in result.out.splitlines()
    assert "[tables.visits.columns]" in result.out
    assert "# raw: of a type that cannot be asked" in result.out
    assert MARK not in result.out
    facts = run("policy", "draft", "visits.duckdb", "--json").data()
    assert facts["tables"]["visits"]["cost"] == "DECIMAL(9,2)"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("nothing.duckdb",), "CEL-Q201"),
        (("people.csv", "nothing.parquet"), "CEL-Q201"),
        (("people.csv", "copy/people.csv"), "CEL-Q201"),
        (("a.duckdb", "b.duckdb"), "CEL-Q201"),
        (("postgresql://ana:hush@host/shop",), "CEL-Q200"),
        (("$SHOP", "people.csv"), "CEL-Q200"),
        (("$NOWHERE",), "CEL-Q017"),
        (("people.toml",), "CEL-E013"),
        (("people.csv", "-o", "people.csv"), "CEL-I007"),
        (("people.csv", "-o", "people.toml"), "CEL-I004"),
        ((), "CEL-I040"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("people", "schema")
def test_a_draft_that_cannot_be_made_leaves_nothing(
    options: tuple[str, ...], code: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "people.csv").write_text("a\n1\n")
    for name in ("a", "b"):
        duckdb.connect(str(tmp_path / f"{name}.duckdb")).close()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    wrong = run("policy", "draft", *options)
    wrong.complains(code)
    assert "hush" not in wrong.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_file_that_is_no_policy_is_refused(run: Run, people: Path) -> None:
    run("policy", "check", people).complains("CEL-Q001")
    run("policy", "show", "nothing.toml").complains("CEL-Q001")


def test_rows_without_an_owner_are_counted_for_the_curator(run: Run, shop: Path) -> None:
    whole = run("policy", "check", POLICY, "--connect", "--json").data()["owners"]
    assert [each["table"] for each in whole] == ["customer", "orders", "lineitem"]
    assert {(each["without_owner"], each["owner_missing"]) for each in whole} == {(0, 0)}
    assert "without an owner" not in run("policy", "check", POLICY, "--connect").out
    orders = shop.parent / "orders.parquet"
    table = pl.read_parquet(orders).with_row_index("at")
    lost = pl.when(pl.col("at") < 2).then(None).when(pl.col("at") < 5).then(10**9)
    table.with_columns(custkey=lost.otherwise(pl.col("custkey"))).drop("at").write_parquet(orders)
    result = run("policy", "check", POLICY, "--connect")
    assert result.code == 0, result.err
    assert f"2 ({2 / table.height:.2%})" in result.out
    assert f"3 ({3 / table.height:.2%})" in result.out
    assert 'ownerless = "refuse"' in result.err
    found = run("policy", "check", POLICY, "--connect", "--json").data()["owners"]
    assert (found[1]["without_owner"], found[1]["owner_missing"]) == (2, 3)
    shop.write_text('ownerless = "refuse"\n' + shop.read_text("utf-8"), "utf-8")
    wrong = run("policy", "check", POLICY, "--connect")
    assert (wrong.code, wrong.out) == (2, "")
    assert "CEL-Q152" in wrong.err
    assert f"3 ({3 / table.height:.2%})" in wrong.err
    assert "rows without an owner: refused" in run("policy", "show", POLICY).out
    run("query", POLICY, "SELECT count(*) FROM orders", "-e", 0.1).complains("CEL-Q152")


def test_answers_warn_of_rows_that_are_left_out(run: Run, shop: Path) -> None:
    asked = ("query", POLICY, "SELECT count(*) FROM orders", "-e", 0.1)
    note = "rows of orders that lead to no customer are not counted (orders.custkey is NULL)"
    assert f"note: {note}" in run(*asked, "--explain").out
    assert f"Warning: {note}" in run(*asked).err
    shop.write_text('ownerless = "refuse"\n' + shop.read_text("utf-8"), "utf-8")
    assert note not in run(*asked).err
