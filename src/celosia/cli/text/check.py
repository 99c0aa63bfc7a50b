"""`celosia text verify`, `attack` and `assess`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import JsonOutputs, ReportOutputs
from celosia.cli.text.options import Declare, Documents, FactsFile, FindingsFile, Seed
from celosia.core.errors import InputError
from celosia.core.messages import say

Release = Annotated[Path, "argument", "The published folder."]


def verify(
    outputs: JsonOutputs,
    release: Release,
    original: Annotated[
        Path | None, "The original documents, to look for what was removed."
    ] = None,
    findings: FindingsFile = None,
    declare: Declare = None,
    key: Annotated[
        Path | None,
        "--key",
        "The key of the release: without --original, what was removed is looked for by "
        "the fingerprints beside it.",
    ] = None,
) -> None:
    """Open the published files again and look for what must not be in them.

    The files must be those of the certificate. With --original (and --findings, or the documents
    are searched again) every text that was found is looked for in every layer of the new files:
    bytes, packed members and streams. With --key alone they are looked for by the keyed
    fingerprints of their words that `publish` wrote beside the key. A hit ends the command with 1.

    **Examples**

    `celosia text verify safe --key key.bin`

    `celosia text verify safe --original notes --findings findings.csv --declare text.toml`
    """
    from celosia import texts
    from celosia.core.pseudonyms.keys import Key
    from celosia.texts.removed import RemovedTexts
    from celosia.texts.verification import verify_release

    with outputs.working() as progress:
        loaded = texts.TextRelease.load(release)
        found = None
        if original is not None:
            reading = texts.read(original, declare, progress=progress)
            found = (
                texts.find(reading, progress=progress)
                if findings is None
                else texts.read_findings(reading, findings)
            )
        known = None if key is None else Key.load(key)
        fingerprint = None if known is None else known.fingerprint()
        checked = verify_release(loaded, found, fingerprint=fingerprint)
        if key is not None and known is not None and found is None:
            checked = RemovedTexts.load(key).verify(loaded, known)
    checked.require()
    outputs.show(
        checked.as_dict,
        None,
        say("texts.cli.verified", files=checked.files, texts=checked.texts),
    )


def attack(
    outputs: ReportOutputs,
    release: Release,
    original: Annotated[Path | None, "The original documents, with the names of --names."] = None,
    names: Annotated[Path | None, "Which file became which, as `publish --names` wrote it."] = None,
    facts: FactsFile = None,
    declare: Declare = None,
    index: Annotated[Path | None, "An index that is published too."] = None,
    known: Annotated[
        int, typer.Option(min=1, max=20, help="Terms of each person that the attacker knows.")
    ] = 3,
    seed: Seed = None,
) -> None:
    """Attack published documents: by rare terms, by style, by known facts, by an index.

    Known facts need the original documents, the table of facts and the file of names; style needs
    several documents of each person, as the original declares them.

    **Examples**

    `celosia text attack safe`

    `celosia text attack safe --original notes --declare text.toml --names names.csv --facts p.csv`

    `celosia text attack safe --index index.parquet --report attacks.html`
    """
    from celosia import texts
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.texts.attacks import authorship, index_difference, leak, rare_terms
    from celosia.texts.index import SafeIndex
    from celosia.texts.matching import published_texts

    outputs.check(inputs=(release, original, names, facts, declare, index))
    with outputs.working() as progress:
        loaded = texts.TextRelease.load(release)
        persons: list[str] = [str(each) for each in loaded.persons]
        shown = list(loaded.texts)
        found = []
        if original is not None:
            reading = texts.read(original, declare, progress=progress)
            if names is None:
                raise InputError("CEL-N043")
            shown = published_texts(reading, release, names)
            persons = [each.unit for each in reading.collection]
            if facts is not None:
                known_facts = texts.Facts.load(facts, person=reading.declaration.person)
                found.append(leak(reading.collection, shown, known_facts))
        found.append(rare_terms(shown, persons, known=known, rng=source(seed)))
        if len(set(persons)) < len(persons):
            found.append(authorship(shown, persons))
        if index is not None:
            found.append(index_difference(SafeIndex.load(index), loaded))
    outputs.write_report(
        lambda: Document(
            say("texts.cli.attacks"), "", [block for each in found for block in each.blocks()]
        )
    )
    outputs.show(
        lambda: [each.as_dict() for each in found],
        lambda: _lines(map(str, found[:-1])),
        found[-1],
    )


def assess(
    outputs: ReportOutputs,
    documents: Documents,
    release: Annotated[Path, "argument", "The published folder."],
    names: Annotated[Path, "Which file became which, as `publish --names` wrote it."],
    declare: Declare = None,
) -> None:
    """Compare published documents with the originals: what is still useful.

    **Examples**

    `celosia text assess notes safe --names names.csv --declare text.toml`
    """
    from celosia import texts
    from celosia.core.report import Document, Facts
    from celosia.texts.labels import UTILITY_LABELS
    from celosia.texts.matching import published_texts
    from celosia.texts.utility import utility

    outputs.check(inputs=(documents, release, names, declare))
    with outputs.working() as progress:
        reading = texts.read(documents, declare, progress=progress)
        shown = published_texts(reading, release, names)
        measured = utility([each.text for each in reading.collection], shown)
    rows = [(str(UTILITY_LABELS[name]), f"{value:.1%}") for name, value in measured.items()]
    outputs.write_report(lambda: Document(say("texts.cli.utility"), "", [Facts(rows)]))
    outputs.show(
        lambda: measured,
        lambda: _lines(f"{name}: {value}" for name, value in rows[:-1]),
        f"{rows[-1][0]}: {rows[-1][1]}",
    )


def _lines(texts: Iterable[str]) -> None:
    for text in texts:
        console.show(text)
