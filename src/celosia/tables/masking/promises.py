"""What a recipe promises as a whole: what its steps promise where no other step undoes it."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.guarantee import Guarantee
from celosia.core.messages import Message
from celosia.core.wording import joined
from celosia.tables.masking.method import describe_neighbours
from celosia.tables.masking.recipe import Recipe, RecipeStep
from celosia.tables.schema import Role


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
