"""What will be done to answer a question, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.core.messages import Message, say
from celosia.core.neighbours import Neighbours
from celosia.queries.algebra import Question
from celosia.queries.planning.aggregates import Derivation
from celosia.queries.planning.step import Step, count_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One number (or one for each group) that is measured, and what it costs."""

    name: str
    mechanism: str
    """In words."""
    bound: str
    """What one unit can change, or how that is found."""
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    error: float | None = None
    """The typical size of the noise, in the unit of the answer; None where it is not public."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "mechanism": self.mechanism,
            "bound": self.bound,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "error": self.error,
        }

    def __str__(self) -> str:
        return say(
            "queries.plan.part",
            name=self.name,
            mechanism=self.mechanism,
            bound=self.bound,
            error=_describe_error(self.error),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a question will be answered: made of the policy and the question, never of data."""

    question_text: str
    tree: tuple[str, ...]
    """The tree of the question, each line with the rule that is used there."""
    parts: tuple[Part, ...]
    epsilon: Fraction
    """Of the whole request; 0 where only public tables are asked."""
    delta: Fraction
    """What is charged: 0 where no mechanism needs one."""
    neighbours: Neighbours
    method: str
    notes: tuple[str, ...] = ()
    """What the answer leaves out: rows without an owner. From the policy, never from the data."""
    normalised: str = field(repr=False)
    """The question in the form that is the same whenever the question is."""
    question: Question = field(repr=False)
    """With public tables aggregated where they multiply rows, see `preaggregation`."""
    original: Question = field(repr=False)
    """In terms of the tables of the policy; mostly the same."""
    derivations: tuple[Derivation, ...] = field(repr=False)
    steps: tuple[Step, ...] = field(repr=False)
    group_keys: tuple[tuple[Any, ...], ...] | None = field(default=None, repr=False)
    """The values of each key of GROUP BY; None where a step finds them."""
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict, repr=False)
    """For each key whose values stand for something else, what is shown in their place."""
    deadline: float = 0.0
    """Seconds after which it is answered, whatever the rows; 0 where only public tables are."""

    def label_keys(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of a group as they are shown."""
        return {
            name: self.labels[name].get(value, value) if name in self.labels else value
            for name, value in keys.items()
        }

    @property
    def loss(self) -> Loss | None:
        """The loss of all steps, where more is known of it than epsilon and delta."""
        losses = [step.losses(count_groups(self.group_keys)) for step in self.steps]
        if self.delta or None in losses:
            return None
        return ComposedLoss(tuple(loss for listed in losses for loss in listed or ()))

    @property
    def parameters(self) -> dict[str, Any]:
        """What else changes the answer, without names that the text may choose freely."""
        parts = [
            [each.mechanism, each.bound, str(each.epsilon), str(each.delta)] for each in self.parts
        ]
        # Released numbers are kept in steps: a plan with other steps cannot take them for its own.
        units = [str(step.unit(at)) for step in self.steps for at in range(len(step.names))]
        return {"method": self.method, "parts": parts, "units": units}

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "question": self.question_text,
            "tree": list(self.tree),
            "parts": [each.as_dict() for each in self.parts],
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "neighbours": self.neighbours.message,
            "method": self.method,
            "notes": list(self.notes),
            "deadline": self.deadline,
        }

    def __str__(self) -> str:
        cost = _describe_cost(self.epsilon, self.delta)
        words = self.neighbours.message
        lines = [say("queries.plan.summary", method=self.method, cost=cost, neighbours=words)]
        if self.deadline:
            lines.append(say("queries.plan.deadline", seconds=self.deadline))
        notes = [say("queries.plan.note", note=each) for each in self.notes]
        return "\n".join([*lines, *map(str, self.parts), *map(str, self.tree), *notes])


def _describe_cost(epsilon: Fraction | float, delta: Fraction | float = 0) -> Message:
    """The price of a question in words."""
    if delta:
        return Message("queries.plan.epsilon_delta", epsilon=float(epsilon), delta=float(delta))
    return Message("queries.plan.epsilon", epsilon=float(epsilon))


def _describe_error(error: float | None) -> Message:
    if error is None:
        return Message("queries.plan.secret_error")
    if error >= 1000:
        return Message("queries.plan.large_error", error=error)
    return Message("queries.plan.error", error=error)
