"""Mask a table by a recipe.

declare (recipe) -> protect (step by step) -> release -> account (risk and use, before and after).
"""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl

from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source, System
from celosia.frames import as_frame, pick
from celosia.tables.masking.account import Account, Holdout, account, evenly_spaced
from celosia.tables.masking.promises import guarantee, is_private
from celosia.tables.masking.recipe import Recipe
from celosia.tables.masking.release import MaskedTable
from celosia.tables.masking.steps import RecipeResult, run_steps
from celosia.tables.run import (
    check_table,
    released_names,
    without_minus_zero,
    without_trace,
)
from celosia.tables.schema import Role


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
    notes = order_warnings(keep_order)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    # New rows form no classes of people.
    crowd = measured.risk if made.rows is not None else None
    # What compares with the original rows would undo a differentially private promise.
    shown = measured.figures() if not is_private(recipe) else {}
    return MaskedTable(
        data=_ordered(made.frame, keep_order, rng),
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


def order_warnings(keep_order: bool) -> tuple[str, ...]:
    """What is to be said of rows that are not shuffled."""
    if not keep_order:
        return ()
    return (Message("masking.warning.original_order"),)
