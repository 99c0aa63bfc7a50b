"""The study `texts`: checks find what they must."""

from __future__ import annotations

import pytest

from celosia.lab import registry


def test_checks_of_documents_find_what_is_planted() -> None:
    findings = registry.find("texts/checks").run()
    assert [str(row) for row in findings.rows if row.differs] == []


@pytest.mark.parametrize("part", ["word-noise", "pseudonyms"])
def test_every_cell_is_as_computed(part: str) -> None:
    # Checks 33 and 44.
    findings = registry.find(f"texts/{part}").run()
    assert [str(row) for row in findings.rows if row.differs] == []
    assert findings.checked >= 5
