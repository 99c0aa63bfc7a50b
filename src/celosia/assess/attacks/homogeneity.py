"""Homogeneity: a class in which all people have the same value discloses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.assess.attacks.classes import TOLERANCE, check_share, classes_and_values, pick
from celosia.assess.attacks.result import Attack, Members, singles
from celosia.core.messages import Message


def homogeneity(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str,
    *,
    certainty: float = 1.0,
) -> Attack:
    """The classes whose sensitive value is known to an attacker who knows the class.

    No person is linked to a record, and none needs to be. With a `certainty` below 1, classes count
    in which at least that share of the people have one value.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["<50"] * 3 + [">=50"] * 2, "ill": list("aaaab")})
    >>> found = homogeneity(table, ["age"], "ill")
    >>> found.exposed_people, found.exposed[0].learnt
    (3, ('a',))

    Reference: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007.
    """
    certainty = check_share(certainty, Message("assess.number.certainty"))
    classes, spread = classes_and_values(release, quasi_identifiers, sensitive)
    top = spread.best(spread.share)
    confidence = pick(spread.share, top)
    hit = confidence >= certainty - TOLERANCE
    return Attack(
        name=Message("assess.attack.homogeneity"),
        assumption=Message("assess.knows.homogeneity"),
        mitigation=Message("assess.prevent.homogeneity"),
        column=sensitive,
        people=int(classes.sizes.sum()),
        sizes=classes.sizes,
        confidence=confidence,
        hit=hit,
        learnt=singles(spread.values, pick(spread.value + 1, top).astype(int) - 1),
        members=Members.of(classes.of_row, classes.sizes.size),
        prior=pick(spread.overall[spread.value], top),
        facts={"classes": int(classes.sizes.size), "suppressed": classes.suppressed},
    )
