"""Parts that the reports of several sorts of releases have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.messages import NO_NAMES, fact_name, number, say, sentence
from celosia.core.release import Guarantee, Provenance
from celosia.core.report import Block, Details, Facts, Heading, Paragraph


def promise_blocks(guarantee: Guarantee) -> list[Block]:
    """What is promised, under which conditions, and what is not."""
    assumed = [(say("reports.promise.assumes"), sentence(text)) for text in guarantee.assumes]
    gaps = [(say("reports.promise.gap"), sentence(text)) for text in guarantee.leaves_open]
    return [
        Heading(say("reports.promise.heading")),
        Paragraph(sentence(guarantee.protects)),
        Facts([(say("reports.promise.unit"), guarantee.unit), *assumed, *gaps]),
    ]


def facts_block(
    title: str, facts: Mapping[str, Any], names: Mapping[str, str] = NO_NAMES
) -> list[Block]:
    """What a method has to say, unfolded on demand; nothing where it says nothing.

    Args:
        title: of the block.
        facts: by their names.
        names: the keys of messages for names of facts; others are shown as they are.
    """
    items = [(fact_name(name, names), plain(value, names)) for name, value in facts.items()]
    return [Details(title, [Facts(items)])] if items else []


def made_blocks(provenance: Provenance) -> list[Block]:
    """By which function, when, from which seed and with which versions."""
    versions = ", ".join(f"{name} {number}" for name, number in provenance.versions.items())
    return [
        Heading(say("reports.made.heading")),
        Facts(
            [
                (say("reports.made.function"), provenance.made_by),
                (say("reports.made.at"), provenance.created),
                (say("reports.made.seed"), seed_text(provenance)),
                (say("reports.made.versions"), versions),
            ]
        ),
    ]


def seed_text(provenance: Provenance) -> str:
    """The seed of a release, if it has one."""
    return say("reports.made.none") if provenance.seed is None else str(provenance.seed)


def plain(value: Any, names: Mapping[str, str] = NO_NAMES) -> str:
    """A plain value as a reader would write it.

    >>> plain(1234.5), plain({"a": 1, "b": [2, 3]}), plain(True)
    ('1,234.5', 'a: 1; b: 2, 3', 'True')
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        return number(value, ",.6g")
    if isinstance(value, Mapping):
        return "; ".join(
            f"{say(names[name]) if name in names else name}: {plain(each, names)}"
            for name, each in value.items()
        )
    return ", ".join(plain(each, names) for each in value)
