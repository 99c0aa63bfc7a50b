"""beta-likeness: no sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.tables.models import _kernels
from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import IDENTITY, SIMILARITY
from celosia.tables.models.model import Verdict
from celosia.tables.models.parameters import TIE, column_name, flag, plain, put, real_parameter
from celosia.tables.models.sensitive_model import SensitiveModel


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

    beta: float
    enhanced: bool = False
    column: str | None = None

    def __post_init__(self) -> None:
        beta = real_parameter(
            "CEL-P029",
            "beta",
            self.beta,
            lambda found: found > 0,
            "a number above 0",
            why="It is by how much of itself the share of a value may grow.",
            fix="Try beta = 1: no value is more than twice as frequent as in the table.",
        )
        put(
            self,
            beta=beta,
            enhanced=flag("enhanced", self.enhanced),
            column=column_name(self.column),
        )

    @property
    def smallest(self) -> int:
        """One record may do, if the table has one value."""
        return 1

    def judge(self, classes: Classes) -> Verdict:
        """Shares per class; what must go is proven: kept parts within the caps are so together."""
        rows = self.histogram(classes)
        shares = rows.column.totals / max(1, rows.column.rows)
        gain = np.full(shares.size, self.beta)
        if self.enhanced:  # a value that the table lacks occurs in no class: its cap is not asked
            gain = np.minimum(gain, -np.log(np.where(shares > 0, shares, 1)))
        satisfied, must_go = _kernels.within_caps(
            rows.starts, rows.values, rows.counts, classes.sizes, (1 + gain) * shares, 1 + TIE, 0
        )
        return Verdict(satisfied, must_go)

    def promise(self) -> str:
        """The model in words."""
        return self.named(f"{'enhanced ' if self.enhanced else ''}{self.beta:g}-likeness")

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            "an attacker who finds a person's class believes in no sensitive value more than "
            f"{1 + self.beta:g} times as much as the whole table suggests"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        negative = "a class may lack values, and so tell that a person does not have them"
        public = "what the whole table tells about all people is taken as public"
        return (negative, public, SIMILARITY, IDENTITY)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "beta-likeness")
