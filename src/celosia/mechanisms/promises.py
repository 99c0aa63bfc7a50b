"""What one release of a mechanism promises, in words that are true of that mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from decimal import ROUND_CEILING, Context, Decimal
from math import exp, inf, isclose, isfinite
from typing import TYPE_CHECKING, Any

from celosia.core.guarantee import Guarantee
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import real

if TYPE_CHECKING:
    from celosia.accounting.loss import Loss
    from celosia.mechanisms.mechanism import Mechanism

    AnyMechanism = Mechanism[Any, Any]

WEAK = 10
"""An epsilon from which on the belief of one in a thousand can become certainty."""
LIKELY = 1e-3
"""A delta from which on the promise fails for somebody in any table of a thousand."""
TYPICAL_DELTA = 1e-6
"""At which a promise of rho is also told as an epsilon."""


def promise(
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
        unit=neighbours.unit,
        protects=_protects(mechanism),
        neighbours=str(neighbours),
        assumes=(*_assumptions(mechanism, bounded=bounded), *assumes),
        leaves_open=tuple(_left_open(neighbours)),
        simulation=simulation,
    )


def stated(mechanism: AnyMechanism) -> tuple[float | None, float]:
    """The epsilon and delta that are promised; no epsilon where the promise is one of rho.

    >>> from celosia.mechanisms.statistics import Count, KeyHistogram
    >>> stated(Count(epsilon=0.5)), stated(KeyHistogram(epsilon=1, delta=1e-6))
    ((0.5, 0.0), (1.0, 1e-06))
    """
    pure = mechanism.privacy_loss().pure
    declared = real(getattr(inner(mechanism), "epsilon", None))
    delta = real(getattr(mechanism, "delta", None))
    if isfinite(pure):
        # Parts of an epsilon are rounded up one by one; together they are what was declared.
        close = declared is not None and isclose(pure, declared, rel_tol=1e-12)
        return (declared if close else pure), 0.0
    return (declared, delta) if delta else (None, 0.0)


def weaknesses(mechanism: AnyMechanism) -> tuple[str, ...]:
    """What a curator should hear before such an answer is given away."""
    from celosia.accounting.belief import belief_interval  # noqa: PLC0415 - who has a mechanism has loaded it

    epsilon, delta = stated(mechanism)
    name = f"an epsilon of {epsilon:g}" if epsilon is not None else ""
    if epsilon is None:
        epsilon = mechanism.privacy_loss().epsilon(TYPICAL_DELTA)
        name = f"a rho that means an epsilon of {at_least(epsilon)} at delta {TYPICAL_DELTA:g}"
    told = []
    if epsilon >= WEAK:
        belief = belief_interval(0.001, epsilon).high
        told.append(
            f"{name} protects next to nobody: an attacker's belief of 0.1 % may rise to "
            f"{belief:.4%}; take 1 or less"
        )
    if delta >= LIKELY:
        told.append(
            f"a delta of {delta:g} is the chance that the promise fails altogether; take it far "
            "below one divided by the number of people"
        )
    return tuple(told)


def inner(mechanism: AnyMechanism) -> AnyMechanism:
    """The mechanism itself, where its promise was made for whole units."""
    from celosia.mechanisms.statistics.contributions import PerUnit  # noqa: PLC0415 - who has a mechanism has loaded it

    return mechanism.mechanism if isinstance(mechanism, PerUnit) else mechanism


def at_least(number: float, digits: int = 6) -> str:
    """A number in few digits that do not say less than it is.

    >>> at_least(0.5), at_least(1.0100501671)
    ('0.5', '1.01006')
    """
    if not isfinite(number):
        return str(number)
    rounded = Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(repr(float(number))))
    return f"{float(rounded):.{digits}g}"


def _in_words(mechanism: AnyMechanism) -> str:
    epsilon, delta = stated(mechanism)
    if epsilon is None:
        return f"{at_least(mechanism.privacy_loss().rho)}-zero-concentrated differential privacy"
    if delta:
        return f"({at_least(epsilon)}, {at_least(delta)})-differential privacy"
    return f"{at_least(epsilon)}-differential privacy"


def _protects(mechanism: AnyMechanism) -> str:
    unit, relation = mechanism.neighbours.unit, mechanism.neighbours.relation
    epsilon, delta = stated(mechanism)
    if epsilon is None:
        delta = TYPICAL_DELTA
        epsilon = _epsilon_at(mechanism.privacy_loss(), delta)
    subject = f"whatever one {unit} holds"
    if relation is Relation.ADD_REMOVE:
        subject = f"whether or not one {unit} is in the table, and whatever it holds"
    factor = at_least(exp(epsilon) if epsilon < 700 else inf, 4)
    if delta:
        return (
            f"{subject}, no set of answers becomes more than {factor} times as likely by it, but "
            f"for a further chance of {at_least(delta)}"
        )
    return f"{subject}, no answer becomes more than {factor} times as likely by it"


def _epsilon_at(loss: Loss, delta: float) -> float:
    return float(loss.epsilon(delta))


def _assumptions(mechanism: AnyMechanism, *, bounded: bool) -> Iterator[str]:
    from celosia.mechanisms.statistics.contributions import ROW, PerUnit  # noqa: PLC0415 - who has a mechanism has loaded it
    from celosia.mechanisms.statistics.key_histogram import KeyHistogram  # noqa: PLC0415 - who has a mechanism has loaded it

    core, unit = inner(mechanism), mechanism.neighbours.unit
    yield "parameters and bounds were chosen without looking at the data"
    if getattr(core, "may_be_empty", True) is False:
        yield "that the table is not empty is no secret"
    if any(field.name == "sensitivity" for field in fields(core)):
        yield f"one neighbour step moves no answer by more than the declared {core.sensitivity:g}"
    if getattr(core, "monotone", False) is True:
        yield "a neighbour step moves all scores or answers in the same direction"
    if bounded:
        return
    if isinstance(mechanism, PerUnit):
        yield f"no {unit} has more than {mechanism.rows_per_unit} rows in the table"
    if isinstance(core, KeyHistogram) and (unit != ROW or core.keys_per_unit > 1):
        yield f"each {unit} has at most one row of a key, and rows of {core.keys_per_unit} keys"


def _left_open(neighbours: Neighbours) -> Iterator[str]:
    from celosia.mechanisms.statistics.contributions import ROW  # noqa: PLC0415 - who has a mechanism has loaded it

    yield "each further answer from the same data adds to the loss: keep one budget"
    yield "what is true of many people is told on purpose, and may be guessed of one of them"
    yield "that there is an answer tells that no row had to be refused as missing or unfit"
    if neighbours.relation is Relation.CHANGE_ONE:
        yield f"how many units there are (unit: {neighbours.unit}) is taken to be public"
    if neighbours.unit == ROW:
        yield "whoever has several rows is protected less: the promise is for one row"
