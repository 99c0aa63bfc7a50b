"""Private keys and itemsets judged by their outputs alone, beside variants that are broken.

Each mechanism releases the keys of two logs that differ in one person: many persons who share all
keys, or one person with keys of her own. The audit must not find more than is promised; of each
broken variant it must.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.audit import audit
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded, Source
from celosia.lab.findings import Row, compare
from celosia.logs.private import (
    GaussianKeys,
    KeyData,
    LaplaceKeys,
    OptimalKeys,
    PrivateItemsets,
    SipsKeys,
)
from celosia.logs.private.thresholds import STEPS
from celosia.mechanisms.mechanism import Measurement, Mechanism

KEYS = 9
SAMPLES = 300
Released = dict[str, float]


class WeightsOfOne(GaussianKeys):
    """Broken: a person with r keys adds 1 to each instead of 1 / sqrt(r)."""

    def choose(
        self, people: NDArray[np.int64], codes: NDArray[np.int64], size: int, rng: Source
    ) -> tuple[NDArray[np.intp], list[float]]:
        sums = np.bincount(codes, minlength=size) * STEPS
        present = np.flatnonzero(sums)
        noisy = sums[present] + self.law.draw(present.size, rng)
        is_named = noisy > self.threshold_steps
        return present[is_named], (noisy[is_named] / STEPS).tolist()


class WholeRounds(SipsKeys):
    """Broken: every round of DP-SIPS spends the whole budget."""

    @property
    def shares(self) -> tuple[Fraction, ...]:
        return (Fraction(1),) * self.rounds


class UnboundedLaplace(LaplaceKeys):
    """Broken: every key of a person counts, though the noise is for one."""

    def measure(self, x: KeyData, *, rng: Source) -> Measurement[Released]:
        places, numbers = self.choose(x.people, x.codes, x.size, rng)
        return Measurement(dict(zip(x.labels.gather(places), numbers, strict=True)))


class UnboundedOptimal(OptimalKeys):
    """Broken in the same way."""

    measure = UnboundedLaplace.measure


class ThresholdOfOne(LaplaceKeys):
    """Broken: the threshold ignores delta."""

    @property
    def threshold(self) -> int:
        return 1


def log_of(persons: Iterable[int], keys: int = KEYS) -> KeyData:
    """Persons who all have the same keys."""
    people = np.repeat(np.array(list(persons), dtype=np.int64), keys)
    codes = np.tile(np.arange(keys), len(people) // keys)
    return KeyData(people, codes, pl.Series([f"k{n}" for n in range(keys)]))


def common(keys: int = KEYS) -> tuple[KeyData, KeyData]:
    """Enough persons for every key to be named, and one fewer."""
    return log_of(range(60), keys), log_of(range(59), keys)


def alone() -> tuple[KeyData, KeyData]:
    """One person with keys of her own, and nobody."""
    return log_of(range(1)), log_of([])


def verdict(
    mechanism: Mechanism[KeyData, Released], *pair: KeyData, claim: float | None = None
) -> str:
    """What an audit says of the sum of all released numbers.

    What one person moves in every key adds up in it.
    """
    found = audit(
        lambda given, rng: float(sum(mechanism.measure(given, rng=rng).value.values())),
        *pair,
        claim=mechanism.privacy_loss() if claim is None else claim,
        samples=SAMPLES,
        rng=Seeded(1),
        last_bits=False,
    )
    return found.verdict


@dataclass(frozen=True)
class _Case:
    """A mechanism, the two logs, and whether its promise is true."""

    mechanism: Mechanism[KeyData, Any]
    pair: tuple[KeyData, KeyData]
    where: str
    is_sound: bool = True


def _cases() -> Iterator[_Case]:
    for mechanism in (
        LaplaceKeys(epsilon=1, delta=0.1, per_person=KEYS),
        OptimalKeys(epsilon=1, delta=0.1, per_person=KEYS),
        GaussianKeys(epsilon=1, delta=0.1, per_person=KEYS),
        SipsKeys(epsilon=1, delta=0.1, per_person=KEYS),
        PrivateItemsets(epsilon=1, delta=0.1, per_person=KEYS, items=4),
    ):
        yield _Case(mechanism, common(), "shared keys")
        yield _Case(mechanism, alone(), "keys of one person")
    weighted = GaussianKeys(epsilon=1, delta=0.01, per_person=36)
    yield _Case(weighted, common(36), "36 shared keys")
    ones = WeightsOfOne(epsilon=1, delta=0.01, per_person=36)
    yield _Case(ones, common(36), "36 shared keys", is_sound=False)
    rounds = WholeRounds(epsilon=1, delta=0.2, per_person=KEYS, rounds=8)
    yield _Case(rounds, alone(), "keys of one person", is_sound=False)
    free = UnboundedLaplace(epsilon=1, delta=0.01)
    yield _Case(free, common(), "shared keys", is_sound=False)
    choosing = UnboundedOptimal(epsilon=1, delta=0.1)
    yield _Case(choosing, alone(), "keys of one person", is_sound=False)
    low = ThresholdOfOne(epsilon=1, delta=0.01)
    yield _Case(low, alone(), "keys of one person", is_sound=False)


def rows(progress: Progress = silent) -> Iterator[Row]:
    """Whether each promise stands, by its outputs alone."""
    for number, case in enumerate(_cases()):
        progress(Step(Message("lab.studies.logs.audits.title"), number))
        expected = "not violated" if case.is_sound else "violated"
        found = verdict(case.mechanism, *case.pair)
        computed = "violated" if found == "violated" else "not violated"
        name = type(case.mechanism).__name__
        yield compare(name, f"promise, {case.where}", expected, computed, kind="promise")
