"""Tables of packages are released by the suggested roles, and never unsafely."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from celosia import lab
from celosia.core.progress import silent
from celosia.lab.tables import strangers


def test_every_table_that_is_installed_is_released_safely(monkeypatch: pytest.MonkeyPatch) -> None:
    adult = strangers.STRANGERS["adult"]

    def some(folder: Path) -> pl.DataFrame:
        return adult.read(folder).gather_every(20)

    monkeypatch.setitem(strangers.STRANGERS, "adult", replace(adult, read=some))
    found = lab.find("tables/strangers").run()
    assert len({row.run for row in found.rows}) == 10
    assert [str(row) for row in found.rows if not row.matches] == []
    assert {"adult", "german credit", "diabetes", "breast cancer"} <= {
        row.run for row in found.rows if row.cell == "lab.tables.smallest_class"
    }


def test_a_role_less_careful_than_an_officers_is_a_difference() -> None:
    table = pl.DataFrame({"age": [30, 40] * 30, "constant": ["x"] * 60})
    stranger = strangers.Stranger(
        package="none", read=lambda folder: table, roles={"constant": "identifier"}
    )
    rows = [row for row in strangers._figures("toy", stranger, table) if not row.matches]
    assert [(row.cell, row.published, row.computed) for row in rows] == [
        ("constant", "identifier", "insensitive")
    ]


def test_a_package_that_is_absent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = strangers.Stranger(package="no_such_package", read=lambda folder: pl.DataFrame())
    monkeypatch.setattr(strangers, "STRANGERS", {"toy": absent})
    (row,) = strangers.rows(silent)
    assert (row.published, row.computed) == ("no_such_package", "no_such_package is not installed")
