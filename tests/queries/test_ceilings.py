"""What a question costs at least, and how many an analyst may ask in a day: as the policy says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.queries.vaults import POLICY, opened, shop

from celosia.core.errors import BudgetExceeded, InputError, QueryRefused
from celosia.core.randomness import System
from celosia.queries import Policy, Vault
from celosia.queries.policy import Spending, draft_policy, policy_hash, policy_text, read_policy

COUNT = "SELECT COUNT(*) AS n FROM person WHERE id > -{}"
ROWS = shop(Random(1))
SMALL = replace(POLICY, budget=Spending(epsilon=Fraction(5)))


@pytest.fixture
def vault_of(tmp_path: Path) -> Callable[..., Vault]:
    """Opens a vault of the shop with real answers, on one ledger."""

    def build(**changes: Any) -> Vault:
        vault = opened(ROWS, tmp_path, replace(SMALL, **changes))
        place = vault.policy
        vault.close()
        return Vault.open(place, rng=System(), ledger=tmp_path / "a.ledger")

    return build


def test_the_least_price_is_a_hundredth_unless_it_is_set(vault_of: Callable[..., Vault]) -> None:
    with vault_of() as vault:
        for ask in (vault.sql, vault.explain):
            with pytest.raises(QueryRefused) as refused:
                ask(COUNT.format(1), epsilon=0.0099)
            assert refused.value.code == "CEL-Q300"
            assert "0.01" in str(refused.value)
        assert vault.ledger.history() == ()
        assert vault.sql(COUNT.format(1), epsilon=0.01).epsilon == 0.01
        assert vault.sql("SELECT COUNT(*) AS n FROM part", epsilon=1e-6).value == 3, "public"
        assert vault.explain("SELECT COUNT(*) AS n FROM part", epsilon=1e-6).method == "public"
    with vault_of(least_epsilon=Fraction(1, 2)) as vault, pytest.raises(QueryRefused):
        vault.sql(COUNT.format(2), epsilon=0.4)


def test_a_stored_answer_is_told_again_below_the_least_price(tmp_path: Path) -> None:
    """A ledger is kept under one policy after another; equal ones share their answers."""
    vault = opened(ROWS, tmp_path, replace(SMALL, least_epsilon=Fraction(0)))
    with vault:
        first = vault.sql(COUNT.format(1), epsilon=0.001)
        vault.policy = replace(vault.policy, least_epsilon=Fraction(1, 2))
        again = vault.sql(COUNT.format(1), epsilon=0.001)
        assert again.stored
        assert again.rows == first.rows
        with pytest.raises(QueryRefused):
            vault.sql(COUNT.format(1), epsilon=0.001, fresh=True)


def test_questions_of_a_day_end(vault_of: Callable[..., Vault]) -> None:
    with vault_of(questions_per_day=2) as vault:
        for number in range(2):
            vault.sql(COUNT.format(number), epsilon=0.1)
        with pytest.raises(BudgetExceeded) as refused:
            vault.sql(COUNT.format(3), epsilon=0.1)
        assert refused.value.key == "CEL-Q301.questions"
        assert vault.sql(COUNT.format(0), epsilon=0.1).stored
        assert vault.sql("SELECT COUNT(*) AS n FROM part", epsilon=1).value == 3
        assert len(vault.ledger.history()) == 2
        vault.sql(COUNT.format(3), epsilon=0.1, analyst="another")


def test_exceeded_deadlines_end_the_day(vault_of: Callable[..., Vault]) -> None:
    with vault_of(exceeded_per_day=2) as vault:
        vault._engine.snapshot = None  # type: ignore[method-assign, assignment]
        for number in range(2):
            vault.sql(COUNT.format(number), epsilon=0.1)
        with pytest.raises(BudgetExceeded) as refused:
            vault.sql(COUNT.format(3), epsilon=0.1)
        assert refused.value.key == "CEL-Q301.exceeded"
        assert len(vault.ledger.incidents()) == 2


def test_a_simulation_has_no_days(tmp_path: Path) -> None:
    with opened(ROWS, tmp_path, replace(SMALL, questions_per_day=1)) as vault:
        for number in range(3):
            vault.sql(COUNT.format(number), epsilon=0.1)


SETTINGS = "least_epsilon = 0.25\nquestions_per_day = 7\nexceeded_per_day = 1\ndeadline = 2.5\n"
TEXT = """
name = "people"
database = { files = { people = "people.csv" } }
unit = { name = "row" }
budget = { epsilon = 1 }
[tables.people.columns]
id = "integer"
"""


def test_the_settings_are_part_of_the_policy() -> None:
    plain, changed = read_policy(TEXT), read_policy(SETTINGS + TEXT)
    assert (plain.least_epsilon, plain.questions_per_day, plain.exceeded_per_day) == (
        *(Fraction(1, 100), 1000, 3),
    )
    assert (changed.least_epsilon, changed.questions_per_day, changed.exceeded_per_day) == (
        *(Fraction(1, 4), 7, 1),
    )
    assert (plain.deadline, changed.deadline) == (None, Fraction(5, 2))
    ones: list[Policy] = [
        plain,
        replace(plain, least_epsilon=Fraction(0)),
        replace(plain, questions_per_day=999),
        replace(plain, exceeded_per_day=4),
        replace(plain, deadline=Fraction(2)),
        changed,
    ]
    assert len({policy_hash(each) for each in ones}) == len(ones)
    for each in ones:
        assert read_policy(policy_text(each)) == each
    drafted = draft_policy({"people": {"id": "BIGINT"}})
    assert all(word in drafted for word in ("least_epsilon", "questions_per_day", "exceeded_per"))
    assert "deadline" in drafted


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("least_epsilon = -1", "CEL-Q013"),
        ("least_epsilon = 1e9", "CEL-Q013"),
        ('least_epsilon = "small"', "CEL-Q005"),
        ("questions_per_day = 0", "CEL-Q013"),
        ("questions_per_day = 1.5", "CEL-Q005"),
        ("exceeded_per_day = 0", "CEL-Q013"),
        ("exceeded_per_day = 9223372036854775807", "CEL-Q013"),
        ("deadline = 0", "CEL-Q013"),
        ("deadline = 257", "CEL-Q013"),
        ('deadline = "soon"', "CEL-Q005"),
    ],
)
def test_settings_out_of_range_are_refused(setting: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        read_policy(f"{setting}\n{TEXT}")
    assert refused.value.code == code
