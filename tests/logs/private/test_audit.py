"""Private keys and itemsets from their outputs alone (A12), with faults planted on purpose."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from celosia.assess.audit import audit
from celosia.core.randomness import Seeded
from celosia.logs.private import (
    GaussianKeys,
    KeyData,
    KeyMechanism,
    LaplaceKeys,
    OptimalKeys,
    PrivateItemsets,
    SipsKeys,
    mechanisms,
)
from celosia.logs.private.thresholds import STEPS
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.noise import DiscreteLaplace

KEYS = 9
SAMPLES = 300
itemsets = importlib.import_module("celosia.logs.private.itemsets")  # a function has its name
BASES = PrivateItemsets(epsilon=3, delta=0.01, per_person=KEYS, items=KEYS, top=KEYS)


def data(persons: Iterable[int], keys: int = KEYS) -> KeyData:
    """Persons who all have the same keys."""
    people = np.repeat(np.array(list(persons), dtype=np.int64), keys)
    codes = np.tile(np.arange(keys), len(people) // keys)
    return KeyData(people, codes, pl.Series([f"k{n}" for n in range(keys)]))


def common(keys: int = KEYS) -> tuple[KeyData, KeyData]:
    """Enough persons for every key to be named, and one fewer."""
    return data(range(60), keys), data(range(59), keys)


def alone() -> tuple[KeyData, KeyData]:
    """One person with keys of her own, and nobody."""
    return data(range(1)), data([])


AUDITED: list[Mechanism[KeyData, dict[str, float]]] = [
    LaplaceKeys(epsilon=1, delta=0.1, per_person=KEYS),
    OptimalKeys(epsilon=1, delta=0.1, per_person=KEYS),
    GaussianKeys(epsilon=1, delta=0.1, per_person=KEYS),
    SipsKeys(epsilon=1, delta=0.1, per_person=KEYS),
    PrivateItemsets(epsilon=1, delta=0.1, per_person=KEYS, items=4),
]


def verdict(
    mechanism: Mechanism[KeyData, dict[str, float]], *pair: KeyData, claim: float | None = None
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


@pytest.mark.parametrize("mechanism", AUDITED, ids=lambda each: each.method_name)
@pytest.mark.parametrize("pair", [common(), alone()], ids=["common", "alone"])
def test_an_audit_stays_below_the_promise(
    mechanism: Mechanism[KeyData, dict[str, float]], pair: tuple[KeyData, KeyData]
) -> None:
    assert verdict(mechanism, *pair) != "violated"


def test_an_audit_catches_weights_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person with r keys adds 1 to each instead of 1 / sqrt(r): 6 times too much here."""
    mechanism = GaussianKeys(epsilon=1, delta=0.01, per_person=36)
    assert verdict(mechanism, *common(36)) != "violated"
    ones = np.full(37, STEPS)
    monkeypatch.setattr(mechanisms, "weights", lambda _per_person: ones)
    assert verdict(mechanism, *common(36)) == "violated"


def test_an_audit_catches_rounds_that_all_spend_the_whole_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight rounds, each with the chance of the whole delta for a key of one person."""
    monkeypatch.setattr(SipsKeys, "shares", (Fraction(1),) * 8)
    mechanism = SipsKeys(epsilon=1, delta=0.2, per_person=KEYS, rounds=8)
    assert verdict(mechanism, *alone()) == "violated"


def test_an_audit_catches_persons_who_are_not_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key of a person counts, though the noise is for one."""
    monkeypatch.setattr(
        mechanisms, "bounded_pairs", lambda given, _per_person, _rng: (given.people, given.codes)
    )
    assert verdict(LaplaceKeys(epsilon=1, delta=0.01), *common()) == "violated"
    assert verdict(OptimalKeys(epsilon=1, delta=0.1), *alone()) == "violated"


def test_an_audit_catches_a_threshold_that_ignores_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LaplaceKeys, "threshold", 1)
    mechanism: KeyMechanism = LaplaceKeys(epsilon=1, delta=0.01)
    assert verdict(mechanism, *alone()) == "violated"


def test_an_audit_catches_cells_whose_noise_ignores_the_number_of_bases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nine bases of one item, with noise for a single one; items and pairs are the same always."""
    monkeypatch.setattr(PrivateItemsets, "_pairs", lambda *_given: [])
    monkeypatch.setattr(itemsets, "make_bases", lambda n, _pairs: [(one,) for one in range(n)])
    third = float(BASES.third)
    assert verdict(BASES, *common(), claim=third) != "violated"
    law = DiscreteLaplace
    monkeypatch.setattr(itemsets, "DiscreteLaplace", lambda scale: law(scale / KEYS))
    assert verdict(BASES, *common(), claim=third) == "violated"
