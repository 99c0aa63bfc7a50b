"""Homogeneity: a class in which all people have the same value discloses it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from celosia.assess.attacks.classes import TOLERANCE, classes_and_values, pick
from celosia.assess.attacks.method import CERTAINTY, ClassAttack
from celosia.assess.attacks.result import Attack, Members, singles
from celosia.core.messages import Message
from celosia.core.methods import parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Homogeneity(ClassAttack):
    """The attacker knows the class of a person; see `homogeneity`."""

    certainty: float = parameter(1.0, like=CERTAINTY)

    method_name: ClassVar[str] = "homogeneity"

    def run(
        self,
        release: Any,
        quasi_identifiers: str | Sequence[str],
        sensitive: str,
        *,
        watched: Collection[str] | None = None,
    ) -> Attack:
        return homogeneity(release, quasi_identifiers, sensitive, certainty=self.certainty)


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
    certainty = Homogeneity(certainty=certainty).certainty
    classes, spread = classes_and_values(release, quasi_identifiers, sensitive)
    top = spread.best(spread.share)
    confidence = pick(spread.share, top)
    hit = confidence >= certainty - TOLERANCE
    return Attack(
        name=Message("methods.homogeneity.title"),
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
