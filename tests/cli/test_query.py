"""`celosia query`: what is asked is paid for, once, and nothing else is told."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest
from tests.cli.running import MARK, Result, Run

from celosia import frames
from celosia.engines import DuckDBEngine
from celosia.queries import QueryAnswer

ORDERS = "SELECT count(*) FROM orders"
SEGMENTS = "SELECT mktsegment, count(*) AS n FROM customer GROUP BY mktsegment"
POLICY = "shop/policy.toml"
LEDGER = Path("shop/policy.ledger.sqlite")


def charges(run: Run, place: str = POLICY) -> list[dict[str, Any]]:
    found = run("ledger", "show", place, "--json").data()["charges"]
    assert isinstance(found, list)
    return found


def with_analysts(policy: Path, **limits: float) -> None:
    sections = [f"[analysts.{name}]\nepsilon = {limit}\n" for name, limit in limits.items()]
    policy.write_text("\n".join([policy.read_text("utf-8"), *sections]), "utf-8")


@pytest.mark.usefixtures("shop")
def test_an_answer_is_told_with_its_error_its_price_and_what_is_left(run: Run) -> None:
    shown = run("query", POLICY, ORDERS, "--epsilon", 0.5, "--seed", 1)
    assert shown.code == 0, shown.err
    for line in (
        "promise without a seed: 0.5-differential privacy (neighbours: add or remove one customer)",
        "cost: epsilon 0.5 (entry 1 of the ledger)",
        "left: epsilon 9.5, delta 1e-06",
    ):
        assert line in shown.out.splitlines()
    assert "head of the ledger: 2:" in shown.out
    assert "95% interval" in shown.out
    assert shown.out.splitlines()[-1].endswith("0.5-differential privacy")
    assert "Simulation: made with a seed, not for release." in shown.err


@pytest.mark.usefixtures("shop")
def test_the_answer_is_near_the_truth(run: Run, made_shop: Path) -> None:
    truth = pl.read_parquet(made_shop / "orders.parquet").height
    data = run("query", POLICY, ORDERS, "-e", 8, "--seed", 3, "--json").data()
    (row,), (interval,) = data["rows"], data["intervals"]
    low, high = interval["count"]
    assert low <= row["count"] <= high
    # Nobody of 100 customers orders more than 40 times, so a cap of 64 loses nothing and its noise
    # at epsilon 2 or more stays below 64 * ln(1e9) / 2 but for one run in 1e9.
    assert abs(row["count"] - truth) < 64 * 21 / 2


@pytest.mark.usefixtures("shop")
def test_explaining_costs_nothing(run: Run) -> None:
    shown = run("query", POLICY, ORDERS, "--explain", "--epsilon", 0.5)
    assert shown.code == 0, shown.err
    assert shown.out.splitlines()[-1] == "price: epsilon 0.5"
    assert "Nothing was spent" in shown.err
    assert "scan orders" in shown.out
    plan = run("query", POLICY, ORDERS, "--explain", "--json").data()
    assert plan["epsilon"] == 1
    assert [part["epsilon"] for part in plan["parts"]] == [1]
    assert not LEDGER.exists()


@pytest.mark.usefixtures("shop")
def test_the_same_question_is_free_the_second_time(run: Run) -> None:
    first = run("query", POLICY, ORDERS, "-e", 0.5, "--json").data()
    again = run("query", POLICY, "select COUNT(*)\nfrom Orders", "-e", 0.5, "--json").data()
    assert (first["stored"], again["stored"]) == (False, True)
    assert (first["rows"], first["entry"], first["head"]) == (
        again["rows"],
        again["entry"],
        again["head"],
    )
    assert again["remaining"]["total"]["epsilon"] == 9.5
    shown = run("query", POLICY, ORDERS, "-e", 0.5)
    assert "cost: nothing now; epsilon 0.5 when it was first answered (entry 1)" in shown.out
    assert len(charges(run)) == 1


@pytest.mark.usefixtures("shop")
def test_groups_are_the_declared_ones_and_no_cell_is_shown(run: Run) -> None:
    shown = run("query", POLICY, SEGMENTS, "-e", 1)
    keys = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
    assert [line.split()[1] for line in shown.out.splitlines() if line.startswith("│")] == keys
    assert MARK not in shown.out + shown.err
    assert MARK.encode() not in LEDGER.read_bytes()


@pytest.mark.usefixtures("shop")
def test_a_seed_repeats_the_noise_and_touches_no_real_budget(run: Run) -> None:
    command = ("query", POLICY, SEGMENTS, "-e", 1, "--json")
    one, same, other = (run(*command, "--seed", seed).data() for seed in (5, 5, 6))
    assert one["rows"] == same["rows"] != other["rows"]
    assert one["guarantee"]["simulation"] is True
    assert not LEDGER.exists()


@pytest.mark.usefixtures("shop")
def test_public_tables_are_told_exactly_for_nothing(run: Run) -> None:
    data = run("query", POLICY, "SELECT count(*) FROM nation", "-e", 1, "--json").data()
    assert (data["rows"], data["epsilon"], data["entry"]) == ([{"count": 25}], 0, None)
    shown = run("query", POLICY, "SELECT count(*) FROM nation", "-e", 1)
    assert "cost: nothing, as only public tables were used" in shown.out


@pytest.mark.usefixtures("shop")
def test_a_question_is_read_from_a_file_or_a_pipe(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "orders.sql").write_text(f"-- how many\n{ORDERS};\n")
    first = run("query", POLICY, "orders.sql", "-e", 0.5, "--json").data()
    monkeypatch.setattr("sys.stdin", io.StringIO(ORDERS))
    piped = run("query", POLICY, "-", "-e", 0.5, "--json").data()
    assert (piped["stored"], piped["rows"]) == (True, first["rows"])


@pytest.mark.usefixtures("shop")
def test_an_answer_is_saved_with_its_certificate_and_report(run: Run, tmp_path: Path) -> None:
    shown = run("query", POLICY, SEGMENTS, "-e", 1, "-o", "n.csv", "--report", "n.html")
    assert shown.code == 0, shown.err
    assert "certificate: n.csv.cert.json" in shown.out
    assert frames.read(tmp_path / "n.csv").columns == ["mktsegment", "n", "n_lower", "n_upper"]
    loaded = QueryAnswer.load(tmp_path / "n.csv")
    assert [row["mktsegment"] for row in loaded.rows][:2] == ["AUTOMOBILE", "BUILDING"]
    assert loaded.guarantee.promise == "1-differential privacy"
    assert MARK not in (tmp_path / "n.html").read_text("utf-8")
    as_json = run("query", POLICY, SEGMENTS, "-e", 1, "-o", "n.json")
    assert as_json.code == 0
    assert json.loads((tmp_path / "n.json").read_text("utf-8"))["stored"] is True


@pytest.mark.parametrize(
    ("options", "code", "exit_code"),
    [
        ((), "CEL-Q213", 2),
        ((POLICY,), "CEL-Q213", 2),
        ((POLICY, ORDERS), "CEL-Q213", 2),
        ((POLICY, ORDERS, "-e", "many"), "CEL-I040", 2),
        ((POLICY, ORDERS, "-e", 0), "CEL-I060", 2),
        ((POLICY, ORDERS, "-e", -1), "CEL-I060", 2),
        ((POLICY, ORDERS, "-e", "nan"), "CEL-I060", 2),
        ((POLICY, ORDERS, "-e", 1, "--confidence", 2), "CEL-I060", 2),
        ((POLICY, ORDERS, "-e", 1, "--seed", -1), "CEL-I002", 2),
        ((POLICY, "nothing.sql", "-e", 1), "CEL-Q216", 2),
        ((POLICY, "SELECT count( FROM", "-e", 1), "CEL-Q020", 2),
        ((POLICY, "SELECT * FROM orders", "-e", 1), "CEL-Q042", 1),
        ((POLICY, "SELECT count(*) FROM secrets", "-e", 1), "CEL-Q025", 1),
        ((POLICY, "DROP TABLE orders", "-e", 1), "CEL-Q022", 1),
        ((POLICY, ORDERS, "-e", 10.1), "CEL-Q110", 3),
        (("nothing.toml", ORDERS, "-e", 1), "CEL-Q001", 2),
        ((POLICY, ORDERS, "-e", 1, "-o", "a.docx"), "CEL-F012", 2),
        ((POLICY, ORDERS, "-e", 1, "-o", "no/a.csv"), "CEL-I005", 2),
        ((POLICY, ORDERS, "-e", 1, "-o", POLICY), "CEL-I007", 2),
        ((POLICY, ORDERS, "-e", 1, "--report", str(LEDGER)), "CEL-I007", 2),
        ((POLICY, ORDERS, "-e", 1, "-o", "a.json", "--report", "a.json"), "CEL-I043", 2),
        ((POLICY, ORDERS, "-e", 1, "--ledger", "no/a.sqlite"), "CEL-Q116", 2),
        ((POLICY, ORDERS, "-e", 1, "--ledger", "$NOWHERE"), "CEL-Q204", 2),
        ((POLICY, ORDERS, "-e", 1, "--ledger", "postgresql://a:b@c/d"), "CEL-Q200", 2),
        ((POLICY, ORDERS, "-e", 1, "--token-file", "a.token"), "CEL-Q213", 2),
        ((POLICY, ORDERS, "-e", 1, "--server", "https://a"), "CEL-Q213", 2),
        ((ORDERS, "-e", 1, "--server", "https://a", "--analyst", "ana"), "CEL-Q213", 2),
        ((ORDERS, "-e", 1, "--server", "https://a", "--seed", 1), "CEL-Q213", 2),
        ((ORDERS, "-e", 1, "--server", "https://a"), "CEL-Q204", 2),
        ((ORDERS, "-e", 1, "--server", "https://a", "--token-file", "no"), "CEL-Q216", 2),
    ],
    ids=str,
)
@pytest.mark.usefixtures("shop")
def test_what_cannot_be_asked_costs_nothing(
    options: tuple[object, ...],
    code: str,
    exit_code: int,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CELOSIA_TOKEN", raising=False)
    run("query", *options).complains(code, exit_code)
    assert not LEDGER.exists() or charges(run) == []


@pytest.mark.usefixtures("shop")
def test_a_file_that_exists_is_kept_and_nothing_is_spent(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    run("query", POLICY, ORDERS, "-e", 1, "-o", "a.json").complains("CEL-I004")
    assert (tmp_path / "a.json").read_text() == "old"
    assert not LEDGER.exists()
    assert run("query", POLICY, ORDERS, "-e", 1, "-o", "a.json", "--overwrite").code == 0


def test_the_budget_ends_where_it_ends(run: Run, shop: Path) -> None:
    shop.write_text("least_epsilon = 0\n" + shop.read_text("utf-8"), "utf-8")
    for number in range(2):
        asked = f"SELECT count(*) FROM customer WHERE custkey > {number}"
        assert run("query", POLICY, asked, "-e", 5).code == 0
    more = run("query", POLICY, "SELECT count(*) FROM customer", "-e", 0.001, "--json")
    assert (more.code, more.envelope()["code"]) == (3, "CEL-Q110")
    assert more.envelope()["details"]["remaining"]["epsilon"] == 0
    assert len(charges(run)) == 2
    first = "SELECT count(*) FROM customer WHERE custkey > 0"
    assert run("query", POLICY, first, "-e", 5).code == 0, "what was told is told again"


def test_each_analyst_has_a_budget(run: Run, shop: Path) -> None:
    with_analysts(shop, ana=1, ben=5)
    run("query", POLICY, ORDERS, "-e", 1).complains("CEL-Q141", 1)
    wrong = run("query", POLICY, ORDERS, "-e", 1, "--analyst", "anna")
    wrong.complains("CEL-Q109", 1)
    assert "did you mean 'ana'" in wrong.err
    shown = run("query", POLICY, ORDERS, "-e", 0.75, "--analyst", "ana")
    assert "left: epsilon 9.25, delta 1e-06" in shown.out.splitlines()
    assert "left to ana: epsilon 0.25, delta 1e-06" in shown.out.splitlines()
    run("query", POLICY, SEGMENTS, "-e", 0.5, "--analyst", "ana").complains("CEL-Q111", 3)
    assert run("query", POLICY, SEGMENTS, "-e", 0.5, "--analyst", "ben").code == 0
    (only,) = run("ledger", "show", POLICY, "--analyst", "ben", "--json").data()["charges"]
    assert (only["analyst"], only["epsilon"], only["status"]) == ("ben", "1/2", "sealed")


def test_another_place_of_the_ledger(
    run: Run, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("query", shop, ORDERS, "-e", 1, "--ledger", "other.sqlite").code == 0
    assert not LEDGER.exists()
    assert len(charges(run, "other.sqlite")) == 1
    monkeypatch.setenv("LEDGER", str(tmp_path / "other.sqlite"))
    again = run("query", shop, ORDERS, "-e", 1, "--ledger", "$LEDGER", "--json").data()
    assert again["stored"] is True


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the engine fail once the question is charged: looks at the tables go well."""
    usual = DuckDBEngine._timed

    def fail(self: DuckDBEngine, *asked: Any, **said: Any) -> Any:
        if LEDGER.exists() and b"reserved" in _ledger_bytes():
            _raise(error)
        return usual(self, *asked, **said)

    monkeypatch.setattr(DuckDBEngine, "_timed", fail)


