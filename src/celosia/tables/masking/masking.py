"""Mask a table by a recipe.

declare (recipe) -> protect (step by step) -> release -> account (risk and use, before and after).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.progress import Progress, Step, silent
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source, System
from celosia.frames import as_frame, pick
from celosia.tables.masking.account import account
from celosia.tables.masking.promises import guarantee, is_private
from celosia.tables.masking.recipe import Recipe
from celosia.tables.masking.release import MaskedTable, StepOutcome
from celosia.tables.publishing import check_table, released_names, without_trace
from celosia.tables.schema import Role


def mask(
    data: Any,
    recipe: Recipe,
    *,
    keep_order: bool = False,
    randomness: Source | None = None,
    progress: Progress = silent,
) -> MaskedTable:
    """The table after every step of the recipe, with what risk and what use is left.

    Args:
        data: a Polars, pandas or Arrow table (never changed).
        recipe: the role of every column, and the methods with their columns.
        keep_order: leave the rows in their order. Whoever has the original rows in that order can
            then undo any masking row by row, so the default is to shuffle.
        randomness: where methods and shuffle draw from; a seeded source makes it a simulation.
        progress: called before each step; may raise `Cancelled`.

    Raises:
        InputError: the table does not fit the recipe, or a method refuses its columns.
        PrivacyError: a method cannot keep what it promises.

    >>> from celosia import Seeded, tables
    >>> from celosia.tables import masking
    >>> people = pl.DataFrame({"age": [21, 22, 25, 29], "pay": [10, 12, 30, 33]})
    >>> schema = tables.Schema.of(quasi_identifiers=["age"], sensitive=["pay"])
    >>> recipe = masking.Recipe.of(schema, [(masking.Microaggregation(k=2), ["age"])])
    >>> masked = mask(people, recipe, randomness=Seeded(7))
    >>> sorted(masked.data["age"])
    [21.5, 21.5, 27.0, 27.0]
    """
    rng = System() if randomness is None else randomness
    frame = as_frame(data)
    check_table(frame, recipe.schema)
    raw = pick(frame, released_names(frame, recipe.schema))
    made = _stepped(raw, recipe, rng, progress)
    names = recipe.schema.named(Role.QUASI_IDENTIFIER)
    told = account(raw, made.frame, recipe, rows=made.rows, progress=progress)
    notes = _warnings(keep_order)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    # Rows that are nobody's form no classes of people.
    crowd = told.risk if made.rows is not None else None
    # What compares with the original rows would undo a differentially private promise.
    shown = told.figures() if not is_private(recipe) else {}
    return MaskedTable(
        data=_ordered(made.frame, keep_order, rng),
        guarantee=guarantee(
            recipe,
            made.frame.columns,
            k=0 if crowd is None else crowd.smallest,
            simulation=rng.simulation,
        ),
        provenance=Provenance.now(
            "celosia.tables.masking.mask",
            recipe.as_dict() | {"keep_order": keep_order, "quasi_identifiers": list(names)},
            seed=rng.seed,
        ),
        warnings=notes,
        steps=made.outcomes,
        account=told,
        figures=shown,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    frame: pl.DataFrame
    rows: NDArray[np.int64] | None
    """The original row of each row; None where rows are new."""
    outcomes: tuple[StepOutcome, ...]


def _stepped(raw: pl.DataFrame, recipe: Recipe, rng: Source, progress: Progress) -> _Made:
    frame, outcomes = raw, []
    rows: NDArray[np.int64] | None = np.arange(raw.height, dtype=np.int64)
    for number, step in enumerate(recipe.steps, 1):
        progress(Step(f"Step {number}: {step.method.kind}", number - 1, len(recipe.steps)))
        try:
            done = step.method.apply(frame, step.columns, rng=rng, progress=progress)
        except InputError as error:
            raise InputError(
                error.code,
                f"step {number} of the recipe: {error.what}",
                why=error.why,
                fix=error.fix,
                **error.details,
            ) from error
        frame = done.frame
        if done.synthetic or rows is None:
            rows = None
        elif done.rows is not None:
            rows = rows[done.rows]
        outcomes.append(StepOutcome(step.method.kind, step.columns, dict(done.facts)))
    return _Made(frame, rows, tuple(outcomes))


def _ordered(frame: pl.DataFrame, keep_order: bool, rng: Source) -> pl.DataFrame:
    return without_trace(frame if keep_order else frame[rng.permutation(frame.height)])


def _warnings(keep_order: bool) -> tuple[str, ...]:
    if not keep_order:
        return ()
    return (
        "The rows are in their original order: whoever holds the original rows in that order can "
        "join them to this table one by one.",
    )
