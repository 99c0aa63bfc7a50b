"""A noisy answer about a table: select its column, bound the rows of each unit, release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from celosia import frames
from celosia.accounting.budget import Budget
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Source, System
from celosia.core.release import Provenance
from celosia.mechanisms.guarantees import guarantee_of, unwrap
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.noisy_answer import NoisyAnswer, ReleaseOptions, release_with_guarantee
from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.statistics.contributions import ROW, at_most, once_per_key, per_unit
from celosia.mechanisms.statistics.key_histogram import KeyHistogram
from celosia.mechanisms.statistics.sums import Count
from celosia.mechanisms.table_columns import OF_ROWS, read_columns, select_rows, select_units

AnyMechanism = Mechanism[Any, Any]

QUESTIONS = {
    "Sum": "mechanisms.question.sum",
    "NormalisedMean": "mechanisms.question.mean",
    "SumCountMean": "mechanisms.question.mean",
    "DirectMean": "mechanisms.question.mean",
    "ExponentialMean": "mechanisms.question.mean",
    "Variance": "mechanisms.question.variance",
    "StandardDeviation": "mechanisms.question.deviation",
    "Median": "mechanisms.question.median",
    "Quantile": "mechanisms.question.quantile",
    "Quantiles": "mechanisms.question.quantiles",
    "Histogram": "mechanisms.question.histogram",
    "KeyHistogram": "mechanisms.question.histogram",
    "MostFrequent": "mechanisms.question.most_frequent",
}


def release_from_table(
    table: str | Path | frames.TableLike,
    mechanism: AnyMechanism,
    *,
    column: str | None = None,
    unit: str | None = None,
    rows_per_unit: int | None = None,
    question: str | None = None,
    confidence: float = 0.95,
    budget: Budget | None = None,
    rng: Source | None = None,
) -> NoisyAnswer:
    """One answer about a column of a table or file, with its interval and guarantee.

    Without a `unit` the promise is for one row. With one, at most `rows_per_unit` rows of each unit
    are kept, chosen at random, and the promise (and the price) is for all of them together; the
    answer is then about the rows that were kept. How many those are stays private.

    Args:
        table: a path, or whatever `frames.as_frame` takes; it stays as it is.
        mechanism: what to compute from the column, with its price.
        column: its name; may be left out for a count of rows and for a table of one column.
        unit: the column that names the person or other unit of each row, such as a customer number.
        rows_per_unit: how many rows of a unit may count; a `KeyHistogram` has `keys_per_unit` for
            that, and counts each key of a unit once.
        question: the name of the answer.
        confidence: of the interval.
        budget: pays for the answer; it is checked before the table is read.
        rng: where randomness comes from; a seed makes the answer a simulation.

    Raises:
        InputError: CEL-M120 to CEL-M124 the columns cannot be used, CEL-M126 the bound is missing;
            or what the mechanism refuses. No noise was drawn and nothing was spent.
        PrivacyError: CEL-M125 the mechanism knows no rows that could belong to a unit.
        BudgetExceeded: the budget does not allow it.

    >>> from celosia.core.randomness import Seeded
    >>> visits = {"patient": [1, 1, 2, 3], "cost": [10, 30, 20, 40]}
    >>> patients = {"unit": "patient", "rows_per_unit": 1}
    >>> visited = release_from_table(visits, Count(epsilon=5), **patients, rng=Seeded(1))
    >>> visited.guarantee.neighbours, visited.epsilon
    ('add or remove one patient', 5.0)
    """
    options = ReleaseOptions(
        question=question,
        confidence=confidence,
        budget=budget,
        rng=System() if rng is None else rng,
    )
    promised = for_unit(mechanism, unit=unit, rows_per_unit=rows_per_unit)
    options.check_affordable(promised)
    if isinstance(table, str | Path):
        frame = read_columns(table, mechanism, column=column, unit=unit)
    else:
        frame = frames.as_frame(table)
    rows, name = select_rows(frame, mechanism, column, unit)
    source = options.rng
    if unit is not None:
        rows = _bound_contributions(
            rows, select_units(frame, unit), mechanism, rows_per_unit, source
        )
    parameters: dict[str, Any] = {"method": str(promised), "column": name}
    if unit is not None:
        parameters |= {"unit": unit, "rows_per_unit": _limit(mechanism, rows_per_unit)}
    if question is None:
        options = replace(options, question=describe_question(mechanism, name))
    return release_with_guarantee(
        promised,
        rows,
        options,
        guarantee=guarantee_of(promised, simulation=source.simulation, bounded=unit is not None),
        provenance=Provenance.now(
            "celosia.mechanisms.release_from_table", parameters, seed=source.seed
        ),
    )


def for_unit(
    mechanism: AnyMechanism, *, unit: str | None, rows_per_unit: int | None
) -> AnyMechanism:
    """The mechanism with its promise for all rows of a unit, or as it is where there is none.

    Raises:
        InputError: CEL-M126 a unit without a bound, a bound without a unit, or two bounds.
        PrivacyError: CEL-M125, CEL-M088 it cannot be charged by unit.
    """
    if unit is None:
        if rows_per_unit is not None:
            raise InputError("CEL-M126.no_unit")
        return mechanism
    if not isinstance(mechanism, OF_ROWS):
        raise PrivacyError("CEL-M125", name=type(mechanism).__name__)
    named = unit if unit != ROW else f"unit of column {ROW!r}"
    if isinstance(mechanism, KeyHistogram):
        if rows_per_unit not in {None, mechanism.keys_per_unit}:
            raise InputError("CEL-M126.two_bounds")
        return replace(mechanism, neighbours=Neighbours(mechanism.neighbours.relation, named))
    if rows_per_unit is None:
        raise InputError("CEL-M126.no_bound")
    return per_unit(mechanism, rows_per_unit, unit=named)


def describe_question(mechanism: AnyMechanism, column: str | None) -> str:
    """The question in a few words.

    >>> describe_question(Count(epsilon=1), None)
    'number of rows'
    """
    core = unwrap(mechanism)
    if isinstance(core, Count):
        if column is None:
            return Message("mechanisms.question.rows")
        return Message("mechanisms.question.rows_with", column=column)
    if isinstance(core, SparseMechanism):
        return Message("mechanisms.question.thresholds", column=column)
    key = QUESTIONS.get(type(core).__name__)
    return str(mechanism) if key is None else Message(key, column=column)


def _bound_contributions(
    rows: pl.Series,
    units: pl.Series,
    mechanism: AnyMechanism,
    rows_per_unit: int | None,
    source: Source,
) -> pl.Series:
    """At most `rows_per_unit` rows of each unit; of a key histogram, each key of a unit once."""
    if isinstance(mechanism, KeyHistogram):
        once = pl.Series(once_per_key(units, rows))
        rows, units = rows.filter(once), units.filter(once)
    kept = at_most(units, _limit(mechanism, rows_per_unit), rng=source)
    return rows.filter(pl.Series(kept))


def _limit(mechanism: AnyMechanism, rows_per_unit: int | None) -> int:
    if isinstance(mechanism, KeyHistogram):
        return mechanism.keys_per_unit
    assert rows_per_unit is not None  # `for_unit` has refused it
    return rows_per_unit
