"""What reports promise their senders, by whom one has to trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from celosia.accounting.amounts import delta_amount
from celosia.accounting.belief import delta_warning
from celosia.collect.protocol import Protocol
from celosia.core.messages import Message, say, say_of
from celosia.core.methods import PlainValues


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleGuarantee(PlainValues):
    """The promise to the sender of one report, under both trust models."""

    method: str
    reports: int
    """The fewest honest reports that are shuffled together."""
    delta: float
    honest_epsilon: float
    """Against the collector, if shuffler and collector do not work together (with `delta`)."""
    colluding_epsilon: float
    """Against both together, and against the shuffler alone; it needs no trust in anybody."""
    is_own_bound: bool
    """Whether the bound is of this protocol; else it is that of any protocol."""

    def lines(self) -> tuple[str, ...]:
        """The promise in sentences, one for each trust model, and what each party can see."""
        own = say("collect.guarantee.own_bound", method=self.method)
        of_any = say("collect.guarantee.any_bound", method=self.method)
        return (
            say_of("collect.guarantee.honest", self, epsilon=self.honest_epsilon),
            say("collect.guarantee.colluding", epsilon=self.colluding_epsilon),
            own if self.is_own_bound else of_any,
            say("collect.guarantee.seen"),
            *([] if self.warning is None else [say("collect.guarantee.warning", of=self.warning)]),
        )

    @property
    def warning(self) -> Message | None:
        """Where delta is not below one in the number of reports."""
        return delta_warning(self.delta, self.reports)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        warned = [] if self.warning is None else [self.warning]
        return PlainValues.as_dict(self) | {"warnings": warned}

    def __str__(self) -> str:
        return Message(
            "collect.guarantee.summary",
            honest=self.honest_epsilon,
            colluding=self.colluding_epsilon,
            delta=self.delta,
        )


def shuffle_guarantee(protocol: Protocol, *, reports: int, delta: float = 1e-8) -> ShuffleGuarantee:
    """What shuffled reports promise, if the shuffler is honest and if it is not.

    >>> from celosia.collect import KaryResponse
    >>> protocol = KaryResponse(epsilon=4, domain=("car", "bus", "bike"))
    >>> print(shuffle_guarantee(protocol, reports=100_000))
    epsilon 0.1493 (delta 1e-08) if the shuffler is honest, epsilon 4 if it is not

    Args:
        protocol: of the reports.
        reports: the fewest honest ones that are shuffled together.
        delta: the chance that the promise fails, with an honest shuffler.

    Raises:
        InputError: CEL-I060 the number or the delta is wrong.
    """
    failure = float(delta_amount(delta))
    loss = protocol.shuffled(reports)
    return ShuffleGuarantee(
        method=protocol.method_name,
        reports=loss.reports,
        delta=failure,
        honest_epsilon=loss.epsilon(failure),
        colluding_epsilon=loss.pure,
        is_own_bound=protocol.blanket is not None,
    )
