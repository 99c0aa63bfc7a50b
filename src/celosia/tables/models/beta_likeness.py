"""beta-likeness: no sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    IDENTITY,
    LACKING_VALUES,
    LEAST,
    MOST,
    PUBLIC_TABLE,
    SENSITIVE_COLUMN,
    SIMILARITY,
    TIE,
    SensitiveModel,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class BetaLikeness(SensitiveModel):
    """In each class a value exceeds its share q in the table by at most beta times q.

    With its share p in the class, (p - q) / q <= beta; the enhanced form asks for at most
    min(beta, -ln q), which keeps frequent values below 1. Values that are rarer in the class than
    in the table are free.

    Guarantee: an attacker's belief in any sensitive value of a person grows at most by the factor
    1 + beta, however rare the value is.

    Reference: Cao & Karras 2012.
    """

    method_name: ClassVar[str] = "beta-likeness"

    beta: float = parameter(least=LEAST, most=MOST, start=1)
    enhanced: bool = False
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    def judge(self, classes: Classes) -> Verdict:
        """Shares per class; what must go is proven: kept parts within the caps are so together."""
        rows = self.histogram(classes)
        shares = rows.column.totals / max(1, rows.column.rows)
        gain = np.full(shares.size, self.beta)
        if self.enhanced:  # a value that the table lacks occurs in no class: its cap is not asked
            gain = np.minimum(gain, -np.log(np.where(shares > 0, shares, 1)))
        satisfied, must_go = rows.within_caps(
            classes.sizes,
            (1 + gain) * shares,
            1 + TIE,
            classes.least,
        )
        return Verdict(satisfied, must_go)

    def promise(self) -> str:
        if self.enhanced:
            return self.named(Message("models.beta_likeness.enhanced", beta=self.beta))
        return self.named(Message("models.beta_likeness.promise", beta=self.beta))

    def protects(self) -> str:
        return Message("models.beta_likeness.protects", factor=1 + self.beta)

    def leaves_open(self) -> tuple[str, ...]:
        return (LACKING_VALUES, PUBLIC_TABLE, SIMILARITY, IDENTITY)
