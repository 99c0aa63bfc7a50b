"""Databases of the studio: confined policies, plans as trees, answers paid from a ledger."""

from __future__ import annotations

import json
import shlex
import sqlite3
from contextlib import closing
from math import log
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from celosia.cli.app import app
from celosia.core.errors import BudgetExceeded, CelosiaError, InputError
from celosia.queries import QueryRequest
from celosia.studio.query import jobs, model
from celosia.studio.query.batch import BatchForm
from celosia.studio.release_facts import write_pdf
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

QUIET = JobProgress(lambda text: None)
POLICY = """
name = "people"
[database.files]
people = "people.parquet"
[unit]
name = "row"
[budget]
epsilon = 1
[tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A work with one table."""
    pl.DataFrame({"age": [20, 30, 40] * 20}).write_parquet(tmp_path / "people.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "change",
    [
        ('"people.parquet"', '"/etc/passwd"'),
        ('"people.parquet"', '"../other/people.parquet"'),
        ('"people.parquet"', '"absent.parquet"'),
        ('"people.parquet"', '"people.parquet/../../x.parquet"'),
        ("[database.files]", '[database]\npath = "/tmp/other.duckdb"\n[database.files]'),
        ("[database.files]", '[database]\nurl = "$HOME"\n[database.files]'),
        ("[database.files]", '[database]\nkind = "postgres"\n[database.files]'),
        ("[database.files]", '[database]\nkind = "spark"\n[database.files]'),
        ("[unit]", '[graph]\nstore = "/tmp/x.graph"\n[unit]'),
    ],
)
def test_a_policy_names_nothing_beyond_its_folder(folder: Path, change: tuple[str, str]) -> None:
    with pytest.raises(InputError) as refusal:
        model.keep_policy(folder, POLICY.replace(*change))
    assert refusal.value.code == "CEL-W091"
    assert not (folder / "policy.toml").exists()


def test_a_link_to_another_file_is_not_followed(folder: Path) -> None:
    (folder / "other.parquet").symlink_to(folder / "people.parquet")
    with pytest.raises(InputError) as refusal:
        model.keep_policy(folder, POLICY.replace("people.parquet", "other.parquet"))
    assert refusal.value.code == "CEL-W091"


def test_a_policy_that_was_changed_behind_our_back_is_looked_at_again(folder: Path) -> None:
    text = POLICY.replace('"people.parquet"', '"/etc/passwd"')
    (folder / "policy.toml").write_text(text)
    with pytest.raises(InputError) as refusal:
        model.open_vault(folder)
    assert refusal.value.code == "CEL-W091"


@pytest.mark.parametrize("text", ["not = [toml", "database = 3", "x = 1\n" * 50_000])
def test_what_is_no_policy_is_told(folder: Path, text: str) -> None:
    with pytest.raises(InputError) as refusal:
        model.keep_policy(folder, text)
    assert refusal.value.code == "CEL-W092"


def test_questions_are_paid_until_nothing_is_left(folder: Path) -> None:
    model.keep_policy(folder, POLICY)
    assert model.account(Work.at(str(folder)))["begun"] is False
    with model.open_vault(folder) as vault:
        plan = model.explained(vault, QueryRequest("SELECT count(*) FROM people", epsilon=0.5))
        assert plan["epsilon"] == 0.5
        errors = [error for _epsilon, error in plan["curve"]]
        assert errors == sorted(errors, reverse=True)
        first = model.asked(vault, QueryRequest("SELECT count(*) FROM people", epsilon=0.5))
        again = model.asked(vault, QueryRequest("SELECT count(*) FROM people", epsilon=0.5))
        assert (first["stored"], again["stored"]) == (False, True)
        assert first["rows"] == again["rows"]
        assert again["left"] == 0.5
        with pytest.raises(BudgetExceeded):
            model.asked(vault, QueryRequest("SELECT sum(age) FROM people", epsilon=0.75))
    found = model.account(Work.at(str(folder)))
    assert [each["epsilon"] for each in found["records"]] == [0.5]
    assert (found["remaining"], found["total"]) == (0.5, 1.0)


