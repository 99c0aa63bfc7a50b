"""The sparse vector: scales, accuracy, allocation of the budget.

All from the formulae in use, with the scales of the mechanisms themselves where they have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import log, sqrt

from celosia.core.messages import Message
from celosia.core.progress import Progress
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.mechanisms.sparse_variants import variants
from celosia.mechanisms import AboveThreshold, NumericSparse, Sparse, SparseVector
from celosia.mechanisms.sparse import analysis, scales

compare_equal, compare_printed = comparing("program")

DEVIATIONS = (
    (1, False, None, "5.89"),
    (1, False, 1.0, "6.32"),
    (10, False, None, "34.23"),
    (10, False, 1.0, "56.64"),
    (10, False, 3.0, "38.13"),
    (100, False, None, "295.3"),
    (100, False, 1.0, "565.7"),
    (100, False, 3.0, "377.2"),
    (10, True, None, "18.95"),
    (10, True, 1.0, "28.43"),
    (100, True, None, "151.4"),
    (100, True, 1.0, "282.9"),
)
"""Positives, whether monotone, the split (None: the best), and the standard deviation.

The last one was at first computed as 282.8, which leaves out the noise of the threshold: the root
of 2 (200^2 + 2^2) is 282.857.
"""

SHARES = (
    (1, False, ".38649"),
    (10, False, ".11950"),
    (100, False, ".02841"),
    (1, True, ".5"),
    (10, True, ".17726"),
    (100, True, ".04436"),
)
"""Positives, whether monotone, and what of epsilon the threshold gets."""


def rows(progress: Progress) -> list[Row]:
    """Scales, errors, allocations, and the six published variants."""
    return [*_scales(), *_errors(), *_allocation(), *variants()]


def _scales() -> Iterator[Row]:
    run = Message("lab.mechanisms.scales_at_epsilon_1")
    above = AboveThreshold(1.0, threshold=0).scales
    yield compare_equal(run, "lab.mechanisms.abovethreshold_threshold", 2.0, float(above.threshold))
    yield compare_equal(run, "lab.mechanisms.abovethreshold_queries", 4.0, float(above.query))
    standard = SparseVector(1.0, threshold=0, split=1).scales
    yield compare_equal(
        run, "lab.mechanisms.sparsevector_with_c_1_split_1", 2.0, float(standard.threshold)
    )
    yield compare_equal(
        run, "lab.mechanisms.sparsevector_with_c_1_split_1_2", 4.0, float(standard.query)
    )
    for positives, pure, text in ((10, 20.0, "66.4903"), (1000, 2000.0, "664.903")):
        ours = Sparse(1.0, threshold=0, positives=positives).scales
        yield compare_equal(
            run,
            Message("lab.mechanisms.sparse_c", positives=positives),
            pure,
            float(ours.threshold),
        )
        loose = scales.textbook_scale(1, positives=positives, delta=1e-6)
        yield compare_printed(
            run, Message("lab.mechanisms.sparse_c_delta_1e_6_as", positives=positives), text, loose
        )
    numeric = NumericSparse(1.0, threshold=0, positives=10).scales
    yield compare_equal(
        run, "lab.mechanisms.numericsparse_c_10_released_numbers", 90.0, float(numeric.release or 0)
    )
    find, tell = scales.numeric_shares(Fraction(1), approximate=True)
    yield compare_printed(
        run, "lab.mechanisms.numericsparse_with_a_delta_share_for", ".957676", float(find)
    )
    yield compare_printed(
        run, "lab.mechanisms.twice_the_share_for_telling", ".0846474", 2 * float(tell)
    )
    for approximate in (False, True):
        total = sum(scales.numeric_shares(Fraction(1), approximate=approximate))
        kind = Message("lab.mechanisms.with_a_delta" if approximate else "lab.mechanisms.pure")
        yield compare_equal(
            run, Message("lab.mechanisms.numericsparse_both_shares", kind=kind), 1.0, float(total)
        )
    least = 8 * log(1e6)
    yield compare_printed(run, "lab.mechanisms.positives_from_which_delta_1e_6", "110.5", least)


def _errors() -> Iterator[Row]:
    run = Message("lab.mechanisms.errors_for_1000_queries_failure_0")
    found = analysis.above_threshold_error(1, queries=1000, failure=0.05)
    tight = analysis.tight_error(2, 4, queries=1000, failure=0.05)
    yield compare_printed(run, "AboveThreshold", "84.7731", found)
    yield compare_printed(run, "lab.mechanisms.abovethreshold_tighter", "49.42", tight)
    for name, bound, pure, loose in (
        ("Sparse", analysis.sparse_error, "488.243", "2295.51"),
        ("NumericSparse", analysis.numeric_sparse_error, "580.465", "2595.84"),
    ):
        plain = bound(1, positives=5, queries=1000, failure=0.05)
        mixed = bound(1, positives=5, queries=1000, failure=0.05, delta=1e-6)
        yield compare_printed(run, f"{name}, c = 5", pure, plain)
        yield compare_printed(
            run, Message("lab.mechanisms.c_5_delta_1e_6", name=name), loose, mixed
        )


def _allocation() -> Iterator[Row]:
    for positives, monotone, split, text in DEVIATIONS:
        name = (
            Message("lab.mechanisms.best_split")
            if split is None
            else Message("lab.mechanisms.split_1", split=split)
        )
        slip = Message("lab.mechanisms.printed_as_282_8") if text == "282.9" else ""
        found = sqrt(
            scales.comparison_variance(1, positives=positives, ratio=split, monotone=monotone)
        )
        yield compare_printed(
            _allocated(monotone=monotone),
            Message("lab.mechanisms.c_deviation", positives=positives, name=name, slip=slip),
            text,
            found,
        )
    for positives, monotone, text in SHARES:
        mechanism = SparseVector(1.0, threshold=0, positives=positives, monotone=monotone)
        share = float(mechanism.parts(Fraction(1))[0])
        yield compare_printed(
            _allocated(monotone=monotone),
            Message("lab.mechanisms.c_share_of_the_threshold", positives=positives),
            text,
            share,
        )
    for positives, monotone in ((1, False), (10, False), (100, False), (1, True), (10, True)):
        yield from _least(positives, monotone=monotone)


def _allocated(*, monotone: bool) -> Message:
    """The run of an allocation."""
    if monotone:
        return Message("lab.mechanisms.allocation_monotone")
    return Message("lab.mechanisms.allocation_general")


def _least(positives: int, *, monotone: bool) -> Iterator[Row]:
    """The split and the variance at the least noise, by search against their formulae."""
    from scipy.optimize import minimize_scalar

    def variance(ratio: float) -> float:
        return scales.comparison_variance(1, positives=positives, ratio=ratio, monotone=monotone)

    best = minimize_scalar(variance, bounds=(0.5, 50), method="bounded", options={"xatol": 1e-9})
    formula = scales.optimal_split(positives, monotone=monotone)
    run = _allocated(monotone=monotone)
    # Near its bottom a parabola is flat: half of the digits of a float tell its place.
    yield compare_printed(
        run,
        Message("lab.mechanisms.c_best_split_by_search", positives=positives),
        f"{formula:.4f}",
        float(best.x),
        kind="theory",
    )
    yield compare_equal(
        run,
        Message("lab.mechanisms.c_2_1_split_3", positives=positives),
        2 * (1 + formula) ** 3,
        float(best.fun),
        kind="theory",
    )
