"""Whatever dies, and whenever: no charge is lost, and no more is spent than the budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.accounting.ledger.crash_tasks import SMALL, read_log, run
from tests.accounting.ledger.ledgers import opened


def test_a_process_killed_at_any_step_loses_no_charge(place: str, tmp_path: Path) -> None:
    opened(place).close()
    in_file = "://" not in place  # to open one on a server takes many steps more
    report = run("steps", place, tmp_path / "log", total="1", opening=in_file)
    assert report["exit"] == 0, report["stderr"]
    assert report["steps"] > 20, "the steps were not met"
    log = read_log(tmp_path / "log")
    with opened(place) as ledger:
        ledger.verify()
        history = {each.question: each for each in ledger.history()}
        assert ledger.spent["epsilon"] == SMALL * len(history)
        for word in ("reserved", "touched"):
            assert {f"q{number}" for number in log[word]} <= set(history)
        sealed = {name for name, each in history.items() if each.status == "sealed"}
        assert {f"q{number}" for number in log["sealed"]} <= sealed
        # Some died before the charge, some between charge and seal, some after.
        assert 0 < len(sealed) < len(history) < report["steps"]


@pytest.mark.parametrize("room", [0, 1000, 5000, 40_000])
def test_a_full_disk_refuses_and_leaves_a_whole_ledger(tmp_path: Path, room: int) -> None:
    place = str(tmp_path / "ledger.db")
    opened(place).close()
    report = run("full", place, tmp_path / "log", total="1", room=room)
    assert report["exit"] == 0, report["stderr"]
    log = read_log(tmp_path / "log")
    assert log["refused"] == ["CEL-Q114"]
    with opened(place) as ledger:
        ledger.verify()
        history = {str(each.sequence) for each in ledger.history()}
        assert set(log["reserved"]) <= history
        assert ledger.spent["epsilon"] == SMALL * len(history)
