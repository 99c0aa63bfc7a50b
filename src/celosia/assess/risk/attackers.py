"""Three attackers and what each may hope for: prosecutor, journalist and marketer.

They differ in what they know. The prosecutor knows that the person is in the release, so only the
class of the release hides that person (f records). The journalist and the marketer know the
population that the release was drawn from, so the class of the population does (F people): the
journalist wants to find any person, and the marketer as many as possible.

References: El Emam, Dankar 2008 (the three risks); Benedetti, Franconi 1998 (F given f).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.individual import check_weights, risk_of
from celosia.assess.risk.profile import (
    THRESHOLD,
    ClassCounts,
    all_stars,
    check_known,
    check_threshold,
    count_classes,
)
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import PlainValues
from celosia.core.numbers import real
from celosia.frames import as_frame, as_text, pick

Basis = Literal["release", "population", "estimate", "weights"]
"""Where the sizes F come from: the release, a population table, a sampling fraction or weights."""

_LEAST_FRACTION = 1e-12
"""No population is a million million times its sample; digits would run out below."""
_SERIES_FROM = 20
"""From this class size on a short series gives the expected risk to the last digit."""
_SERIES_TERMS = 60
"""Enough for classes of `_SERIES_FROM`, whose 60th term is below 1e-18 of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackerRisk(PlainValues):
    """What one attacker may hope for, as chances in [0, 1]; all are 0 for an empty release."""

    maximum: float
    """Chance of picking the most exposed record rightly."""
    average: float
    """Chance, or expected share, of records picked rightly."""
    at_risk: float
    """Share of the kept records whose own risk is above the threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackerRisks(PlainValues):
    """The risks of a release under three attackers; suppressed records are counted apart."""

    prosecutor: AttackerRisk
    journalist: AttackerRisk
    marketer: AttackerRisk
    """A record's own risk is the journalist's; only the average differs."""
    records: int
    """Kept records."""
    suppressed: int
    classes: int
    population: float
    """People in the classes of the release: counted, or expected by a fraction or weights."""
    basis: Basis
    threshold: float

    def __str__(self) -> str:
        return say(
            "assess.line.attackers",
            prosecutor=self.prosecutor.maximum,
            journalist=self.journalist.maximum,
            marketer=self.marketer.average,
        )


def attacker_risks(
    data: Any,
    quasi_identifiers: str | Sequence[str],
    *,
    population: Any = None,
    sampling_fraction: float | None = None,
    weights: str | None = None,
    threshold: float = THRESHOLD,
) -> AttackerRisks:
    """The risks of a release under the three attackers.

    The population is a table of all people that the release was drawn from, generalised to the
    same labels; cells are compared as text. Without it, a sampling fraction gives an estimate
    (see `expected_risk`), and so does a column of survey weights: those of a class add up to F.
    Without any of them, the release is its own population.

    >>> release = pl.DataFrame({"age": ["20-29", "20-29", "30-39"]})
    >>> people = pl.DataFrame({"age": ["20-29"] * 4 + ["30-39"] * 5})
    >>> found = attacker_risks(release, "age", population=people)
    >>> found.prosecutor.maximum, found.journalist.maximum, round(found.marketer.average, 3)
    (1.0, 0.25, 0.233)
    """
    check_threshold(threshold)
    if sum(each is not None for each in (population, sampling_fraction, weights)) > 1:
        raise InputError("CEL-A020")
    if weights is not None:
        return _by_weights(data, quasi_identifiers, weights, threshold)
    classes = count_classes(data, quasi_identifiers)
    sizes = classes.sizes
    basis: Basis = "release"
    people, risks = float(sizes.sum()), 1 / sizes
    if population is not None:
        basis = "population"
        counts = _population_sizes(classes, population)
        people, risks = float(counts.sum()), 1 / counts
    elif sampling_fraction is not None:
        basis = "estimate"
        risks = expected_risk(sizes, sampling_fraction)
        people /= sampling_fraction
    return _risks(classes, risks, people, basis, threshold)


def _by_weights(
    data: Any, quasi_identifiers: str | Sequence[str], weights: str, threshold: float
) -> AttackerRisks:
    """The risks where weights of records tell how many people each class has."""
    parts = list(data) if isinstance(data, Iterator) else [as_frame(data)]
    named = [quasi_identifiers] if isinstance(quasi_identifiers, str) else quasi_identifiers
    columns = list(dict.fromkeys(named))
    check_known([*columns, weights], parts[0].columns if parts else [])
    frame = pl.concat([pick(part, [*columns, weights]) for part in parts])
    frame.columns = [f"c{place}" for place in range(len(columns))] + ["weight"]
    frame = frame.with_columns(pl.Series("weight", check_weights(frame, "weight", weights)))
    keys = frame.columns[:-1]
    grouped = frame.group_by(keys, maintain_order=True).agg(pl.len(), pl.col("weight").sum())
    values, people = grouped.select(keys), grouped.get_column("weight").to_numpy()
    sizes = grouped.get_column("len").to_numpy().astype(np.int64)
    hidden = all_stars(values) & ~all_stars(values).all()
    classes = ClassCounts(values, sizes[~hidden], int(sizes[hidden].sum()))
    people = np.maximum(people[~hidden], classes.sizes)
    risks = risk_of(classes.sizes, people)
    return _risks(classes, risks, float(people.sum()), "weights", threshold)


def _risks(
    classes: ClassCounts,
    risks: NDArray[np.float64],
    people: float,
    basis: Basis,
    threshold: float,
) -> AttackerRisks:
    sizes = classes.sizes
    records = int(sizes.sum())
    expected = float((sizes * risks).sum() / records) if records else 0.0
    crowd = sizes.size / people if records else 0.0
    return AttackerRisks(
        prosecutor=_risk(sizes, 1 / sizes, sizes.size / records if records else 0.0, threshold),
        journalist=_risk(sizes, risks, max(crowd, expected), threshold),
        marketer=_risk(sizes, risks, expected, threshold),
        records=records,
        suppressed=classes.suppressed,
        classes=int(sizes.size),
        population=people,
        basis=basis,
        threshold=threshold,
    )


def expected_risk(sizes: NDArray[np.int64], sampling_fraction: float) -> NDArray[np.float64]:
    """E[1/F] of classes with f records in a sample that took each person with chance p.

    If before the sample F has a chance in proportion to 1/F, then after it F is negative binomial
    (Benedetti, Franconi): P(F = h) = C(h-1, f-1) p^f (1-p)^(h-f) for h >= f. With q = 1 - p,

        E[1/F] = p * integral of x^(f-1) / (p + q x) over [0, 1] = p/f * 2F1(1, 1; f+1; q),

    which is -p log(p) / q for a record alone in its class.

    >>> expected_risk(np.array([1, 2, 50]), 0.5).round(4).tolist()
    [0.6931, 0.3069, 0.0101]
    """
    p = check_fraction(sampling_fraction)
    q = 1 - p
    whole = sizes.astype(np.float64)
    term = p / whole
    total = term.copy()
    for step in range(1, _SERIES_TERMS):
        term = term * q * step / (whole + step)
        total += term
    if p <= 0.5:
        # The series is slow for small classes here, and the recurrence of the integral is stable.
        short = np.empty(_SERIES_FROM)
        short[0] = np.nan
        short[1] = -p * np.log(p) / q
        for size in range(1, _SERIES_FROM - 1):
            short[size + 1] = p / q * (1 / size - short[size])
        small = sizes < _SERIES_FROM
        total[small] = short[sizes[small]]
    return total


def check_fraction(sampling_fraction: float) -> float:
    """The share of the population that is in the sample; refused unless above 0 and at most 1."""
    fraction = real(sampling_fraction)
    if fraction is None or not _LEAST_FRACTION <= fraction <= 1:
        raise InputError("CEL-A021", sampling_fraction=sampling_fraction)
    return fraction


def _risk(
    sizes: NDArray[np.int64], risks: NDArray[np.float64], average: float, threshold: float
) -> AttackerRisk:
    exposed = int(sizes[risks > threshold].sum())
    return AttackerRisk(
        maximum=float(risks.max(initial=0.0)),
        average=average,
        at_risk=exposed / int(sizes.sum()) if sizes.size else 0.0,
    )


def _population_sizes(release: ClassCounts, population: Any) -> NDArray[np.int64]:
    """How many people of the population are in each class of the release."""
    people = count_classes(population, release.values.columns)
    mine = _texts(release.values)
    theirs = _texts(people.values)
    places = mine.columns
    counted = theirs.with_columns(pl.Series("size", people.sizes)).group_by(places).sum()
    joined = mine.join(counted, on=places, how="left", nulls_equal=True, maintain_order="left")
    counts = joined.get_column("size").fill_null(0).to_numpy().astype(np.int64)
    short = counts < release.sizes
    if short.any():
        absent = int((counts == 0).sum())
        raise InputError("CEL-A022", total=counts.size, classes=int(short.sum()), lacking=absent)
    return counts


def _texts(values: pl.DataFrame) -> pl.DataFrame:
    # Names of our own, because Polars would read some of a user's names as patterns.
    return pl.DataFrame([as_text(column.alias(f"c{i}")) for i, column in enumerate(values)])
