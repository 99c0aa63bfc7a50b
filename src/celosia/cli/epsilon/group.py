"""`celosia epsilon group`: what a promise for one row means for several, and for a changed row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.epsilon.formatting import format_at_most
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues
from celosia.core.neighbours import Neighbours, Relation

if TYPE_CHECKING:
    from celosia.accounting import Loss


@dataclass(frozen=True, slots=True)
class GroupRow(PlainValues):
    """What is left of a promise for one kind of neighbours."""

    protects: str
    relation: Relation
    size: int
    epsilon: float | None
    """None where nothing is promised any more."""
    delta: float
    belief: float | None
    """The most that an even guess may become."""


def group(
    outputs: JsonOutputs,
    epsilon: Annotated[float | None, options.EPSILON, "The promise for one row."] = None,
    delta: Annotated[float, "With --epsilon: the chance of failure."] = 0.0,
    rho: Annotated[float | None, "Instead: the promise of zero-concentrated privacy."] = None,
    at: Annotated[float, "DELTA", "With --rho: the delta at which epsilon is shown."] = 1e-6,
    size: Annotated[int, "Number of rows of one person or group."] = 1,
    neighbours: Annotated[Relation, "The neighbour relation of the promise."] = Relation.ADD_REMOVE,
    to: Annotated[
        Relation | None,
        "The neighbour relation to convert it to; by default all that follow from it.",
    ] = None,
) -> None:
    """Turn a promise for one row into one for a group, and for rows that are changed.

    Changing a row is removing one and adding another, so it costs twice; a promise for changed rows
    says nothing about added ones.

    **Examples**

    `celosia epsilon group --epsilon 0.5 --size 4`

    `celosia epsilon group --epsilon 1 --delta 1e-9 --size 3 --to change-one`

    `celosia epsilon group --rho 0.1 --size 10 --at 1e-6 --json`
    """
    loss = _loss(epsilon, delta, rho)
    rows = list(_rows(loss, size, neighbours, to, at=at))
    last = [row for row in rows if row.relation is (to or neighbours)][-1]
    failing = Message("cli.epsilon.failing", delta=last.delta) if last.delta else ""
    outputs.show(
        lambda: {"relation": neighbours, "rows": [row.as_dict() for row in rows]},
        lambda: console.show_table(
            say("cli.epsilon.what_promise_means"),
            console.columns("whom", "epsilon", "delta:g", "belief_may_become:.1%"),
            [
                [row.protects, say("cli.epsilon.nothing_promised"), None, None]
                if row.epsilon is None or row.belief is None
                else [row.protects, format_at_most(row.epsilon), row.delta, row.belief]
                for row in rows
            ],
        ),
        say(
            "cli.epsilon.epsilon_2",
            protects=last.protects,
            format_at_most=format_at_most(last.epsilon or 0),
            failing=failing,
        ),
    )


def _loss(epsilon: float | None, delta: float, rho: float | None) -> Loss:
    from celosia.accounting import ApproximateLoss, ConcentratedLoss, PureLoss
    from celosia.accounting.amounts import delta_amount, epsilon_amount

    if (epsilon is None) == (rho is None) or (rho is not None and delta):
        raise InputError("CEL-B083.not_one_promise")
    if rho is not None:
        return ConcentratedLoss(epsilon_amount(rho, name="rho", zero=True))
    failure = delta_amount(delta, zero=True)
    size = epsilon_amount(epsilon, zero=True)
    return ApproximateLoss(size, float(failure)) if failure else PureLoss(size)


def _rows(
    loss: Loss, size: int, relation: Relation, to: Relation | None, *, at: float
) -> Iterator[GroupRow]:
    from celosia.accounting import convert, for_group

    if to is not None:
        convert(loss, Neighbours(relation), Neighbours(to))  # refuses what does not follow
        wanted = [to]
    else:
        wanted = [relation, Relation.CHANGE_ONE] if relation is Relation.ADD_REMOVE else [relation]
    for count in sorted({1, size}):
        for target in wanted:
            try:
                grouped = for_group(convert(loss, Neighbours(relation), Neighbours(target)), count)
            except PrivacyError:
                if target is to or target is relation:
                    raise
                grouped = None
            yield _row(grouped, target, count, at=at)


def _row(loss: Loss | None, relation: Relation, count: int, *, at: float) -> GroupRow:
    from celosia.accounting import ApproximateLoss, belief_interval
    from celosia.accounting.amounts import delta_amount, round_up

    if relation is Relation.ADD_REMOVE:
        key = "cli.epsilon.add_remove_one" if count == 1 else "cli.epsilon.add_remove_rows"
    else:
        key = "cli.epsilon.change_one" if count == 1 else "cli.epsilon.change_rows"
    protects = Message(key, rows=count)
    if loss is None:
        return GroupRow(protects, relation, count, None, 1.0, None)
    if isinstance(loss, ApproximateLoss):
        epsilon, delta = round_up(loss.value), loss.failure
    elif loss.pure < float("inf"):
        epsilon, delta = loss.pure, 0.0
    else:
        delta = float(delta_amount(at))
        epsilon = loss.epsilon(delta)
    belief = belief_interval(0.5, min(epsilon, 10.0**6), delta=delta).high
    return GroupRow(protects, relation, count, epsilon, delta, belief)
