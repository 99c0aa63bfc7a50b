"""Options for what two tables are compared by."""

from __future__ import annotations

from typing import Annotated

import typer

Compared = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        "-c",
        metavar="COLUMN",
        help="Compare by this; may be repeated. Else by every column of both files.",
    ),
]
Nominal = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Numbers that are only names, such as postal codes."),
]
Told = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive", metavar="COLUMN", help="See how well this is told from the other columns."
    ),
]
