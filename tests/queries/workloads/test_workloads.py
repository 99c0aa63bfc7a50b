"""Questions that are answered together: the split of the budget, the answers, the synopsis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.queries.vaults import POLICY, capped, exact, opened, shop

from celosia.core.errors import BudgetExceeded, InputError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.queries import Vault
from celosia.queries.workloads import WorkloadQuestion, load_dashboard
from celosia.queries.workloads.questions import read_cells
from celosia.queries.workloads.run import Synopsis

ROWS = shop(Random(1), people=60, orders=150)
SHOP = capped(POLICY, orders__person=4)
JOINED = "FROM orders o JOIN person p ON o.person = p.id"
TOWNS = f"SELECT p.town, count(*) AS n {JOINED} GROUP BY p.town"
STATES = f"SELECT o.status, count(*) AS n {JOINED} GROUP BY o.status ORDER BY n DESC"
BOTH = f"SELECT status AS s, town, count(*) AS n {JOINED} GROUP BY 1, town"
TOTAL = f"SELECT count(*) AS n {JOINED}"
IN_A = f"SELECT count(*) AS n {JOINED} WHERE p.town = 'A'"
PRICES = f"SELECT town, sum(price) AS paid, count(*) AS n {JOINED} GROUP BY town"
OTHER = "SELECT avg(age) AS age FROM person"
QUESTIONS = [TOWNS, STATES, BOTH, TOTAL, IN_A, PRICES, OTHER]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with opened(ROWS, tmp_path, SHOP, rng=Seeded(3)) as made:
        yield made


def test_estimates_without_noise_are_the_exact_answers(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DiscreteLaplace, "draw", lambda _law, count, _rng: np.zeros(count, int))
    answers = vault.workload(QUESTIONS, epsilon=1)
    for query, answer in zip(QUESTIONS[:-1], answers, strict=False):
        plain = vault.sql(query, epsilon=0.5)
        assert [*answer.rows[0]] == answer.columns == plain.columns
        for found, row in zip(answer.rows, plain.rows, strict=True):
            assert found == pytest.approx(row)


def test_no_more_is_charged_than_was_said_and_the_promise_tells_it(vault: Vault) -> None:
    answers = vault.workload(QUESTIONS, epsilon=1)
    spent = vault.ledger.spent["epsilon"]
    assert spent is not None
    assert Fraction(999, 1000) < spent <= 1
    charged = sum(Fraction(str(each.epsilon)) for each in answers.plan.measurements)
    assert charged == spent
    one = answers[TOWNS]
    assert 0 < one.epsilon < 1
    assert f"{one.epsilon:g}"[:5] in str(one.guarantee.promise)
    assert one.guarantee.simulation
    assert len(answers) == len(list(answers)) == 7
    assert json.loads(json.dumps(answers.as_dict()))["plan"]["gain"] > 1


def test_errors_together_are_smaller_than_one_by_one(vault: Vault) -> None:
    plan = vault.plan_workload([TOWNS, STATES, BOTH, TOTAL], epsilon=1)
    for each in plan.questions:
        assert each.error is not None
        assert each.error_alone == pytest.approx(np.sqrt(2) * 4 * 4)
        assert each.error < np.sqrt(2) * 4 * 4
    assert plan.gain > 1.5
    assert vault.ledger.history() == ()


@pytest.mark.statistical
def test_intervals_hold_the_exact_answers(vault: Vault) -> None:
    true = dict(exact(ROWS, TOWNS))
    runs, outside = 4, 0
    for number in range(runs):
        answer = vault.workload([TOWNS, STATES], epsilon=2 + number / 1000)[0]
        for row, bounds in zip(answer.rows, answer.intervals, strict=True):
            low, high = bounds["n"] or (0, 0)
            outside += not low <= true[row["town"]] <= high
    # Three intervals of 95 % a run; 4 standard deviations.
    assert outside <= 0.05 * 3 * runs + 4 * np.sqrt(3 * runs * 0.05 * 0.95)


def test_a_wished_error_and_a_weight_move_the_budget(vault: Vault) -> None:
    def errors(*questions: WorkloadQuestion) -> list[float | None]:
        return [each.error for each in vault.plan_workload(questions, epsilon=1).questions]

    equal = errors(WorkloadQuestion(TOWNS), WorkloadQuestion("SELECT count(*) FROM person"))
    heavy = errors(
        WorkloadQuestion(TOWNS, weight=8), WorkloadQuestion("SELECT count(*) FROM person")
    )
    # Shares go as the cube root of the weights.
    assert heavy[0] == pytest.approx((equal[0] or 0) * (1 + 8 ** (1 / 3)) / (2 * 2), rel=1e-3)
    wished = errors(
        WorkloadQuestion(TOWNS, error=1), WorkloadQuestion("SELECT count(*) FROM person", error=9)
    )
    assert (wished[0] or 0) < (equal[0] or 0)
    for wrong in ({"weight": 0}, {"error": -1.0}):
        with pytest.raises(InputError):
            WorkloadQuestion(TOWNS, **wrong)


@pytest.mark.parametrize(
    "query",
    [
        OTHER,
        "SELECT count(DISTINCT person) FROM orders",
        f"SELECT town, count(*) + 1 AS n {JOINED} GROUP BY town",
        f"SELECT upper(town) AS t, count(*) AS n {JOINED} GROUP BY 1",
        "SELECT status, count(*) FROM (SELECT status FROM orders) AS s GROUP BY status",
        "SELECT town, count(*) AS n FROM message JOIN person ON sender = id GROUP BY town",
    ],
)
def test_other_questions_are_asked_by_themselves(vault: Vault, query: str) -> None:
    try:
        plan = vault.explain(query)
    except QueryRefused:
        return
    assert read_cells(query, plan, vault.policy) is None


def test_a_workload_that_does_not_fit_charges_nothing(tmp_path: Path) -> None:
    from dataclasses import replace

    from celosia.queries.policy import Spending

    small = replace(SHOP, budget=Spending(epsilon=Fraction(1, 2)))
    with opened(ROWS, tmp_path, small) as vault:
        with pytest.raises(BudgetExceeded):
            vault.workload([TOWNS, STATES, OTHER], epsilon=1)
        assert vault.ledger.history() == ()
        with pytest.raises(InputError) as caught:
            vault.workload([], epsilon=0.1)
        assert caught.value.key == "CEL-Q344.empty"


def test_a_synopsis_answers_later_questions_for_free(vault: Vault) -> None:
    answers = vault.workload([TOWNS, BOTH], epsilon=10)
    spent = vault.ledger.spent
    later = vault.from_synopsis(
        f"SELECT status, count(*) AS n {JOINED} WHERE town = 'A' GROUP BY status"
    )
    in_a = {row["s"]: row["n"] for row in answers[1].rows if row["town"] == "A"}
    assert {row["status"]: row["n"] for row in later.rows} == in_a
    assert later.stored
    assert vault.from_synopsis(TOWNS).rows == answers[0].rows
    for other in (PRICES, OTHER, f"{TOTAL} WHERE o.price > 1"):
        with pytest.raises(QueryRefused) as caught:
            vault.from_synopsis(other)
        assert caught.value.key == "CEL-Q344.no_synopsis"
    assert vault.ledger.spent == spent


def test_a_synopsis_is_kept_beside_the_ledger_and_never_charges(
    vault: Vault, tmp_path: Path
) -> None:
    vault.workload([TOWNS, BOTH], epsilon=10)
    assert vault._synopsis_path is not None
    kept = Synopsis(vault._synopsis_path)
    assert kept.tables == vault._synopses().tables
    assert "celosia" not in vault._synopsis_path.read_text("utf-8")
    with opened(ROWS, tmp_path, SHOP) as other:  # whose ledger has none of these answers
        other._synopsis = kept
        with pytest.raises(QueryRefused) as caught:
            other.from_synopsis(TOWNS)
        assert caught.value.key == "CEL-Q344.no_synopsis"
        assert other.ledger.history() == ()
    vault._synopsis_path.write_text("{", "utf-8")
    assert Synopsis(vault._synopsis_path).tables == []


def test_a_dashboard_file_names_questions_and_weights(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text(
        'epsilon = 1\n[questions]\na = { sql = "SELECT 1", weight = 2 }\nb.sql = "SELECT 2"\n',
        "utf-8",
    )
    found = load_dashboard(path)
    assert found.epsilon == 1
    assert [(each.label, each.weight) for each in found.questions] == [("a", 2), ("b", 1)]
    for wrong in (
        "epsilon =",
        "other = 1",
        'epsilon = "much"',
        "questions = 3",
        "[questions.a]",
        '[questions.a]\nsql = "x"\nweight = 1\nerror = 1',
        '[questions.a]\nsql = "x"\nweight = "big"',
    ):
        path.write_text(wrong, "utf-8")
        with pytest.raises(InputError) as caught:
            load_dashboard(path)
        assert caught.value.code == "CEL-Q344"
    with pytest.raises(InputError):
        load_dashboard(tmp_path / "none.toml")
