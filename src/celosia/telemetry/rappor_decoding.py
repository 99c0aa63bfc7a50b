"""From the bits that RAPPOR's server has counted to how many reports have each candidate.

The number of values that set a bit is estimated without bias; candidates are fitted to these
numbers by least squares. A cohort of N_i among N reports has N_i / N of the reports of each value
on average, so that is the weight of its bits in the fit: cohorts of unequal size need no further
factor, and coefficients are counts.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import isfinite, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.progress import Progress, Step, silent
from celosia.mechanisms.parameters import check_confidence
from celosia.sketches.hashing import Digests, digests
from celosia.telemetry.estimates import Estimates
from celosia.telemetry.rappor import Rappor

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CORRECTIONS = ("bonferroni", "fdr")
Numbers = NDArray[np.float64]

_SETTLED = 1e-7
"""Standard errors of a bit: a fit that moves by less has settled."""
_ROUNDS = 20_000
_APART = 1e-9
"""Of the largest eigenvalue: a direction with less is one that bits do not tell apart."""


@dataclass(frozen=True)
class BitCounts:
    """How many values set each bit, estimated without bias."""

    protocol: Rappor
    counts: Numbers
    """Cohorts by bits: t_ij = (ones - p* N_i) / (q* - p*)."""
    reports: NDArray[np.int64]
    """Of each cohort: N_i."""

    @classmethod
    def of(cls, protocol: Rappor, ones: NDArray[np.int64], reports: NDArray[np.int64]) -> BitCounts:
        """From what a server has counted."""
        low, high = (float(each) for each in protocol.chances)
        return cls(protocol, (ones - low * reports[:, None]) / (high - low), reports.copy())

    @property
    def users(self) -> int:
        """How many reports there are."""
        return int(self.reports.sum())

    @property
    def errors(self) -> Numbers:
        """The standard error of each count, from the count itself."""
        low, high = (float(each) for each in self.protocol.chances)
        there = np.clip(self.counts, 0, self.reports[:, None])
        noise = there * high * (1 - high) + (self.reports[:, None] - there) * low * (1 - low)
        found: Numbers = np.sqrt(noise) / abs(high - low)
        return found

    @property
    def weights(self) -> Numbers:
        """One for each cohort, so that the noise of a bit has a standard error of about 1."""
        low, high = (float(each) for each in self.protocol.chances)
        noise = np.sqrt(np.maximum(self.reports, 1) * low * (1 - low)) / abs(high - low)
        return np.where(self.reports > 0, 1 / noise, 0.0)

    def design(self, values: Digests) -> csr_array:
        """Which bits each candidate sets, with the weight of its cohort: candidates by bits."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

        protocol = self.protocol
        rows = protocol.cohorts * protocol.hashes
        cohorts = np.arange(rows) // protocol.hashes
        places = protocol.family.every_column(values) + (cohorts * protocol.bits)[:, None]
        starts = np.arange(values.size + 1, dtype=np.int64) * rows
        shape = (values.size, protocol.cohorts * protocol.bits)
        made = csr_array((np.ones(places.size), places.T.reshape(-1), starts), shape=shape)
        made.sum_duplicates()  # two hash functions may meet: a bit is set or not
        share = self.weights * self.reports / max(1, self.users)
        made.data = share[made.indices // protocol.bits]
        return made

    @property
    def target(self) -> Numbers:
        """The counts in the units of the design."""
        return (self.counts * self.weights[:, None]).reshape(-1)


@dataclass(frozen=True)
class Decoded:
    """Which candidates RAPPOR found, and how sure that is."""

    estimates: Estimates
    p_values: Numbers = field(repr=False)
    """The chance of at least such a count if nobody had the value; 1 where it was not selected."""
    found: NDArray[np.bool_] = field(repr=False)
    """Whether a candidate is there with confidence."""
    confidence: float
    correction: str
    threshold: float
    """About the count that a value needs to be found."""

    @property
    def candidates(self) -> tuple[Hashable, ...]:
        """The candidates that were found, the most common first."""
        order = np.argsort(-self.estimates.counts, kind="stable")
        return tuple(self.estimates.candidates[at] for at in order if self.found[at])

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an error that nothing bounds is None."""
        return {
            "protocol": self.estimates.protocol,
            "users": self.estimates.users,
            "confidence": self.confidence,
            "correction": self.correction,
            "threshold": self.threshold,
            "values": [str(each) for each in self.estimates.candidates],
            "counts": self.estimates.counts.tolist(),
            "errors": [each if isfinite(each) else None for each in self.estimates.errors.tolist()],
            "p_values": self.p_values.tolist(),
            "found": self.found.tolist(),
        }

    def __str__(self) -> str:
        return (
            f"{int(self.found.sum()):,} of {self.found.size:,} candidates found in "
            f"{self.estimates.users:,} reports ({self.estimates.protocol})"
        )


def unbiased(counted: BitCounts, values: Digests) -> tuple[Numbers, Numbers]:
    """Counts of all candidates by least squares, and their standard errors.

    Raises:
        InputError: CEL-R033 bits do not tell the candidates apart.
    """
    found, errors = _least_squares(counted, counted.design(values))
    if counted.users and not np.all(np.isfinite(errors)):
        raise InputError(
            "CEL-R033",
            "the bits of these cohorts do not tell so many candidates apart.",
            why="Different counts would fit equally well, so none is without bias.",
            fix="Ask about fewer candidates, use more bits or cohorts, or call `decode`.",
        )
    return found, errors


def decoded(  # noqa: PLR0913 - all named
    counted: BitCounts,
    candidates: tuple[Hashable, ...],
    *,
    confidence: float,
    correction: str,
    penalty: float | None,
    progress: Progress = silent,
) -> Decoded:
    """Select by the positive Lasso, fit the selected by least squares, test each of them.

    The tests are corrected for all candidates, not only for the selected ones, as in the paper.

    Raises:
        InputError: CEL-R034 no such correction.
    """
    from scipy.stats import norm  # noqa: PLC0415 - heavy

    check_confidence(confidence)
    if correction not in CORRECTIONS:
        raise InputError(
            "CEL-R034",
            f"there is no correction called {correction!r}.",
            fix=f"Use one of {', '.join(CORRECTIONS)}.",
        )
    progress(Step("hashing the candidates", 0, 3))
    design = counted.design(digests(list(candidates)))
    progress(Step("selecting", 1, 3))
    chosen = np.flatnonzero(_selected(counted, design, penalty))
    progress(Step("fitting", 2, 3))
    size = len(candidates)
    guide = sqrt(counted.protocol.variance(counted.users))
    counts, errors = np.zeros(size), np.full(size, guide)
    tests = np.ones(size)
    if chosen.size:
        counts[chosen], errors[chosen] = _least_squares(counted, design[chosen])
        sure = errors[chosen]
        scores = np.divide(counts[chosen], sure, out=np.zeros(chosen.size), where=sure > 0)
        tests[chosen] = norm.sf(scores)
    progress(Step("fitting", 3, 3))
    level = 1 - confidence
    estimates = Estimates(
        counted.protocol.name, candidates, counts, errors, counted.users, "decoded", counts
    )
    return Decoded(
        estimates,
        tests,
        _significant(tests, level, correction),
        confidence,
        correction,
        float(norm.isf(level / max(1, size))) * guide,
    )


def _selected(counted: BitCounts, design: csr_array, penalty: float | None) -> NDArray[np.bool_]:
    from celosia.telemetry._rappor_kernels import positive_lasso  # noqa: PLC0415 - Numba

    size, bits = design.shape
    strength = (sqrt(2 * log(size)) if size > bits else 0.0) if penalty is None else penalty
    # The slope of an absent value has the norm of its column as its standard error.
    norms = np.sqrt(np.asarray((design * design).sum(axis=1)).reshape(-1))
    found = positive_lasso(
        design.indptr.astype(np.int64),
        design.indices.astype(np.int64),
        design.data,
        counted.target,
        strength * norms,
        _SETTLED,
        _ROUNDS,
    )
    there: NDArray[np.bool_] = found > 0
    return there


def _significant(tests: Numbers, level: float, correction: str) -> NDArray[np.bool_]:
    if correction == "bonferroni":
        return tests * tests.size <= level
    # Benjamini and Hochberg 1995: the largest rank r with p_(r) <= level * r / size.
    order = np.argsort(tests, kind="stable")
    passed = np.flatnonzero(tests[order] <= level * np.arange(1, tests.size + 1) / tests.size)
    found = np.zeros(tests.size, dtype=np.bool_)
    if passed.size:
        found[order[: passed[-1] + 1]] = True
    return found


def _least_squares(counted: BitCounts, design: csr_array) -> tuple[Numbers, Numbers]:
    """Coefficients and standard errors; infinite where the bits leave a coefficient open."""
    if not counted.users:
        return np.zeros(design.shape[0]), np.full(design.shape[0], np.inf)
    dense = design.toarray()
    sizes, directions = np.linalg.eigh(dense @ dense.T)
    seen = sizes > _APART * max(float(sizes[-1]), 0.0)
    inverse = (directions[:, seen] / sizes[seen]) @ directions[:, seen].T
    solver = inverse @ dense
    open_ones = np.abs((directions[:, seen] ** 2).sum(axis=1) - 1) > 1e-6
    counts = solver @ counted.target
    noise = (counted.errors * counted.weights[:, None]).reshape(-1) ** 2
    spread = solver**2 @ noise + _cohort_spread(counted, design, solver, counts)
    errors = np.sqrt(spread)
    errors[open_ones] = np.inf
    return counts, errors


def _cohort_spread(
    counted: BitCounts, design: csr_array, solver: Numbers, counts: Numbers
) -> Numbers:
    """The variance that comes from which devices happen to be in which cohort.

    A device with value w adds G_i[v, w] to the estimate of v if it is in cohort i, on average 1 if
    v = w and 0 otherwise. Cohort sizes are known, so what all values have in common is no noise.
    """
    protocol = counted.protocol
    found = np.zeros(counts.size)
    if protocol.cohorts == 1:
        return found
    there = np.maximum(counts, 0)
    shares = there / max(counted.users, float(there.sum()))
    bits = (design > 0).T.astype(np.float64).tocsr()
    for cohort in np.flatnonzero(counted.reports):
        rows = slice(cohort * protocol.bits, (cohort + 1) * protocol.bits)
        added = (solver[:, rows] * counted.weights[cohort]) @ bits[rows]
        added[np.diag_indices(counts.size)] -= 1
        added -= (added @ shares)[:, None]
        found += counted.reports[cohort] / counted.users * (added**2 @ there)
    return found
