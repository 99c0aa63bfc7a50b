"""`celosia release histogram` and `top`: rows by category."""

from __future__ import annotations

import csv
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from celosia.cli.release.display import ROWS
from celosia.cli.release.options import ReleaseRequest
from celosia.core.errors import InputError

HISTOGRAM = """`celosia release histogram people.csv --column age --edges 0,18,65,120 --epsilon 0.5`

`celosia release histogram people.csv -c sex --categories female,male --other -e 0.5 -o sex.csv`

`celosia release histogram people.csv -c disease --delta 1e-8 -e 1`  (keys are not known beforehand)
"""
TOP = """`celosia release top people.csv --column disease --categories flu,gout --epsilon 0.5`

`celosia release top votes.csv -c party --categories red,blue,pink --count 2 -e 1`
"""


class Method(StrEnum):
    """How the best is chosen."""

    PERMUTE_AND_FLIP = "permute-and-flip"
    EXPONENTIAL = "exponential"
    NOISY_MAX = "noisy-max"


def histogram(
    edges: Annotated[
        str | None,
        typer.Option(metavar="0,10,20", help="Edges of the bins; each bin ends at the next edge."),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Public list of categories; quote those with commas."),
    ] = None,
    other: Annotated[
        bool, typer.Option("--other", help="Count all other rows in one more bin.")
    ] = False,
    delta: Annotated[
        float | None,
        typer.Option(help="Without edges and categories: chance that a rare key is shown."),
    ] = None,
) -> ReleaseRequest:
    """Release how many rows fall into each bin, or have each key.

    Bins are declared: by --edges for numbers or by --categories. With neither, keys are taken from
    the table, and only those with many rows are released; that needs a --delta.
    """
    from celosia.mechanisms import Histogram, KeyHistogram

    unknown = edges is None and categories is None
    if unknown != (delta is not None):
        raise InputError("CEL-M130")
    if delta is not None:
        make = partial(KeyHistogram, delta=delta)
        return ReleaseRequest(make=make, error_in=ROWS, cells="string", bound="keys_per_unit")
    bins = partial(
        Histogram,
        other=other,
        edges=None if edges is None else numbers(edges, option="--edges"),
        categories=None if categories is None else texts(categories),
    )
    return ReleaseRequest(
        make=bins, error_in=ROWS, cells="decimal" if categories is None else "string"
    )


def top(
    categories: Annotated[
        str,
        typer.Option(metavar="A,B,C", help="Public list of categories; quote those with commas."),
    ],
    count: Annotated[int, typer.Option(help="How many categories to choose.")] = 1,
    method: Annotated[Method, typer.Option(help="The selection mechanism.")] = (
        Method.PERMUTE_AND_FLIP
    ),
) -> ReleaseRequest:
    """Release which of the declared categories have the most rows; not how many they have."""
    from celosia.mechanisms import MostFrequent

    make = partial(MostFrequent, categories=texts(categories), count=count, selection=method.value)
    return ReleaseRequest(make=make, error_in="cli.unit.below_best", cells="string")


def texts(listed: str) -> list[str]:
    """Texts in one line, parted by commas.

    >>> texts('a, "b, c"')
    ['a', 'b, c']
    """
    return next(csv.reader([listed], skipinitialspace=True), [])


def numbers(listed: str, *, option: str) -> list[float]:
    """Numbers in one line, parted by commas.

    >>> numbers("0, 10,1e3", option="--edges")
    [0.0, 10.0, 1000.0]

    Raises:
        InputError: CEL-M129 one of them is not a number.
    """
    try:
        return [float(part) for part in listed.split(",")]
    except ValueError:
        raise InputError("CEL-M129", option=option, listed=listed) from None
