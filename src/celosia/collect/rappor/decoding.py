"""From the bits that RAPPOR's server has counted to how many reports have each candidate.

The number of values that set a bit is estimated without bias; candidates are fitted to these
numbers by least squares. A cohort of N_i among N reports has N_i / N of the reports of each value
on average, so that is the weight of its bits in the fit: cohorts of unequal size need no further
factor, and coefficients are counts.

Values that are no candidates set bits as well. All counts add up to N, so how many reports have
them is known, and on average over hash functions they set every bit equally often: that is taken
off before the fit (as Count Mean sketches do), or all candidates would come out too high.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import isfinite, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.collect.estimates import Estimates
from celosia.collect.rappor.rappor import Rappor
from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.progress import Progress, Step, silent
from celosia.mechanisms.parameters import check_confidence
from celosia.sketches.hashing import Digests, digests

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
        protocol = self.protocol
        cohorts = np.arange(protocol.cohorts * protocol.hashes) // protocol.hashes
        columns = protocol.family.every_column(values)
        return self.design_at((columns + (cohorts * protocol.bits)[:, None]).T)

    def design_at(self, places: NDArray[np.int64]) -> csr_array:
        """The same from the bits themselves: candidates by hash functions, over all cohorts."""
        from scipy.sparse import csr_array

        protocol = self.protocol
        size, rows = places.shape
        starts = np.arange(size + 1, dtype=np.int64) * rows
        shape = (size, protocol.cohorts * protocol.bits)
        made = csr_array((np.ones(places.size), places.reshape(-1), starts), shape=shape)
        made.sum_duplicates()  # two hash functions may meet: a bit is set or not
        share = self.weights * self.reports / max(1, self.users)
        made.data = share[made.indices // protocol.bits]
        return made

    @property
    def target(self) -> Numbers:
        """The counts in the units of the design."""
        return (self.counts * self.weights[:, None]).reshape(-1)

    @property
    def chance(self) -> float:
        """That a value sets a bit, over all hash functions."""
        return float(1 - (1 - 1 / self.protocol.bits) ** self.protocol.hashes)

    @property
    def even(self) -> Numbers:
        """What one value adds to the bits on average, in the units of the design."""
        share = self.weights * self.reports / max(1, self.users)
        return np.repeat(self.chance * share, self.protocol.bits)


@dataclass(frozen=True)
class DecodedValues:
    """Which candidates RAPPOR found, and how sure that is."""

    estimates: Estimates
    p_values: Numbers = field(repr=False)
    """The chance of at least such a count for an absent value; 1 where it was not selected."""
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

    @property
    def kept(self) -> Estimates:
        """The estimates of the candidates that were found, the most common first."""
        return self.estimates._only(self.found)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an error that nothing bounds is None."""
        return {
            "method": self.estimates.protocol,
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
        return say_of(
            "collect.summary.decoding",
            self.estimates,
            found=int(self.found.sum()),
            candidates=self.found.size,
        )


def unbiased_estimates(counted: BitCounts, values: Digests) -> tuple[Numbers, Numbers]:
    """Counts of all candidates by least squares, and their standard errors.

    Raises:
        InputError: CEL-R033 bits do not tell the candidates apart.
    """
    cells = int(np.count_nonzero(counted.reports)) * counted.protocol.bits
    if counted.users and values.size > cells:  # more unknowns than equations: no need to try
        raise _too_many()
    found, errors = _least_squares(counted, counted.design(values))
    if counted.users and not np.all(np.isfinite(errors)):
        raise _too_many()
    return found, errors


def _too_many() -> InputError:
    return InputError("CEL-R033")


def decode(
    counted: BitCounts,
    candidates: tuple[Hashable, ...],
    *,
    confidence: float,
    correction: str,
    penalty: float | None,
    places: NDArray[np.int64] | None = None,
    progress: Progress = silent,
) -> DecodedValues:
    """Select by the positive Lasso, fit the selected by least squares, test each of them.

    The tests are corrected for all candidates, not only for the selected ones, as in the paper.
    The bits of candidates follow from the hash functions of the protocol, unless `places` tells
    them.
    """
    from scipy.stats import norm

    check_confidence(confidence)
    if correction not in CORRECTIONS:
        raise InputError("CEL-R034", correction=correction, corrections=", ".join(CORRECTIONS))
    progress(Step(Message("collect.stage.hashing"), 0, 3))
    if places is None:
        design = counted.design(digests(list(candidates)))
    else:
        design = counted.design_at(places)
    progress(Step(Message("collect.stage.selecting"), 1, 3))
    chosen = np.flatnonzero(_select(counted, design, penalty))
    progress(Step(Message("collect.stage.fitting"), 2, 3))
    size = len(candidates)
    guide = sqrt(counted.protocol.variance(counted.users))
    counts, errors = np.zeros(size), np.full(size, guide)
    tests = np.ones(size)
    if chosen.size:
        counts[chosen], errors[chosen] = _least_squares(counted, design[chosen])
        sure = errors[chosen]
        scores = np.divide(counts[chosen], sure, out=np.zeros(chosen.size), where=sure > 0)
        tests[chosen] = norm.sf(scores)
    progress(Step(Message("collect.stage.fitting"), 3, 3))
    level = 1 - confidence
    estimates = Estimates(
        counted.protocol.method_name, candidates, counts, errors, counted.users, "decoded", counts
    )
    return DecodedValues(
        estimates,
        tests,
        _significant(tests, level, correction),
        confidence,
        correction,
        float(norm.isf(level / max(1, size))) * guide,
    )


def _select(counted: BitCounts, design: csr_array, penalty: float | None) -> NDArray[np.bool_]:
    from celosia.collect.rappor._kernels import positive_lasso  # Numba

    size, bits = design.shape
    strength = (sqrt(2 * log(size)) if size > bits else 0.0) if penalty is None else penalty
    # The slope of an absent value has the norm of its column as its standard error.
    # Beyond, other values would raise all candidates, and too many of them would be selected; up
    # to as many candidates as bits, all that may be there are fitted anyway.
    even = counted.even if size > bits else np.zeros(bits)
    lengths = np.asarray((design * design).sum(axis=1)).reshape(-1)
    norms = np.sqrt(np.maximum(lengths - 2 * (design @ even) + even @ even, 0))
    found = positive_lasso(
        design.indptr.astype(np.int64),
        design.indices.astype(np.int64),
        design.data,
        even,
        counted.target - counted.users * even,
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
    """Coefficients and standard errors; infinite where the bits leave a coefficient open.

    Where candidates fill all bits, so that these cannot tell whether there are other values too,
    there are taken to be none.
    """
    if not counted.users or not design.shape[0]:
        return np.zeros(design.shape[0]), np.full(design.shape[0], np.inf)
    found = _fit(counted, design, others=True)
    return found if np.all(np.isfinite(found[1])) else _fit(counted, design, others=False)


def _fit(counted: BitCounts, design: csr_array, *, others: bool) -> tuple[Numbers, Numbers]:
    """The fit, with or without values that are no candidates."""
    dense, target = design.toarray(), counted.target
    if others:
        dense, target = dense - counted.even, target - counted.users * counted.even
    sizes, directions = np.linalg.eigh(dense @ dense.T)
    seen = sizes > _APART * max(float(sizes[-1]), 0.0)
    inverse = (directions[:, seen] / sizes[seen]) @ directions[:, seen].T
    solver = inverse @ dense
    open_ones = np.abs((directions[:, seen] ** 2).sum(axis=1) - 1) > 1e-6
    counts = solver @ target
    noise = (counted.errors * counted.weights[:, None]).reshape(-1) ** 2
    spread = solver**2 @ noise + _cohort_spread(counted, design, solver, counts, others=others)
    if others:
        residue = target - counts @ dense
        left = 1 - (solver * dense).sum(axis=0)  # of each bit, what the fit does not follow
        excess = float(residue @ residue - left @ noise)
        spread += _collisions(counted, solver, left, excess, float(counts.sum()))
    errors = np.sqrt(spread)
    errors[open_ones] = np.inf
    return counts, errors


def _collisions(
    counted: BitCounts, solver: Numbers, left: Numbers, excess: float, listed: float
) -> Numbers:
    """The variance that comes from which bits the values that are no candidates happen to set.

    A value of f reports adds f^2 c (1 - c) to the variance of each bit, c the chance that it sets
    it. The sum of these squares is estimated from what bits differ from the fit beyond their
    noise; it is at most the square of how many reports have no candidate.
    """
    unit = counted.even**2 * (1 - counted.chance) / counted.chance
    squares = excess / max(float(left @ unit), np.finfo(np.float64).tiny)
    most = max(0.0, counted.users - listed) ** 2
    found: Numbers = min(max(squares, 0.0), most) * (solver**2 @ unit)
    return found


def _cohort_spread(
    counted: BitCounts, design: csr_array, solver: Numbers, counts: Numbers, *, others: bool
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
    rest = max(0.0, counted.users - float(there.sum())) if others else 0.0
    bits = (design > 0).T.astype(np.float64).tocsr()
    for cohort in np.flatnonzero(counted.reports):
        rows = slice(cohort * protocol.bits, (cohort + 1) * protocol.bits)
        weighted = solver[:, rows] * counted.weights[cohort]
        added = weighted @ bits[rows]
        if others:
            added -= counted.chance * weighted.sum(axis=1)[:, None]
        added[np.diag_indices(counts.size)] -= 1
        common = added @ shares
        added -= common[:, None]
        part = added**2 @ there + rest * common**2
        found += counted.reports[cohort] / counted.users * part
    return found
