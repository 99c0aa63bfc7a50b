"""PRAM, the post-randomisation method: categories change by known chances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import check_list, parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.tables.masking.draws import uniforms
from celosia.tables.masking.method import (
    NUMBER,
    TEXTS,
    CellFunction,
    MaskingMethod,
    MethodResult,
    Reach,
    Work,
    categories,
    check_columns,
    check_number,
    with_categories,
)
from celosia.tables.masking.perturbation.moments import check_varied
from celosia.tables.masking.value_counts import ValueCounts

Matrix = NDArray[np.float64]

TOLERANCE = 1e-9
"""How far a row of a given matrix may be from a sum of one: decimals as people write them."""


def check_matrix(matrix: ArrayLike) -> Matrix:
    """A square matrix of probabilities whose rows sum to one.

    Raises:
        InputError: CEL-V221 it is not.

    >>> check_matrix([[0.75, 0.25], [0.25, 0.75]]).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    try:
        found = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    square = found.ndim == 2 and found.shape[0] == found.shape[1] and found.shape[0] > 1
    if not square or not ((found >= 0) & (found <= 1)).all():
        raise InputError("CEL-V221.not_square")
    sums = found.sum(axis=1)
    wrong_rows = int((np.abs(sums - 1) > TOLERANCE).sum())
    if wrong_rows:
        raise InputError("CEL-V221.sums", rows=wrong_rows)
    scaled: Matrix = found / sums[:, np.newaxis]
    return scaled


def plain_matrix(counts: ArrayLike, stay: float, rest: Literal["uniform", "frequency"]) -> Matrix:
    """Each category stays with one chance; otherwise it becomes one of the others.

    Args:
        counts: records of each category, all above 0.
        stay: the chance to stay.
        rest: whether the others are equally likely, or in proportion to their counts.

    >>> plain_matrix([2, 1, 1], 0.5, "frequency").round(3).tolist()
    [[0.5, 0.25, 0.25], [0.333, 0.5, 0.167], [0.333, 0.167, 0.5]]
    """
    sizes = np.asarray(counts, dtype=np.float64)
    others = np.ones(sizes.size) if rest == "uniform" else sizes
    found = np.tile(others, (sizes.size, 1))
    np.fill_diagonal(found, 0.0)
    found *= (1.0 - stay) / found.sum(axis=1, keepdims=True)
    np.fill_diagonal(found, stay)
    return found


def invariant_matrix(counts: ArrayLike, theta: float) -> Matrix:
    """The invariant matrix: expected counts after it are the counts before.

    With T the counts, K categories: P[a,a] = 1 - theta min(T)/T(a), and
    P[a,b] = theta min(T)/((K-1) T(a)), so that T(a) P[a,b] is the same for all pairs.

    Reference: Gouweleeuw et al. 1998.

    >>> (np.array([6, 3, 1]) @ invariant_matrix([6, 3, 1], 0.5)).round(12).tolist()
    [6.0, 3.0, 1.0]
    """
    sizes = np.asarray(counts, dtype=np.float64)
    leave = theta * sizes.min() / sizes
    found = np.tile((leave / (sizes.size - 1))[:, np.newaxis], (1, sizes.size))
    np.fill_diagonal(found, 1.0 - leave)
    return found


def make_invariant(matrix: ArrayLike, counts: ArrayLike) -> Matrix:
    """A given matrix followed by the one that undoes it in expectation (two-stage PRAM).

    The second is Bayes' rule, Q[k,l] = P[l,k] T(l) / sum_j P[j,k] T(j), so T P Q = T.

    Reference: Kooiman, Willenborg & Gouweleeuw 1997.

    >>> both = make_invariant([[0.9, 0.1], [0.4, 0.6]], [3, 1])
    >>> (np.array([3, 1]) @ both).round(12).tolist()
    [3.0, 1.0]
    """
    first = np.asarray(matrix, dtype=np.float64)
    joint = first * np.asarray(counts, dtype=np.float64)[:, np.newaxis]
    reached = joint.sum(axis=0)
    # A category that nothing becomes is never left either: any row will do.
    back = np.where(reached > 0, joint / np.where(reached > 0, reached, 1.0), np.eye(len(first)))
    found = first @ back.T
    scaled: Matrix = found / found.sum(axis=1, keepdims=True)
    return scaled


