"""`celosia collect share`, `verify`, `aggregate` and `combine`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Run

KEY = bytes(range(32))


def test_the_commands_of_devices_and_of_both_aggregators(run: Run, tmp_path: Path) -> None:
    (tmp_path / "votes.toml").write_text(
        'method = "prio3-histogram"\nepsilon = 20\ndomain = ["yes", "no"]\nleast = 10\n'
    )
    (tmp_path / "today.csv").write_text("vote\n" + "yes\n" * 9 + "no\n" * 3)
    (tmp_path / "both.key").write_text(KEY.hex())
    task = ("votes.toml",)
    made = run(
        *("collect", "share", *task, "today.csv", "-c", "vote"),
        *("--leader", "leader.clp", "--helper", "helper.clp"),
    )
    assert made.out == "12 reports split into shares for two aggregators\n"
    for role, other in (("leader", "helper"), ("helper", "leader")):
        said = ("--as", role, "--verify-key", "both.key")
        run("collect", "verify", *task, f"{role}.clp", *said, "-o", f"{role}.check")
        wrong = run("collect", "verify", *task, f"{other}.clp", *said, "-o", "no.check")
        wrong.complains("CEL-R096")
    for role, other in (("leader", "helper"), ("helper", "leader")):
        told = ("--as", role, "--verify-key", "both.key", "--other", f"{other}.check")
        found = run("collect", "aggregate", *task, f"{role}.clp", *told, "-o", f"{role}.sum")
        assert found.out == "12 valid reports added up with noise; 0 refused\n"
    found = run("collect", "combine", *task, "leader.sum", "helper.sum", "--json").data()
    # Noise of scale 1/10 from two: more than 3 is a chance below e^-30.
    figures = {each["value"]: each["figure"] for each in found["figures"]}
    assert figures["yes"] == pytest.approx(9, abs=6)
    assert figures["no"] == pytest.approx(3, abs=6)
    assert found["reports"] == 12
    run("collect", "combine", *task, "helper.sum", "leader.sum").complains("CEL-R096")
