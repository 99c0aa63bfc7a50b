"""`celosia assess columns`: which columns make people unique."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.frame import JsonOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celosia.assess.risk import ColumnRisks


def columns(
    table: options.Input,
    keys: options.KeyOptions,
    reading: options.Reading,
    outputs: JsonOutputs,
    at_most: Annotated[int, "Maximum number of columns in a set."] = 3,
    show: Annotated[int, typer.Option(min=1, help="Number of sets to list.")] = 15,
) -> None:
    """Find the columns, and sets of columns, that make people unique.

    **Examples**

    `celosia assess columns people.csv`  (every set of up to three columns)

    `celosia assess columns people.csv --schema people.toml --at-most 4`  (the quasi-identifiers)

    `celosia assess columns people.csv -q age -q zip -q sex --json`
    """
    from celosia.assess.risk import column_risks

    names = keys.names() if keys.schema is not None or keys.quasi_identifiers else None
    with outputs.working() as progress:
        found = column_risks(reading.read(table), names, at_most=at_most, progress=progress)
    outputs.show(
        lambda: found.as_dict() | {"suda": _scores(found)}, lambda: _show(found, show), found
    )


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
        console.columns("column", "adds:.2%"),
        by_share,
    )
    worst = sorted(found.subsets, key=lambda each: (-each.unique, len(each.columns)))[:most]
    console.show_table(
        say("cli.assess.sets_at_most_columns", at_most=found.at_most),
        console.columns("columns", "unique_records:.2%", "average_risk:.2%", "separated_pairs:.2%"),
        [[", ".join(each.columns), each.unique, each.average, each.separation] for each in worst],
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


def _list(title: str, sets: Sequence[tuple[str, ...]]) -> None:
    console.show(f"{title} {'; '.join(', '.join(each) for each in sets) or 'none'}")