def unbiased_counts(masked: ArrayLike, matrix: ArrayLike) -> Matrix:
    """Counts of the original column, estimated without bias from those of the masked one.

    They are (P')^-1 T: the expected counts after P are P' times those before. An estimate may lie
    below 0.

    Raises:
        InputError: CEL-V221 the matrix is none, CEL-V222 it cannot be inverted.

    Reference: Kooiman, Willenborg & Gouweleeuw 1997.

    >>> unbiased_counts([55, 45], [[0.75, 0.25], [0.25, 0.75]]).round(9).tolist()
    [60.0, 40.0]
    """
    transitions = check_matrix(matrix)
    counts = np.asarray(masked, dtype=np.float64)
    if counts.shape != (len(transitions),) or not is_invertible(transitions):
        raise InputError("CEL-V222", categories=counts.size)
    return np.linalg.solve(transitions.T, counts).astype(np.float64)


def is_invertible(matrix: Matrix) -> bool:
    """Whether counts can be estimated through a matrix without losing all digits."""
    return bool(np.linalg.cond(matrix) < 1e12)


STEP = 2.0**-52
"""More than a chance that is drawn by a float can be off."""


def local_epsilon(matrix: ArrayLike) -> float:
    """The epsilon of one cell under a fixed matrix: the largest ratio of two rows in a column.

    It is rounded up by what chances of drawn floats can be off; infinite where an outcome excludes
    a category.

    Reference: Warner 1965; Kasiviswanathan et al. 2011.

    >>> round(local_epsilon([[0.75, 0.25], [0.25, 0.75]]), 9)
    1.098612289
    >>> local_epsilon([[1.0, 0.0], [0.5, 0.5]])
    inf
    """
    chances = np.asarray(matrix, dtype=np.float64)
    least, most = chances.min(axis=0) - STEP, chances.max(axis=0) + STEP
    if (least <= 0).any():
        return inf
    return float(np.nextafter(np.log(most / least).max() * (1 + STEP), inf))


Codes = NDArray[np.int64]

MOST = 1000
"""More categories than this make a matrix too large to read, which few records fill."""

PRINTED = 100
"""Larger matrices are left out of the facts; the parameters and the counts give them again."""


