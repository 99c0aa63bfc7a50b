"""Options of commands that compare two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.assess.utility.numeric import Regression

ComparedColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        "-c",
        metavar="COLUMN",
        help="Column to compare; repeat it for more. Default: every column of both files.",
    ),
]
NominalColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Column of numbers that are only codes, such as postal codes."
    ),
]
SensitiveColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive",
        metavar="COLUMN",
        help="Measure how well this column can be inferred from the other columns.",
    ),
]
Regressions = Annotated[
    list[str] | None,
    typer.Option(
        "--regression",
        metavar="FORMULA",
        help="A linear regression whose result should not change: 'pay ~ age + sex'.",
    ),
]


def regressions(formulas: list[str] | None) -> tuple[Regression, ...]:
    """The regressions that were asked for, each as OUTCOME ~ COLUMN + COLUMN."""
    from celosia.assess.utility.numeric import Regression

    found = []
    for text in formulas or ():
        outcome, tilde, rest = text.partition("~")
        predictors = tuple(name.strip() for name in rest.split("+"))
        if not (tilde and outcome.strip() and all(predictors)):
            raise InputError("CEL-A233", text=text)
        found.append(Regression(outcome.strip(), predictors))
    return tuple(found)
