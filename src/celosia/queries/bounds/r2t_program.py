"""Totals under caps where a row belongs to several people: a linear program, solved to proof.

A row r of the answer to a self-join belongs to a set of people and counts towards a result v(r) of
weight w: its own one with its amount, or, for DISTINCT, the distinct value that it shows, with
weight 1. The total under a cap t is the optimum of

    maximise sum of f_r   with   f >= 0,   sum of f_r over the rows of v <= w_v for each result v,
                                           sum of f_r over the rows of p <= t   for each person p.

Adding a person adds rows that all belong to this person. The optimum does not fall (leave f at 0 on
the new rows), and what f has on the new rows is at most t, without which f is feasible before: the
optimum moves by a number in [0, t]. It is concave in t, and at t = most it is the sum of all w, if
no person has more (Dong et al. 2022, section 6, with z_v = sum of f_r eliminated). A result of n
rows counts for at most n * t, and is cut off there.

Most of it is settled without a solver (`presolve`), which returns floats, and these prove nothing.
Any y >= 0 on people gives the upper bound
    t * sum of y_p + sum over v of w_v * max(0, 1 - least over the rows r of v of sum of y_p in r)
by duality, and any feasible f a lower one. Both are computed in whole numbers from the solver's
rounded dual and primal (`dual_certificate`). Totals are counted in parts of 1 / grain and rounded
to multiples of a step of s parts, which grows with the cap (`r2t.rounding`): if the bounds differ
by less than a step, the upper one, rounded down to a multiple, is less than a step away from the
optimum on either side. Two such numbers of neighbours differ by less than t * grain + 2 s parts
upwards and 2 s downwards, and, being multiples of s, by at most the largest multiple below: the
sensitivity that `R2T` and `R2TCap` use for a grain above 1. No number here is limited by
what the data hold: amounts are cut off at the cap, sums that could leave 64 bits are taken in
halves. A program that is not solved to such a proof is not answered; nothing is guessed. Rows of up
to two people always are, for caps below 2^31 (`solve_by_flow`), also where they share results of
which all rows have one person in common (`solve_results_by_flow`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.queries.bounds.cap_ladder import rounding
from celosia.queries.bounds.caps import FARTHEST, read_contributions
from celosia.queries.bounds.dual_certificate import Program, bound_optimum
from celosia.queries.bounds.presolve import (
    PackingRows,
    capped_sums,
    exact_sum,
    find_undominated,
    presolve,
)

GRAIN = 16
"""Parts of a unit that the optima are counted in."""

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False)
class Incidence:
    """Which rows belong to which people, and what they count for.

    Args:
        rows: for each pair of a row and one of its people, the number of the row, from 0.
        people: the number of the person, from 0; a pair may stand there more than once.
        amounts: what each row counts for, at least 0; rows of no person count in full.
        results: the number of the result that each row shows, from 0: each counts once. For
            DISTINCT it is the distinct value, for rows with a partner the row before the join.
        weights: what each result counts for, by its number; 1 if not given. The amounts of rows
            are not used where there are results.

    Raises:
        InputError: CEL-Q081 the numbers do not fit together.
    """

    rows: Any
    people: Any
    amounts: Any
    results: Any = None
    weights: Any = None

    def __post_init__(self) -> None:
        rows, people, amounts = map(read_contributions, (self.rows, self.people, self.amounts))
        results = None if self.results is None else read_contributions(self.results)
        weights = None if self.weights is None else read_contributions(self.weights)
        if (
            rows.size != people.size
            or (rows.size and not 0 <= rows.min() <= rows.max() < amounts.size)
            or (people.size and people.min() < 0)
            or (amounts.size and amounts.min() < 0)
            or (results is not None and (results.size != amounts.size or (results < 0).any()))
            or (weights is not None and not _weights_fit(weights, results))
        ):
            raise InputError("CEL-Q081.rows_and_people")
        pairs = _unique_pairs(rows, people)
        for name, value in zip(
            ("rows", "people", "amounts", "results", "weights"),
            (*pairs, amounts, results, weights),
            strict=True,
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
    """The optimum under each cap in parts of 1 / grain, less than one step off.

    >>> triangle = Incidence([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [1, 1, 1])
    >>> program_totals(triangle, (1, 2), grain=16)
    (24, 48)
    """
    found: dict[int, int] = {}
    wanted = sorted({int(cap) for cap in caps})
    everything = _all_results(incidence)
    for cap, free, program in _programs(incidence, wanted):
        progress(Step(Message("queries.bounds.linear_programs"), len(found), len(wanted)))
        step = rounding(cap, grain)
        gap = Fraction(step, grain)
        low, high = (
            (Fraction(0), Fraction(0)) if program is None else bound_optimum(program, gap=gap)
        )
        if high - low >= gap:
            raise PrivacyError("CEL-Q092")
        found[cap] = (free + high) * grain // step * step
        if (
            everything is not None and free + high == everything
        ):  # optima only rise, and no further: so under all larger caps
            rest = [each for each in wanted if each > cap]
            found |= {
                each: everything * grain // (wide := rounding(each, grain)) * wide for each in rest
            }
            break
    progress(Step(Message("queries.bounds.linear_programs"), len(wanted), len(wanted)))
    return tuple(found[int(cap)] for cap in caps)


def _all_results(incidence: Incidence) -> int | None:
    """What all results count for together; None where rows are their own."""
    if incidence.results is None:
        return None
    present = np.unique(incidence.results)
    return present.size if incidence.weights is None else exact_sum(incidence.weights[present])


def _unique_pairs(rows: Whole, people: Whole) -> tuple[Whole, Whole]:
    """Every pair once, in the order of rows and then of people."""
    same = rows[1:] == rows[:-1]
    if ((rows[1:] < rows[:-1]) | (same & (people[1:] < people[:-1]))).any():
        order = np.lexsort((people, rows))
        rows, people = rows[order], people[order]
    new = (rows[1:] != rows[:-1]) | (people[1:] != people[:-1])
    kept = np.r_[True, new][: rows.size]
    return rows[kept], people[kept]


def _weights_fit(weights: Whole, results: Whole | None) -> bool:
    """Whether every result has a weight of at least 0."""
    if results is None or (weights < 0).any():
        return False
    return bool(results.max(initial=-1) < weights.size)


def _programs(incidence: Incidence, caps: list[int]) -> Iterator[tuple[int, int, Program | None]]:
    """For each cap, in rising order, the weight that counts in full, and the program left."""
    rows = incidence.rows
    _, people = np.unique(incidence.people, return_inverse=True)
    kept = find_undominated(rows, people)[people]
    rows, people = rows[kept], people[kept]
    if incidence.results is not None:
        present, results = np.unique(incidence.results, return_inverse=True)
        weights = np.ones_like(present)
        if incidence.weights is not None:
            weights = incidence.weights[present]
        shown = _ResultRows(rows, people, results, weights, _unique_pairs(results[rows], people))
        yield from ((cap, *_reduce_program(shown, cap)) for cap in caps)
        return
    held = np.zeros(incidence.amounts.size, dtype=bool)
    held[rows] = True
    everyone = exact_sum(incidence.amounts[~held])
    _, people = np.unique(people, return_inverse=True)
    shares = PackingRows((np.cumsum(held) - 1)[rows], people, incidence.amounts[held])
    for cap, free, rest in presolve(shares, caps):
        program = Program.of(rest, cap) if rest.rows.size else None
        yield cap, everyone + free, program


@dataclass(frozen=True, slots=True)
class _ResultRows:
    """Rows of which several may show one result, whose weight counts once."""

    rows: Whole
    people: Whole
    results: Whole
    weights: Whole
    touched: tuple[Whole, Whole]
    """Each result with each of its people, once."""


def _reduce_program(shown: _ResultRows, cap: int) -> tuple[int, Program | None]:
    """The weight that counts in full, and the program that is left, where results are shared.

    A person whose results add up to no more than the cap never binds. A row without a binding
    person lets its result count in full.
    """
    rows, people, results, weights = shown.rows, shown.people, shown.results, shown.weights
    loads = capped_sums(shown.touched[1], weights[shown.touched[0]], cap + 1)
    binding = loads[people] > cap
    rows, people = rows[binding], people[binding]
    held = np.zeros(results.size, dtype=bool)
    held[rows] = True
    full = np.zeros(weights.size, dtype=bool)
    full[results[~held]] = True
    kept = ~full[results[rows]]
    rows, people = rows[kept], people[kept]
    free = exact_sum(weights[full])
    if not rows.size:
        return free, None
    used, rows = np.unique(rows, return_inverse=True)
    _, people = np.unique(people, return_inverse=True)
    own, results = np.unique(results[used], return_inverse=True)
    # Each row counts for at most the cap, which one of its people holds. Weights are at most 2^50.
    most = np.minimum(weights[own], np.minimum(np.bincount(results), FARTHEST // cap + 1) * cap)
    if own.size == used.size:  # a row for each result: as rows that count for themselves
        return free, Program.of(PackingRows(rows, people, most[results]).merge_equal(cap), cap)
    return free, Program(rows, people, results, most, cap)
