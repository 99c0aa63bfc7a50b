"""What a server knows of how common values are: estimates with their errors."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from math import isfinite
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import say_of
from celosia.core.methods import Parameter, checked
from celosia.mechanisms.parameters import check_confidence

if TYPE_CHECKING:
    import polars as pl

_NORMAL = NormalDist()


SIGNIFICANCE = Parameter(name="significance", kind="exact", above=0, below=1, start=0.05)


class Summary(Protocol):
    """What reports tell that is no list of values: a mean, or how many values there are."""

    def as_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """Plain values for JSON, with an interval."""


def check_significance(significance: object) -> float:
    """A significance as a number.

    Raises:
        InputError: CEL-I060 it is not between 0 and 1.
    """
    return float(checked("find", SIGNIFICANCE, significance))


@dataclass(frozen=True)
class Estimates:
    """Estimated counts of candidates, each with its standard error.

    Raw counts are unbiased and may be below 0; after post-processing (`post`) they are consistent,
    and errors and intervals are still those of the raw counts.
    """

    protocol: str
    candidates: tuple[Hashable, ...]
    counts: NDArray[np.float64]
    errors: NDArray[np.float64]
    """The standard error of each raw count."""
    users: int
    """How many reports the estimates are from."""
    post: str = "raw"
    raw: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """The counts before post-processing."""

    def interval(
        self, confidence: float = 0.95, *, together: bool = False
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Below and above each raw count, by the normal law.

        Every estimate is a sum over many independent reports. Each interval holds by itself with
        this confidence, or all of them `together` (Bonferroni).
        """
        from scipy.stats import norm  # heavy, and not every caller wants it

        missed = (1 - check_confidence(confidence)) / 2
        parts = max(1, len(self.candidates)) if together else 1
        reach = norm.isf(missed / parts) * self.errors
        middle = self.raw if self.raw.size else self.counts
        return middle - reach, middle + reach

    def significant(self, significance: float = 0.05) -> Estimates:
        """Those whose raw count is above 0 beyond chance, the most common first.

        Args:
            significance: the chance that any absent candidate is among them (Bonferroni).

        Raises:
            InputError: CEL-I060 the significance is not between 0 and 1.
        """
        level = check_significance(significance)
        raw = self.raw if self.raw.size else self.counts
        known = np.isfinite(self.errors)
        smallest = float(np.finfo(np.float64).tiny)
        score = -_NORMAL.inv_cdf(max(level / max(1, len(self.candidates)), smallest))
        stays = known & (raw > score * np.where(known, self.errors, 0.0))
        return self._only(stays)

    def _only(self, stays: NDArray[np.bool_]) -> Estimates:
        """Some of the candidates, the most common first."""
        order = np.argsort(-self.counts, kind="stable")
        order = order[stays[order]]
        raw = self.raw[order] if self.raw.size else self.raw
        kept = tuple(self.candidates[place] for place in order.tolist())
        return replace(
            self, candidates=kept, counts=self.counts[order], errors=self.errors[order], raw=raw
        )

    @property
    def shares(self) -> NDArray[np.float64]:
        """Counts as shares of all reports."""
        return self.counts / max(1, self.users)

    def __iter__(self) -> Iterator[tuple[Hashable, float]]:
        return iter(zip(self.candidates, self.counts.tolist(), strict=True))

    def __getitem__(self, candidate: Hashable) -> float:
        return float(self.counts[self.candidates.index(candidate)])

    def frame(self, confidence: float = 0.95) -> pl.DataFrame:
        """A table: value, count, share, error, low, high; the most common first."""
        import polars as pl

        low, high = self.interval(confidence)
        table = pl.DataFrame(
            {
                "value": [str(each) for each in self.candidates],
                "count": self.counts,
                "share": self.shares,
                "error": self.errors,
                "low": low,
                "high": high,
            }
        )
        return table.sort("count", descending=True, maintain_order=True)

    def as_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """Plain values for JSON; an error that nothing bounds is None, and so is its interval."""
        low, high = self.interval(confidence)
        return {
            "method": self.protocol,
            "users": self.users,
            "post": self.post,
            "confidence": confidence,
            "values": [str(each) for each in self.candidates],
            "counts": self.counts.tolist(),
            "errors": _finite(self.errors),
            "low": _finite(low),
            "high": _finite(high),
        }

    def __str__(self) -> str:
        return say_of("collect.summary.estimates", self, candidates=len(self.candidates))


def _finite(numbers: NDArray[np.float64]) -> list[float | None]:
    return [each if isfinite(each) else None for each in numbers.tolist()]


POSTS = ("raw", "clip", "norm-sub")
"""`raw` is unbiased, for single values; `clip` raises counts below 0 to 0; `norm-sub` is for whole
histograms. Clipping and then rescaling is not offered: it has up to 12 times the error of raw."""


def post_process(
    counts: NDArray[np.float64], users: int, *, kind: str = "raw"
) -> NDArray[np.float64]:
    """Counts after post-processing; it costs no privacy.

    >>> post_process(np.array([70.0, 40.0, -10.0]), 100, kind="norm-sub").tolist()
    [65.0, 35.0, 0.0]
    """
    if kind == "clip":
        return np.maximum(counts, 0)
    return _norm_sub(counts, users) if kind == "norm-sub" and counts.size else counts.copy()


def _norm_sub(counts: NDArray[np.float64], users: int) -> NDArray[np.float64]:
    """The nearest counts of at least 0 that add up to `users`: a shift of those that stay above 0.

    Reference: Wang et al. 2020, "Locally Differentially Private Frequency Estimation with
    Consistency" (Norm-Sub); it is the Euclidean projection onto the simplex.
    """
    if users <= 0:  # only zeros add up to 0
        return np.zeros_like(counts)
    falling = np.sort(counts)[::-1]
    over = (np.cumsum(falling) - users) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(falling > over)[-1]
    found: NDArray[np.float64] = np.maximum(counts - over[last], 0)
    return found
