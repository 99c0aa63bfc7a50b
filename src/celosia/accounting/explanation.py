"""All bounds of a composition side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isinf
from typing import Any

from celosia.accounting.advanced_composition import Bound
from celosia.accounting.amounts import check_chance
from celosia.accounting.losses import ComposedLoss, Loss, account_of
from celosia.core.messages import say


@dataclass(frozen=True, slots=True)
class Explanation:
    """What each way of composition says about the same releases."""

    loss: ComposedLoss
    delta: float
    bounds: tuple[Bound, ...]

    @property
    def tightest(self) -> Bound:
        """The bound with the least epsilon; of equal ones the first, which is the simplest."""
        return min(self.bounds, key=lambda bound: bound.epsilon)

    @property
    def tightest_adaptive(self) -> Bound:
        """The least of the bounds that hold for losses chosen on the way as well."""
        return min(
            (bound for bound in self.bounds if bound.adaptive), key=lambda bound: bound.epsilon
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row for each bound, in order of name as computed."""
        best = self.tightest
        return [{**bound.as_dict(), "tightest": bound is best} for bound in self.bounds]

    def as_dict(self) -> dict[str, Any]:
        return {"delta": self.delta, "loss": self.loss.as_dict(), "bounds": self.rows()}

    def __str__(self) -> str:
        width = max(len(str(bound.name)) for bound in self.bounds)
        releases = len(self.loss.parts)
        lines = [
            say(
                "accounting.explanation.heading",
                releases=releases,
                delta=self.delta,
                loss=str(self.loss),
            )
        ]
        for bound in self.bounds:
            value = format_epsilon(bound.epsilon)
            notes = [
                say("accounting.explanation.tightest_mark") if bound is self.tightest else "",
                "" if bound.adaptive else say("accounting.explanation.fixed"),
                str(bound.reason),
            ]
            remark = "; ".join(note for note in notes if note)
            lines.append(f"  {bound.name:<{width}}  {value:>10}  {remark}".rstrip())
        return "\n".join(lines)


def format_epsilon(epsilon: float) -> str:
    """An epsilon as a text in the current language."""
    if isinf(epsilon):
        return say("accounting.explanation.infinite")
    return say("accounting.number", value=epsilon, form=".6g")


def explain(losses: Iterable[Loss], *, delta: float) -> Explanation:
    """The bounds of the epsilon of a list of releases of the same data.

    >>> from celosia.accounting.losses import PureLoss
    >>> print(explain([PureLoss(0.1)] * 100, delta=1e-6))
    100 releases at delta 1e-06: 100 x 0.1-DP
      sum of epsilons                    10
      advanced composition          5.75611  losses fixed in advance
      zero-concentrated             5.22153
      Renyi                         5.07715
      privacy loss distribution     4.77457  <- tightest; losses fixed in advance
    """
    loss = ComposedLoss(tuple(losses))
    wanted = check_chance(delta)
    return Explanation(loss, wanted, account_of(loss.parts).bounds(wanted))
