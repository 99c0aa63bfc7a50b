"""What a recipe promises as a whole: what its steps promise where no other step undoes it."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.guarantee import Guarantee
from celosia.tables.masking.recipe import Recipe, RecipeStep
from celosia.tables.schema import Role

NOTHING = "no formal guarantee"


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
    names = ", ".join(recipe.schema.named(Role.QUASI_IDENTIFIER))
    promises = [f"{k}-anonymity over {names}"] if k > 1 else []
    protects = [f"no person can be tied to fewer than {k} records by {names}"] if k > 1 else []
    gaps: list[str] = []
    if k == 1:
        gaps.append(f"a record that is alone in its values of {names} can be linked to a person")
    if keep_order:
        gaps.append(
            "rows are in their original order: an attacker who knows it knows whose record each "
            "is, whatever is promised of the values"
        )
    claimed: list[RecipeStep] = []
    for number, step in enumerate(recipe.steps, 1):
        gaps += step.method.leaves_open(step.columns)
        promise = step.method.promise(step.columns)
        if promise is None:
            continue
        other = _undone_by(recipe, number)
        if other is not None:
            gaps.append(
                f"what step {number} ({step.method.kind}) promises is not claimed: step {other} "
                "works on the same columns or rows"
            )
            continue
        claimed.append(step)
        promises.append(promise)
        protects.append(f"step {number} ({step}): {promise}")
        rest = [name for name in released if name not in step.columns]
        if rest:
            gaps.append(
                f"step {number} promises nothing of {', '.join(rest)}, released beside its columns"
            )
    relations = dict.fromkeys(
        str(step.method.neighbours) for step in claimed if step.method.neighbours is not None
    )
    assumed = [text for step in claimed for text in step.method.assumes]
    return Guarantee(
        promise="; ".join(promises) or NOTHING,
        unit="record",
        neighbours="; ".join(relations) or None,
        protects="; ".join(protects) or "values are blurred; how well is measured, not promised",
        assumes=tuple(dict.fromkeys(["each person has at most one record", *assumed])),
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
