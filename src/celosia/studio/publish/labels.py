"""Roles, kinds and findings in the language of the page."""

from __future__ import annotations

from celosia.studio.language import _


def role_word(role: str) -> str:
    """What a role is called.

    >>> role_word("quasi-identifier")
    'quasi-identifier'
    """
    return {
        "identifier": _("identifier"),
        "quasi-identifier": _("quasi-identifier"),
        "sensitive": _("sensitive"),
        "insensitive": _("insensitive"),
    }[role]


def kind_word(kind: str) -> str:
    """What a column holds."""
    return {
        "text": _("text"),
        "integer": _("whole numbers"),
        "decimal": _("numbers with decimals"),
        "date": _("dates"),
        "time": _("times"),
        "boolean": _("true or false"),
    }[kind]


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
