"""`celosia assess identifiers`: what columns seem to hold, and a draft of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.advice import no_groups
from celosia.core.messages import Message, say

EXAMPLES = """**Examples**

`celosia assess identifiers people.csv`

`celosia assess identifiers people.csv -o people.toml`  (also write a draft of a schema)
"""


def identifiers(
    table: options.Input,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a draft of a schema (TOML).")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Find columns that may identify people, and suggest the role of each."""
    from celosia.core.progress import Step
    from celosia.frames import read
    from celosia.tables.schema_draft import draft_schema

    options.check_outputs({"schema": output}, inputs=(table,), overwrite=overwrite)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_file"), 0))
        draft = draft_schema(read(table, **reading), progress=progress)
    found = draft.findings
    if output is not None:
        options.write_text(output, draft.text(), overwrite)
    if as_json:
        console.show_json([finding.as_dict() for finding in found])
        return
    console.show_table(
        say("cli.assess.what_columns_seem_hold"),
        [
            say("cli.column.column"),
            say("cli.column.suggested_role"),
            say("cli.column.kind"),
            say("cli.column.cells"),
            say("cli.column.distinct"),
            say("cli.column.why"),
        ],
        [
            [
                each.column,
                each.role,
                each.kind,
                console.number(each.share, ".0%") if each.share else "",
                console.number(each.distinctness, ".0%"),
                each.why,
            ]
            for each in found
        ],
        numbers=False,
    )
    if output is not None:
        console.show(say("cli.assess.schema", output=output))
        console.note(say("cli.assess.read_draft_before_you"))
        if draft.nominal:
            console.note(no_groups(draft.nominal))
    _note_decimal_mark(table, reading)
    named = [each.column for each in found if each.role != "insensitive"]
    console.show(
        say(
            "cli.assess.columns_need_protection",
            number_of_named=len(named),
            number_of_found=len(found),
        ),
        strong=True,
    )


identifiers.__doc__ = f"{identifiers.__doc__}\n\n{EXAMPLES}"


def _note_decimal_mark(table: Path, reading: dict[str, Any]) -> None:
    """Say how numbers of a text file were read, where it was found out and is not the usual."""
    from celosia.frames import format_of, sniff

    if "decimal" in reading or format_of(table) not in {"csv", "tsv"}:
        return
    mark = sniff(table, **reading).decimal
    if mark == ",":
        console.note(say("cli.assess.decimal_detected_use_decimal"))
    elif mark is None:
        console.note(say("cli.assess.decimal_unclear_comma_may"))