def test_a_draft_names_the_tables_and_nothing_of_their_cells(folder: Path) -> None:
    text = model.draft(folder, ["people.parquet"])
    assert 'people = "people.parquet"' in text
    assert "age" in text
    model.keep_policy(folder, text)
    with pytest.raises(InputError):  # unit and budget are for a person to choose
        model.open_vault(folder)


def test_a_query_without_end_is_refused(folder: Path) -> None:
    model.keep_policy(folder, POLICY)
    with model.open_vault(folder) as vault, pytest.raises(InputError) as refusal:
        model.asked(vault, QueryRequest("SELECT " + "1+" * 10_000, epsilon=0.5))
    assert refusal.value.code == "CEL-W093"


def test_the_same_is_asked_from_the_command_line_and_from_python() -> None:
    text = model.command_text(QueryRequest("SELECT 'a'", epsilon=0.5))
    assert text == "celosia query policy.toml 'SELECT '\\''a'\\''' --epsilon 0.5"
    compile(model.python_text(QueryRequest("SELECT 'a'", epsilon=0.5)), "text", "exec")


def test_no_other_sample_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        model.make_sample(tmp_path, "/etc")
    assert refusal.value.code == "CEL-W090"


def test_the_accuracy_that_is_wished_for_is_the_range_of_the_answer(folder: Path) -> None:
    model.keep_policy(folder, POLICY)
    question = "SELECT count(*) AS n FROM people"
    epsilon = jobs.find_epsilon(
        QUIET, folder=str(folder), request=QueryRequest(question, epsilon=1), within=10
    )
    # Laplace noise of scale 1 / epsilon: exp(-10 epsilon) = 1 / 20.
    assert epsilon == pytest.approx(log(20) / 10, rel=0.01)
    answer = jobs.ask(QUIET, folder=str(folder), request=QueryRequest(question, epsilon=epsilon))
    low, high = answer["intervals"][0]["n"]
    assert high - low <= 20


def test_the_ledger_has_the_words_of_the_question(folder: Path) -> None:
    model.keep_policy(folder, POLICY)
    question = "SELECT count(*) AS how_many FROM people  -- all"
    jobs.ask(QUIET, folder=str(folder), request=QueryRequest(question, epsilon=0.5))
    (record,) = jobs.account(QUIET, folder=str(folder))["records"]
    assert record["question"] == question
    assert record["understood"] != question
    assert record["delta"] == 0
    schema = jobs.schema(QUIET, folder=str(folder))
    assert [text for _title, text in model.examples(schema)] == [
        "SELECT count(*) AS number FROM people",
        "SELECT avg(age) AS mean FROM people",
    ]


def test_a_policy_is_drafted_from_a_whole_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "upload.db")) as base, base:
        base.execute(
            'CREATE TABLE "Order Lines" (id INTEGER, price REAL, client INTEGER REFERENCES Clients)'
        )
        base.execute("CREATE TABLE Clients (id INTEGER PRIMARY KEY, name TEXT)")
        base.execute("CREATE TABLE empty (id INTEGER)")
        base.execute("CREATE VIEW all_clients AS SELECT * FROM clients")
        base.execute('INSERT INTO "Order Lines" VALUES (1, 2.5, 1), (2, NULL, 1)')
        base.execute("INSERT INTO clients VALUES (1, 'Ana')")
    text = jobs.bring(QUIET, folder=str(tmp_path), file="upload.db", shown="shop.db", table="x")
    assert 'order_lines = "order_lines.parquet"' in text
    assert "[tables.clients" in text
    assert 'references = { client = "clients.id" }' in text
    assert 'id = { type = "integer", unique = true }' in text
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "clients.parquet",
        "order_lines.parquet",
    ]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"x" * 2000])
