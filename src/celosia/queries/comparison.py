"""The true answers of questions beside private ones: for the curator, and never for an analyst.

Nothing is released, and so nothing is charged: a comparison is made of the owner's own database,
with noise that is drawn anew and kept nowhere. What it shows contains true answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, Step, silent
from celosia.queries.algebra import Question, scans
from celosia.queries.emission.target import Target
from celosia.queries.planning.planner import compile_query
from celosia.queries.planning.public_queries import PublicStep
from celosia.queries.post_processing import post_process
from celosia.queries.results import execute_plan

if TYPE_CHECKING:
    from celosia.core.randomness import Source
    from celosia.queries.planning.plan import Executor, Plan
    from celosia.queries.policy.values import Policy
    from celosia.queries.request import QueryRequest

Row = Mapping[str, Any]
LEAST_REPEATS = 100
"""Runs of which averages say something: the standard error of a mean is then a tenth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSummary(PlainValues):
    """How far the private values of one number were from the true one, over all runs."""

    runs: int
    mean_absolute: float
    root_mean_square: float
    mean_relative: float | None
    """Of the absolute value of the true one; None where that is 0."""
    median_relative: float | None

    @classmethod
    def of(cls, true: float, found: Sequence[float]) -> ErrorSummary:
        """The errors of some private values.

        >>> ErrorSummary.of(100.0, [50.0, 200.0]).mean_relative
        0.75
        """
        errors = [abs(each - true) for each in found]
        relative = [each / abs(true) for each in errors] if true else None
        return cls(
            runs=len(errors),
            mean_absolute=fmean(errors),
            root_mean_square=sqrt(fmean(each * each for each in errors)),
            mean_relative=None if relative is None else fmean(relative),
            median_relative=None if relative is None else median(relative),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberComparison:
    """One number of an answer: the true value, and the private ones of each run."""

    group: tuple[Any, ...]
    """The keys of GROUP BY; empty without any."""
    name: str
    true: float | None
    """None where the true answer has no such group."""
    private: tuple[float, ...] = field(repr=False)
    """Of the runs that released the group."""

    @property
    def errors(self) -> ErrorSummary | None:
        """None where one side has no number."""
        if self.true is None or not self.private:
            return None
        return ErrorSummary.of(self.true, self.private)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = self.errors
        return {
            "group": list(self.group),
            "name": self.name,
            "true": self.true,
            "private": self.private[0] if self.private else None,
            "mean_private": fmean(self.private) if self.private else None,
            "errors": None if found is None else found.as_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A question with its plan, its true answer and private ones; it contains true answers."""

    name: str
    plan: Plan = field(repr=False)
    shape: str
    joins: int
    runs: int
    numbers: tuple[NumberComparison, ...]

    @property
    def median_relative(self) -> float | None:
        """The median over its numbers of their median relative errors."""
        known = [each.median_relative for each in self._errors]
        listed = [each for each in known if each is not None]
        return median(listed) if listed else None

    @property
    def mean_relative(self) -> float | None:
        """The mean over its numbers of their mean relative errors."""
        known = [each.mean_relative for each in self._errors]
        listed = [each for each in known if each is not None]
        return fmean(listed) if listed else None

    @property
    def _errors(self) -> list[ErrorSummary]:
        return [each.errors for each in self.numbers if each.errors is not None]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with a warning as the first of them."""
        return {
            "contains_true_answers": True,
            "charged": False,
            "name": self.name,
            "shape": self.shape,
            "joins": self.joins,
            "runs": self.runs,
            "epsilon": float(self.plan.epsilon),
            "numbers": [each.as_dict() for each in self.numbers],
            "plan": self.plan.as_dict(),
        }


def compare(
    plan: Plan,
    request: QueryRequest,
    policy: Policy,
    execute: Executor,
    *,
    rng: Source,
    runs: int = 1,
    name: str = "",
    progress: Progress = silent,
    exact: Callable[[str], Sequence[Row]] | None = None,
) -> Comparison:
    """The true answer of a question, and private ones; nothing is charged, nothing is released.

    Args:
        plan: how the question is answered.
        request: the question.
        policy: what is declared.
        execute: runs a query of the engine.
        rng: where noise comes from.
        runs: how often the question is answered privately.
        name: what the question is called.
        progress: called before each run.
        exact: the true rows of a text, where the engine has no SQL.
    """
    question = compile_query(request.query, policy, execute)
    target = Target(policy=policy, dialect=policy.database.kind)
    true = exact(request.query) if exact else true_rows(question, plan, target, execute)
    steps = question.post_processing
    keys = [each.name for each in question.keys if each.name in steps.columns]
    private: list[list[Row]] = []
    for run in range(runs):
        progress(Step(Message("queries.comparison.stage"), run, runs))
        if plan.method == "public":
            private.append(list(true))
        else:
            outcome = execute_plan(plan, execute, rng=rng)
            private.append([row for row, _ in outcome.table(request.confidence)])
    joins = max(len(scans(each.source)) for each in question.each) - 1
    kinds = ", ".join(dict.fromkeys(each.kind for each in question.aggregates))
    shape = say(
        "queries.comparison.shape_groups" if question.keys else "queries.comparison.shape",
        kinds=kinds,
        joins=joins,
    )
    return Comparison(
        name=name,
        plan=plan,
        shape=shape,
        joins=joins,
        runs=runs,
        numbers=tuple(_numbers(true, private, keys)),
    )


def true_rows(question: Question, plan: Plan, target: Target, execute: Executor) -> list[Row]:
    """The rows of the exact answer, those of all branches below each other."""
    if question.branches:
        names = question.branches[0].post_processing.columns
        exact = [
            dict(zip(names, row.values(), strict=True))
            for each in question.branches
            for row in true_rows(each, plan, target, execute)
        ]
    else:
        exact = [
            plan.label_keys(row)
            for row in PublicStep(question=question, target=target).rows(execute)
        ]
    return [row for _, row in post_process(exact, question.post_processing)]


def _numbers(
    true: Sequence[Row], private: Sequence[Sequence[Row]], keys: Sequence[str]
) -> Iterator[NumberComparison]:
    """Each number of each group, of the true answer first."""
    known: dict[tuple[tuple[Any, ...], str], float | None] = {}
    found: dict[tuple[tuple[Any, ...], str], list[float]] = {}
    for group, name, value in _cells(true, keys):
        known[group, name] = value
    for run in private:
        for group, name, value in _cells(run, keys):
            known.setdefault((group, name), None)
            if value is not None:
                found.setdefault((group, name), []).append(value)
    for (group, name), value in known.items():
        listed = tuple(found.get((group, name), ()))
        yield NumberComparison(group=group, name=name, true=value, private=listed)


def _cells(
    rows: Sequence[Row], keys: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], str, float | None]]:
    for row in rows:
        group = tuple(row[key] for key in keys)
        for name, value in row.items():
            if name not in keys and (value is None or isinstance(value, int | float)):
                yield group, name, value