def _check_rows(value: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(
        tuple(check_number(chance) for chance in check_list(row)) for row in check_list(value)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pram(MaskingMethod):
    """Each category becomes another one with a chance that is published.

    A reader with the matrix can estimate counts without bias (`unbiased_counts`) and can tell of no
    single record whether its category is true. Columns are changed independently of each other.
    Empty cells stay empty. Exactly one of the first three parameters is given.

    Args:
        stay: the chance that a category stays; otherwise it becomes another one.
        theta: invariant PRAM: each category is left with chance theta min(T)/T(a), T being the
            counts, so that expected counts do not change.
        matrix: the chances themselves, one row for each of `values`.
        rest: with `stay`, whether the others are equally likely ('uniform') or in proportion to
            their counts ('frequency').
        invariant: with `stay` or `matrix`, a second change that undoes the first in expectation.
        values: the categories in the order of the matrix; by default the sorted values of the
            column. With a matrix they may hold categories that no record has.

    Guarantee: plausible deniability by the chances of the matrix, none that composes. Invariant
    matrices and those by frequency depend on the counts of the column, and publish them nearly.

    Reference: Gouweleeuw et al. 1998; Kooiman, Willenborg & Gouweleeuw 1997.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"sex": ["f", "m"] * 500})
    >>> masked = Pram(stay=0.75).apply(frame, ["sex"], rng=Seeded(7))
    >>> masked.facts["sex"]["matrix"]
    [[0.75, 0.25], [0.25, 0.75]]
    """

    method_name: ClassVar[str] = "pram"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    reaches: ClassVar[tuple[Reach, ...]] = ("row", "facts")

    stay: float | None = parameter(None, like=NUMBER, least=0, most=1, start=0.8)
    theta: float | None = parameter(None, like=NUMBER, above=0, below=1)
    matrix: tuple[tuple[float, ...], ...] | None = parameter(
        None,
        check=_check_rows,
        allowed="tables.must_be.lists_of_numbers",
        example="[[0.8, 0.2], [0.2, 0.8]]",
    )
    rest: Literal["uniform", "frequency"] = "uniform"
    invariant: bool = False
    values: tuple[str, ...] = parameter((), like=TEXTS, kind="values")

    def check(self) -> None:
        """Refuse two sorts of chances at once, and a matrix that holds none."""
        given = self._exactly_one("stay", "theta", "matrix")
        if given == "theta" and self.invariant:
            raise InputError(
                "CEL-V201.invariant_already",
                method=self.method_name,
                first=given,
                second="invariant",
            )
        if self.matrix is not None:
            check_matrix(self.matrix)
        if self.values and given != "matrix":
            raise InputError(
                "CEL-V201.own_order", method=self.method_name, first="values", second=given
            )

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_columns(frame, columns, self.method_name)
        ready = []
        for name in columns:  # all are checked before anything is drawn
            codes, values = categories(frame, name, self.values or None)
            check_varied(codes[codes >= 0], name, self.method_name)
            counts = np.bincount(codes[codes >= 0], minlength=len(values))
            ready.append((name, codes, values, self._transitions(counts, name)))
        masked, facts = frame, {}
        for done, (name, codes, values, transitions) in enumerate(ready):
            work.progress(Step(Message("masking.stage.pram"), done, len(columns)))
            changed = randomise_codes(codes, transitions, work.rng)
            masked = with_categories(masked, name, changed, values)
            facts[name] = self._facts(codes, changed, transitions)
        return MethodResult(frame=masked, facts=facts)

    @property
    def reach(self) -> Reach:
        """A matrix and its categories may be given; else they are made from the whole column."""
        given = self.matrix is not None and self.values and not self._reads_counts()
        return "row" if given else "facts"

    def cell_function(
        self, column: pl.Series, value_counts: Callable[[], ValueCounts]
    ) -> CellFunction:
        """One matrix for all batches of the column."""
        name = column.name
        if self.reach == "row":
            values = categories(column.to_frame(), name, self.values)[1]
            counts = np.zeros(len(values), dtype=np.int64)
        else:
            counted = value_counts()
            codes, values = categories(counted.values.to_frame(name), name, self.values or None)
            check_varied(codes, name, self.method_name)
            counts = np.zeros(len(values), dtype=np.int64)
            counts[codes] = counted.sizes
        transitions = self._transitions(counts, name)
        return CellFunction(
            partial(_changed, values, transitions),
            self._published(transitions),
            local_epsilon(transitions),
        )

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps = [Message("masking.gap.rare_category")]
        if self._reads_counts():
            gaps.append(Message("masking.gap.published_matrix"))
        return tuple(gaps)

    def _reads_counts(self) -> bool:
        return self.invariant or self.theta is not None or self.rest == "frequency"

    def _transitions(self, counts: Codes, name: str) -> Matrix:
        width = len(counts)
        if self.matrix is None and width > MOST:
            raise InputError("CEL-V220.too_many", width=width, most=MOST, column=name)
        if self.matrix is not None and (width > MOST or len(self.matrix) != width):
            rows = len(self.matrix)
            raise InputError("CEL-V220.other_number", width=width, rows=rows, column=name)
        if self.theta is not None:
            return invariant_matrix(counts, self.theta)
        if self.matrix is not None:
            first = check_matrix(self.matrix)
        else:
            assert self.stay is not None, "one of the three is given"
            first = plain_matrix(counts, self.stay, self.rest)
        return make_invariant(first, counts) if self.invariant else first

    def _facts(self, codes: Codes, changed: Codes, transitions: Matrix) -> dict[str, Any]:
        width = len(transitions)
        after = np.bincount(changed[changed >= 0], minlength=width)
        facts: dict[str, Any] = {"categories": width, "changed": int((codes != changed).sum())}
        facts |= self._published(transitions) | {"estimated_counts": None}
        if width <= PRINTED and is_invertible(transitions):
            facts["estimated_counts"] = unbiased_counts(after, transitions).tolist()
        return facts

    def _published(self, transitions: Matrix) -> dict[str, Any]:
        return {
            "categories": len(transitions),
            "matrix": transitions.tolist() if len(transitions) <= PRINTED else None,
            "matrix_from_counts": self._reads_counts(),
        }


def _changed(values: pl.Series, transitions: Matrix, cells: pl.Series, rng: Source) -> pl.Series:
    frame, name = cells.to_frame(), cells.name
    codes, _ = categories(frame, name, values.to_list())
    return with_categories(
        frame, name, randomise_codes(codes, transitions, rng), values
    ).get_column(name)


def randomise_codes(codes: Codes, transitions: Matrix, rng: Source) -> Codes:
    """Each code replaced by a draw from its row of the matrix; -1 stays.

    >>> from celosia.core.randomness import Seeded
    >>> always = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> randomise_codes(np.array([0, 1, -1]), always, Seeded(7)).tolist()
    [1, 0, -1]
    """
    drawn = uniforms(rng, codes.size)
    steps = np.cumsum(transitions, axis=1)
    # Rounding must not reach a category of chance 0 behind the last one that has any.
    steps[steps >= steps[:, -1:]] = 1.0
    small = np.min_scalar_type(len(transitions))  # small whole numbers are sorted by counting
    order = np.argsort((codes + 1).astype(small), kind="stable")
    ends = np.cumsum(np.bincount(codes + 1, minlength=len(transitions) + 1))
    found = codes.copy()
    for code, (first, last) in enumerate(pairwise(ends.tolist())):
        rows = order[first:last]
        found[rows] = np.searchsorted(steps[code], drawn[rows], side="right")
    return found
