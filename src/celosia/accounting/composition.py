"""How the losses of several releases of the same data add up, by the basic theorems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import inf

from celosia.accounting.amounts import round_up
from celosia.accounting.group_privacy import for_group
from celosia.accounting.losses import ApproximateLoss, ComposedLoss, Loss, PureLoss, parts_of
from celosia.accounting.noise_losses import ConcentratedLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import exact

Merge = Callable[[Sequence[Fraction]], Fraction]


def sequential(losses: Iterable[Loss]) -> Loss:
    """Releases of the same data one after the other: epsilons and deltas add up.

    Where a release has neither, the result is a `ComposedLoss`, which knows every other way; it is
    also what to use for the tightest bound.

    Reference: Dwork & Roth 2014, Thm 3.16; each release may be chosen by the answers before.

    >>> print(sequential([ApproximateLoss(0.1, 1e-6)] * 3 + [PureLoss(0.5)]))
    (0.8, 3e-06)-DP
    """
    parts = parts_of(_some(losses))
    prices = [_price(part) for part in parts]
    if any(price is None for price in prices):
        return ComposedLoss(parts)
    known = [price for price in prices if price is not None]
    return _priced(sum(cost for cost, _ in known), sum(failure for _, failure in known))


def parallel(losses: Iterable[Loss], neighbours: Neighbours, *, moves_only: bool = False) -> Loss:
    """Releases of disjoint parts of the data, each unit in one part by what it says itself.

    All rows of a unit must be in the same part: whoever is in several parts pays for each.

    The losses are those under adding or removing one unit. Then, under `neighbours`:

    - add or remove: one part has one unit more or less, so the largest loss is enough.
    - change one: a unit may move from one part to another, which costs the two largest losses
      together; or it may change within one part, which is a removal and an addition there, two
      steps of the same release: twice its epsilon, but four times its rho, and more than twice its
      delta (see `for_group`). That is never less than a move, and counts unless `moves_only`.

    Args:
        losses: of each part under adding or removing one unit.
        neighbours: of the whole.
        moves_only: each part's answer depends on how many units are in it and on nothing else, as
            in a histogram. Then a change within a part changes nothing, and the two largest are
            enough.

    >>> from celosia.core.neighbours import ADD_REMOVE
    >>> print(parallel([PureLoss(0.1), PureLoss(0.7), PureLoss(0.3)], ADD_REMOVE))
    0.7-DP

    Raises:
        InputError: CEL-B011 no losses, or not a neighbour relation.
        PrivacyError: CEL-B010 the losses have no currency in common; CEL-B045 a delta that two
            steps raise to 1.
    """
    parts = _some(losses)
    if not isinstance(neighbours, Neighbours):
        raise InputError("CEL-B011.no_relation")
    if neighbours.relation is Relation.ADD_REMOVE:
        return _merge(parts, max)
    if not moves_only:
        return for_group(_merge(parts, max), 2)
    if len(set(parts)) == 1:
        return parts[0] if len(parts) == 1 else ComposedLoss((parts[0], parts[0]))
    return _merge(parts, _two_largest)


def mixture(losses: Iterable[Loss]) -> Loss:
    """One release, picked at random among several without looking at the data: the worst of them.

    Reference: Kifer & Lin 2010 (convexity).

    >>> print(mixture([PureLoss(1), PureLoss(1)]))
    1-DP
    """
    return _merge(_some(losses), max)


def _some(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    parts = tuple(losses)
    parts_of(parts)  # refuses what is not a loss; a composed one stays the whole of one release
    if not parts:
        raise InputError("CEL-B011.no_loss")
    return parts


def _price(loss: Loss) -> tuple[Fraction, Fraction] | None:
    if isinstance(loss, ComposedLoss):
        prices = [price for part in loss.parts if (price := _price(part)) is not None]
        if len(prices) < len(loss.parts):
            return None
        zero = Fraction(0)
        return sum((cost for cost, _ in prices), zero), sum((fail for _, fail in prices), zero)
    if isinstance(loss, ApproximateLoss):
        return loss.value, exact(loss.failure) or Fraction(0)
    cost = exact(loss.pure)
    return None if cost is None else (cost, Fraction(0))


def _priced(cost: Fraction | int, failure: Fraction | int) -> Loss:
    if failure:
        return ApproximateLoss(Fraction(cost), min(1.0, round_up(Fraction(failure))))
    return PureLoss(Fraction(cost))


def _merge(parts: tuple[Loss, ...], merge: Merge) -> Loss:
    if len(set(parts)) == 1 and merge is max:
        return parts[0]
    known = [price for part in parts if (price := _price(part)) is not None]
    if len(known) == len(parts):
        return _priced(merge([cost for cost, _ in known]), merge([fail for _, fail in known]))
    rhos = [exact(part.rho) for part in parts if part.rho < inf]
    if len(rhos) == len(parts):
        return ConcentratedLoss(merge([rho for rho in rhos if rho is not None]))
    raise PrivacyError("CEL-B010.no_currency")


def _two_largest(values: Sequence[Fraction]) -> Fraction:
    return sum(sorted(values)[-2:], Fraction(0))
