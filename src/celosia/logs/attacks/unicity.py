"""Known items (A5): an attacker knows some queries or items of a person and looks for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.logs.arrays import distinct
from celosia.logs.attacks import _kernels
from celosia.logs.attacks.result import LogAttack
from celosia.logs.sets.transactions import Transactions

KnownItems = Literal["random", "rare"]

_WORDS: dict[KnownItems, tuple[str, str]] = {
    "random": ("logs.attack.known_random", "logs.attack.knows_random"),
    "rare": ("logs.attack.known_rare", "logs.attack.knows_rare"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """For each item of the original, the units of the release that may hold it."""

    starts: NDArray[np.int64]
    units: NDArray[np.int64]
    total: int
    """How many units the release has."""
    owners: NDArray[np.int64] | None = None
    """The person of each unit, where it is known."""
    is_gone: NDArray[np.bool_] | None = None
    """Items that the release has nowhere: the attacker sees that they were removed."""

    @classmethod
    def of(
        cls,
        items: NDArray[np.integer],
        units: NDArray[np.integer],
        *,
        count: int,
        owners: NDArray[np.int64] | None = None,
    ) -> Postings:
        """From pairs of an item and a unit; `count` items there are in the original."""
        total = int(units.max(initial=-1)) + 1
        pairs = distinct(items.astype(np.int64) * max(1, total) + units)
        item, unit = np.divmod(pairs, max(1, total))
        starts = np.searchsorted(item, np.arange(count + 1)).astype(np.int64)
        return cls(starts, unit, total, owners, np.diff(starts) == 0)


def known_items(
    original: Transactions,
    release: Postings | None = None,
    *,
    items: int = 2,
    choice: KnownItems = "random",
    rng: Source,
) -> LogAttack:
    """How many persons are alone with `items` of their items.

    Args:
        original: the items of each person.
        release: where the items are in the release; the original itself if not given.
        items: how many the attacker knows of a person.
        choice: at random, or the rarest ones that the person has, which is the worst case.
        rng: which items are known.
    """
    where = release or postings_of(original)
    targets, known = draw_known(original, items, choice, rng)
    if where.is_gone is not None:
        known = np.where(where.is_gone[known], -1, known)
    counts, last = _kernels.candidate_counts(where.starts, where.units, known, where.total)
    is_one = counts == 1
    if where.owners is not None:
        is_one &= where.owners[np.maximum(last, 0)] == targets
    left_out = original.count - len(targets)
    return singled_out(counts, is_one, items=items, choice=choice, left_out=left_out)


def singled_out(
    counts: NDArray[np.int64],
    is_one: NDArray[np.bool_],
    *,
    items: int,
    choice: KnownItems,
    left_out: int,
) -> LogAttack:
    """The attack of known items, by the candidates that each target has."""
    name, knowledge = _WORDS[choice]
    found = counts > 0
    return LogAttack(
        name=Message(name, items=items),
        assumption=Message(knowledge, items=items),
        mitigation=Message("logs.attack.prevent_known"),
        targets=len(counts),
        exposed=int(is_one.sum()),
        left_out=left_out,
        chance=float(np.mean(1 / counts[found])) if found.any() else 0.0,
        smallest=int(counts[found].min()) if found.any() else None,
    )


def postings_of(original: Transactions) -> Postings:
    """Where the items of transactions are, in themselves."""
    return Postings.of(
        original.items,
        original.owners,
        count=len(original.labels),
        owners=np.arange(original.count),
    )


def draw_known(
    original: Transactions, items: int, choice: KnownItems, rng: Source
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The persons with enough items, and the items that are known of each."""
    lengths = np.diff(original.offsets)
    if choice == "rare":
        keys = original.supports[original.items].astype(np.uint64)
    else:
        keys = rng.words(len(original.items))
    order = np.lexsort((keys, original.owners))
    targets = np.flatnonzero(lengths >= items)
    places = original.offsets[targets][:, None] + np.arange(items)
    return targets, original.items[order][places].astype(np.int64)
