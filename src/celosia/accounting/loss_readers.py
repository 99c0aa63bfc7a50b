"""Losses read back from the plain values that they were written as."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from celosia.accounting import losses
from celosia.accounting.group_privacy import GroupLoss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import exact, whole

_FRACTION = re.compile(r"[0-9]+(/0*[1-9][0-9]*)?")


def loss_from_dict(values: Mapping[str, Any]) -> losses.Loss:
    """The loss that `Loss.as_dict` wrote; it never promises more than the written one.

    Amounts that were written as floats were rounded up, and a float means its shortest decimal.

    >>> print(loss_from_dict({"kind": "laplace", "scale": "20/3", "shift": 2}))
    LaplaceLoss(scale=20/3, shift=2)

    Raises:
        InputError: CEL-Q117 no loss that can be read back.
    """
    kind = values.get("kind") if isinstance(values, Mapping) else None
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise _unreadable(Message("accounting.loss.unknown_kind", kind=kind))
    try:
        return read(values)
    except (KeyError, TypeError, ValueError):
        raise _unreadable(Message("accounting.loss.incomplete", kind=kind)) from None


def _unreadable(what: Message) -> InputError:
    return InputError("CEL-Q117", thing=what, readers=", ".join(sorted(_READERS)))


def _number(value: object) -> Fraction:
    number = exact(value)
    if number is None and isinstance(value, str) and _FRACTION.fullmatch(value):
        number = Fraction(value)
    if number is None:
        raise ValueError
    return number


def _count(value: object) -> int:
    number = whole(value)
    if number is None or number < 1:
        raise ValueError
    return number


_READERS: dict[str, Callable[[Mapping[str, Any]], losses.Loss]] = {
    "pure": lambda of: losses.PureLoss(_number(of["epsilon"])),
    "approximate": lambda of: losses.ApproximateLoss(_number(of["epsilon"]), of["delta"]),
    "bounded-range": lambda of: losses.BoundedRangeLoss(_number(of["epsilon"])),
    "concentrated": lambda of: ConcentratedLoss(_number(of["rho"])),
    "laplace": lambda of: LaplaceLoss(_number(of["scale"]), _count(of["shift"])),
    "gaussian": lambda of: GaussianLoss(_number(of["variance"]), _count(of["shift"])),
    "composed": lambda of: losses.ComposedLoss(tuple(loss_from_dict(part) for part in of["parts"])),
    "group": lambda of: GroupLoss(loss_from_dict(of["of"]), _count(of["size"])),
}
