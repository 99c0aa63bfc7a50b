"""Background knowledge: the attacker rules out values until few remain in a class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.assess.attacks.classes import (
    TOLERANCE,
    Classes,
    SensitiveView,
    ValueCounts,
    pick,
)
from celosia.assess.attacks.method import CERTAINTY, LEFT, ClassAttack
from celosia.assess.attacks.result import Attack, lists, singles
from celosia.core.messages import Message
from celosia.core.methods import checked, parameter

Labels = Mapping[str, str | None]
"""The quasi-identifiers of a class, by column."""

Excluded = (
    Collection[str]
    | Mapping[tuple[str | None, ...], Collection[str]]
    | Callable[[Labels], Collection[str]]
)
"""Values that the attacker can rule out: the same for all, or by the labels of a class."""


def background(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str,
    excluded: Excluded,
    *,
    left: int = 1,
) -> Attack:
    """The classes in which at most `left` values remain after the attacker has ruled out some.

    Args:
        release: the table as published.
        quasi_identifiers: what the attacker knows about people.
        sensitive: the column that the attacker wants to learn.
        excluded: the values ruled out, for all people; or a mapping from the labels of a class, as
            a tuple in the order of the quasi-identifiers; or a function of these labels by column.
        left: how many values may remain for a class to count as exposed.

    A class in which all is ruled out contradicts the attacker's knowledge; nothing is learnt there.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["<50"] * 3, "ill": ["vomiting", "back pain", "back pain"]})
    >>> background(table, ["age"], "ill", {"vomiting"}).exposed[0].learnt
    ('back pain',)

    Reference: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007.
    """
    left = checked(WorstBackground.method_name, LEFT, left)
    view = SensitiveView.of(release, quasi_identifiers, sensitive)
    classes, spread = view.classes, view.spread
    out, lost = _ruled_out(classes, spread, excluded)
    distinct = np.bincount(spread.owner[~out], minlength=classes.sizes.size)
    hit = (distinct > 0) & (distinct <= left) & (spread.empty == 0)
    top = spread.best(spread.share, ~out)
    already = (spread.distinct <= left) & (spread.empty == 0)
    return view.attack(
        name=Message("assess.attack.background"),
        assumption=Message("assess.knows.background"),
        mitigation=Message("assess.prevent.background"),
        confidence=_confidence(spread, top, out),
        hit=hit,
        learnt=lists(spread.owner[~out], spread.values.gather(spread.value[~out]), hit.size),
        prior=_prior(spread, top, lost),
        exposed_by_the_knowledge=int((hit & ~already).sum()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstBackground(ClassAttack):
    """The attacker can rule out some values, in the worst case; see `worst_background`."""

    exclusions: int = parameter(1, least=0)
    certainty: float = parameter(1.0, like=CERTAINTY)

    method_name: ClassVar[str] = "background"

    def _on(self, view: SensitiveView, watched: Collection[str] | None) -> Attack:
        spread = view.spread
        order, rank = spread.ranked()
        out = np.zeros(order.size, dtype=np.bool_)
        out[order] = (rank >= 1) & (rank <= self.exclusions)
        top = spread.best(spread.share)
        confidence = _confidence(spread, top, out)
        lost = np.zeros(spread.sizes.size)
        np.add.at(lost, spread.owner[out], spread.overall[spread.value[out]])
        return view.attack(
            name=Message("methods.background.title"),
            assumption=Message("assess.knows.worst_background", exclusions=self.exclusions),
            mitigation=Message("assess.prevent.background"),
            confidence=confidence,
            hit=confidence >= self.certainty - TOLERANCE,
            learnt=singles(spread.values, pick(spread.value + 1, top).astype(np.int64) - 1),
            prior=_prior(spread, top, lost),
            exclusions=self.exclusions,
        )


def worst_background(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str,
    *,
    exclusions: int = 1,
    certainty: float = 1.0,
) -> Attack:
    """The same for an attacker who can rule out any `exclusions` values, in the worst case.

    In each class the most frequent value is left and the next most frequent ones are ruled out: no
    other choice makes the attacker surer.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["<50"] * 7, "ill": list("aaabbcd")})
    >>> worst_background(table, ["age"], "ill", exclusions=1).greatest
    0.6
    """
    attack = WorstBackground(exclusions=exclusions, certainty=certainty)
    return attack.run(release, quasi_identifiers, sensitive)


def _confidence(
    spread: ValueCounts, top: NDArray[np.int64], out: NDArray[np.bool_]
) -> NDArray[np.float64]:
    remaining = spread.sizes - spread.total(np.where(out, spread.count, 0))
    confidence: NDArray[np.float64] = pick(spread.count, top) / np.maximum(remaining, 1)
    return confidence


def _prior(
    spread: ValueCounts, top: NDArray[np.int64], lost: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The attacker's chance with the same knowledge and only the distribution in the table."""
    guess = pick(spread.overall[spread.value], top)
    chance: NDArray[np.float64] = np.minimum(guess / np.maximum(1 - lost, TOLERANCE), 1.0)
    return chance


def _ruled_out(
    classes: Classes, spread: ValueCounts, excluded: Excluded
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which entries are ruled out, and the share of the whole table that each class rules out."""
    out = np.zeros(spread.owner.size, dtype=np.bool_)
    lost = np.zeros(spread.sizes.size)
    place = {text: number for number, text in enumerate(spread.values)}
    starts = np.searchsorted(spread.owner, np.arange(spread.sizes.size + 1)).tolist()
    for number, banned in enumerate(_exclusions(classes, excluded)):
        codes = [place[text] for text in banned if text in place]
        entries = slice(starts[number], starts[number + 1])
        out[entries] = np.isin(spread.value[entries], codes)
        lost[number] = spread.overall[codes].sum() if codes else 0.0
    return out, lost


def _exclusions(classes: Classes, excluded: Excluded) -> Iterator[frozenset[str]]:
    """What the attacker rules out in each class."""
    if callable(excluded):
        return (frozenset(excluded(row)) for row in classes.labels.iter_rows(named=True))
    if isinstance(excluded, Mapping):
        return (frozenset(excluded.get(row, ())) for row in classes.labels.iter_rows())
    common = frozenset({excluded} if isinstance(excluded, str) else excluded)
    return repeat(common, classes.sizes.size)
