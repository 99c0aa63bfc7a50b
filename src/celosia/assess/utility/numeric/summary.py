"""All utility measures of masked and synthetic tables together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.assess.alignment import AlignedTables
from celosia.assess.utility.numeric.information_loss import (
    Loss,
    Marginal,
    Moments,
    information_loss,
    marginals,
    moments,
)
from celosia.assess.utility.numeric.propensity import Propensity, propensity
from celosia.assess.utility.numeric.regression import (
    Regression,
    RegressionOverlap,
    regression_overlap,
)
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent


@dataclass(frozen=True, slots=True)
class NumericUtility:
    """What a masked or synthetic table is still good for."""

    marginals: tuple[Marginal, ...]
    propensity: Propensity
    moments: Moments | None
    """None where no column holds amounts."""
    loss: Loss | None
    """None for a synthetic table, and where no column holds amounts."""
    regressions: tuple[RegressionOverlap, ...]

    @property
    def total_variation(self) -> float:
        """Mean over the columns."""
        return float(np.mean([each.total_variation for each in self.marginals]))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "marginals": [each.as_dict() for each in self.marginals],
            "total_variation": self.total_variation,
            "propensity": self.propensity.as_dict(),
            "moments": None if self.moments is None else self.moments.as_dict(),
            "loss": None if self.loss is None else self.loss.as_dict(),
            "regressions": [each.as_dict() for each in self.regressions],
        }

    def __str__(self) -> str:
        parts = [] if self.loss is None else [str(self.loss)]
        return "; ".join([*parts, str(self.propensity)])


def numeric_utility(
    tables: AlignedTables,
    *,
    columns: Sequence[str] | None = None,
    regressions: Sequence[Regression] = (),
    progress: Progress = silent,
) -> NumericUtility:
    """Take every measure that the columns, and the alignment, allow.

    Args:
        tables: both tables.
        columns: what is measured; by default every column. Regressions may use others.
        regressions: linear regressions that should come out the same.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: those of `regression_overlap`.
    """
    # First what may be refused.
    overlaps = tuple(regression_overlap(tables, each) for each in regressions)
    if columns is not None:
        tables = tables.only(columns)
    has_amounts = not tables.nominal.all()
    progress(Step(Message("assess.stage.use"), 0, 2))
    propensities = propensity(tables)
    progress(Step(Message("assess.stage.use"), 1, 2))
    return NumericUtility(
        marginals=marginals(tables),
        propensity=propensities,
        moments=moments(tables) if has_amounts else None,
        loss=information_loss(tables) if has_amounts and tables.rows is not None else None,
        regressions=overlaps,
    )
