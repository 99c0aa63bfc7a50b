"""Parts that the reports of several sorts of releases have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from celosia.core.errors import PrivacyError
from celosia.core.messages import NO_NAMES, fact_name, number, say, sentence
from celosia.core.release import Guarantee, Provenance, certificate_path, read_certificate
from celosia.core.report import Block, Details, Facts, Heading, Paragraph, Table


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


class ExposingAttack(Protocol):
    """An attack as a report shows it."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def share_exposed(self) -> float:
        """The share of the targets that it finds."""

    def blocks(self) -> list[Block]:
        """The attack as parts of a report."""


def before_and_after(
    before: Sequence[ExposingAttack],
    after: Sequence[ExposingAttack],
    header: Sequence[str],
    caption: str,
) -> list[Block]:
    """What each attack finds in the original and in the release, and then each by itself."""
    rows = [
        [str(now.name), f"{then.share_exposed:.2%}", f"{now.share_exposed:.2%}"]
        for then, now in zip(before, after, strict=True)
    ]
    each = [block for attack in after for block in attack.blocks()]
    return [Table(header, rows, caption, numeric=(1, 2)), *each]


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


def file_blocks(data: Path) -> list[Block]:
    """The saved file with its fingerprint, and the signature of its certificate.

    Nothing is said of data in a folder or in an engine, whose certificate lies elsewhere.
    """
    from celosia.core import signatures  # it builds on the release

    if not (data.is_file() and certificate_path(data).is_file()):
        return []
    facts = read_certificate(data)
    try:
        signer = signatures.signed_by(data)
        signature = say("reports.file.unsigned") if signer is None else signer
    except PrivacyError:
        signature = say("reports.file.outdated")
    return [
        Heading(say("reports.file.heading")),
        Paragraph(say("reports.file.words")),
        Facts(
            [
                (say("reports.file.name"), data.name),
                (say("reports.file.fingerprint"), str(facts["data"]["sha256"])),
                (say("reports.file.certificate"), certificate_path(data).name),
                (say("reports.file.signature"), signature),
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
