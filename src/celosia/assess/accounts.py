"""The account of a masked or a synthetic table: its risk and its utility."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables, align
from celosia.assess.linkage import (
    AttributeDisclosure,
    IntervalDisclosure,
    Linkage,
    Membership,
    ProbabilisticLinkage,
    Replicas,
    attribute_disclosure,
    distance_linkage,
    interval_disclosure,
    membership,
    probabilistic_linkage,
    rank_linkage,
    replicated_uniques,
)
from celosia.assess.linkage.probabilistic import MOST_COLUMNS
from celosia.assess.utility.numeric import NumericUtility, Regression, numeric_utility
from celosia.core.errors import InputError
from celosia.core.messages import say, say_of
from celosia.core.methods import plain
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.frames import TableLike, as_frame

SAMPLE = 2_000
"""Masked records that probabilistic linkage looks at, evenly over the table: it compares pairs."""
MOST_ORIGINALS = 200_000
"""Original records up to which the account links probabilistically."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account(ABC):
    columns: tuple[str, ...]
    records: int
    originals: int
    attributes: tuple[AttributeDisclosure, ...]
    utility: NumericUtility

    @abstractmethod
    def _risk(self) -> dict[str, Any]:
        """What it gives away, as plain values."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "columns": list(self.columns),
            "records": self.records,
            "originals": self.originals,
            "risk": self._risk() | {"attributes": [each.as_dict() for each in self.attributes]},
            "utility": self.utility.as_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedAccount(_Account):
    """What a masked table still gives away, and what it is still good for."""

    distance: Linkage
    rank: Linkage
    probabilistic: ProbabilisticLinkage | None
    """None with fewer than three columns or very many records; else over a part of the records."""
    intervals: IntervalDisclosure | None
    """None where no column holds amounts."""

    @property
    def risk(self) -> float:
        """The share of records that the best of the linkages links rightly."""
        shares = [self.distance.share, self.rank.share]
        if self.probabilistic is not None:
            shares.append(self.probabilistic.share)
        return max(shares)

    def _risk(self) -> dict[str, Any]:
        found = {"highest": self.risk, "guess": 1 / self.originals}
        linked = {"distance": self.distance, "rank": self.rank, "probabilistic": self.probabilistic}
        parts: dict[str, Any] = plain(linked | {"intervals": self.intervals})
        return found | parts

    def __str__(self) -> str:
        return say_of("assess.line.masked", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticAccount(_Account):
    """What a synthetic table gives away of the real one, and what it is good for."""

    replicas: Replicas
    holdout_replicas: Replicas | None
    """The same for people who were held back: repeats by chance. None without a holdout."""
    membership: Membership | None
    """None without a holdout."""

    def _risk(self) -> dict[str, Any]:
        replicas = {"replicas": self.replicas, "holdout_replicas": self.holdout_replicas}
        found: dict[str, Any] = plain(replicas | {"membership": self.membership})
        return found

    def __str__(self) -> str:
        inferred = say("assess.line.no_holdout") if self.membership is None else self.membership
        return f"{self.replicas}; {inferred}; {self.utility.propensity}"


def masked_account(
    original: TableLike,
    masked: TableLike,
    columns: Sequence[str] | None = None,
    *,
    rows: Sequence[int] | NDArray[np.int64] | None = None,
    nominal: Collection[str] = (),
    sensitive: Sequence[str] = (),
    regressions: Sequence[Regression] = (),
    width: float = 0.05,
    progress: Progress = silent,
) -> MaskedAccount:
    """Link a masked table with its original in every way, and measure what it is good for.

    Args:
        original: the table before.
        masked: the table after.
        columns: what the attacker knows and the user needs: the masked columns; by default every
            column of both tables.
        rows: the row of the original, from 0, that each masked row comes from; by default the same.
        nominal: columns of numbers that are only names.
        sensitive: columns to infer from the others (attribute disclosure); records are not
            linked by them.
        regressions: linear regressions that should come out the same.
        width: the width of the intervals of interval disclosure.
        progress: called as the work proceeds; may raise `Cancelled`.

    Missing cells: a pair of records is compared on the columns that both have.

    Raises:
        InputError: those of `align`, CEL-A210 for the width, CEL-A231 and CEL-A232 for regressions.

    >>> account = masked_account({"age": [29, 48, 21, 36]}, {"age": [32, 46, 28, 38]})
    >>> account.distance.share
    0.75
    """
    before, after = as_frame(original), as_frame(masked)
    known, everything = _columns(before.columns, after.columns, columns, sensitive, regressions)
    tables = align(before, after, everything, rows=rows, nominal=nominal)
    keys = tables.only(known)
    has_amounts = not keys.nominal.all()
    intervals = interval_disclosure(keys, width=width) if has_amounts else None
    utility = numeric_utility(
        tables, columns=[*known, *sensitive], regressions=regressions, progress=progress
    )
    return MaskedAccount(
        columns=keys.columns,
        records=len(keys.after),
        originals=len(keys.before),
        distance=distance_linkage(keys, progress=progress),
        rank=rank_linkage(keys, progress=progress),
        probabilistic=_probabilistic(keys, progress),
        intervals=intervals,
        attributes=attribute_disclosure(
            tables, known=known, sensitive=sensitive, progress=progress
        ),
        utility=utility,
    )


def synthetic_account(
    original: TableLike,
    synthetic: TableLike,
    columns: Sequence[str] | None = None,
    *,
    holdout: TableLike | None = None,
    nominal: Collection[str] = (),
    sensitive: Sequence[str] = (),
    regressions: Sequence[Regression] = (),
    rng: Source | None = None,
    progress: Progress = silent,
) -> SyntheticAccount:
    """See what a synthetic table gives away of the real one, and what it is good for.

    Args:
        original: the table that the synthetic one was made from.
        synthetic: the made table.
        columns: what is compared; by default every column of both tables.
        holdout: people of the same population who were not in the original; without them nothing
            can be said of membership.
        nominal: columns of numbers that are only names.
        sensitive: columns to infer from the others (attribute disclosure).
        regressions: linear regressions that should come out the same.
        rng: splits the people who tune and who measure the membership attack.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: those of `align`, `membership` and `regression_overlap`.
    """
    before, made = as_frame(original), as_frame(synthetic)
    known, everything = _columns(before.columns, made.columns, columns, sensitive, regressions)
    shown = [*known, *sensitive]
    tables = align(before, made, everything, nominal=nominal, synthetic=True)
    inferred = chance = None
    if holdout is not None:
        outsiders = as_frame(holdout)
        inferred = membership(
            before, outsiders, made, shown, nominal=nominal, rng=rng, progress=progress
        )
        chance = replicated_uniques(outsiders, made, shown)
    return SyntheticAccount(
        columns=tuple(shown),
        records=made.height,
        originals=before.height,
        replicas=replicated_uniques(before, made, shown),
        holdout_replicas=chance,
        membership=inferred,
        attributes=attribute_disclosure(
            tables, known=known, sensitive=sensitive, progress=progress
        ),
        utility=numeric_utility(tables, columns=shown, regressions=regressions, progress=progress),
    )


def _columns(
    before: Sequence[str],
    after: Sequence[str],
    columns: Sequence[str] | None,
    sensitive: Sequence[str],
    regressions: Sequence[Regression],
) -> tuple[list[str], list[str]]:
    """The columns that records are linked by, and all that are needed."""
    wanted = [name for name in before if name in after] if columns is None else columns
    known = [name for name in dict.fromkeys(wanted) if name not in sensitive]
    if not known:
        raise InputError("CEL-A200.all_sensitive")
    modelled = [name for each in regressions for name in (each.outcome, *each.predictors)]
    return known, list(dict.fromkeys([*known, *sensitive, *modelled]))


def _probabilistic(tables: AlignedTables, progress: Progress) -> ProbabilisticLinkage | None:
    few = not 3 <= len(tables.columns) <= MOST_COLUMNS
    if few or len(tables.before) > MOST_ORIGINALS:
        return None
    count = len(tables.after)
    chosen = np.unique(np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64))
    part = replace(tables, after=tables.after[chosen], rows=tables.origins()[chosen])
    # The attacker knows that every masked record comes from one of the original.
    return probabilistic_linkage(part, matches=chosen.size, progress=progress)
