"""`celosia assess columns`: which columns make people unique."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celosia.assess.risk import ColumnRisks

EXAMPLES = """**Examples**

`celosia assess columns people.csv`  (every set of up to three columns)

`celosia assess columns people.csv --schema people.toml --at-most 4`  (the quasi-identifiers)

`celosia assess columns people.csv -q age -q zip -q sex --json`
"""


def columns(
    table: options.Input,
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    at_most: Annotated[int, typer.Option(help="Maximum number of columns in a set.")] = 3,
    show: Annotated[int, typer.Option(min=1, help="Number of sets to list.")] = 15,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the columns, and sets of columns, that make people unique."""
    from celosia.assess.risk import column_risks
    from celosia.core.progress import Step
    from celosia.frames import read
    from celosia.tables import Role

    roles = None
    if schema is not None or quasi_identifiers:
        roles = options.schema_from(schema, quasi_identifiers)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_file"), 0))
        frame = read(table, **reading)
        found = column_risks(
            frame,
            None if roles is None else roles.named(Role.QUASI_IDENTIFIER),
            at_most=at_most,
            progress=progress,
        )
    if as_json:
        console.show_json(found.as_dict() | {"suda": _scores(found)})
    else:
        _show(found, show)


columns.__doc__ = f"{columns.__doc__}\n\n{EXAMPLES}"


def _scores(found: ColumnRisks) -> dict[str, float]:
    """How special the records are, without saying which."""
    scores = found.suda
    return {
        "special_records": int((scores > 0).sum()),
        "highest": float(scores.max(initial=0.0)),
        "average": float(scores.mean()) if scores.size else 0.0,
    }


def _show(found: ColumnRisks, most: int) -> None:
    by_share = sorted(found.contributions.items(), key=lambda each: -each[1])
    console.show_table(
        say("cli.assess.what_each_column_adds"),
        [say("cli.column.column"), say("cli.column.adds")],
        [[name, console.number(share, ".2%")] for name, share in by_share],
    )
    worst = sorted(found.subsets, key=lambda each: (-each.unique, len(each.columns)))[:most]
    console.show_table(
        say("cli.assess.sets_at_most_columns", at_most=found.at_most),
        [
            say("cli.column.columns"),
            say("cli.column.unique_records"),
            say("cli.column.average_risk"),
        ],
        [
            [
                ", ".join(each.columns),
                console.number(each.unique, ".2%"),
                console.number(each.average, ".2%"),
            ]
            for each in worst
        ],
    )
    _list(say("cli.assess.keys"), found.minimal_keys)
    _list(say("cli.assess.smallest_sets"), found.minimal_unique_sets[:most])
    scores = _scores(found)
    console.show(
        say(
            "cli.assess.suda_special_records_highest",
            special_records=scores["special_records"],
            highest=scores["highest"],
            average=scores["average"],
        )
    )
    console.show(str(found), strong=True)


def _list(title: str, sets: Sequence[tuple[str, ...]]) -> None:
    console.show(f"{title} {'; '.join(', '.join(each) for each in sets) or 'none'}")
