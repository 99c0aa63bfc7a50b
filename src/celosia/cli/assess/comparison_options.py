"""Options for what two tables are compared by."""

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
        help="Compare by this; may be repeated. Else by every column of both files.",
    ),
]
NominalColumns = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Numbers that are only names, such as postal codes."),
]
SensitiveColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive", metavar="COLUMN", help="See how well this is told from the other columns."
    ),
]
Regressions = Annotated[
    list[str] | None,
    typer.Option(
        "--regression",
        metavar="FORMULA",
        help="A linear regression that should come out the same: 'pay ~ age + sex'.",
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
            raise InputError(
                "CEL-A233",
                f"--regression {text!r} is not OUTCOME ~ COLUMN + COLUMN.",
                fix="Write --regression 'pay ~ age + sex', for example.",
            )
        found.append(Regression(outcome.strip(), predictors))
    return tuple(found)
