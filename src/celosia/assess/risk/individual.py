"""The risk of each record of a sample survey, by the model of Benedetti and Franconi.

A record whose key values are shared by f records of the sample, with weights that add up to F, has
an unknown number of people like it in the population: f or more. Given f that number is taken to be
negative binomial with success probability p = f / F, and the risk is the expectation of one over
it: p^f / f times the hypergeometric function 2F1(f, f; f + 1; 1 - p), which Euler's transformation
turns into p / f 2F1(1, 1; f + 1; 1 - p), a sum of positive terms.

Reference: Benedetti, Franconi 1998; Franconi, Polettini 2004 (individual risk in mu-Argus).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from celosia.assess.risk.matching import (
    identify,
    matching_weight,
    same_weight,
)
from celosia.assess.risk.profile import THRESHOLD, check_known, check_threshold
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.frames import as_frame, encode

BlankRule = Literal["own", "any"]

_MANY = 20
"""From so many records on, the series is short whatever the weights."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IndividualRisk:
    """The risk of each record, and of the file as a whole."""

    sample_frequency: NDArray[np.int64] = field(repr=False)
    """How many records of the sample share the keys of each record."""
    population_frequency: NDArray[np.float64] = field(repr=False)
    """The sum of their weights: an estimate of how many people do."""
    risk: NDArray[np.float64] = field(repr=False)
    """The probability that an attacker who searches for the record's person finds it."""
    household_risk: NDArray[np.float64] | None = field(default=None, repr=False)
    """The probability that a member of the record's household is found; None without households."""
    threshold: float = THRESHOLD

    @property
    def expected(self) -> float:
        """How many records are expected to be re-identified (the global risk as a number)."""
        return float(self.risk.sum())

    @property
    def average(self) -> float:
        """The same as a share of the records."""
        return float(self.risk.mean())

    def frame(self) -> pl.DataFrame:
        """One row a record, in the order of the table."""
        columns = {
            "sample_frequency": self.sample_frequency,
            "population_frequency": self.population_frequency,
            "risk": self.risk,
        }
        if self.household_risk is not None:
            columns["household_risk"] = self.household_risk
        return pl.DataFrame(columns)

    def as_dict(self) -> dict[str, Any]:
        """The figures of the file as plain values."""
        facts: dict[str, Any] = {
            "records": int(self.risk.size),
            "sample_uniques": int((self.sample_frequency == 1).sum()),
            "expected_reidentifications": self.expected,
            "average_risk": self.average,
            "highest_risk": float(self.risk.max()),
            "threshold": self.threshold,
            "records_above_threshold": int((self.risk > self.threshold).sum()),
        }
        if self.household_risk is not None:
            facts["expected_reidentifications_by_household"] = float(self.household_risk.sum())
        return facts

    def __str__(self) -> str:
        return say(
            "assess.line.individual",
            expected=self.expected,
            records=self.risk.size,
            average=self.average,
            highest=float(self.risk.max()),
        )


def individual_risk(
    data: Any,
    *,
    keys: Sequence[str],
    weights: str,
    missing: BlankRule = "own",
    household: str | None = None,
    threshold: float = THRESHOLD,
) -> IndividualRisk:
    """The risk of each record of a weighted sample.

    Args:
        data: the sample.
        keys: what an attacker may know of a person.
        weights: the column with how many people each record stands for.
        missing: what an empty key is: a value of its own, or "any", which matches every value.
        household: the column that says which records belong together; an attacker who finds one of
            them has found all.
        threshold: from which risk on a record counts as exposed.

    Raises:
        InputError: CEL-A003, CEL-A290 .. CEL-A292.

    >>> sample = pl.DataFrame({"job": ["cook", "cook", "king"], "w": [55.0, 55.0, 5.0]})
    >>> individual_risk(sample, keys=["job"], weights="w").risk.round(3).tolist()
    [0.017, 0.017, 0.402]
    """
    check_threshold(threshold)
    frame = as_frame(data)
    if isinstance(keys, str) or not keys or missing not in ("own", "any"):
        raise InputError("CEL-A290.individual_risk")
    named = [*keys, weights] if household is None else [*keys, weights, household]
    check_known(named, frame.columns)
    if not frame.height:
        raise InputError("CEL-A292")
    weight = _weights(frame, weights)
    codes = np.column_stack([encode(_cells(frame, name)).codes.astype(np.int64) for name in keys])
    count = same_weight if missing == "own" else matching_weight
    own = np.rint(count(codes, codes, None)).astype(np.int64)
    people = count(codes, codes, weight)
    risk = risk_of(own, people)
    together = None
    if household is not None:
        name = identify(encode(_cells(frame, household)).codes.astype(np.int64)[:, np.newaxis])
        safe = np.bincount(name, weights=np.log1p(-np.minimum(risk, 1 - 2**-53)))
        together = -np.expm1(safe)[name]
    return IndividualRisk(
        sample_frequency=own,
        population_frequency=people,
        risk=risk,
        household_risk=together,
        threshold=threshold,
    )


def risk_of(sample: ArrayLike, population: ArrayLike) -> NDArray[np.float64]:
    """The risk of records by how many share their keys in the sample and, estimated, in all.

    A population smaller than its sample is taken to be the sample: the risk is then 1 / sample.

    >>> risk_of([1, 2, 3, 50], [17.0, 110.0, 60.0, 50.0]).round(4).tolist()
    [0.1771, 0.0171, 0.024, 0.02]
    """
    count = np.asarray(sample, dtype=np.float64)
    chance = np.minimum(count / np.asarray(population, dtype=np.float64), 1.0)
    rest = 1 - chance
    found = np.where(
        (rest > 0.5) & (count < _MANY), _by_recurrence(count, chance), _by_series(count, chance)
    )
    return np.asarray(found, dtype=np.float64)


def _by_series(count: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The series p / f sum q^n / C(f + n, n), whose terms fall below 2**-53 in time.

    That is, for q of at most a half, or for f of at least `_MANY`: C(84, 20) is beyond 2**61.
    """
    term = np.ones_like(count)
    total = np.ones_like(count)
    for number in range(1, 65):
        term = term * (1 - chance) * number / (count + number)
        total = total + term
    return chance / count * total


def _by_recurrence(count: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """By the risk of one fewer: q R(f + 1) = p (1 / f - R(f)) with R(1) = p / q log(1 / p).

    The risk is the integral of p u^(f-1) / (p + q u) over [0, 1], and u^(f-1) (p + q u) / (p + q u)
    has the integral 1 / f. An error shrinks by p / q in each step, if p is below a half.
    """
    inside = np.where((chance > 0) & (chance < 0.5), chance, 0.25)  # elsewhere it is not used
    rest = 1 - inside
    risk: NDArray[np.float64] = -inside / rest * np.log(inside)
    for number in range(1, _MANY):
        further = inside / rest * (1 / number - risk)
        risk = np.where(count > number, further, risk)
    return risk


def _weights(frame: pl.DataFrame, name: str) -> NDArray[np.float64]:
    series = _cells(frame, name)
    bad = frame.height
    if series.dtype.is_numeric():
        values = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        bad = int((~(np.isfinite(values) & (values > 0))).sum())
        if not bad:
            return values
    raise InputError("CEL-A291", bad=bad, column=name)


def _cells(frame: pl.DataFrame, name: str) -> pl.Series:
    return frame.get_column(name).alias("cell")  # Polars reads some names as patterns
