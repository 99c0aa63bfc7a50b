"""The guarantee of one release of a mechanism, in words that are true of that mechanism."""

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
"""A delta from which on the promise fails for one person in a table of a thousand."""
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
        unit=neighbours.unit,
        protects=_protects(mechanism),
        neighbours=str(neighbours),
        assumes=(*_assumptions(mechanism, bounded=bounded), *assumes),
        leaves_open=tuple(_left_open(neighbours)),
        simulation=simulation,
    )


def stated_epsilon_delta(mechanism: AnyMechanism) -> tuple[float | None, float]:
    """The epsilon and delta that are promised; no epsilon where the promise is one of rho.

    >>> from celosia.mechanisms.statistics import Count, KeyHistogram
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


def weaknesses(mechanism: AnyMechanism) -> tuple[str, ...]:
    """What a curator should hear before such an answer is given away."""
    from celosia.accounting.belief import belief_interval  # noqa: PLC0415 - who has a mechanism has loaded it

    epsilon, delta = stated_epsilon_delta(mechanism)
    name = f"an epsilon of {epsilon:g}" if epsilon is not None else ""
    if epsilon is None:
        epsilon = mechanism.privacy_loss().epsilon(TYPICAL_DELTA)
        shown = format_rounded_up(epsilon)
        name = f"a rho that means an epsilon of {shown} at delta {TYPICAL_DELTA:g}"
    warnings = []
    if epsilon >= WEAK:
        belief = belief_interval(0.001, epsilon).high
        warnings.append(
            f"{name} gives almost no protection: an attacker's belief of 0.1 % may rise to "
            f"{belief:.4%}; take 1 or less"
        )
    if delta >= LIKELY:
        warnings.append(
            f"a delta of {delta:g} is the chance that the promise fails altogether; take it far "
            "below one divided by the number of people"
        )
    return tuple(warnings)


def unwrap(mechanism: AnyMechanism) -> AnyMechanism:
    """The mechanism itself, where its promise was made for whole units."""
    from celosia.mechanisms.statistics.contributions import PerUnit  # noqa: PLC0415 - who has a mechanism has loaded it

    return mechanism.mechanism if isinstance(mechanism, PerUnit) else mechanism


def format_rounded_up(number: float, digits: int = 6) -> str:
    """A number in few digits that do not say less than it is.

    >>> format_rounded_up(0.5), format_rounded_up(1.0100501671)
    ('0.5', '1.01006')
    """
    if not isfinite(number):
        return str(number)
    rounded = Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(repr(float(number))))
    return f"{float(rounded):.{digits}g}"


def _in_words(mechanism: AnyMechanism) -> str:
    epsilon, delta = stated_epsilon_delta(mechanism)
    if epsilon is None:
        rho = format_rounded_up(mechanism.privacy_loss().rho)
        return f"{rho}-zero-concentrated differential privacy"
    if delta:
        return f"({format_rounded_up(epsilon)}, {format_rounded_up(delta)})-differential privacy"
    return f"{format_rounded_up(epsilon)}-differential privacy"


def _protects(mechanism: AnyMechanism) -> str:
    unit, relation = mechanism.neighbours.unit, mechanism.neighbours.relation
    epsilon, delta = stated_epsilon_delta(mechanism)
    if epsilon is None:
        delta = TYPICAL_DELTA
        epsilon = _epsilon_at(mechanism.privacy_loss(), delta)
    subject = f"whatever one {unit} holds"
    if relation is Relation.ADD_REMOVE:
        subject = f"whether or not one {unit} is in the table, and whatever it holds"
    factor = format_rounded_up(exp(epsilon) if epsilon < 700 else inf, 4)
    if delta:
        return (
            f"{subject}, no set of answers becomes more than {factor} times as likely by it, but "
            f"for a further chance of {format_rounded_up(delta)}"
        )
    return f"{subject}, no answer becomes more than {factor} times as likely by it"


def _epsilon_at(loss: Loss, delta: float) -> float:
    return float(loss.epsilon(delta))


def _assumptions(mechanism: AnyMechanism, *, bounded: bool) -> Iterator[str]:
    from celosia.mechanisms.statistics.contributions import ROW, PerUnit  # noqa: PLC0415 - who has a mechanism has loaded it
    from celosia.mechanisms.statistics.key_histogram import KeyHistogram  # noqa: PLC0415 - who has a mechanism has loaded it

    core, unit = unwrap(mechanism), mechanism.neighbours.unit
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
    yield "facts about many people are released on purpose, and may be guessed about one of them"
    yield "an answer reveals that no row was refused as missing or unfit"
    if neighbours.relation is Relation.CHANGE_ONE:
        yield f"how many units there are (unit: {neighbours.unit}) is taken to be public"
    if neighbours.unit == ROW:
        yield "a person with several rows is protected less: the promise is for one row"
