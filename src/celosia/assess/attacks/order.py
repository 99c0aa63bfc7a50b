"""Tuple order: two releases of the same rows in the same order can be joined by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.classes import TOLERANCE, texts_of
from celosia.assess.attacks.compatibility import CodedColumn, Fit, Meanings, fit
from celosia.assess.attacks.result import Attack, Members, singles
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent

_SHIFTS = 64
"""Other ways to lay the releases side by side, against which the given one is judged."""

_ENOUGH = 2_000_000
"""Pairs of rows at different positions that are enough to judge by, however large the table."""

_ALIGNED = 0.5
"""From this correlation of positions on, an attacker would trust them."""


def tuple_order(
    first: Any,
    second: Any,
    *,
    columns: str | Sequence[str],
    also: str | Sequence[str] = (),
    meanings: Meanings | None = None,
    progress: Progress = silent,
) -> Attack:
    """Join two releases by position: in each row only values remain that both labels stand for.

    Args:
        first: a release.
        second: another release of the same rows.
        columns: the generalised columns to be recovered, which both releases have.
        also: further columns of both, by which the attacker checks whether the rows are in the same
            order.
        meanings: what the labels of columns stand for; labels of others are compared as text.
        progress: called as the work proceeds; may raise `Cancelled`.

    A row is recovered where one raw value is left in every column. The order is believed by how
    often rows of the same position fit each other, against how often rows of different positions
    do: the correlation is 1 for the same order and near 0 for a shuffled release, where confidence
    falls with it. It is None, and the worst is assumed, where any two rows fit.

    >>> one = pl.DataFrame({"sex": ["F", "M"], "zip": ["*", "*"]})
    >>> other = pl.DataFrame({"sex": ["*", "*"], "zip": ["12", "23"]})
    >>> tuple_order(one, other, columns=["sex", "zip"]).exposed_people
    2

    Reference: Sweeney 2002 (unsorted matching attack).

    Raises:
        InputError: CEL-A058 the releases have different numbers of rows.
    """
    sides = [texts_of(table, columns) for table in (first, second)]
    names = sides[0].columns
    if sides[0].height != sides[1].height:
        raise InputError("CEL-A058", first=sides[0].height, second=sides[1].height)
    meant = meanings or {}
    pairs = [_Pair.of(sides[0][name], sides[1][name], meant, name) for name in names]
    checks = list(dict.fromkeys([also] if isinstance(also, str) else also))
    if checks:
        sides = [texts_of(table, checks) for table in (first, second)]
        pairs += [_Pair.of(sides[0][name], sides[1][name], meant, name) for name in checks]
    return _attack(pairs, len(names), sides[0].height, progress)


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """One column in both releases."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    fit: Fit

    @classmethod
    def of(cls, left: pl.Series, right: pl.Series, meanings: Meanings, name: str) -> _Pair:
        ours, theirs = CodedColumn.of(left), CodedColumn.of(right)
        return cls(ours.codes, theirs.codes, fit(ours, theirs, meanings.get(name), name))

    def shared(self, shift: int = 0) -> NDArray[np.int64]:
        """The number of raw values that fit each row of the first and its shifted row."""
        return self.fit.shared(self.left, np.roll(self.right, -shift))


def _attack(pairs: Sequence[_Pair], columns: int, rows: int, progress: Progress) -> Attack:
    shared = np.array([pair.shared() for pair in pairs[:columns]]).reshape(columns, rows)
    fitting = _fitting(pairs, 0)
    agreement = float(fitting.mean()) if rows else 0.0
    correlation, expected = _correlation(pairs, rows, agreement, progress)
    trust = 1.0 if correlation is None else max(correlation, 0.0)
    # A product of many columns may exceed whole numbers; nothing but 1 and "more" matters there.
    choices = np.where(fitting, shared.astype(np.float64).prod(axis=0), np.inf)
    recovered = choices == 1
    return Attack(
        name=Message("assess.attack.order"),
        assumption=Message("assess.knows.order"),
        mitigation=Message("assess.prevent.order"),
        column=None,
        people=rows,
        sizes=np.ones(rows, dtype=np.int64),
        confidence=trust / choices,
        hit=recovered & (trust >= _ALIGNED),
        learnt=singles(pl.Series([""]), np.full(rows, -1, dtype=np.int64)),
        members=Members.of(np.arange(rows), rows),
        facts={
            "cells": columns * rows,
            "cells_recovered": int((shared[:, fitting] == 1).sum()),
            "rows_recovered": int(recovered.sum()),
            "rows_that_fit": int(fitting.sum()),
            "fit_expected_by_chance": expected,
            "correlation": correlation,
        },
    )


def _fitting(pairs: Sequence[_Pair], shift: int) -> NDArray[np.bool_]:
    fits = np.ones(pairs[0].left.size, dtype=np.bool_)
    for pair in pairs:
        fits &= pair.shared(shift) > 0
    return fits


def _correlation(
    pairs: Sequence[_Pair], rows: int, found: float, progress: Progress
) -> tuple[float | None, float | None]:
    """How much better positions fit than chance would, 1 being perfect; and chance itself."""
    if rows < 2:
        return None, None
    number = min(_SHIFTS, max(_ENOUGH // rows, 2))
    shifts = np.unique(np.linspace(1, rows - 1, number + 2)[1:-1].round().astype(np.int64))
    shares: list[float] = []
    for shift in shifts.tolist():
        progress(Step(Message("assess.stage.positions"), len(shares), shifts.size))
        shares.append(float(_fitting(pairs, shift).mean()))
    expected = float(np.mean(shares))
    if expected > 1 - TOLERANCE:
        return None, expected
    return (found - expected) / (1 - expected), expected
