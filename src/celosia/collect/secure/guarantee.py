"""What secure aggregation promises, and whom one has to trust with what."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.collect.secure.tasks import SecureTask
from celosia.core.messages import say
from celosia.core.methods import PlainValues


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureGuarantee(PlainValues):
    """The promise to the sender of one report, and what each party can see and spoil."""

    method: str
    epsilon: float
    """Of the published result, even if one aggregator adds no noise (with a delta of 0)."""
    sensitivity: int
    least: int
    """The fewest valid reports that are added up."""

    def lines(self) -> tuple[str, ...]:
        """The promise in sentences, party by party."""
        return (
            say("collect.secure.trust.result", epsilon=self.epsilon, least=self.least),
            say("collect.secure.trust.alone"),
            say("collect.secure.trust.together"),
            say("collect.secure.trust.exact"),
            say("collect.secure.trust.collector"),
            say("collect.secure.trust.device"),
        )

    def __str__(self) -> str:
        return say("collect.secure.trust.summary", epsilon=self.epsilon)


def secure_guarantee(task: SecureTask) -> SecureGuarantee:
    """What the result of a task promises, if the two aggregators do not work together.

    >>> from celosia.collect import SecureCount
    >>> print(secure_guarantee(SecureCount(epsilon=1)))
    epsilon 1 if the two aggregators do not work together, none if they do
    """
    return SecureGuarantee(
        method=task.method_name,
        epsilon=float(task.epsilon),
        sensitivity=task.sensitivity,
        least=task.least,
    )
