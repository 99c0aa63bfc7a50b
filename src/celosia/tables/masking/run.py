"""Mask a table by a recipe.

declare (recipe) -> protect (step by step) -> release -> account (risk and use, before and after).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.belief import delta_warning
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.messages import Message, joined
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.frames import as_frame, pick
from celosia.frames.columns import without_minus_zero
from celosia.tables.masking.account import Account, Holdout, account, evenly_spaced
from celosia.tables.masking.method import describe_neighbours
from celosia.tables.masking.recipe import Recipe, RecipeStep
from celosia.tables.masking.release import MaskedTable, StepOutcome
from celosia.tables.released_table import ReleasedTable, without_trace
from celosia.tables.schema import Role, check_table, released_names


@dataclass(frozen=True, slots=True, eq=False)
class RecipeResult:
    """A table after every step of a recipe."""

    frame: pl.DataFrame
    rows: NDArray[np.int64] | None
    """The original row of each row; None where rows are new."""
    outcomes: tuple[StepOutcome, ...]


def run_steps(raw: pl.DataFrame, recipe: Recipe, rng: Source, progress: Progress) -> RecipeResult:
    """Apply the steps one after the other; an error says at which of them."""
    frame, outcomes = raw, []
    rows: NDArray[np.int64] | None = np.arange(raw.height, dtype=np.int64)
    for number, step in enumerate(recipe.steps, 1):
        progress(
            Step(
                Message("masking.stage.step", number=number, method=step.method.method_name),
                number - 1,
                len(recipe.steps),
            )
        )
        with at_step(number):
            done = step.method.apply(frame, step.columns, rng=rng, progress=progress)
        frame = done.frame
        if done.synthetic or rows is None:
            rows = None
        elif done.rows is not None:
            rows = rows[done.rows]
        outcomes.append(
            StepOutcome(
                step.method.method_name,
                step.columns,
                dict(done.facts),
                tuple(step.method.confidential),
            )
        )
    return RecipeResult(frame, rows, tuple(outcomes))


@contextmanager
def at_step(number: int) -> Iterator[None]:
    """Let an error say at which step of the recipe it was."""
    try:
        yield
    except InputError as error:
        raise error.within(Message("tables.place.step", number=number)) from error


def guarantee(
    recipe: Recipe,
    released: Sequence[str],
    *,
    k: int,
    simulation: bool,
    keep_order: bool = False,
) -> Guarantee:
    """The promise of a masked table.

    Args:
        recipe: what was done.
        released: the columns that are released.
        k: the size of the smallest class over the quasi-identifiers, as measured; 0 if there are
            none. It is a fact of the released table, whatever the steps intended.
        simulation: whether a seed was used.
        keep_order: whether the rows are in their original order.
    """
    names = list(recipe.schema.named(Role.QUASI_IDENTIFIER))
    promises: list[str] = []
    protects: list[str] = []
    gaps: list[str] = []
    if k > 1:
        promises.append(Message("masking.promise.k_anonymity", k=k, columns=names))
        protects.append(Message("masking.protects.k_anonymity", k=k, columns=names))
    if k == 1:
        gaps.append(Message("masking.gap.alone", columns=names))
    if keep_order:
        gaps.append(Message("masking.gap.original_order"))
    claimed: list[RecipeStep] = []
    for number, step in enumerate(recipe.steps, 1):
        gaps += step.method.leaves_open(step.columns)
        promise = step.method.promise(step.columns)
        if promise is None:
            continue
        other = _undone_by(recipe, number)
        if other is not None:
            method = step.method.method_name
            gaps.append(Message("masking.gap.undone", number=number, method=method, other=other))
            continue
        claimed.append(step)
        promises.append(promise)
        step_name = step.describe()
        protects.append(
            Message("masking.protects.step", number=number, step=step_name, promise=promise)
        )
        rest = [name for name in released if name not in step.columns]
        if rest:
            gaps.append(Message("masking.gap.beside", number=number, columns=rest))
    relations = dict.fromkeys(
        describe_neighbours(step.method.neighbours)
        for step in claimed
        if step.method.neighbours is not None
    )
    assumed = [text for step in claimed for text in step.method.assumes()]
    semicolon = "reports.joined.semicolon"
    return Guarantee(
        promise=joined(semicolon, promises) if promises else Message("masking.promise.nothing"),
        unit=Message("masking.unit.record"),
        neighbours=joined(semicolon, relations) if relations else None,
        protects=(joined(semicolon, protects) if protects else Message("masking.protects.blurred")),
        assumes=tuple(dict.fromkeys([Message("masking.assumes.one_record"), *assumed])),
        leaves_open=tuple(dict.fromkeys(gaps)),
        simulation=simulation,
    )


def is_private(recipe: Recipe) -> bool:
    """Whether a step is differentially private, so that nothing exact may be told beside it."""
    return any(step.method.neighbours is not None for step in recipe.steps)


def _undone_by(recipe: Recipe, number: int) -> int | None:
    """The first other step that undoes a promise, if any.

    A later one does if it masks one of the same columns, or picks rows. An earlier one does so to a
    differentially private step alone: its neighbours are tables before any other step. What is
    promised of the result, such as k equal records, holds whatever came before.
    """
    mine: RecipeStep = recipe.steps[number - 1]
    for other, step in enumerate(recipe.steps, 1):
        matters = other > number or (other < number and mine.method.neighbours is not None)
        if matters and (set(step.columns) & set(mine.columns) or step.method.picks_rows):
            return other
    return None


def mask(
    data: Any,
    recipe: Recipe,
    *,
    keep_order: bool = False,
    holdout: Any = None,
    rng: Source | None = None,
    progress: Progress = silent,
) -> MaskedTable:
    """The table after every step of the recipe, with what risk and what use is left.

    Args:
        data: a Polars, pandas or Arrow table (never changed).
        recipe: the role of every column, and the methods with their columns.
        keep_order: leave the rows in their order. A holder of the original rows in that order can
            then undo any masking row by row, so the default is to shuffle.
        holdout: where the rows are new, a table of people of the same population who were not in
            `data`: membership inference is tried on them.
        rng: where methods and shuffle draw from; a seeded source makes it a simulation.
        progress: called before each step; may raise `Cancelled`.

    Raises:
        InputError: the table does not fit the recipe, or a method refuses its columns.
        PrivacyError: a method cannot keep what it promises.

    >>> from celosia import Seeded, tables
    >>> from celosia.tables import masking
    >>> people = pl.DataFrame({"age": [21, 22, 25, 29], "pay": [10, 12, 30, 33]})
    >>> schema = tables.Schema.of(quasi_identifiers=["age"], sensitive=["pay"])
    >>> recipe = masking.Recipe.of(schema, [(masking.Microaggregation(k=2), ["age"])])
    >>> masked = mask(people, recipe, rng=Seeded(7))
    >>> sorted(masked.data["age"])
    [21.5, 21.5, 27.0, 27.0]
    """
    rng = System() if rng is None else rng
    frame = as_frame(data)
    _check(frame, recipe)
    raw = without_minus_zero(pick(frame, released_names(frame, recipe.schema)))
    made = run_steps(raw, recipe, rng, progress)
    names = recipe.schema.named(Role.QUASI_IDENTIFIER)
    held_back = _sample_holdout(holdout, made, rng)
    measured = _account(raw, made, recipe, held_back, progress)
    notes = order_warnings(keep_order) + delta_warnings(recipe)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    # New rows form no classes of people.
    crowd = measured.risk if made.rows is not None else None
    # What compares with the original rows would undo a differentially private promise.
    shown = measured.figures() if not is_private(recipe) else {}
    return MaskedTable(
        table=ReleasedTable.of(_ordered(made.frame, keep_order, rng)),
        guarantee=guarantee(
            recipe,
            made.frame.columns,
            k=0 if crowd is None else crowd.smallest,
            simulation=rng.simulation,
            keep_order=keep_order,
        ),
        provenance=Provenance.now(
            "celosia.tables.masking.mask",
            recipe.as_dict() | {"keep_order": keep_order, "quasi_identifiers": list(names)},
            seed=rng.seed,
        ),
        warnings=notes,
        steps=made.outcomes,
        account=measured,
        figures=shown,
    )


def _check(frame: pl.DataFrame, recipe: Recipe) -> None:
    """Refuse a table that does not fit; whether it has rows is no reason where that is private."""
    if is_private(recipe) and not frame.height:
        recipe.schema.check_columns(frame.columns)
    else:
        check_table(frame, recipe.schema)
    check_widths(frame)


def check_widths(frame: pl.DataFrame) -> None:
    """Refuse whole numbers for which neither the methods nor files have room."""
    wide = [name for name, kind in frame.schema.items() if kind in (pl.Int128, pl.UInt128)]
    if wide:
        raise InputError("CEL-V023", column=wide[0])


def _sample_holdout(holdout: Any, result: RecipeResult, rng: Source) -> Holdout | None:
    if holdout is None:
        return None
    if result.rows is not None:
        raise InputError("CEL-V024")
    people = as_frame(holdout)
    return Holdout(without_minus_zero(people[evenly_spaced(people.height)]), rng)


def _account(
    raw: pl.DataFrame,
    result: RecipeResult,
    recipe: Recipe,
    holdout: Holdout | None,
    progress: Progress,
) -> Account:
    nothing = Account(risk=None, risk_before=None, compared=None)
    if not raw.height:
        return nothing
    try:
        return account(
            raw, result.frame, recipe, rows=result.rows, holdout=holdout, progress=progress
        )
    except InputError:
        if not is_private(recipe) or holdout is not None:
            raise
        # A cell that cannot be measured, such as an infinite one, must not show by a refusal.
        return nothing


def _ordered(frame: pl.DataFrame, keep_order: bool, rng: Source) -> pl.DataFrame:
    return without_trace(frame if keep_order else frame[rng.permutation(frame.height)])


def delta_warnings(recipe: Recipe) -> tuple[str, ...]:
    """What is to be said of promises that may fail too often; the number of rows is private."""
    deltas = [getattr(step.method, "delta", 0.0) for step in recipe.steps if is_private(recipe)]
    found = [delta_warning(each) for each in deltas]
    return tuple(each for each in found if each is not None)


def order_warnings(keep_order: bool) -> tuple[str, ...]:
    """What is to be said of rows that are not shuffled."""
    if not keep_order:
        return ()
    return (Message("masking.warning.original_order"),)
