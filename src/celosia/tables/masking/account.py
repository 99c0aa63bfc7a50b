"""The account of a masked table: risk before and after, who can be linked, what use is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.accounts import (
    MaskedAccount,
    SyntheticAccount,
    masked_account,
    synthetic_account,
)
from celosia.assess.risk import RiskProfile, measure
from celosia.core.messages import Message, number
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.tables.masking.recipe import Recipe
from celosia.tables.schema import Role

MOST_RECORDS = 50_000
"""Of a larger table the account takes as many records, evenly over the table. Fewer candidates make
linking easier, so the risk is told too high rather than too low."""


@dataclass(frozen=True, slots=True, eq=False)
class Holdout:
    """People who were not in the table, to try whether those who were can be told from them."""

    table: pl.DataFrame = field(repr=False)
    rng: Source
    """Draws by whom the attack is tuned and by whom it is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What is known of a masked table by comparing it with its original."""

    risk: RiskProfile | None
    """By the classes of the quasi-identifiers; None if there are none, or after loading."""
    risk_before: RiskProfile | None
    compared: MaskedAccount | SyntheticAccount | None
    """The two tables side by side; None if no column can be compared, or after loading."""

    def figures(self) -> dict[str, Any]:
        """The figures that a certificate may hold: shares, no moment of the original."""
        found: dict[str, Any] = {}
        for name, profile in (("risk", self.risk), ("risk_before", self.risk_before)):
            if profile is not None:
                found[name] = profile.as_dict()
        return found | {"compared": dict(self._compared())}

    def lines(self) -> list[list[str]]:
        """The same as pairs of words, for a terminal."""
        rows = []
        if self.risk is not None and self.risk_before is not None:
            before, after = self.risk_before, self.risk
            rows += [
                [
                    Message("masking.figure.smallest_class"),
                    f"{number(before.smallest)}, {number(after.smallest)}",
                ],
                [
                    Message("masking.figure.average_risk"),
                    f"{number(before.average, '.3%')}, {number(after.average, '.3%')}",
                ],
            ]
        return rows + [[name, _format_figure(name, value)] for name, value in self._compared()]

    def _compared(self) -> Sequence[tuple[str, float]]:
        found = self.compared
        if found is None:
            return ()
        figures: list[tuple[str, float]] = [
            (Message("masking.figure.records_compared"), float(found.records))
        ]
        if isinstance(found, MaskedAccount):
            figures += [
                (Message("masking.figure.linked_distance"), found.distance.share),
                (Message("masking.figure.linked_rank"), found.rank.share),
            ]
            if found.probabilistic is not None:
                figures.append(
                    (Message("masking.figure.linked_agreement"), found.probabilistic.share)
                )
        else:
            figures.append(
                (Message("masking.figure.unique_repeated"), float(found.replicas.repeated))
            )
            if found.membership is not None:
                figures.append((Message("masking.figure.membership_auc"), found.membership.auc))
        if found.utility.loss is not None:
            figures.append((Message("masking.figure.il1s"), found.utility.loss.il1s))
        return [*figures, (Message("masking.figure.pmse"), found.utility.propensity.ratio)]


def _format_figure(name: str, value: float) -> str:
    """A figure with its unit: counts of records whole, shares of them in per cent."""
    if "records" in name:
        return number(value, ",.0f")
    return number(value, ".2%" if name.startswith("linked") else ".4g")


def account(
    raw: pl.DataFrame,
    masked: pl.DataFrame,
    recipe: Recipe,
    *,
    rows: NDArray[np.int64] | None,
    holdout: Holdout | None = None,
    progress: Progress,
) -> Account:
    """Compare a masked table with its original.

    Args:
        raw: the original, without identifiers.
        masked: what the steps made of it.
        recipe: the roles and steps.
        rows: the original row of each masked one; None where the rows are new.
        holdout: people who were held back, where the rows are new.
        progress: called as the work proceeds.
    """
    progress(Step(Message("masking.stage.measuring"), 0))
    if rows is None and set(masked.columns) != set(raw.columns):
        # A listing of counts: each row is a cell of a table, and no record.
        return Account(risk=None, risk_before=None, compared=None)
    keys = [name for name in recipe.schema.named(Role.QUASI_IDENTIFIER) if name in masked.columns]
    touched = dict.fromkeys([*keys, *(name for step in recipe.steps for name in step.columns)])
    known = [name for name in touched if name in masked.columns and name in raw.columns]
    # Of new rows all columns are made; a sensitive one is still what an attacker wants to know.
    sensitive = [
        name
        for name in recipe.schema.named(Role.SENSITIVE)
        if (rows is None or name not in touched) and name in masked.columns
    ]
    known = [name for name in known if name not in sensitive] or known
    sensitive = [name for name in sensitive if name not in known]
    return Account(
        risk=measure(masked, keys) if keys and masked.height else None,
        risk_before=measure(raw, keys) if keys else None,
        compared=_compared(raw, masked, known, sensitive, rows, holdout, progress),
    )


def _compared(  # noqa: PLR0917 - two tables and how they are read
    raw: pl.DataFrame,
    masked: pl.DataFrame,
    known: list[str],
    sensitive: list[str],
    rows: NDArray[np.int64] | None,
    holdout: Holdout | None,
    progress: Progress,
) -> MaskedAccount | SyntheticAccount | None:
    if not known or not masked.height:
        return None
    if rows is None:
        before, after = raw[evenly_spaced(raw.height)], masked[evenly_spaced(masked.height)]
        return synthetic_account(
            before,
            after,
            known,
            holdout=None if holdout is None else holdout.table,
            sensitive=sensitive,
            rng=None if holdout is None else holdout.rng,
            progress=progress,
        )
    if raw.height <= MOST_RECORDS:
        return masked_account(raw, masked, known, rows=rows, sensitive=sensitive, progress=progress)
    chosen = evenly_spaced(masked.height)
    # Originals that several chosen rows come from (after resampling rows) are counted once.
    kept, places = np.unique(rows[chosen], return_inverse=True)
    return masked_account(
        raw[kept], masked[chosen], known, rows=places, sensitive=sensitive, progress=progress
    )


def evenly_spaced(rows: int, most: int = MOST_RECORDS) -> NDArray[np.int64]:
    """All rows, or `most` of them at equal distances."""
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.int64))
