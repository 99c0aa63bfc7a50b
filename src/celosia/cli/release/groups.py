"""`celosia release histogram`, `top` and `above`: rows by category, and answers by threshold."""

from __future__ import annotations

import csv
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from celosia.cli.release.display import ROWS
from celosia.cli.release.numbers import grid_of
from celosia.cli.release.run import ReleaseOptions, ReleaseRequest, RowReleaseOptions, Step
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.core.neighbours import Neighbours
    from celosia.mechanisms import SparseVector


Method = Literal["permute-and-flip", "exponential", "noisy-max"]
"""How the best is chosen."""


def histogram(
    release: RowReleaseOptions,
    edges: Annotated[
        str | None, "0,10,20", "Edges of the bins; each bin ends at the next edge."
    ] = None,
    categories: Annotated[
        str | None, "A,B,C", "Public list of categories; quote those with commas."
    ] = None,
    other: Annotated[bool, "--other", "Count all other rows in one more bin."] = False,
    delta: Annotated[
        float | None, "Without edges and categories: chance that a rare key is shown."
    ] = None,
) -> None:
    """Release how many rows fall into each bin, or have each key.

    Bins are declared: by --edges for numbers or by --categories. With neither, keys are taken from
    the table, and only those with many rows are released; that needs a --delta.

    **Examples**

    `celosia release histogram people.csv --column age --edges 0,18,65,120 --epsilon 0.5`

    `celosia release histogram people.csv -c sex --categories female,male --other -e 0.5 -o sex.csv`

    `celosia release histogram people.csv -c disease --delta 1e-8 -e 1`  (unknown keys)
    """
    from celosia.mechanisms import Histogram, KeyHistogram

    unknown = edges is None and categories is None
    if unknown != (delta is not None):
        raise InputError("CEL-M130")
    if delta is not None:
        make = partial(KeyHistogram, delta=delta)
        release.run(ReleaseRequest(make=make, error_in=ROWS, cells="string", bound="keys_per_unit"))
        return
    bins = partial(
        Histogram,
        other=other,
        edges=None if edges is None else numbers(edges, option="--edges"),
        categories=None if categories is None else texts(categories),
    )
    release.run(
        ReleaseRequest(
            make=bins, error_in=ROWS, cells="decimal" if categories is None else "string"
        )
    )


def top(
    release: RowReleaseOptions,
    categories: Annotated[str, "A,B,C", "Public list of categories; quote those with commas."],
    count: Annotated[int, "How many categories to choose."] = 1,
    method: Annotated[Method, "The selection mechanism."] = "permute-and-flip",
) -> None:
    """Release which of the declared categories have the most rows; not how many they have.

    **Examples**

    `celosia release top people.csv --column disease --categories flu,gout --epsilon 0.5`

    `celosia release top votes.csv -c party --categories red,blue,pink --count 2 -e 1`
    """
    from celosia.mechanisms import MostFrequent

    make = partial(MostFrequent, categories=texts(categories), count=count, selection=method)
    release.run(ReleaseRequest(make=make, error_in="cli.unit.below_best", cells="string"))


def above(
    release: ReleaseOptions,
    threshold: Annotated[float, "The threshold: a public number, not from the data."],
    positives: Annotated[int, "Most positive answers; then the command stops."] = 1,
    monotone: Annotated[
        bool, "--monotone", "One neighbour step moves all answers the same way."
    ] = False,
    numeric: Annotated[float, "SHARE", "Share of epsilon for the values of the positives."] = 0.0,
    sensitivity: Annotated[float, "The largest change of one answer by one neighbour."] = 1.0,
    unit: Annotated[str, "WORD", "Name of the privacy unit that one step changes."] = "person",
    grid: Step = None,
    rounded: Annotated[bool, "--rounded", "Answers may lie between the steps of the grid."] = False,
) -> None:
    """Release which answers in a column reach a threshold, in order, up to --positives of them.

    The column holds exact answers, such as counts: one row for each question. Answers below the
    threshold cost nothing; only the positive answers are paid for.

    **Examples**

    `celosia release above counts.csv --column visits --threshold 100 --epsilon 1`

    `celosia release above counts.csv -c visits --threshold 100 --positives 5 --monotone -e 1`

    `celosia release above counts.csv -c visits --threshold 100 --numeric 0.5 -e 1 -o above.json`
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

    release.run(ReleaseRequest(make=make, error_in="cli.unit.around_threshold", cells="decimal"))


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
    """
    try:
        return [float(part) for part in listed.split(",")]
    except ValueError:
        raise InputError("CEL-M129", option=option, listed=listed) from None
