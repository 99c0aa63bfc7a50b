"""Homogeneity: a class in which all people have the same value discloses it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from celosia.assess.attacks.classes import TOLERANCE, SensitiveView, pick
from celosia.assess.attacks.method import CERTAINTY, ClassAttack
from celosia.assess.attacks.result import Attack, singles
from celosia.core.messages import Message
from celosia.core.methods import parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Homogeneity(ClassAttack):
    """The attacker knows the class of a person; see `homogeneity`."""

    certainty: float = parameter(1.0, like=CERTAINTY)

    method_name: ClassVar[str] = "homogeneity"

    def _on(self, view: SensitiveView, watched: Collection[str] | None) -> Attack:
        classes, spread = view.classes, view.spread
        top = spread.best(spread.share)
        confidence = pick(spread.share, top)
        return view.attack(
            name=Message("methods.homogeneity.title"),
            assumption=Message("assess.knows.homogeneity"),
            mitigation=Message("assess.prevent.homogeneity"),
            confidence=confidence,
            hit=confidence >= self.certainty - TOLERANCE,
            learnt=singles(spread.values, pick(spread.value + 1, top).astype(int) - 1),
            prior=pick(spread.overall[spread.value], top),
            suppressed=classes.suppressed,
        )


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
    return Homogeneity(certainty=certainty).run(release, quasi_identifiers, sensitive)
