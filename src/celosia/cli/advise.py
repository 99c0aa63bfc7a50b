"""`celosia advise`: which door, model and parameters."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.assess.advice import Advice

DATA = "table, stream, network, traces, log, documents, database or devices."
KEEP = "records, statistics, counts, models or structure."


def advise(
    outputs: JsonOutputs,
    data: Annotated[str | None, f"What you publish: {DATA}"] = None,
    reader: Annotated[str | None, "For whom: public, partner or analysts."] = None,
    keep: Annotated[str | None, f"What must stay usable: {KEEP}"] = None,
    attacker: Annotated[str | None, "Who attacks: register, acquaintance or anyone."] = None,
    file: Annotated[
        str | None, "FILE", "Your file; without it, the commands make data to try with."
    ] = None,
    column: Annotated[str | None, "--column -c", "A numeric column of your file to mask."] = None,
) -> None:
    """Recommend a door, a model and parameters, with reasons and commands to type.

    On a terminal it asks for what no option says; elsewhere the first answer holds. No data is
    read.

    **Examples**

    `celosia advise`

    `celosia advise --data table --reader public --keep records --attacker acquaintance`

    `celosia advise --data network --attacker register --file friends.edges --json`
    """
    from celosia.assess.advice import AdviceOptions
    from celosia.assess.advice import advise as recommend

    given = {"data": data, "reader": reader, "keep": keep, "attacker": attacker}
    asks = sys.stdin.isatty() and not outputs.as_json
    answers = {name: value or _ask(name, asks=asks) for name, value in given.items()}
    found = recommend(AdviceOptions(file=file, column=column, **answers))  # type: ignore[arg-type]  # checked there
    outputs.show(found.as_dict, lambda: _show(found), found)


def _ask(name: str, *, asks: bool) -> str:
    """The answer to a question: typed, or the usual one."""
    from celosia.assess.advice import AdviceOptions, question_text

    usual = str(getattr(AdviceOptions(), name))
    if not asks:
        return usual
    console.note(question_text(name))
    return str(typer.prompt(name, default=usual, err=True)).strip()


def _show(found: Advice) -> None:
    console.show(say("assess.advice.why"), strong=True)
    for reason in found.reasons:
        console.show(f"- {reason}")
    for warning in found.warnings:
        console.note(say("assess.advice.beware", warning=warning))
    console.show(say("assess.advice.type_this"), strong=True)
    for command in found.commands:
        console.show(command)
