"""The options of all `celosia release` commands, defined once, and how a command is made of them.

A command itself has only the options of its statistic, and returns a `ReleaseRequest`; the options
below are added to its signature.
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

Lower = Annotated[float, typer.Option(help="Smaller values are raised to this public bound.")]
Upper = Annotated[float, typer.Option(help="Larger values are lowered to this public bound.")]
Step = Annotated[
    float | None,
    typer.Option(
        "--grid", metavar="STEP", help="Step that values are rounded to; fine by default."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """The options of every `celosia release` command."""

    table: options.Input
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="The column of the statistic.")
    ] = None
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", "-e", help="The privacy loss: 0.1 to 1 for one answer."),
    ] = None
    error: Annotated[
        float | None,
        typer.Option(help="Instead of --epsilon: the target error; the least epsilon is found."),
    ] = None
    size: Annotated[
        int,
        typer.Option(help="Approximate number of rows or questions, for the expected error."),
    ] = 1
    confidence: Annotated[
        float, typer.Option(help="The probability that the interval holds the exact answer.")
    ] = 0.95
    neighbours: Annotated[
        Relation,
        typer.Option(help="Neighbour relation; change-one makes the number of rows public."),
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
        typer.Option("--explain", help="Read nothing: print the privacy loss and expected error."),
    ] = False
    delimiter: options.Delimiter = None
    encoding: options.Encoding = None
    header: options.Header = None
    decimal: options.Decimal = None
    overwrite: options.Overwrite = False
    as_json: options.AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReleaseOptions(ReleaseOptions):
    """The options of a command about rows of a table, of which one person may have several."""

    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Protect all rows with the same value here, such as customer."
        ),
    ] = None
    rows_per_unit: Annotated[
        int | None, typer.Option(help="With --unit: most rows (or keys) that count per unit.")
    ] = None
    may_be_empty: Annotated[
        bool,
        typer.Option(
            "--may-be-empty", help="Also release from an empty table: emptiness is private."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """The statistic that a command releases."""

    make: Callable[..., Mechanism[Any, Any]]
    """The mechanism for an epsilon and neighbours; of rows, also for `may_be_empty`."""
    error_in: str
    """The unit of the error."""
    needs_column: bool = True
    cells: ColumnType | None = None
    """The type that the cells of the column are read as, whatever they look like."""
    equals: str | None = None
    """Count the rows whose cell is this."""
    bound: str | None = None
    """The argument of `make` that bounds the contribution of a unit, where there is one."""


def add_command(
    app: typer.Typer,
    name: str,
    request: Callable[..., ReleaseRequest],
    *,
    examples: str,
    options_class: type[ReleaseOptions] = RowReleaseOptions,
) -> None:
    """Add a command that has the options of its statistic and the common ones."""
    own = signature(request, eval_str=True).parameters.values()
    common = signature(options_class, eval_str=True).parameters.values()
    names = {field.name for field in fields(options_class)}

    def run(**arguments: Any) -> None:
        from celosia.cli.release.run import run_release

        release_options = options_class(**{name: arguments.pop(name) for name in names})
        run_release(release_options, request(**arguments))

    table, *rest = (each.replace(kind=Parameter.KEYWORD_ONLY) for each in common)
    specific = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in own]
    run.__doc__ = f"{request.__doc__}\n\n**Examples**\n\n{examples}"
    run.__signature__ = Signature([table, *specific, *rest])  # type: ignore[attr-defined]
    app.command(name)(run)
