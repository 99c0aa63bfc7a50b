"""The study `texts`: checks find what they must."""

from __future__ import annotations

import pytest
from tests.lab.studies import findings


def test_checks_of_documents_find_what_is_planted() -> None:
    found = findings("texts/checks")
    assert [str(row) for row in found.rows if row.differs] == []


@pytest.mark.parametrize("part", ["word-noise", "pseudonyms"])
def test_every_cell_is_as_computed(part: str) -> None:
    # Checks 33 and 44.
    found = findings(f"texts/{part}")
    assert [str(row) for row in found.rows if row.differs] == []
    assert found.checked >= 5
