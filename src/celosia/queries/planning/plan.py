"""What will be done to answer a question, before anything is spent: its steps and its parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

from sqlglot import exp

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.core.messages import Message, say, say_of
from celosia.core.methods import PlainValues
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Source
from celosia.queries.algebra import Question
from celosia.queries.bounds.caps import FARTHEST
from celosia.queries.emission import FixedPoint, Target
from celosia.queries.ownership import OwnedRelation
from celosia.queries.planning.aggregates import Derivation, Total

_ROUNDED_UP = Context(prec=12, rounding=ROUND_CEILING)
"""Amounts are bounds: digits that are left out never make one smaller."""


def decimal_amount(value: Fraction) -> Decimal:
    """An amount in plain decimals, rounded up.

    >>> print(*map(decimal_amount, [Fraction(640), Fraction(1, 100), Fraction(1, 3)]))
    640 0.01 0.333333333334
    """
    if value.denominator == 1:
        return Decimal(value.numerator)
    return _ROUNDED_UP.divide(Decimal(value.numerator), Decimal(value.denominator))


def describe_caps(most: int, step: Fraction) -> Message:
    """The caps that one is chosen from, of which each is twice the one before.

    >>> describe_caps(64, Fraction(1)), describe_caps(64_000, Fraction(1, 100))
    ('caps 1, 2, 4, ... up to 64', 'caps 0.01, 0.02, 0.04, ... up to 640')
    """
    first, second, third, last = (decimal_amount(each * step) for each in (1, 2, 4, most))
    return Message("queries.bound.caps", first=first, second=second, third=third, most=last)


Rows = Sequence[Sequence[Any]]
GroupKeys = tuple[tuple[Any, ...], ...]
Executor = Callable[[exp.Expr], Rows]
"""Runs a query in the owner's engine: what comes back is exact, private, and stays here."""
Bounds = tuple[float, float]
MOST_ROWS = 4_000_000
"""Rows that a query of a question may return: they are held in memory."""


