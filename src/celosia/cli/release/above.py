"""`celosia release above`: which of many answers reach a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.release.numbers import grid_of
from celosia.cli.release.options import ReleaseRequest, Step

if TYPE_CHECKING:
    from celosia.core.neighbours import Neighbours
    from celosia.mechanisms import SparseVector

ABOVE = """`celosia release above counts.csv --column visits --threshold 100 --epsilon 1`

`celosia release above counts.csv -c visits --threshold 100 --positives 5 --monotone -e 1`

`celosia release above counts.csv -c visits --threshold 100 --numeric 0.5 -e 1 -o above.json`
"""


def above(
    threshold: Annotated[
        float, typer.Option(help="The threshold: a public number, not from the data.")
    ],
    positives: Annotated[
        int, typer.Option(help="Most positive answers; then the command stops.")
    ] = 1,
    monotone: Annotated[
        bool,
        typer.Option("--monotone", help="One neighbour step moves all answers the same way."),
    ] = False,
    numeric: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Share of epsilon for the values of the positives."),
    ] = 0.0,
    sensitivity: Annotated[
        float, typer.Option(help="The largest change of one answer by one neighbour.")
    ] = 1.0,
    unit: Annotated[
        str, typer.Option(metavar="WORD", help="Name of the privacy unit that one step changes.")
    ] = "person",
    grid: Step = None,
    rounded: Annotated[
        bool, typer.Option("--rounded", help="Answers may lie between the steps of the grid.")
    ] = False,
) -> ReleaseRequest:
    """Release which answers in a column reach a threshold, in order, up to --positives of them.

    The column holds exact answers, such as counts: one row for each question. Answers below the
    threshold cost nothing; only the positive answers are paid for.
    """
    from celosia.core.neighbours import Neighbours as Who
    from celosia.mechanisms import Grid, SparseVector

    def make(*, epsilon: float, neighbours: Neighbours) -> SparseVector:
        return SparseVector(
            epsilon=epsilon,
            neighbours=Who(neighbours.relation, unit),
            threshold=threshold,
            positives=positives,
            monotone=monotone,
            numeric=numeric,
            sensitivity=sensitivity,
            grid=grid_of(grid) or Grid(),
            rounded=rounded,
        )

    return ReleaseRequest(make=make, error_in="cli.unit.around_threshold", cells="decimal")