def _ledger_bytes() -> bytes:
    return b"".join(each.read_bytes() for each in LEDGER.parent.glob(f"{LEDGER.name}*"))


def _raise(error: BaseException) -> NoReturn:
    raise error


@pytest.mark.usefixtures("shop")
def test_a_question_that_the_user_stops_stays_charged(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        _failing(broken, KeyboardInterrupt())
        result: Result = run("query", POLICY, ORDERS, "-e", 1, "-o", "a.csv")
    assert (result.code, result.out) == (130, "")
    assert "CEL-C001" in result.err
    assert "stays charged" in result.err
    (only,) = charges(run)
    assert (only["status"], only["reason"]) == ("failed", "CEL-C001")
    assert run("ledger", "verify", POLICY).code == 0
    assert not Path("a.csv").exists()


def _without_sign(said: str) -> list[str]:
    """What was said beside the answer, but for a word on released numbers below 0."""
    return [line for line in said.splitlines() if "below 0" not in line]


@pytest.mark.parametrize("error", [ValueError(MARK), MemoryError(MARK)], ids=repr)
@pytest.mark.usefixtures("shop")
def test_what_fails_after_it_was_charged_is_answered_like_an_empty_database(
    error: BaseException, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        _failing(broken, error)
        bad = run("query", POLICY, ORDERS, "-e", 1)
    good = run("query", POLICY, ORDERS, "-e", 1, "--fresh")
    assert (good.code, bad.code) == (0, 0)
    assert _without_sign(good.err) == _without_sign(bad.err)
    assert len(good.out.splitlines()) == len(bad.out.splitlines())
    assert [each["status"] for each in charges(run)] == ["sealed", "sealed"]
    assert MARK not in bad.out
    assert "failed-query" in run("ledger", "incidents", POLICY).out
    data = run("query", POLICY, SEGMENTS, "-e", 1, "--json").data()
    assert data["remaining"]["total"]["epsilon"] == 7


@pytest.mark.usefixtures("shop")
def test_a_disk_that_is_full_costs_the_file_and_not_the_answer(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> NoReturn:
        raise OSError(28, MARK)

    with monkeypatch.context() as broken:
        broken.setattr("celosia.frames.write", full)
        run("query", POLICY, ORDERS, "-e", 1, "-o", "a.csv").complains("CEL-I041")
    assert not Path("a.csv").exists()
    again = run("query", POLICY, ORDERS, "-e", 1, "-o", "a.csv", "--json").data()
    assert again["stored"] is True


def test_a_policy_that_allows_more_than_before_is_refused(run: Run, shop: Path) -> None:
    assert run("query", POLICY, ORDERS, "-e", 1).code == 0
    shop.write_text(shop.read_text("utf-8").replace("epsilon = 10", "epsilon = 11"), "utf-8")
    run("query", POLICY, ORDERS, "-e", 1).complains("CEL-Q103", 1)
    assert len(charges(run)) == 1


def test_a_weak_budget_is_warned_of(run: Run, shop: Path) -> None:
    shop.write_text(shop.read_text("utf-8").replace("epsilon = 10", "epsilon = 100"), "utf-8")
    shown = run("query", POLICY, ORDERS, "-e", 1)
    assert shown.code == 0
    assert "Warning: the budget allows an epsilon above 20" in shown.err


def test_a_database_that_is_away_is_no_fault_of_ours(run: Run, shop: Path) -> None:
    (shop.parent / "orders.parquet").unlink()
    run("query", POLICY, ORDERS, "-e", 1).complains("CEL-E013")
    assert not LEDGER.exists()


@pytest.mark.usefixtures("shop")
def test_explaining_leaves_nothing_behind(run: Run) -> None:
    before = sorted(Path().rglob("*"))
    assert run("query", POLICY, ORDERS, "--explain").code == 0
    assert run("query", POLICY, "SELECT count(*) FROM nation", "-e", 1).code == 0
    assert sorted(Path().rglob("*")) == before
    run("ledger", "show", POLICY).complains("CEL-Q207", 2)


@pytest.mark.usefixtures("shop")
def test_the_noise_of_a_chosen_cap_is_told_beside_the_interval(run: Run) -> None:
    shown = run("query", POLICY, ORDERS, "-e", 0.5)
    assert "noise 95%" in shown.out
    assert "of the answer under the cap chosen" in shown.out
    assert "what they cut off is not counted in it" in " ".join(shown.err.split())
    data = run("query", POLICY, ORDERS, "-e", 0.5, "--json").data()
    ((error,),) = (row.values() for row in data["noise"])
    assert error > 0


@pytest.mark.usefixtures("shop")
def test_a_stored_answer_says_when_it_was_given_and_a_fresh_one_is_paid(run: Run) -> None:
    first = run("query", POLICY, ORDERS, "-e", 0.5, "--json").data()
    shown = run("query", POLICY, ORDERS, "-e", 0.5)
    assert f"stored, first answered at {first['answered']}" in shown.out
    assert "--fresh pays anew" in shown.out
    fresh = run("query", POLICY, ORDERS, "-e", 0.5, "--fresh", "--json").data()
    assert (fresh["stored"], fresh["entry"] > first["entry"]) == (False, True)
    again = run("query", POLICY, ORDERS, "-e", 0.5, "--json").data()
    assert (again["stored"], again["entry"]) == (True, fresh["entry"])
