"""The risk of each record of a sample survey, by the model of Benedetti and Franconi.

A record whose key values are shared by f records of the sample, with weights that add up to F, has
an unknown number of people like it in the population: f or more. Given f that number is taken to be
negative binomial with success probability p = f / F, and the risk is the expectation of one over
it: p^f / f times the hypergeometric function 2F1(f, f; f + 1; 1 - p), which Euler's transformation
turns into p / f 2F1(1, 1; f + 1; 1 - p), a sum of positive terms.

Reference: Benedetti, Franconi 1998; Franconi, Polettini 2004 (individual risk in mu-Argus).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from celosia.assess.risk.profile import THRESHOLD, check_known, check_threshold
from celosia.core.errors import InputError
from celosia.core.messages import say_of
from celosia.frames import as_frame, encode

BLANK = -1

Codes = NDArray[np.int64]
"""Key columns, one row a record."""


def identify(codes: Codes) -> NDArray[np.int64]:
    """A number for each row, the same for rows that are equal.

    >>> identify(np.array([[0, 1], [2, 1], [0, 1]])).tolist()
    [0, 1, 0]
    """
    names = np.zeros(codes.shape[0], dtype=np.int64)
    if not codes.size:
        return names
    for column in codes.T:
        # Names and codes are both below the number of rows (names by the numbering anew), so the
        # product stays within 64 bits for any table of fewer than 2**31 rows.
        names = names * (int(column.max()) + 2) + (column + 1)
        if int(names.max()) >= codes.shape[0]:
            names = np.unique(names, return_inverse=True)[1].reshape(-1)
    return names


def class_sizes(codes: Codes) -> NDArray[np.int64]:
    """For each record, how many records have the same codes, a blank counting as a value."""
    names = identify(codes)
    return np.bincount(names)[names] if names.size else names


def same_weight(
    rows: Codes, among: Codes, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """For each of `rows`, the weight of the rows of `among` that are equal to it; by default 1."""
    names = identify(np.concatenate([rows, among]))
    own, others = names[: len(rows)], names[len(rows) :]
    most = int(names.max(initial=0)) + 1
    return np.bincount(others, weights=weights, minlength=most)[own].astype(np.float64)


def same_as(rows: Codes, among: Codes) -> NDArray[np.int64]:
    """For each of `rows`, how many rows of `among` are equal to it."""
    return same_weight(rows, among, None).astype(np.int64)


def matching_weight(
    rows: Codes, among: Codes, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """For each of `rows`, the weight of the rows of `among` that agree where neither is blank.

    Rows that are blank in the same columns are counted together: for each pair of such patterns
    one grouping by the columns that are blank in neither.
    """
    found = np.zeros(len(rows))
    for hidden, places in _patterns(rows):
        for other, theirs in _patterns(among):
            seen = ~(hidden | other)
            weight = None if weights is None else weights[theirs]
            found[places] += same_weight(rows[places][:, seen], among[theirs][:, seen], weight)
    return found


def matching(rows: Codes, among: Codes) -> NDArray[np.int64]:
    """For each of `rows`, how many rows of `among` agree with it where neither is blank.

    >>> table = np.array([[0, 1], [BLANK, 1], [0, 2]])
    >>> matching(table, table).tolist()
    [2, 2, 1]
    """
    return matching_weight(rows, among, None).astype(np.int64)


def _patterns(codes: Codes) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Each set of columns in which some rows are blank and others are not, with its rows."""
    blank = codes == BLANK
    names = identify(blank.astype(np.int64))
    order = np.argsort(names, kind="stable")
    starts = np.flatnonzero(np.diff(names[order], prepend=-1))
    for places in np.split(order, starts[1:]) if order.size else ():
        yield blank[places[0]], places


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
        return say_of(
            "assess.line.individual", self, records=self.risk.size, highest=float(self.risk.max())
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
    weight = check_weights(frame, weights)
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


def check_weights(frame: pl.DataFrame, name: str, shown: str | None = None) -> NDArray[np.float64]:
    """The weights in a column; refused unless all are numbers above 0.

    Raises:
        InputError: CEL-A291, which calls the column `shown`.
    """
    series = _cells(frame, name)
    bad = frame.height
    if series.dtype.is_numeric():
        values = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        bad = int((~(np.isfinite(values) & (values > 0))).sum())
        if not bad:
            return values
    raise InputError("CEL-A291", bad=bad, column=shown or name)


def _cells(frame: pl.DataFrame, name: str) -> pl.Series:
    return frame.get_column(name).alias("cell")  # Polars reads some names as patterns
