"""The study `traces`: every cell that is quick to compute agrees; the rest is the same code."""

from __future__ import annotations

import pytest
from tests.effort import some
from tests.lab.studies import findings


@pytest.mark.parametrize(
    "name", ["traces/audits", *some(["traces/noise", "traces/attacks", "traces/groups"], 2)]
)
def test_every_cell_of_a_part_agrees(name: str) -> None:
    found = findings(name)
    assert [str(row) for row in found.rows if row.differs] == []
    assert found.checked >= 3
