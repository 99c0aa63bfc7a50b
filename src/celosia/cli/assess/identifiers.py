"""`celosia assess identifiers`: what columns seem to hold, and a draft of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.frame import FileOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.tables.schema_draft import SchemaDraft


def identifiers(
    table: options.Input,
    reading: options.Reading,
    outputs: FileOutputs,
    output: Annotated[Path | None, "--output -o", "Write a draft of a schema (TOML)."] = None,
) -> None:
    """Find columns that may identify people, and suggest the role of each.

    **Examples**

    `celosia assess identifiers people.csv`

    `celosia assess identifiers people.csv -o people.toml`  (also write a draft of a schema)
    """
    from celosia.tables.schema_draft import draft_schema

    outputs.check(inputs=(table,), schema=output)
    with outputs.working() as progress:
        draft = draft_schema(reading.read(table), progress=progress)
    found = draft.findings
    outputs.write_text(output, draft.text)
    outputs.show(
        lambda: [finding.as_dict() for finding in found],
        lambda: _show(draft, output, table, reading),
        say(
            "cli.assess.columns_need_protection",
            number_of_named=sum(each.role != "insensitive" for each in found),
            number_of_found=len(found),
        ),
    )


def _show(draft: SchemaDraft, output: Path | None, table: str, reading: options.Reading) -> None:
    console.show_table(
        say("cli.assess.what_columns_seem_hold"),
        console.columns("column", "suggested_role", "kind", "cells:.0%", "distinct:.0%", "why"),
        [
            [each.column, each.role, each.kind, each.share or None, each.distinctness, each.why]
            for each in draft.findings
        ],
        numbers=False,
    )
    if output is not None:
        console.show_files({"schema": output})
        console.note(say("cli.assess.read_draft_before_you"))
        if draft.nominal:
            console.note(options.no_groups(draft.nominal))
    _note_decimal_mark(table, reading)


def _note_decimal_mark(table: str, reading: options.Reading) -> None:
    """Say how numbers of a text file were read, where it was found out and is not the usual."""
    from celosia.frames import sniff, source_format_of

    if reading.decimal is not None or source_format_of(table) not in {"csv", "tsv"}:
        return
    mark = sniff(table, **reading.as_arguments()).decimal
    if mark == ",":
        console.note(say("cli.assess.decimal_detected_use_decimal"))
    elif mark is None:
        console.note(say("cli.assess.decimal_unclear_comma_may"))
