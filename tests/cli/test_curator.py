"""The curator's view and batches of questions: true answers beside private ones, never charged."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import Run
from tests.cli.test_query_graph import FACTS, POLICY

from celosia import InputError
from celosia.queries import QueryRequest, Vault
from celosia.queries.comparison import ErrorSummary

STATUS = "SELECT orderstatus, count(*) AS n FROM orders GROUP BY orderstatus"


def test_the_true_answer_stands_beside_a_private_one_and_nothing_is_charged(
    run: Run, shop: Path
) -> None:
    found = run("query", shop, STATUS, "-e", 1, "--curator", "--json").data()
    assert (found["contains_true_answers"], found["charged"]) == (True, False)
    orders = pl.read_parquet(shop.parent / "orders.parquet")
    counts = dict(orders.group_by("orderstatus").len().iter_rows())
    assert {each["group"][0]: each["true"] for each in found["numbers"]} == counts
    assert found["plan"]["parts"]
    for each in found["numbers"]:
        assert each["errors"]["mean_absolute"] == abs(each["private"] - each["true"])
    told = run("query", shop, STATUS, "-e", 1, "--curator")
    assert "contains the true answer" in told.err
    assert "Nothing was charged" in told.err
    assert "never give this to an analyst" in told.out
    assert not [*shop.parent.glob("*ledger*")]


@pytest.mark.parametrize(
    "more",
    [
        ("--analyst", "ana"),
        ("--explain",),
        ("-o", "answer.csv"),
        ("--report", "answer.html"),
    ],
)
def test_what_could_bring_a_true_answer_to_an_analyst_is_refused(
    more: tuple[str, ...], run: Run, shop: Path
) -> None:
    told = run("query", shop, STATUS, "-e", 1, "--curator", *more)
    told.complains("CEL-Q213")
    assert "7" not in told.out


def test_a_service_has_no_view_for_the_curator(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("token")
    server = ("--server", "http://localhost:1", "--token-file", "t")
    run("query", *server, STATUS, "-e", 1, "--curator").complains("CEL-Q213")


def test_an_analyst_is_refused_in_python_too(shop: Path) -> None:
    request = QueryRequest(STATUS, epsilon=1, analyst="ana")
    with Vault.open(shop) as vault, pytest.raises(InputError, match="--analyst"):
        vault.compare(request)


def test_a_folder_of_questions_is_measured_by_question_and_shape(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "orders.sql").write_text("SELECT count(*) FROM orders")
    join = "SELECT count(*) FROM orders JOIN customer ON orders.custkey = customer.custkey"
    (folder / "joined.sql").write_text(join)
    command = ("policy", "simulate", shop, folder, "-e", 0.5, "-e", 2, "--repeats", 8)
    found = run(*command, "--seed", 3, "--json").data()
    assert found["simulation"] is True
    errors = {
        (each["name"], each["epsilon"]): each["numbers"][0]["errors"]["mean_absolute"]
        for each in found["questions"]
    }
    assert [*errors] == [("joined", 0.5), ("joined", 2), ("orders", 0.5), ("orders", 2)]
    # Four times the epsilon is a quarter of the error; means of 8 draws are off by 35 % (1 sigma).
    assert all(errors[name, 2] < errors[name, 0.5] for name in ("orders", "joined"))
    told = run(*command, "--report", "errors.html")
    assert "rows, 1 join" in told.out
    assert "8 runs say little" in told.err
    page = Path("errors.html").read_text("utf-8")
    assert page.count("<figure") == 3
    assert not [*shop.parent.glob("*ledger*")]


def test_a_folder_without_questions_is_told_so(run: Run, shop: Path, tmp_path: Path) -> None:
    run("policy", "simulate", shop, tmp_path, "-e", 1).complains("CEL-Q216")


def test_errors_of_an_answer_of_zero_have_no_relative_size() -> None:
    found = ErrorSummary.of(0.0, [3.0, -4.0])
    assert (found.mean_absolute, found.mean_relative) == (3.5, None)
    assert found.root_mean_square == pytest.approx(12.5**0.5)


def test_a_graph_is_compared_in_sparql(run: Run) -> None:
    Path("people.ttl").write_text(FACTS)
    Path("people.toml").write_text(POLICY)
    Path("questions").mkdir()
    asked = "SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:age ?age }"
    Path("questions/ages.rq").write_text(asked)
    assert run("rdf", "load", "people.ttl", "-o", "people.graph").code == 0
    found = run("query", "people.toml", asked, "-e", 5, "--curator", "--json").data()
    assert found["numbers"][0]["true"] == 2
    batch = ("policy", "simulate", "people.toml", "questions", "-e", 5, "--repeats", 100)
    (measured,) = run(*batch, "--json").data()["questions"]
    assert measured["runs"] == 100
    # The mean absolute value of Laplace noise of scale 1/5, over 100 draws, is below 1.
    assert measured["numbers"][0]["errors"]["mean_absolute"] < 1
