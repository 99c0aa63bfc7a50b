"""Many processes at once, some of them killed: exactly the budget is spent."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from tests.accounting.ledger.crash_tasks import SMALL, read_log, run
from tests.accounting.ledger.ledgers import opened
from tests.effort import some

from celosia.accounting.ledger import Ledger


def check_race(ledger: Ledger, log: dict[str, list[str]], total: Fraction) -> None:
    """The chain is whole, the sum exact and within the budget, all that was told is there."""
    ledger.verify()
    history = {str(each.sequence): each for each in ledger.history()}
    assert ledger.spent["epsilon"] == SMALL * len(history) == total
    assert set(log["reserved"]) <= set(history)
    assert all(history[each].status == "sealed" for each in log["sealed"])
    assert not [each for each, times in Counter(log["reserved"]).items() if times > 1]


@pytest.mark.parametrize(("charges", "kills"), some([(200, 20), (1000, 100)], 1))
def test_racing_and_dying_processes_spend_the_budget_and_no_more(
    tmp_path: Path, charges: int, kills: int
) -> None:
    place, total = str(tmp_path / "ledger.db"), SMALL * charges
    numbers = {"processes": 16, "starts": 16 + kills, "kills": kills, "every": 8, "seed": 7}
    report = run("race", place, tmp_path / "log", total=str(total), **numbers)
    assert report["failed"] == 0, report["stderr"]
    assert report["killed"] > kills / 2
    with opened(place, total=(total, 0)) as ledger:
        check_race(ledger, read_log(tmp_path / "log"), total)


def test_servers_that_race_on_postgres_spend_the_budget_and_no_more(
    postgres: str, tmp_path: Path
) -> None:
    total = SMALL * 200
    numbers = {"processes": 16, "starts": 36, "kills": 20, "every": 8, "seed": 8}
    report = run("race", postgres, tmp_path / "log", total=str(total), **numbers)
    assert report["failed"] == 0, report["stderr"]
    with opened(postgres, total=(total, 0)) as ledger:
        check_race(ledger, read_log(tmp_path / "log"), total)
