"""One pass over the data and the noise that its numbers get."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from celosia.accounting.losses import Loss
from celosia.core.randomness import Source
from celosia.queries.algebra import Question
from celosia.queries.bounds.caps import FARTHEST
from celosia.queries.emission import FixedPoint, Target
from celosia.queries.ownership import OwnedRelation
from celosia.queries.planning.aggregates import Total

if TYPE_CHECKING:
    from celosia.queries.planning.plan import Part

Rows = Sequence[Sequence[Any]]
GroupKeys = tuple[tuple[Any, ...], ...]
Executor = Callable[[exp.Expr], Rows]
"""Runs a query in the owner's engine: what comes back is exact, private, and stays here."""
Bounds = tuple[float, float]
MOST_ROWS = 4_000_000
"""Rows that a query of a question may return: they are held in memory."""


@dataclass(frozen=True, slots=True)
class ReleasedValues:
    """Released numbers: one for each group, and what else was released on the way."""

    values: tuple[float, ...]
    released: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"values": list(self.values), "released": dict(self.released)}

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