@dataclass(frozen=True, slots=True)
class ReleasedValues(PlainValues):
    """Released numbers: one for each group, and what else was released on the way."""

    values: tuple[float, ...]
    released: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> ReleasedValues:
        """What `as_dict` wrote."""
        return cls(tuple(facts["values"]), dict(facts["released"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """The question of a step, the engine, and the owners of rows."""

    question: Question
    target: Target
    owned: OwnedRelation | None = None
    """The rows with their owners, where people (or rows as people) are followed."""

    def question_for(self, totals: Sequence[Total]) -> Question:
        """The question about totals, over rows that have owners where these matter."""
        source = self.question.source if self.owned is None else self.owned.relation
        return Question(source, tuple(each.aggregate for each in totals), self.question.keys)

    @property
    def key_count(self) -> int:
        """How many columns of a result are keys."""
        return len(self.question.keys)


class Step(ABC):
    """A mechanism over some totals, with the query that its exact numbers come from."""

    finds_keys: ClassVar[bool] = False
    """Whether it finds the groups of the answer, see `PartitionSelection`."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What is measured, in order."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """What the plan says of it."""

    @abstractmethod
    def losses(self, groups: int) -> tuple[Loss, ...] | None:
        """The losses of a release; None where nothing finer than epsilon and delta is known."""

    @property
    def labelled(self) -> tuple[tuple[str, Part], ...]:
        """Each name with what the plan says of it."""
        return tuple(zip(self.names, self.parts, strict=True))

    @property
    def passes(self) -> int:
        """How many passes over the rows the engine takes for it, as the deadline counts them."""
        return 2

    def unit(self, number: int) -> Fraction:
        """The value of one step of a measured number."""
        return Fraction(1)

    def cap_unit(self, number: int) -> Fraction:
        """The value of one step of a cap that was chosen for it."""
        return self.unit(number)

    def find(self, execute: Executor, *, rng: Source) -> tuple[GroupKeys, tuple[int, ...]]:
        """The values of each key, and which of their combinations are groups."""
        raise AssertionError("only a step that finds keys is asked for them")

    @abstractmethod
    def queries(self, group_keys: GroupKeys | None) -> Iterator[exp.Expr]:
        """What it asks the engine; where a query depends on a cap yet to choose, for one of them.

        The engine is shown them before anything is charged, so that what it does not understand
        costs nothing.
        """

    @abstractmethod
    def measure(
        self, execute: Executor, *, group_keys: GroupKeys | None, rng: Source
    ) -> tuple[ReleasedValues, ...]:
        """Ask for the exact numbers and add noise to them, one `ReleasedValues` for each name."""

    def prepare(self) -> None:  # noqa: B027 - most have nothing to prepare
        """Load what `measure` needs and an empty database does not, before time begins to run."""

    def empty_rows(self, query: exp.Expr, *, group_keys: GroupKeys | None) -> Rows:
        """What the engine returns for a query of this step where no private row exists.

        Zeros: one row for each group of the public keys, or one row for a query without keys.
        """
        columns = query.expressions
        by_group = bool(columns) and columns[0].alias == "key_1"
        return [(0,) * len(columns)] * (count_groups(group_keys) if by_group else 1)

    @abstractmethod
    def bounds(
        self, number: int, measured: ReleasedValues, confidence: float
    ) -> tuple[Bounds | None, ...]:
        """For each group, between what the exact number lies, in steps; from released numbers."""

    def noise(
        self, number: int, measured: ReleasedValues, confidence: float
    ) -> tuple[int | None, ...]:
        """For each group, what the noise alone does not exceed in size, in steps; None if secret.

        It says how far the number is from the exact one under the caps in force, those that were
        chosen privately included, and nothing of what these caps took away.
        """
        return (None,) * len(measured.values)


def fixed_points(totals: Sequence[Total]) -> dict[str, FixedPoint]:
    """How each sum is put on its grid."""
    return {each.name: each.fixed for each in totals if each.fixed is not None}


def limit_rows(query: exp.Select) -> exp.Select:
    """A query that may return a row for each value or set of people, stopped at too many."""
    return query.limit(MOST_ROWS + 1, copy=False)


def check_row_count(rows: Rows) -> Rows:
    """The rows of a limited query.

    Raises:
        MemoryError: they are too many; a failure like any other (see `Vault.sql`).
    """
    if len(rows) > MOST_ROWS:
        raise MemoryError
    return rows


def clamp_total(total: Any) -> int:
    """A total of the engine, cut off where noise cannot follow.

    Cutting off moves two numbers closer, never apart, so no sensitivity grows by it; and no size of
    the data can make an answer fail.
    """
    return max(-FARTHEST, min(FARTHEST, int(total)))


def count_groups(group_keys: GroupKeys | None) -> int:
    """How many groups there are."""
    count = 1
    for values in group_keys or ():
        count *= len(values)
    return count


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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Part:
        """Read what `as_dict` wrote."""
        return cls(
            name=values["name"],
            mechanism=values["mechanism"],
            bound=values["bound"],
            epsilon=Fraction(str(values["epsilon"])),
            delta=Fraction(str(values["delta"])),
            error=values["error"],
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "mechanism": self.mechanism,
            "bound": self.bound,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "error": self.error,
        }

    def __str__(self) -> str:
        return say_of("queries.plan.part", self, error=_describe_error(self.error))


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
    """Those of all branches, where it has some."""
    group_keys: tuple[tuple[Any, ...], ...] | None = field(default=None, repr=False)
    """The values of each key of GROUP BY; None where a step finds them."""
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict, repr=False)
    """For each key whose values stand for something else, what is shown in their place."""
    deadline: float = 0.0
    """Seconds after which it is answered, whatever the rows; 0 where only public tables are."""
    price: str | None = None
    """In money, where the policy has a market."""
    branches: tuple[Plan, ...] = field(default=(), repr=False)
    """The plans of questions that are answered apart, see `Question.branches`."""

    def label_keys(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of a group as they are shown."""
        return {
            name: self.labels[name].get(value, value) if name in self.labels else value
            for name, value in keys.items()
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        named = self.question.keys + self.question.aggregates
        return self.question.post_processing.columns or tuple(each.name for each in named)

    @property
    def loss(self) -> Loss | None:
        """The loss of all steps, where more is known of it than epsilon and delta."""
        losses = [
            step.losses(count_groups(each.group_keys))
            for each in self.branches or (self,)
            for step in each.steps
        ]
        if None in losses:
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
            **({} if self.price is None else {"price": self.price}),
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
