"""What all `celosia release` commands can be told, defined once, and how a command is made of it.

A command itself has only the options of its question, and returns a `Wish`; the options below are
added to its signature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import options
from celosia.core.neighbours import Relation

if TYPE_CHECKING:
    from celosia.frames import ColumnType
    from celosia.mechanisms import Mechanism

Lower = Annotated[float, typer.Option(help="What smaller values are raised to; not from the data.")]
Upper = Annotated[float, typer.Option(help="What larger values are lowered to; not from the data.")]
Step = Annotated[
    float | None,
    typer.Option("--grid", metavar="STEP", help="What values are rounded to; fine if not given."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of every command."""

    table: options.Input
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="The column that is asked about.")
    ] = None
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", "-e", help="The price: 0.1 to 1 for one answer; from 1e-9."),
    ] = None
    error: Annotated[
        float | None,
        typer.Option(help="Instead of --epsilon: the least one whose error stays within this."),
    ] = None
    size: Annotated[
        int,
        typer.Option(help="About how many rows or questions there are, for the expected error."),
    ] = 1
    confidence: Annotated[
        float, typer.Option(help="The probability that the interval holds the exact answer.")
    ] = 0.95
    neighbours: Annotated[
        Relation,
        typer.Option(help="What one step does; change-one makes the number of rows public."),
    ] = Relation.ADD_REMOVE
    seed: Annotated[
        int | None, typer.Option(help="Repeat the noise; makes the answer a simulation.")
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file of the answer: .json, or a table such as .csv."
        ),
    ] = None
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Read nothing: tell the price and the expected error."),
    ] = False
    delimiter: options.Delimiter = None
    encoding: options.Encoding = None
    header: options.Header = None
    decimal: options.Decimal = None
    overwrite: options.Overwrite = False
    as_json: options.AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRows(Settings):
    """The options of a command about the rows of a table, which may be those of few people."""

    unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Protect all rows of one of these, such as customer."),
    ] = None
    rows_per_unit: Annotated[
        int | None, typer.Option(help="With --unit: how many rows (or keys) of one may count.")
    ] = None
    may_be_empty: Annotated[
        bool,
        typer.Option("--may-be-empty", help="Answer for an empty table too: emptiness is private."),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a command asks."""

    make: Callable[..., Mechanism[Any, Any]]
    """The mechanism for an epsilon and neighbours; of rows, also for `may_be_empty`."""
    error_in: str
    """What the error is measured in."""
    needs_column: bool = True
    cells: ColumnType | None = None
    """What the cells of the column are taken for, whatever they look like."""
    equals: str | None = None
    """Count the rows whose cell is this."""
    bound: str | None = None
    """The argument of `make` that bounds what a unit adds, where it has one of its own."""


def command(
    app: typer.Typer,
    name: str,
    wish: Callable[..., Wish],
    *,
    examples: str,
    settings: type[Settings] = OfRows,
) -> None:
    """Add a command that has the options of a question and those of all."""
    own = signature(wish, eval_str=True).parameters.values()
    shared = signature(settings, eval_str=True).parameters.values()
    names = {field.name for field in fields(settings)}

    def run(**given: Any) -> None:
        from celosia.cli.release.answering import carry_out

        told = settings(**{name: given.pop(name) for name in names})
        carry_out(told, wish(**given))

    table, *rest = (each.replace(kind=Parameter.KEYWORD_ONLY) for each in shared)
    asked = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in own]
    run.__doc__ = f"{wish.__doc__}\n\n**Examples**\n\n{examples}"
    run.__signature__ = Signature([table, *asked, *rest])  # type: ignore[attr-defined]
    app.command(name)(run)
