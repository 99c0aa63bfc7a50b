"""Totals under caps where a row belongs to several people: a linear program, solved to proof.

A row r of the answer to a self-join belongs to a set of people and counts towards a result v(r) of
weight w: its own one with its multiplicity, or, for DISTINCT, the distinct value that it shows,
with weight 1. The total under a cap t is the optimum of

    maximise sum of f_r   with   f >= 0,   sum of f_r over the rows of v <= w_v for each result v,
                                           sum of f_r over the rows of p <= t   for each person p.

Adding a person adds rows that all belong to her. The optimum does not fall (leave f at 0 on the new
rows), and what f has on the new rows is at most t, without which f is feasible before: the optimum
moves by a number in [0, t]. It is concave in t, and at t = most it is the sum of all w, if nobody
has more (Dong et al. 2022, section 6, with z_v = sum of f_r eliminated).

A solver returns floats, which prove nothing. Any y >= 0 on people gives the upper bound
    t * sum of y_p + sum over v of w_v * max(0, 1 - least over the rows r of v of sum of y_p in r)
by duality, and any feasible f a lower one. Both are computed here in whole numbers of 1 / scale,
from the solver's rounded dual and primal. If they differ by less than 1 / grain, the upper bound,
rounded down to a whole number of parts of 1 / grain, is less than one part away from the optimum on
either side. Two such numbers of neighbours differ by less than t * grain + 2 parts, so, being whole
numbers, by at most t * grain + 1: the sensitivity that `RaceToTop` and `RaceCap` use for a grain
above 1. A program that is not solved to such a proof is refused; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import Progress, Step, silent
from celosia.queries.bounds.caps import read_contributions
from celosia.queries.bounds.certificate import Program, bounds

GRAIN = 16
"""Parts of a unit that the optima are rounded to."""
HEAVIEST = 2**36
"""The largest sum of weights over rows: then 26 bits are left for fractions in 64."""

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False)
class Incidence:
    """Which rows belong to which people, and what they count for.

    Args:
        rows: for each pair of a row and one of its people, the number of the row, from 0.
        people: the number of the person, from 0; a pair may stand there more than once.
        amounts: what each row counts for, at least 0; rows of no person count in full.
        results: for DISTINCT, the number of the distinct value that each row shows, from 0; each
            value counts once, whatever the amounts.

    Raises:
        InputError: CEL-Q090 the numbers do not fit together.
        PrivacyError: CEL-Q091 they add up to too much.
    """

    rows: Any
    people: Any
    amounts: Any
    results: Any = None

    def __post_init__(self) -> None:
        rows, people, amounts = map(read_contributions, (self.rows, self.people, self.amounts))
        results = None if self.results is None else read_contributions(self.results)
        if (
            rows.size != people.size
            or (rows.size and not 0 <= rows.min() <= rows.max() < amounts.size)
            or (people.size and people.min() < 0)
            or (amounts.size and amounts.min() < 0)
            or (results is not None and (results.size != amounts.size or (results < 0).any()))
        ):
            raise InputError(
                "CEL-Q090",
                "rows, people, amounts and results of a linear program do not fit together.",
                why="Each pair needs a row and a person, and each row an amount of at least 0.",
                fix="Number rows and people from 0 and give one amount for each row.",
            )
        # A sum of floats is good enough for a bound, and cannot overflow.
        if amounts.sum(dtype=np.float64) >= HEAVIEST or amounts.size >= HEAVIEST:
            raise PrivacyError(
                "CEL-Q091",
                f"the rows of a linear program count for {HEAVIEST} or more.",
                why="Its optimum could not be proved to the precision that the noise was made for.",
                fix="Use a coarser grid for amounts.",
            )
        pairs = np.unique(np.stack([rows, people]), axis=1)
        for name, value in zip(
            ("rows", "people", "amounts", "results"), (*pairs, amounts, results), strict=True
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Incidence({self.rows.size} pairs)"


def program_totals(
    incidence: Incidence,
    caps: Sequence[int],
    *,
    grain: int = GRAIN,
    progress: Progress = silent,
) -> tuple[int, ...]:
    """The optimum under each cap in parts of 1 / grain, less than one part off.

    >>> triangle = Incidence([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [1, 1, 1])
    >>> program_totals(triangle, (1, 2), grain=16)
    (24, 48)

    Raises:
        PrivacyError: CEL-Q092 the solver found no provable optimum.
    """
    found = []
    for done, cap in enumerate(caps):
        progress(Step("linear programs", done, len(caps)))
        free, program = _reduced(incidence, int(cap))
        low, high, scale = (0, 0, 1) if program is None else bounds(program)
        if (high - low) * grain >= scale:
            raise PrivacyError(
                "CEL-Q092",
                "a linear program was not solved to the precision that the noise was made for.",
                why="Noise for a number that may be wrong by more protects less than it says.",
                fix="Ask a question without a self-join, or cap the rows of one person.",
            )
        found.append(free * grain + high * grain // scale)
    progress(Step("linear programs", len(caps), len(caps)))
    return tuple(found)


def _reduced(incidence: Incidence, cap: int) -> tuple[int, Program | None]:
    """The weight that counts in full, and the program that is left.

    A person whose results add up to no more than the cap never binds. A row without a binding
    person lets its result count in full. Rows of the same binding people are one row: with results
    of their own, of all their weight.
    """
    rows, people, amounts = incidence.rows, incidence.people, incidence.amounts
    if incidence.results is None:
        results, weights = np.arange(amounts.size), amounts
        loads = _sums(people, weights[rows])
    else:
        _, results = np.unique(incidence.results, return_inverse=True)
        weights = np.ones(results.max(initial=-1) + 1, dtype=np.int64)
        touched = np.unique(np.stack([results[rows], people]), axis=1)
        loads = _sums(touched[1], np.ones_like(touched[1]))
    binding = loads[people] > cap
    rows, people = rows[binding], people[binding]
    held = np.zeros(amounts.size, dtype=bool)
    held[rows] = True
    full = np.zeros(weights.size, dtype=bool)
    full[results[~held]] = True
    kept = ~full[results[rows]]
    rows, people = rows[kept], people[kept]
    free = int(weights[full].sum())
    if not rows.size:
        return free, None
    used, rows = np.unique(rows, return_inverse=True)
    _, people = np.unique(people, return_inverse=True)
    own, results = np.unique(results[used], return_inverse=True)
    program = Program(rows, people, results, weights[own], cap)
    return free, program.merged() if incidence.results is None else program


def _sums(places: Whole, amounts: Whole) -> Whole:
    """Sums of amounts by place: below 2^36, as all amounts together are."""
    sums = np.zeros(int(places.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sums, places, amounts)
    return sums