def test_what_is_no_database_is_told_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "upload.db").write_bytes(content)
    with pytest.raises(InputError) as refusal:
        jobs.bring(QUIET, folder=str(tmp_path), file="upload.db", shown="shop.db", table="x")
    assert refusal.value.code == "CEL-W094"
    assert list(tmp_path.iterdir()) == []


def test_the_owner_sees_true_answers_that_are_charged_to_nobody(folder: Path) -> None:
    model.keep_policy(folder, POLICY)
    with model.open_vault(folder) as vault:
        found = model.compared(vault, QueryRequest("SELECT count(*) AS n FROM people", epsilon=0.5))
        (only,) = found["numbers"]
        assert (only["true"], found["charged"], found["runs"]) == (60, False, 100)
        assert only["errors"]["runs"] == 100
        # Whole noise of scale 2: its mean size over 100 runs is 2 +- 4 * 2 / 10, and more than 0.
        assert 0 < only["errors"]["mean_absolute"] < 2.9
        assert vault.ledger.spent["epsilon"] == 0
    assert jobs.account(QUIET, folder=str(folder))["records"] == []


QUESTIONS = """=== all
SELECT count(*) AS n FROM people
=== old
SELECT count(*) AS n FROM people WHERE age > 35
=== rows
SELECT age FROM people
"""


def test_a_batch_has_errors_by_question_and_shape_and_a_report(folder: Path) -> None:
    model.keep_policy(folder, POLICY)
    form = BatchForm(QUESTIONS, "0.1, 0.02", 30)
    found = jobs.simulate(QUIET, folder=str(folder), form=form)
    assert [(row[0], row[3], row[4]) for row in found["rows"]] == [
        *(("all", "0.02", "30"), ("all", "0.1", "30")),
        *(("old", "0.02", "30"), ("old", "0.1", "30")),
    ]
    assert [each["name"] for each in found["refused"]] == ["rows", "rows"]
    assert "CEL-Q" in found["refused"][0]["why"]
    assert found["bars"]["names"] == ["all", "old"]
    assert [name for name, _points in found["curves"]] == ["all", "old"]
    assert found["few"]
    assert "<svg" in (folder / "errors.html").read_text("utf-8")
    assert not model.account(Work.at(str(folder)))["begun"], "nothing is charged"
    assert form.command.endswith("questions -e 0.02 -e 0.1 --repeats 30 --report errors.html")


@pytest.mark.parametrize(
    ("form", "key"),
    [
        (BatchForm("", "1", 100), "questions"),
        (BatchForm("=== a\nSELECT 1\n" * 21, "1", 100), "questions"),
        (BatchForm(QUESTIONS, "much", 100), "epsilons"),
        (BatchForm(QUESTIONS, "0", 100), "epsilons"),
        (BatchForm(QUESTIONS, "1 2 3 4 5 6", 100), "epsilons"),
        (BatchForm(QUESTIONS, "1", 0), "runs"),
        (BatchForm(QUESTIONS, "1, 2", 10_000), "runs"),
    ],
)
def test_a_batch_that_would_keep_the_machine_busy_is_refused(form: BatchForm, key: str) -> None:
    with pytest.raises(InputError) as refused:
        form.check()
    assert refused.value.key == f"CEL-W109.{key}"


MARKET = """
delta = 0.01
[market]
currency = "EUR"
compensation = 0.5
per_epsilon = 10
"""


def test_a_market_and_a_large_delta_are_shown(folder: Path) -> None:
    text = POLICY.replace("epsilon = 1\n", "epsilon = 1\n" + MARKET)
    model.keep_policy(folder, text)
    schema = jobs.schema(QUIET, folder=str(folder))
    assert ["delta" in each for each in schema["warnings"]] == [True]
    found = jobs.account(QUIET, folder=str(folder))["market"]
    assert found["prices"][3] == (1.0, "10.00")
    assert found["owed"] == "0.00"
    assert found["compensation"] is None, "the policy declares no number of people"


