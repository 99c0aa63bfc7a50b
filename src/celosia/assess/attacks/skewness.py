"""Skewness: a class whose distribution is far from that of the table discloses much."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.assess.attacks.classes import (
    TOLERANCE,
    SensitiveView,
    ValueCounts,
    pick,
)
from celosia.assess.attacks.method import ClassAttack
from celosia.assess.attacks.result import Attack, singles
from celosia.core.messages import Message
from celosia.core.methods import parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Skewness(ClassAttack):
    """The attacker compares a class with the whole table; see `skewness`."""

    gain: float = parameter(0.2, above=0, most=1)

    method_name: ClassVar[str] = "skewness"

    def _on(self, view: SensitiveView, watched: Collection[str] | None) -> Attack:
        spread = view.spread
        keep = np.ones(spread.owner.size, dtype=np.bool_)
        if watched is not None:
            wanted = {watched} if isinstance(watched, str) else set(watched)
            watched_value = np.array([text in wanted for text in spread.values], dtype=np.bool_)
            keep = watched_value[spread.value]
        before = spread.overall[spread.value]
        top = spread.best(spread.share - before, keep)
        confidence, prior = pick(spread.share, top), pick(before, top)
        effective = _effective_by_class(spread)
        ratio = (spread.share / before)[keep]
        return view.attack(
            name=Message("methods.skewness.title"),
            assumption=Message("assess.knows.skewness"),
            mitigation=Message("assess.prevent.skewness"),
            confidence=confidence,
            hit=confidence - prior >= self.gain - TOLERANCE,
            learnt=singles(spread.values, pick(spread.value + 1, top).astype(np.int64) - 1),
            prior=prior,
            greatest_ratio=float(ratio.max()) if ratio.size else None,
            effective_values_of_table=effective_values(spread.overall),
            least_effective_values=float(effective.min()) if effective.size else None,
        )


def skewness(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str,
    *,
    watched: Collection[str] | None = None,
    gain: float = 0.2,
) -> Attack:
    """The classes in which some value is likelier, by at least `gain`, than in the whole table.

    Args:
        release: the table as published.
        quasi_identifiers: what the attacker knows of people.
        sensitive: the column that the attacker wants to learn.
        watched: the values that matter, such as a positive test; all of them if not given.
        gain: the rise of the chance, from table to class, at which a class counts as exposed.

    Each class shows the value whose chance rose most: `confidence` is its share in the class and
    `prior` that in the table. The facts have the greatest ratio of the two, and the effective
    number of values, which is what entropy l-diversity goes by, of the table and of the poorest
    class: it cannot see the difference between 49 ill with one healthy and 49 healthy with one ill.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["<50"] * 2 + [">=50"] * 98, "test": ["+"] + ["-"] * 99})
    >>> found = skewness(table, ["age"], "test", watched={"+"})
    >>> found.exposed_people, found.greatest, found.facts["greatest_ratio"]
    (2, 0.5, 50.0)

    Reference: Li, Li, Venkatasubramanian 2007.
    """
    given = release, quasi_identifiers, sensitive
    return Skewness(gain=gain).run(*given, watched=watched)


def effective_values(counts: Iterable[float]) -> float:
    """How many equally common values have the same entropy: exp(H), the l of entropy l-diversity.

    >>> round(effective_values([49, 1]), 4), round(effective_values([990, 10]), 4)
    (1.103, 1.0576)
    """
    amounts = np.array([count for count in counts if count > 0], dtype=np.float64)
    shares = amounts / amounts.sum() if amounts.size else amounts
    return float(np.exp(-(shares * np.log(shares)).sum())) if amounts.size else 0.0


def _effective_by_class(spread: ValueCounts) -> NDArray[np.float64]:
    filled = spread.sizes - spread.empty
    share = spread.count / filled[spread.owner]
    entropy = np.bincount(spread.owner, -share * np.log(share), minlength=filled.size)
    return np.exp(entropy)[filled > 0]
