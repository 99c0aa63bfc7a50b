"""The study `texts`: checks find what they must."""

from __future__ import annotations

from celosia.lab import registry


def test_checks_of_documents_find_what_is_planted() -> None:
    findings = registry.find("texts/checks").run()
    assert [str(row) for row in findings.rows if row.differs] == []
