"""The guarantee of one release of a mechanism, in words that are true of that mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from math import exp, inf, isclose, isfinite
from typing import TYPE_CHECKING, Any

from celosia.core.messages import Message, one_unit, unit_word
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import real
from celosia.core.release import Guarantee
from celosia.mechanisms.values import rounded_up

if TYPE_CHECKING:
    from celosia.accounting.losses import Loss
    from celosia.mechanisms.mechanism import Mechanism

    AnyMechanism = Mechanism[Any, Any]

WEAK = 10
"""An epsilon from which on the belief of one in a thousand can become certainty."""
TYPICAL_DELTA = 1e-6
"""At which a promise of rho is also told as an epsilon."""


def guarantee_of(
    mechanism: AnyMechanism,
    *,
    simulation: bool = False,
    bounded: bool = False,
    assumes: tuple[str, ...] = (),
) -> Guarantee:
    """What one release of a mechanism promises.

    Args:
        mechanism: with its neighbours.
        simulation: whether the randomness comes from a seed.
        bounded: whether the rows of each unit were limited before, and need not be assumed to be.
        assumes: what else must be true for the promise to hold.
    """
    neighbours = mechanism.neighbours
    return Guarantee(
        promise=_in_words(mechanism),
        unit=unit_word(neighbours.unit),
        protects=_protects(mechanism),
        neighbours=neighbours.message,
        assumes=(*_assumptions(mechanism, bounded=bounded), *assumes),
        leaves_open=tuple(_left_open(neighbours)),
        simulation=simulation,
    )


def stated_epsilon_delta(mechanism: AnyMechanism) -> tuple[float | None, float]:
    """The epsilon and delta that are promised; no epsilon where the promise is one of rho.

    >>> from celosia.mechanisms.statistics.sums import Count
    >>> from celosia.mechanisms.statistics.key_histogram import KeyHistogram
    >>> stated_epsilon_delta(Count(epsilon=0.5))
    (0.5, 0.0)
    >>> stated_epsilon_delta(KeyHistogram(epsilon=1, delta=1e-6))
    (1.0, 1e-06)
    """
    pure = mechanism.privacy_loss().pure
    declared = real(getattr(unwrap(mechanism), "epsilon", None))
    delta = real(getattr(mechanism, "delta", None))
    if isfinite(pure):
        # Parts of an epsilon are rounded up one by one; together they are what was declared.
        close = declared is not None and isclose(pure, declared, rel_tol=1e-12)
        return (declared if close else pure), 0.0
    return (declared, delta) if delta else (None, 0.0)


def weaknesses(mechanism: AnyMechanism, *, people: int | None = None) -> tuple[str, ...]:
    """What a curator should hear before such an answer is given away.

    Args:
        mechanism: with its promise.
        people: the number of people, where it is public.
    """
    # Who has a mechanism has loaded it.
    from celosia.accounting.belief import belief_interval, delta_warning

    stated, delta = stated_epsilon_delta(mechanism)
    epsilon = mechanism.privacy_loss().epsilon(TYPICAL_DELTA) if stated is None else stated
    warnings = []
    if epsilon >= WEAK:
        belief = belief_interval(0.001, epsilon).high
        if stated is None:
            shown = rounded_up(epsilon)
            facts = {"epsilon": shown, "delta": TYPICAL_DELTA, "belief": belief}
            warnings.append(Message("mechanisms.warning.weak_rho", **facts))
        else:
            warnings.append(
                Message("mechanisms.warning.weak_epsilon", epsilon=epsilon, belief=belief)
            )
    unlikely = delta_warning(delta, people)
    return (*warnings, *([] if unlikely is None else [unlikely]))


def unwrap(mechanism: AnyMechanism) -> AnyMechanism:
    """The mechanism itself, where its promise was made for whole units."""
    from celosia.mechanisms.statistics.contributions import (
        PerUnit,  # who has a mechanism has loaded it
    )

    return mechanism.mechanism if isinstance(mechanism, PerUnit) else mechanism


def _in_words(mechanism: AnyMechanism) -> Message:
    epsilon, delta = stated_epsilon_delta(mechanism)
    if epsilon is None:
        rho = rounded_up(mechanism.privacy_loss().rho)
        return Message("mechanisms.promise.concentrated", rho=rho)
    if delta:
        return Message(
            "mechanisms.promise.approximate",
            epsilon=rounded_up(epsilon),
            delta=rounded_up(delta),
        )
    return Message("mechanisms.promise.pure", epsilon=rounded_up(epsilon))


def _protects(mechanism: AnyMechanism) -> Message:
    neighbours = mechanism.neighbours
    one, adds = one_unit(neighbours.unit), neighbours.relation is Relation.ADD_REMOVE
    epsilon, delta = stated_epsilon_delta(mechanism)
    if epsilon is None:
        delta = TYPICAL_DELTA
        epsilon = _epsilon_at(mechanism.privacy_loss(), delta)
    factor = rounded_up(exp(epsilon) if epsilon < 700 else inf, 4)
    if delta:
        key = (
            "mechanisms.protects.add_remove_delta"
            if adds
            else "mechanisms.protects.change_one_delta"
        )
        return Message(key, one=one, factor=factor, delta=rounded_up(delta))
    key = "mechanisms.protects.add_remove" if adds else "mechanisms.protects.change_one"
    return Message(key, one=one, factor=factor)


def _epsilon_at(loss: Loss, delta: float) -> float:
    return float(loss.epsilon(delta))


def _assumptions(mechanism: AnyMechanism, *, bounded: bool) -> Iterator[Message]:
    from celosia.mechanisms.statistics.contributions import (  # who has a mechanism has loaded it
        ROW,
        PerUnit,
    )
    from celosia.mechanisms.statistics.key_histogram import (
        KeyHistogram,  # who has a mechanism has loaded it
    )

    core, unit = unwrap(mechanism), mechanism.neighbours.unit
    named = unit_word(unit)
    yield Message("mechanisms.assumes.public_parameters")
    if getattr(core, "may_be_empty", True) is False:
        yield Message("mechanisms.assumes.not_empty")
    if any(field.name == "sensitivity" for field in fields(core)):
        yield Message("mechanisms.assumes.sensitivity", sensitivity=core.sensitivity)
    if getattr(core, "monotone", False) is True:
        yield Message("mechanisms.assumes.monotone")
    if bounded:
        return
    if isinstance(mechanism, PerUnit):
        rows = mechanism.rows_per_unit
        yield Message("mechanisms.assumes.rows_per_unit", unit=named, rows=rows)
    if isinstance(core, KeyHistogram) and (unit != ROW or core.keys_per_unit > 1):
        keys = core.keys_per_unit
        yield Message("mechanisms.assumes.keys_per_unit", unit=named, keys=keys)


def _left_open(neighbours: Neighbours) -> Iterator[Message]:
    from celosia.mechanisms.statistics.contributions import ROW  # who has a mechanism has loaded it

    yield Message("mechanisms.leaves_open.further_answers")
    yield Message("mechanisms.leaves_open.facts_about_many")
    yield Message("mechanisms.leaves_open.no_refusal")
    if neighbours.relation is Relation.CHANGE_ONE:
        yield Message("mechanisms.leaves_open.public_size", unit=unit_word(neighbours.unit))
    if neighbours.unit == ROW:
        yield Message("mechanisms.leaves_open.several_rows")
