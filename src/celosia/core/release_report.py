"""Parts that the reports of several sorts of releases have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.guarantee import Guarantee
from celosia.core.provenance import Provenance
from celosia.core.report import Block, Details, Facts, Heading, Paragraph
from celosia.core.wording import sentence


def promise_blocks(guarantee: Guarantee) -> list[Block]:
    """What is promised, under which conditions, and what is not."""
    assumed = [("Assumes", sentence(text)) for text in guarantee.assumes]
    gaps = [("Does not protect against", sentence(text)) for text in guarantee.leaves_open]
    return [
        Heading("What is promised"),
        Paragraph(sentence(guarantee.protects)),
        Facts([("Privacy unit", guarantee.unit), *assumed, *gaps]),
    ]


def facts_block(title: str, facts: Mapping[str, Any]) -> list[Block]:
    """What a method has to say, unfolded on demand; nothing where it says nothing."""
    items = [(name.replace("_", " "), plain(value)) for name, value in facts.items()]
    return [Details(title, [Facts(items)])] if items else []


def made_blocks(provenance: Provenance) -> list[Block]:
    """By which function, when, from which seed and with which versions."""
    versions = ", ".join(f"{name} {number}" for name, number in provenance.versions.items())
    return [
        Heading("How it was made"),
        Facts(
            [
                ("Function", provenance.made_by),
                ("Made", provenance.created),
                ("Seed", "none" if provenance.seed is None else str(provenance.seed)),
                ("Versions", versions),
            ]
        ),
    ]


def plain(value: Any) -> str:
    """A plain value as a reader would write it.

    >>> plain(1234.5), plain({"a": 1, "b": [2, 3]}), plain(True)
    ('1,234.5', 'a: 1; b: 2, 3', 'True')
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        return f"{value:,.6g}"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {plain(each)}" for name, each in value.items())
    return ", ".join(map(plain, value))


def format_numbers(facts: Mapping[str, Any]) -> str:
    """The numbers among the facts of a method, for one line.

    >>> format_numbers({"k": 5, "edges_added": 1200, "done": True})
    'k 5, edges added 1,200'
    """
    return ", ".join(
        f"{name.replace('_', ' ')} {value:,.6g}"
        for name, value in facts.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