ANALYSTS = """
[market.factors]
ana = 0.5
[analysts.ana]
epsilon = 0.6
[analysts.bo]
epsilon = 0.3
"""


def test_named_analysts_ask_and_get_their_invoices(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sold = MARKET.replace("delta = 0.01\n", "") + ANALYSTS
    text = POLICY.replace("epsilon = 1\n", "epsilon = 1\n" + sold)
    model.keep_policy(folder, text)
    place, count = str(folder), "SELECT count(*) AS n FROM people"
    assert jobs.schema(QUIET, folder=place)["who"] == {"names": ["ana", "bo"], "are_all": True}
    with pytest.raises(CelosiaError):  # nobody else may ask
        jobs.ask(QUIET, folder=place, request=QueryRequest(count, epsilon=0.1))
    plan = jobs.explain(
        QUIET, folder=place, request=QueryRequest(count, epsilon=0.5, analyst="ana")
    )
    assert "2.50 EUR" in str(plan["price"])
    jobs.ask(QUIET, folder=place, request=QueryRequest(count, epsilon=0.5, analyst="ana"))
    jobs.ask(QUIET, folder=place, request=QueryRequest(count, epsilon=0.2, analyst="bo"))
    with pytest.raises(BudgetExceeded):
        jobs.ask(
            QUIET,
            folder=place,
            request=QueryRequest(f"{count} WHERE age > 1", epsilon=0.2, analyst="bo"),
        )
    found = jobs.account(QUIET, folder=place)
    assert [each["analyst"] for each in found["records"]] == ["ana", "bo"]
    market = found["market"]
    assert market["analysts"] == ["ana", "bo"]
    [month] = market["months"]

    made = jobs.invoice(QUIET, folder=place, analyst="ana", month=month)
    assert (made["total"], len(made["sales"])) == ("2.50", 1)
    assert "2.50 EUR" in (folder / "invoice.html").read_text("utf-8")
    write_pdf(QUIET, folder=place, name="invoice.pdf")
    assert (folder / "invoice.pdf").read_bytes().startswith(b"%PDF")
    monkeypatch.chdir(folder)
    (folder / "invoice.html").unlink()
    command = model.invoice_command("ana", month)
    assert CliRunner().invoke(app, [*shlex.split(command)[1:], "--json"]).exit_code == 0
    assert (folder / "invoice.html").exists()
    told = CliRunner().invoke(app, [*shlex.split(command)[1:-2], "--json"])
    assert json.loads(told.stdout)["data"] == json.loads((folder / "invoice.json").read_text())
    assert jobs.invoice(QUIET, folder=place, analyst="bo", month="2020-01")["total"] == "0.00"
    with pytest.raises(InputError):
        jobs.invoice(QUIET, folder=place, analyst="bo", month="2020")
    for text in (model.command_text(QueryRequest(count, epsilon=0.2, analyst="bo")),):
        shown = CliRunner().invoke(app, shlex.split(text)[1:])
        assert shown.exit_code == 0, shown.output
    exec(model.python_text(QueryRequest(count, epsilon=0.2, analyst="bo")))
    assert "n" in capsys.readouterr().out


def test_where_anybody_may_ask_a_name_is_for_the_invoice_only(folder: Path) -> None:
    text = POLICY.replace("epsilon = 1\n", "epsilon = 1\n" + MARKET)
    model.keep_policy(folder, text)
    place, count = str(folder), "SELECT count(*) AS n FROM people"
    assert jobs.schema(QUIET, folder=place)["who"] == {"names": [], "are_all": False}
    jobs.ask(QUIET, folder=place, request=QueryRequest(count, epsilon=0.1))
    [record] = jobs.account(QUIET, folder=place)["records"]
    assert record["analyst"] is None
    model.keep_policy(folder, POLICY)
    assert jobs.schema(QUIET, folder=place)["who"] is None
