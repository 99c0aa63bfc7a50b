"""Errors of counts that are taken from the release instead of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.assess.utility.column_pair import ColumnPair
from celosia.assess.utility.comparison import Combinations, Comparison
from celosia.assess.utility.spread import Spread
from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.methods import PlainValues
from celosia.core.numbers import real, whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source

SANITY = 0.001
"""The share of the rows below which a true count no longer makes its error larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryErrors(PlainValues):
    """Relative errors of random counts; 0.1 is a count that is off by a tenth."""

    queries: int
    median: float
    mean: float
    ninetieth: float
    """Nine of ten counts have an error of at most this."""
    largest: float
    sanity: float

    def __str__(self) -> str:
        return say_of("assess.line.queries", self)


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A conjunction: in each of these columns, one of these values."""

    allowed: dict[int, NDArray[np.float64]]
    """Place of a column in the comparison to one number for each value: 1 allowed, 0 not."""


def query_errors(
    comparison: Comparison,
    *,
    rng: Source,
    queries: int = 1_000,
    most_columns: int | None = None,
    sanity: float = SANITY,
    progress: Progress = silent,
) -> QueryErrors:
    """Ask random counts of both tables, and see how far the release is off.

    A query takes 1 to `most_columns` columns (all by default), every number of columns with the
    same chance; of an amount it asks for a range between two random values, of a category for a
    random set of them. The release answers with an expected count: a label that stands for several
    values counts by the share that lies in the query, independently in each column. Records that
    are missing from the release are missed by its counts. The error is
    |released - true| / max(true, sanity * rows), so that a count of almost no records, where any
    answer is far off, does not decide the result.

    Raises:
        InputError: CEL-A078 a number of queries or columns below 1, or a sanity bound outside
            (0, 1].

    >>> from celosia.assess.utility import compare
    >>> from celosia.core.randomness import Seeded
    >>> table = {"age": [20, 30, 40], "sex": ["F", "M", "F"]}
    >>> query_errors(compare(table, table, ["age", "sex"]), rng=Seeded(1), queries=50).largest
    0.0

    Reference: Xiao, Tao 2006, section 6; Garofalakis, Kumar 2004 (the sanity bound).
    """
    width = len(comparison.columns)
    most = width if most_columns is None else most_columns
    _check(queries, most, sanity)
    before, after = comparison.before(), comparison.after()
    own = [column.itself() for column in comparison.columns]
    spreads = [column.spread for column in comparison.columns]
    errors = np.empty(queries)
    for number in range(queries):
        if number % 50 == 0:
            progress(Step(Message("assess.stage.queries"), number, queries))
        query = random_query(comparison.columns, min(most, width), rng)
        true = expected_count(query, before, own)
        seen = expected_count(query, after, spreads)
        errors[number] = abs(seen - true) / max(true, sanity * comparison.rows_before)
    progress(Step(Message("assess.stage.queries"), queries, queries))
    # A sum of shares such as 1/3 may miss a whole number in its last digits.
    errors[errors < 1e-9] = 0.0
    return QueryErrors(
        queries=queries,
        median=float(np.median(errors)),
        mean=float(errors.mean()),
        ninetieth=float(np.quantile(errors, 0.9)),
        largest=float(errors.max()),
        sanity=sanity,
    )


def random_query(columns: Sequence[ColumnPair], most: int, rng: Source) -> Query:
    """A random conjunction over 1 to `most` of the columns."""
    size = 1 + int(rng.integers(most, 1)[0])
    chosen = rng.permutation(len(columns))[:size]
    return Query({int(place): _draw_allowed(columns[place], rng) for place in chosen.tolist()})


def expected_count(query: Query, rows: Combinations, spreads: Sequence[Spread]) -> float:
    """How many rows are expected to match."""
    matching = rows.counts
    for place, allowed in query.allowed.items():
        matching = matching * spreads[place].expected(allowed)[rows.codes[:, place]]
    return float(matching.sum())


def _draw_allowed(column: ColumnPair, rng: Source) -> NDArray[np.float64]:
    allowed = np.zeros(len(column.values))
    if column.numbers is not None and not np.isnan(column.numbers[0]):
        amounts = int((~np.isnan(column.numbers)).sum())
        low, high = sorted(rng.integers(amounts, 2).tolist())
        allowed[low : high + 1] = 1.0
        return allowed
    # All values at once would ask nothing of the column.
    size = 1 + int(rng.integers(max(1, allowed.size - 1), 1)[0])
    allowed[rng.permutation(allowed.size)[:size]] = 1.0
    return allowed


def _check(queries: object, most_columns: object, sanity: object) -> None:
    for given, key in ((queries, "CEL-A078.queries"), (most_columns, "CEL-A078.columns")):
        number = whole(given)
        if number is None or number < 1:
            raise InputError(key, given=given)
    bound = real(sanity)
    if bound is None or not 0 < bound <= 1:
        raise InputError("CEL-A078.sanity", sanity=sanity)
