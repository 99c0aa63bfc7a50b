"""Divergences of two finite distributions, straight from their definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, fsum, inf, isnan, log

from celosia.accounting.amounts import check_chance
from celosia.core.errors import InputError
from celosia.core.methods import Parameter, bad_parameter
from celosia.core.numbers import real

Chances = Mapping[object, float] | Sequence[float]
SLIP = 1e-9
"""By how much chances may miss a sum of 1."""


def max_divergence(one: Chances, two: Chances) -> float:
    """The largest log ratio of the chances of an event, over events that the first can give.

    Infinite where the second cannot give them: events are taken from the support of the first,
    not from both supports, which would hide such a loss.

    >>> max_divergence([0.5, 0.5, 0.0], [0.5, 0.0, 0.5])
    inf
    """
    return approximate_max_divergence(one, two, delta=0.0)


def approximate_max_divergence(one: Chances, two: Chances, *, delta: float) -> float:
    """The least epsilon of at least 0 at which the hockey stick is at most delta.

    It is the largest ln((P(S) - delta) / Q(S)) over events S of the support of the first with a
    chance of at least delta, at least 0 (the whole support gives ln(1 - delta) at most 0).
    """
    wanted = check_chance(delta)
    pairs = _pairs(one, two)
    # The worst events are those of the largest ratios: every other has less under the first at the
    # same chance under the second.
    pairs.sort(key=lambda pair: inf if pair[1] == 0 else pair[0] / pair[1], reverse=True)
    above = below = 0.0
    largest = 0.0
    for upper, lower in pairs:
        above, below = above + upper, below + lower
        if above - wanted > 1e-15 * above:
            if below == 0:
                return inf
            largest = max(largest, log((above - wanted) / below))
    return largest


def hockey_stick(one: Chances, two: Chances, *, epsilon: float) -> float:
    """The least delta that holds with an epsilon: the sum of P - e^epsilon Q where it is above 0.

    >>> round(hockey_stick([0.75, 0.25], [0.25, 0.75], epsilon=0.0), 12)
    0.5
    """
    number = real(epsilon)
    if number is None or isnan(number):
        raise bad_parameter("privacy loss", Parameter(name="epsilon", kind="number"), epsilon)
    pairs = _pairs(one, two)
    if number > 700:  # e^epsilon is beyond the floats, so only impossible outcomes count
        return fsum(upper for upper, lower in pairs if lower == 0)
    factor = exp(number)
    return min(1.0, fsum(max(0.0, upper - factor * lower) for upper, lower in pairs))


def both_directions(one: Chances, two: Chances, *, delta: float = 0.0) -> float:
    """The larger approximate max-divergence of the two directions: what privacy is about."""
    return max(
        approximate_max_divergence(one, two, delta=delta),
        approximate_max_divergence(two, one, delta=delta),
    )


def _pairs(one: Chances, two: Chances) -> list[tuple[float, float]]:
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        outcomes = [*one, *(outcome for outcome in two if outcome not in one)]
        pairs = [(one.get(outcome, 0.0), two.get(outcome, 0.0)) for outcome in outcomes]
    elif isinstance(one, Mapping) or isinstance(two, Mapping) or len(one) != len(two):
        raise InputError("CEL-B013.other_outcomes")
    else:
        pairs = list(zip(one, two, strict=True))
    checked = [(_chance(upper), _chance(lower)) for upper, lower in pairs]
    for sums in zip(*checked, strict=True):
        if abs(fsum(sums) - 1) > SLIP:
            raise InputError("CEL-B013.sum")
    if not checked:
        raise InputError("CEL-B013.empty")
    return [pair for pair in checked if pair != (0.0, 0.0)]


def _chance(value: object) -> float:
    return check_chance(float(value) if hasattr(value, "__float__") else value, name="a chance")
