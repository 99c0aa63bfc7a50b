"""`celosia release median` and `quantile`: a value with a share of all values below it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from celosia.cli.release.numbers import grid_of
from celosia.cli.release.options import Lower, ReleaseRequest, Step, Upper

RANK = "cli.unit.rank"

MEDIAN = """`celosia release median salaries.csv --column salary --lower 0 --upper 200000 -e 0.5`

`celosia release median people.csv -c age --lower 0 --upper 120 --grid 1 --error 30`
"""
QUANTILE = """`celosia release quantile people.csv -c age --lower 0 --upper 120 -q 0.9 -e 0.5`

`celosia release quantile people.csv -c age --lower 0 --upper 120 -q 0.25 -q 0.75 -e 1 -o q.csv`
"""


def median(lower: Lower, upper: Upper, grid: Step = None) -> ReleaseRequest:
    """Release the middle value of a column, one of the points of a grid between the bounds."""
    from celosia.mechanisms import Median

    return ReleaseRequest(
        make=partial(Median, lower=lower, upper=upper, grid=grid_of(grid)), error_in=RANK
    )


def quantile(
    lower: Lower,
    upper: Upper,
    q: Annotated[
        list[float],
        typer.Option("--q", "-q", help="The share of values below it; may be repeated."),
    ],
    grid: Step = None,
) -> ReleaseRequest:
    """Release one quantile of a column, or several at once for little more than one."""
    from celosia.mechanisms import Quantile, Quantiles

    make = (
        partial(Quantile, q=q[0], lower=lower, upper=upper, grid=grid_of(grid))
        if len(q) == 1
        else partial(Quantiles, q=tuple(sorted(q)), lower=lower, upper=upper, grid=grid_of(grid))
    )
    return ReleaseRequest(make=make, error_in=RANK)
