"""Tables of packages are released by the suggested roles, and never unsafely."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from celosia import lab
from celosia.core.progress import silent
from celosia.lab import Findings
from celosia.lab.tables import strangers


def test_every_table_is_here_and_released_safely(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, every in (("adult", 20), ("convicts", 20)):
        stranger = strangers.STRANGERS[name]

        def some(
            folder: Path, stranger: strangers.Stranger = stranger, every: int = every
        ) -> pl.DataFrame:
            return stranger.read(folder).gather_every(every)

        monkeypatch.setitem(strangers.STRANGERS, name, replace(stranger, read=some))
    found = lab.find("tables/strangers").run()
    assert [str(row) for row in found.rows if row.differs] == []
    released = {row.run for row in found.rows if row.cell == "Smallest class" and row.matches}
    assert released == set(strangers.STRANGERS)
    assert len(released) == 10
    assert found.unchecked_runs == ()
    judged = {(row.run, row.cell) for row in found.rows if row.kind == "judgement"}
    assert {("adult", "age"), ("irises", "target"), ("convicts", "c_case_number")} <= judged
    assert all(row.published is None for row in found.rows)


def test_a_role_less_careful_than_an_officers_is_a_difference() -> None:
    table = pl.DataFrame({"age": [30, 40] * 30, "constant": ["x"] * 60})
    stranger = strangers.Stranger(
        package="none", read=lambda folder: table, roles={"constant": "identifier"}
    )
    rows = [row for row in strangers._figures("toy", stranger, table) if row.differs]
    assert [(row.cell, row.expected, row.computed) for row in rows] == [
        ("constant", "identifier", "insensitive"),
        ("columns with a less careful role than an officer's", 0, 1),
    ]


def test_a_package_that_is_absent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = strangers.Stranger(package="no_such_package", read=lambda folder: pl.DataFrame())
    monkeypatch.setattr(strangers, "STRANGERS", {"toy": absent})
    (row,) = strangers.rows(silent)
    assert row.matches is None
    assert row.not_run == "no_such_package is not installed, or without this table"
    found = Findings("tables/strangers", (row,))
    assert (found.checked, found.matched, found.is_reproduced) == (0, 0, False)
    assert found.unchecked_runs == ("toy",)


def test_a_role_more_careful_than_an_officers_is_shown_beside_it() -> None:
    table = pl.DataFrame({"age": [30, 40] * 30})
    stranger = strangers.Stranger(
        package="none", read=lambda folder: table, roles={"age": "insensitive"}
    )
    row = next(strangers._figures("toy", stranger, table))
    assert (row.cell, row.expected, row.computed) == ("age", "insensitive", "quasi-identifier")
    assert (row.matches, row.not_run) == (
        None,
        "the suggested role is more careful than an officer's",
    )
