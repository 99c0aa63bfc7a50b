"""Thresholds and chances of private keys, and ZEALOUS where it is the Laplace threshold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row, compare
from celosia.lab.tolerance import EXACT, Cell, Tolerance
from celosia.logs import Transactions
from celosia.logs.private import (
    GaussianKeys,
    LaplaceKeys,
    OptimalKeys,
    PrivateItemsets,
    SipsKeys,
    key_data,
)
from celosia.logs.private.thresholds import (
    STEPS,
    gaussian_deviation,
    gaussian_threshold,
    korolova_printed,
    korolova_threshold,
)
from celosia.mechanisms.noise import DiscreteLaplace

EPSILON, DELTA = 1, 1e-5
_DIGITS = Tolerance(absolute=6e-4, why=Message("lab.tolerance.last_digit"))
_DEVIATION = Tolerance(absolute=6e-6, why=Message("lab.tolerance.last_digit"))
_GRID = Tolerance(absolute=2e-3, why=Message("lab.tolerance.grid_of_thresholds"))

PUBLISHED = {1: (11.820, 11.820), 5: (63.146, 67.146), 20: (277.310, 296.310)}
"""For m keys a person: the threshold for distinct keys, and as Korolova et al. 2009 print it."""

OPTIMAL = {1: (12, 23), 5: (55, 110), 20: (217, 434)}
"""Persons from which on a key is named with a chance of a half, and always."""

GAUSSIAN = {1: 18.157, 20: 19.747, 100: 20.790}


def zealous_chance(count: int, *, scale: Fraction, first: int, second: int) -> float:
    """The chance that ZEALOUS releases an item of a count, with discrete noise.

    (1) items with a true count below `first` are dropped; (2) the others get Laplace noise; (3)
    those above `second` are released. With first = 1 nothing is dropped that has a count at all,
    and it is the Laplace threshold. Reference: Goetz, Machanavajjhala, Wang, Xiao and Gehrke 2012.
    """
    if count < first:
        return 0.0
    return DiscreteLaplace(scale).tail(second + 1 - count)


def rows(progress: Progress) -> Iterable[Row]:
    """Every cell, computed again."""
    progress(Step(Message("lab.studies.logs.keys.title"), 0))
    for m, (ours, printed) in PUBLISHED.items():
        yield _row(f"m={m}", "threshold", ours, korolova_threshold(EPSILON, DELTA, m), _DIGITS)
        yield _row(
            f"m={m}", "threshold as printed", printed, korolova_printed(EPSILON, DELTA, m), _DIGITS
        )
    laplace = LaplaceKeys(epsilon=EPSILON, delta=DELTA)
    yield _row("discrete", "least noisy count", 13, laplace.threshold, EXACT)
    low = LaplaceKeys(epsilon=0.5, delta=1e-6)
    yield _row("discrete, 1/2, 1e-6", "least noisy count", 28, low.threshold, EXACT)
    for m, (half, certain) in OPTIMAL.items():
        rule = OptimalKeys(epsilon=EPSILON, delta=DELTA, per_person=m)
        yield _row(f"optimal, m={m}", "named half the time", half, rule.least_persons, EXACT)
        yield _row(f"optimal, m={m}", "always named", certain, rule.certain_persons, EXACT)
    sigma = gaussian_deviation(EPSILON, DELTA / 2)
    yield _row("gaussian", "deviation", 3.88414, sigma, _DEVIATION)
    for m, threshold in GAUSSIAN.items():
        found = gaussian_threshold(sigma, DELTA / 2, m)
        yield _row(f"gaussian, m={m}", "threshold", threshold, found, _DIGITS)
    drawn = GaussianKeys(epsilon=EPSILON, delta=DELTA, per_person=20)
    yield _row("gaussian, drawn", "threshold", 19.747, drawn.threshold, _GRID)
    yield from _rounds()
    yield from _itemsets()
    same = all(
        zealous_chance(n, scale=laplace.law.scale, first=1, second=laplace.threshold - 1)
        == laplace.chance(n)
        for n in range(60)
    )
    yield _row("ZEALOUS with a first threshold of 1", "is the Laplace threshold", "yes",
               "yes" if same else "no", EXACT)  # fmt: skip


def _rounds() -> Iterator[Row]:
    """DP-SIPS: what the rounds cost together is what one release of all costs."""
    sips = SipsKeys(epsilon=EPSILON, delta=DELTA, per_person=20)
    whole = gaussian_deviation(EPSILON, DELTA / 2)
    for number, (share, published) in enumerate(zip(sips.shares, (1, 3, 9), strict=True), 1):
        yield _row(f"DP-SIPS, round {number}", "thirteenths", published, int(share * 13), EXACT)
    steps = [float(law.parameter) / STEPS**2 for law, _ in sips.laws]
    composed = sum(1 / each for each in steps) ** -0.5
    near = Tolerance(relative=1e-5, why=Message("lab.tolerance.rounded_noise"))
    yield _row("DP-SIPS", "deviation of the rounds composed", whole, composed, near)
    lost = sum(law.tail(bound + 1 - STEPS) for law, bound in sips.laws)
    yield _row("DP-SIPS", "a key of one person is named, below delta / 2", "yes",
               "yes" if lost <= DELTA / 2 else "no", EXACT)  # fmt: skip


BASKETS = (("a", "b", "c"), ("a", "b"), ("a", "b", "c"), ("a", "c"), ("d",))
COUNTED = {"a": 800, "b": 600, "c": 600, "a | b": 600, "a | c": 600, "b | c": 400}


def _itemsets() -> Iterator[Row]:
    """PrivBasis: sets of items counted by bases; at a large epsilon the noise is below a half."""
    sets = Transactions.of(BASKETS * 200)
    price = PrivateItemsets(epsilon=1, delta=DELTA, per_person=3, items=4, top=8)
    found = replace(price, epsilon=60).measure(key_data(sets), rng=Seeded(1)).value
    for name, count in COUNTED.items():
        yield _row("private itemsets, epsilon 60", name, count, found.get(name, 0), EXACT)
    yield _row("private itemsets", "three steps cost epsilon", 1.0, float(3 * price.third),
               Tolerance(absolute=1e-8, why=Message("lab.tolerance.digits")))  # fmt: skip


def _row(run: str, cell: str, stated: Cell, computed: Cell, near: Tolerance) -> Row:
    return compare(run, cell, stated, computed, near, kind="program")
