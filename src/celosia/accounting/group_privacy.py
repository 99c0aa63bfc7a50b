"""What a promise for one neighbour step means for several: groups, people, other relations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import numpy as np

from celosia.accounting.amounts import count_amount, raised
from celosia.accounting.derived_loss import DerivedLoss, Vector, curve_of
from celosia.accounting.losses import (
    ApproximateLoss,
    BoundedRangeLoss,
    ComposedLoss,
    Loss,
    PureLoss,
)
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.neighbours import Neighbours, Relation

ROW = "row"


def for_group(loss: Loss, size: int) -> Loss:
    """The loss of a release for neighbours that are `size` steps apart.

    >>> print(for_group(PureLoss(0.1), 3))
    0.3-DP

    Args:
        loss: for one step.
        size: how many steps.

    Raises:
        InputError: CEL-I060 the size is not a whole number from 1.
        PrivacyError: CEL-B045 an (epsilon, delta) promise that is worth nothing to such a group.
    """
    size = count_amount(size, name="size of the group")
    if size == 1:
        return loss
    if isinstance(loss, ComposedLoss):
        return ComposedLoss(tuple(for_group(part, size) for part in loss.parts))
    if isinstance(loss, ApproximateLoss):
        return _approximate(loss, size)
    rule = _EXACT.get(type(loss))
    return GroupLoss(loss, size) if rule is None else rule(loss, size)


# Each rule is the triangle inequality along a chain of `size` neighbours. Ranges of log-ratios
# add up as the log-ratios do; zCDP: Bun & Steinke 2016, Prop. 1.9; noise: the answer itself moves
# by at most `size` times as much.
_EXACT: dict[type, Callable[[Any, int], Loss]] = {
    PureLoss: lambda loss, size: PureLoss(size * loss.value),
    BoundedRangeLoss: lambda loss, size: BoundedRangeLoss(size * loss.value),
    ConcentratedLoss: lambda loss, size: ConcentratedLoss(size**2 * loss.value),
    LaplaceLoss: lambda loss, size: LaplaceLoss(loss.scale, size * loss.shift),
    GaussianLoss: lambda loss, size: GaussianLoss(loss.variance, size * loss.shift),
}


def log_chain(epsilon: Vector, size: int) -> Vector:
    """The logarithm of what `size` steps of an (epsilon, delta) promise multiply delta by.

    Induction: P_0 <= e^epsilon P_1 + delta <= e^epsilon (e^((k-1) epsilon) P_k + s_(k-1) delta)
    + delta, so s_k = 1 + e^epsilon s_(k-1) = (e^(k epsilon) - 1) / (e^epsilon - 1). Each of the k
    terms of this sum is at most e^((k-1) epsilon), so it is never above the k e^((k-1) epsilon) of
    the textbooks.

    >>> np.exp(log_chain(np.array([0.0, 0.1]), 3)).round(6).tolist()
    [3.0, 3.326574]
    """
    steps = np.maximum(epsilon, 1e-300)  # at 0 the ratio below is 0/0, and its limit is k
    ratio = np.expm1(-size * steps) / np.expm1(-steps)
    return np.asarray((size - 1) * epsilon + np.log(ratio))


def _approximate(loss: ApproximateLoss, size: int) -> Loss:
    if not loss.failure:
        return PureLoss(size * loss.value)
    factor = float(log_chain(np.array([float(loss.value)]), size)[0])
    failure = log(loss.failure) + factor
    if failure >= 0:
        raise PrivacyError("CEL-B045.large_group", size=size)
    return ApproximateLoss(size * loss.value, min(1.0, raised(exp(failure))))


@dataclass(frozen=True, slots=True)
class GroupLoss(DerivedLoss):
    """Any loss for neighbours several steps apart, from its curve of epsilon and delta."""

    base: Loss
    size: int

    @property
    def pure(self) -> float:
        """`size` times that of one step."""
        return raised(self.size * self.base.pure)

    @property
    def rho(self) -> float:
        """`size` squared times that of one step (Bun & Steinke 2016, Prop. 1.9)."""
        return raised(self.size**2 * self.base.rho)

    def renyi(self, order: float) -> float:
        """From the pure epsilon or rho: Renyi divergence has no triangle inequality of its own."""
        bounds = [raised(order * self.rho)]
        if self.pure < inf:
            bounds.append(PureLoss(Fraction(self.pure)).renyi(order))
        return min(bounds)

    def curve(self, epsilon: Vector) -> Vector:
        """By the chain of `size` steps of epsilon / size each."""
        step = epsilon / self.size
        deltas = curve_of(self.base, step)
        logs = np.log(np.maximum(deltas, 1e-300)) + log_chain(step, self.size)
        return np.where(deltas > 0, raised(1.0) * np.exp(np.minimum(logs, 0.0)), 0.0)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "group", "size": self.size, "of": self.base.as_dict()}

    def __str__(self) -> str:
        return Message("accounting.loss.group", loss=str(self.base), size=self.size)


def convert(
    loss: Loss, source: Neighbours, target: Neighbours, *, rows_per_unit: int | None = None
) -> Loss:
    """The loss of the same release under another neighbour relation or privacy unit.

    Args:
        loss: under `source`.
        source: what the loss was computed for.
        target: what it is wanted for.
        rows_per_unit: the most rows that one unit of `target` has, where `source` protects rows.

    Raises:
        InputError: CEL-I060 `rows_per_unit` is not a whole number from 1.
        PrivacyError: CEL-B045 from change-one to add-remove; CEL-B045 between units of which
            nobody can say how many of one make up the other.
    """
    if (source.relation, target.relation) == (Relation.CHANGE_ONE, Relation.ADD_REMOVE):
        raise PrivacyError("CEL-B045.add_remove", source=source.message, target=target.message)
    steps = _units(source, target, rows_per_unit)
    if source.relation is not target.relation:
        steps *= 2  # a change is a removal and an addition (spec C1)
    return for_group(loss, steps)


def _units(source: Neighbours, target: Neighbours, rows_per_unit: int | None) -> int:
    if source.unit == target.unit:
        return 1
    if source.unit == ROW and rows_per_unit is not None:
        rows = count_amount(rows_per_unit, name="number of rows per unit")
        # Row by row, change-one cannot reach a table of another length, but a unit with two rows
        # may be changed for one with a single row.
        if rows == 1 or source.relation is Relation.ADD_REMOVE:
            return rows
    raise PrivacyError("CEL-B045.units", source=source.message, target=target.message)
