"""All utility measures of a release in one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from celosia.assess.meaning import SUPPRESSED, Meaning
from celosia.assess.utility.aggregates import Aggregates, aggregates, limits_of
from celosia.assess.utility.associations import Associations, associations
from celosia.assess.utility.comparison import Comparison, compare
from celosia.assess.utility.distributions import Distances, Distribution, distances, distributions
from celosia.assess.utility.learning import Learning, learning
from celosia.assess.utility.queries import QueryErrors, query_errors
from celosia.assess.utility.spread import SpreadRule
from celosia.core.messages import Message, say, say_of
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.frames import TableLike, as_frame, as_text


@dataclass(frozen=True, slots=True)
class AggregateChange(PlainValues):
    """The aggregates of a numeric column in both tables."""

    column: str
    before: Aggregates
    after: Aggregates

    def __str__(self) -> str:
        return say_of("assess.line.aggregate_pair", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityReport(PlainValues):
    """What is left of the use of a table after it was made safe."""

    rows_before: int
    rows_after: int
    suppressed: int
    distributions: tuple[Distribution, ...]
    distances: tuple[Distances, ...]
    associations: Associations
    queries: QueryErrors
    aggregates: tuple[AggregateChange, ...]
    """Of the numeric columns whose labels all name numbers."""
    learning: Learning | None
    """None without a target."""
    is_simulation: bool
    """Whether the random part was seeded, and comes out the same again."""

    def __str__(self) -> str:
        mean = sum(entry.total_variation for entry in self.distances) / len(self.distances)
        lines = [
            say_of("assess.line.rows", self),
            say("assess.line.mean_variation", mean=mean, columns=len(self.distances)),
            str(self.associations),
            str(self.queries),
        ]
        return "; ".join(lines + ([str(self.learning)] if self.learning else []))


def utility(
    original: TableLike,
    released: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    meanings: Mapping[str, Meaning],
    rng: Source,
    target: str | None = None,
    queries: int = 1_000,
    spread: SpreadRule = "uniform",
    aligned: bool = False,
    progress: Progress = silent,
) -> UtilityReport:
    """Measure a release against its original in every way there is here.

    Args:
        original: the table before.
        released: the table after, in any row order, with or without its suppressed records.
        quasi_identifiers: the columns that were recoded; all but the learning is about them.
        meanings: for each of them that was generalised, what its labels may stand for.
        rng: where random queries and folds come from; a seeded one gives the same report again.
        target: a column to predict from the quasi-identifiers; it may be one of them.
        queries: how many random counts to ask.
        spread: how labels count that stand for several values; see `compare`.
        aligned: row i of the release is row i of the original; see `learning`.
        progress: called now and then.

    Raises:
        InputError: CEL-A070 ... CEL-A083, as the single measures say.

    >>> from celosia.core.randomness import Seeded
    >>> table = {"age": [29, 31, 31, 50], "sex": ["F", "M", "F", "M"]}
    >>> report = utility(table, table, quasi_identifiers=["age", "sex"], meanings={},
    ...                  rng=Seeded(1))
    >>> report.queries.largest, report.associations.mean_change
    (0.0, 0.0)
    """
    before, after = as_frame(original), as_frame(released)
    columns = list(dict.fromkeys(quasi_identifiers))
    tables = compare(before, after, columns, meanings=meanings, spread=spread, aligned=aligned)
    progress(Step(Message("assess.stage.distributions"), 0, 1))
    shown, moved = distributions(tables), distances(tables)
    progress(Step(Message("assess.stage.distributions"), 1, 1))
    lesson = None
    if target is not None:
        everything = tables
        if target not in columns:
            everything = compare(
                before, after, [*columns, target], meanings=meanings, spread=spread, aligned=aligned
            )
        lesson = learning(everything, target, rng=rng, progress=progress)
    return UtilityReport(
        rows_before=tables.rows_before,
        rows_after=tables.rows_after,
        suppressed=tables.suppressed,
        distributions=shown,
        distances=moved,
        associations=associations(tables, progress=progress),
        queries=query_errors(tables, rng=rng, queries=queries, progress=progress),
        aggregates=_aggregate_changes(tables, before, after),
        learning=lesson,
        is_simulation=rng.simulation,
    )


def _aggregate_changes(
    tables: Comparison, before: pl.DataFrame, after: pl.DataFrame
) -> tuple[AggregateChange, ...]:
    return tuple(
        AggregateChange(name, aggregates(before.get_column(name)), aggregates(released))
        for name in (column.name for column in tables.columns if column.is_numeric)
        if _names_numbers(released := after.get_column(name))
    )


def _names_numbers(released: pl.Series) -> bool:
    labels = as_text(released).drop_nulls().unique().to_list()
    return all(label == SUPPRESSED or limits_of(label) is not None for label in labels)
