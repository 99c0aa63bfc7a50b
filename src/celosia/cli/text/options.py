"""Options that several commands of documents share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from celosia.cli import console
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.texts import FoundTexts, TextDeclaration

Documents = Annotated[
    Path, "argument", "A folder or a file: txt, md, html, json, jsonl, csv, docx, pdf."
]
Declare = Annotated[
    Path | None, "--declare", "What the documents mean and what is done by kind (TOML)."
]
FactsFile = Annotated[
    Path | None,
    "--facts",
    "A table of the persons (name, numbers, address): the strongest detector.",
]
EngineName = Annotated[
    str | None,
    "--engine",
    "A recogniser that you installed: spacy:MODEL, presidio or presidio:MODEL.",
]
FindingsFile = Annotated[
    Path | None, "--findings", "Findings with decisions, as `celosia text find` wrote them."
]
Seed = Annotated[int | None, "Seed for the random draws; the release is then only a simulation."]


def declared(
    declare: Path | None, other_languages: Literal["refuse", "publish"] | None = None
) -> TextDeclaration:
    """What the documents mean; an option holds over the file."""
    from celosia.texts import TextDeclaration

    found = TextDeclaration() if declare is None else TextDeclaration.load(declare)
    return found if other_languages is None else replace(found, other_languages=other_languages)


def show_found(found: FoundTexts) -> None:
    """Print findings by kind."""
    from celosia.assess.recognisers import ROLES
    from celosia.texts.labels import KIND_LABELS, LEFT_OUT_LABELS, ROLE_LABELS

    rows = [
        [
            str(KIND_LABELS[kind]),
            str(ROLE_LABELS[ROLES[kind]]),
            f"{count:,}",
        ]
        for kind, count in found.counts().items()
    ]
    console.show_table(
        say("texts.cli.found"),
        [say("texts.report.kind"), say("texts.report.role"), say("texts.report.findings")],
        rows,
    )
    if found.left_out:
        console.show_table(
            say("texts.report.left_out"),
            [say("texts.report.what"), say("texts.report.count")],
            [[str(LEFT_OUT_LABELS[what]), f"{count:,}"] for what, count in found.left_out.items()],
        )
