"""`celosia release count`, `sum`, `mean` and `variance`: one number about a column."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.release.display import ROWS
from celosia.cli.release.options import Lower, ReleaseRequest, Step, Upper

if TYPE_CHECKING:
    from celosia.mechanisms import Grid

UNIT = "cli.unit.column"

COUNT = """`celosia release count people.csv --epsilon 0.5`

`celosia release count people.csv --column disease --equals flu --epsilon 0.5`

`celosia release count visits.csv --unit patient --rows-per-unit 3 --error 20 -o count.json`
"""
SUM = """`celosia release sum orders.csv --column price --lower 0 --upper 500 --epsilon 0.5`

`celosia release sum orders.csv -c price --lower 0 --upper 500 --error 10000 --explain`
"""
MEAN = """`celosia release mean salaries.csv --column salary --lower 0 --upper 200000 --epsilon 0.5`

`celosia release mean salaries.csv -c salary --lower 0 --upper 200000 --error 1000 --size 5000`

`celosia release mean visits.csv -c cost --lower 0 --upper 90 -e 1 --unit patient --rows-per-unit 5`
"""
VARIANCE = """`celosia release variance people.csv --column age --lower 0 --upper 120 --epsilon 1`

`celosia release variance people.csv -c age --lower 0 --upper 120 -e 1 --deviation --json`
"""


class Method(StrEnum):
    """How a mean is found."""

    NORMALISED = "normalised"
    SUM_COUNT = "sum-count"
    DIRECT = "direct"
    EXPONENTIAL = "exponential"


def count(
    equals: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="With --column: count the rows with this value."),
    ] = None,
) -> ReleaseRequest:
    """Release how many rows a table has, or how many have a value.

    Without --equals a column that is named must hold truth values; the true ones are counted.
    """
    from celosia.mechanisms import Count

    if equals is None:
        return ReleaseRequest(make=Count, error_in=ROWS, needs_column=False)
    return ReleaseRequest(make=Count, error_in=ROWS, cells="string", equals=equals)


def total(lower: Lower, upper: Upper, grid: Step = None) -> ReleaseRequest:
    """Release the sum of a column whose values are clipped to bounds."""
    from celosia.mechanisms import Sum

    return ReleaseRequest(
        make=partial(Sum, lower=lower, upper=upper, grid=grid_of(grid)), error_in=UNIT
    )


def mean(
    lower: Lower,
    upper: Upper,
    method: Annotated[
        Method, typer.Option(help="normalised has the least error.")
    ] = Method.NORMALISED,
    grid: Step = None,
) -> ReleaseRequest:
    """Release the mean of a column whose values are clipped to bounds.

    The error falls with the number of rows: say with --size about how many there are.
    """
    from celosia.mechanisms import DirectMean, ExponentialMean, NormalisedMean, SumCountMean

    means = {
        Method.NORMALISED: NormalisedMean,
        Method.SUM_COUNT: SumCountMean,
        Method.DIRECT: DirectMean,
        Method.EXPONENTIAL: ExponentialMean,
    }
    make = partial(means[method], lower=lower, upper=upper, grid=grid_of(grid))
    return ReleaseRequest(make=make, error_in=UNIT)


def variance(
    lower: Lower,
    upper: Upper,
    deviation: Annotated[
        bool, typer.Option("--deviation", help="Release the standard deviation instead.")
    ] = False,
    grid: Step = None,
) -> ReleaseRequest:
    """Release the variance, or the standard deviation, of a column clipped to bounds."""
    from celosia.mechanisms import StandardDeviation, Variance

    kind = StandardDeviation if deviation else Variance
    unit = UNIT if deviation else "cli.unit.column_squared"
    return ReleaseRequest(
        make=partial(kind, lower=lower, upper=upper, grid=grid_of(grid)), error_in=unit
    )


def grid_of(step: float | None) -> Grid | None:
    """The grid of a step."""
    from celosia.mechanisms import Grid

    return None if step is None else Grid(step)
