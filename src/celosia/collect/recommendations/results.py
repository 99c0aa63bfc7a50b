"""Protocols that fit a collection, with what each will be like."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from celosia.collect.recommendations.designs import Need
from celosia.core.messages import say


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A protocol with its parameters, and what it will be like."""

    label: str
    """The protocol, and its variety where it has two."""
    parameters: dict[str, Any]
    """Those that are to be given, with `protocol` and `epsilon`; a domain is yet to be listed."""
    users: int
    error: float
    """The standard error of the count of a rare value."""
    collision_share: float
    """The share of values that collide in its variance; more users do not lower it."""
    report_bits: int
    report_epsilon: float
    lasting_epsilon: float
    """What all reports on one unchanged value cost, however many; infinite without a limit."""
    server_bytes: int
    server_steps: int
    """For counting all reports and estimating all values: each about a nanosecond."""
    needed_epsilon: float | None = None
    """The least epsilon for the target error with this number of users."""
    needed_users: int | None = None
    """The fewest users for the target share with this epsilon."""
    warnings: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The error as a share of all users."""
        return self.error / self.users

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        lasting = self.lasting_epsilon if isfinite(self.lasting_epsilon) else None
        return found | {
            "share": self.share,
            "lasting_epsilon": lasting,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return say(
            "collect.summary.recommendation",
            label=self.label,
            error=self.error,
            share=self.share,
            bits=self.report_bits,
        )


@dataclass(frozen=True, slots=True)
class Recommendations:
    """Protocols that fit, the best first, and those that do not with the reason."""

    need: Need
    epsilon: float | None
    target_error: float | None
    """In users, where there is a target."""
    ranked: tuple[Recommendation, ...]
    left_out: tuple[tuple[str, str], ...]
    sought: str
    """What was looked for: `error`, `epsilon` or `users`."""

    @property
    def best(self) -> Recommendation:
        """The first one."""
        return self.ranked[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "sought": self.sought,
            "users": self.need.users if self.sought != "users" else None,
            "domain": self.need.domain,
            "epsilon": self.epsilon,
            "squares": self.need.squares,
            "target_error": self.target_error,
            "ranked": [each.as_dict() for each in self.ranked],
            "left_out": [{"method": name, "why": why} for name, why in self.left_out],
        }

    def __str__(self) -> str:
        best = self.best
        if self.sought == "epsilon":
            epsilon = best.needed_epsilon
            return say("collect.summary.epsilon_is_enough", epsilon=epsilon, best=best)
        if self.sought == "users":
            return say("collect.summary.users_are_enough", users=best.needed_users, best=best)
        return str(best)
