"""`celosia release count`, `sum`, `mean`, `variance`, `median` and `quantile`: numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from celosia.cli.release.display import ROWS
from celosia.cli.release.run import Lower, ReleaseRequest, RowReleaseOptions, Step, Upper

if TYPE_CHECKING:
    from celosia.mechanisms import Grid

UNIT = "cli.unit.column"
RANK = "cli.unit.rank"
WithInterval = Annotated[
    bool, "--interval", "Also release an interval, with --confidence; it takes a part of epsilon."
]


Method = Literal["normalised", "sum-count", "direct", "exponential"]
"""How a mean is found."""


def count(
    release: RowReleaseOptions,
    equals: Annotated[str | None, "VALUE", "With --column: count the rows with this value."] = None,
) -> None:
    """Release how many rows a table has, or how many have a value.

    Without --equals a column that is named must hold truth values; the true ones are counted.

    **Examples**

    `celosia release count people.csv --epsilon 0.5`

    `celosia release count people.csv --column disease --equals flu --epsilon 0.5`

    `celosia release count visits.csv --unit patient --rows-per-unit 3 --error 20 -o count.json`
    """
    from celosia.mechanisms import Count

    release.run(
        ReleaseRequest(make=Count, error_in=ROWS, needs_column=False)
        if equals is None
        else ReleaseRequest(make=Count, error_in=ROWS, cells="string", equals=equals)
    )


def total(
    release: RowReleaseOptions,
    lower: Lower,
    upper: Upper,
    grid: Step = None,
) -> None:
    """Release the sum of a column whose values are clipped to bounds.

    **Examples**

    `celosia release sum orders.csv --column price --lower 0 --upper 500 --epsilon 0.5`

    `celosia release sum orders.csv -c price --lower 0 --upper 500 --error 10000 --explain`
    """
    from celosia.mechanisms import Sum

    release.run(
        ReleaseRequest(
            make=partial(Sum, lower=lower, upper=upper, grid=grid_of(grid)), error_in=UNIT
        )
    )


def mean(
    release: RowReleaseOptions,
    lower: Lower,
    upper: Upper,
    method: Annotated[Method, "normalised has the least error."] = "normalised",
    grid: Step = None,
) -> None:
    """Release the mean of a column whose values are clipped to bounds.

    The error falls with the number of rows: say with --size about how many there are.

    **Examples**

    `celosia release mean salaries.csv --column salary --lower 0 --upper 200000 --epsilon 0.5`

    `celosia release mean salaries.csv -c salary --lower 0 --upper 200000 --error 1000 --size 5000`

    `celosia release mean visits.csv -c cost --lower 0 --upper 90 -e 1 --unit patient`
    """
    from celosia.mechanisms import DirectMean, ExponentialMean, NormalisedMean, SumCountMean

    means = {
        "normalised": NormalisedMean,
        "sum-count": SumCountMean,
        "direct": DirectMean,
        "exponential": ExponentialMean,
    }
    make = partial(means[method], lower=lower, upper=upper, grid=grid_of(grid))
    release.run(ReleaseRequest(make=make, error_in=UNIT))


def variance(
    release: RowReleaseOptions,
    lower: Lower,
    upper: Upper,
    deviation: Annotated[bool, "--deviation", "Release the standard deviation instead."] = False,
    grid: Step = None,
) -> None:
    """Release the variance, or the standard deviation, of a column clipped to bounds.

    **Examples**

    `celosia release variance people.csv --column age --lower 0 --upper 120 --epsilon 1`

    `celosia release variance people.csv -c age --lower 0 --upper 120 -e 1 --deviation --json`
    """
    from celosia.mechanisms import StandardDeviation, Variance

    kind = StandardDeviation if deviation else Variance
    unit = UNIT if deviation else "cli.unit.column_squared"
    release.run(
        ReleaseRequest(
            make=partial(kind, lower=lower, upper=upper, grid=grid_of(grid)), error_in=unit
        )
    )


def median(
    release: RowReleaseOptions,
    lower: Lower,
    upper: Upper,
    grid: Step = None,
    interval: WithInterval = False,
) -> None:
    """Release the middle value of a column, one of the points of a grid between the bounds.

    **Examples**

    `celosia release median salaries.csv --column salary --lower 0 --upper 200000 -e 0.5`

    `celosia release median people.csv -c age --lower 0 --upper 120 --grid 1 --error 30`
    """
    from celosia.mechanisms import Median

    confidence = release.confidence if interval else None
    make = partial(Median, lower=lower, upper=upper, grid=grid_of(grid), confidence=confidence)
    release.run(ReleaseRequest(make=make, error_in=RANK))


def quantile(
    release: RowReleaseOptions,
    lower: Lower,
    upper: Upper,
    q: Annotated[list[float], "--q -q", "The share of values below it; may be repeated."],
    grid: Step = None,
    interval: WithInterval = False,
) -> None:
    """Release one quantile of a column, or several at once for little more than one.

    **Examples**

    `celosia release quantile people.csv -c age --lower 0 --upper 120 -q 0.9 -e 0.5`

    `celosia release quantile people.csv -c age --lower 0 --upper 120 -q 0.9 -e 1 --interval`

    `celosia release quantile people.csv -c age --lower 0 --upper 120 -q 0.25 -q 0.75 -e 1 -o q.csv`
    """
    from celosia.mechanisms import Quantile, Quantiles

    kind = partial(Quantile, q=q[0]) if len(q) == 1 else partial(Quantiles, q=tuple(sorted(q)))
    confidence = release.confidence if interval else None
    make = partial(kind, lower=lower, upper=upper, grid=grid_of(grid), confidence=confidence)
    release.run(ReleaseRequest(make=make, error_in=RANK))


def grid_of(step: float | None) -> Grid | None:
    """The grid of a step."""
    from celosia.mechanisms import Grid

    return None if step is None else Grid(step)
