"""Roles, kinds and findings in the language of the page."""

from __future__ import annotations

from celosia.studio.language import Words, _

ROLE_NAMES = Words(
    {
        "identifier": "identifier",
        "quasi-identifier": "quasi-identifier",
        "sensitive": "sensitive",
        "insensitive": "insensitive",
    }
)
"""What a role is called."""


KIND_NAMES = Words(
    {
        "text": "text",
        "integer": "whole numbers",
        "decimal": "numbers with decimals",
        "date": "dates",
        "time": "times",
        "boolean": "true or false",
    }
)
"""What a column holds."""


FINDINGS = {
    "geographic": "a place",
    "demographic": "a trait of people",
    "sensitive attribute": "something sensitive",
    "amount": "an amount",
    "category": "a category",
    "coded category": "a category with codes",
    "number": "a number",
    "empty": "nothing",
}
"""What is called otherwise than `celosia.assess.risk.detection` calls it."""


def finding(kind: str) -> str:
    """What a column seems to hold."""
    return _(FINDINGS.get(kind, kind))
