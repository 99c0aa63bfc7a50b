"""The steps of a recipe, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.tables.masking.recipe import Recipe
from celosia.tables.masking.release import StepOutcome


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
