"""What a teacher may set: a goal, how a solution is judged, and what it is worth."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from celosia.core.errors import InputError
from celosia.studio.collect.surveys import Survey
from celosia.studio.language import _, number, percent
from celosia.studio.learn.experiment import Experiment
from celosia.studio.learn.parts import Facts
from celosia.studio.learn.quizzes import rights
from celosia.studio.learn.techniques import technique_of

FULL_MARK = 10.0
CONFIDENCE = 0.95
"""19 times in 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One solution of one seat."""

    reached: bool
    """Whether it reaches the goal."""
    value: float
    """How good it is, in the unit of its task."""
    solution: dict[str, Any]
    """What was chosen: enough to do it again."""
    text: str = ""
    at: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class Task:
    """A goal for all seats."""

    kind: ClassVar[str] = ""
    most: ClassVar[int] = 0
    """Attempts of each seat; 0 where nothing is judged."""

    def title(self) -> str:
        """The goal in the language of the page."""
        raise NotImplementedError

    def result(self, attempt: Attempt) -> str:
        """What an attempt came to, in the language of the page."""
        raise NotImplementedError

    def mark(self, attempts: Sequence[Attempt], others: Sequence[Attempt]) -> float:
        """From 0 to 10, for the attempts of one seat, given those of the whole class."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class LeastLoss(Task):
    """Publish the census so that the highest risk is small, and lose as little as can be."""

    kind = "least-loss"
    most = 40
    risk: float = 0.1

    def __post_init__(self) -> None:
        if not 0.001 <= self.risk <= 1:
            raise _bad_task()

    def title(self) -> str:
        """The goal."""
        return _(
            "Publish the census with a highest risk of at most {risk}, and lose as little as you "
            "can",
            risk=percent(self.risk, 0),
        )

    def judge(self, asked: Experiment, found: Facts) -> Attempt:
        """What an experiment is worth."""
        possible = found["possible"]
        return Attempt(
            reached=possible and found["maximum"] <= self.risk + 1e-12,
            value=found["loss"] if possible else 1.0,
            solution=asked.as_dict() | {"risk": found["maximum"] if possible else 1.0},
        )

    def result(self, attempt: Attempt) -> str:
        """Loss and risk."""
        return _(
            "loss {loss}, highest risk {risk}",
            loss=percent(attempt.value),
            risk=percent(attempt.solution["risk"]),
        )

    def mark(self, attempts: Sequence[Attempt], others: Sequence[Attempt]) -> float:
        """Beside the best of the class."""
        own = [each.value for each in attempts if each.reached]
        best = min((each.value for each in others if each.reached), default=0.0)
        return FULL_MARK * (best / min(own) if min(own, default=0.0) > 0 else float(bool(own)))


@dataclass(frozen=True, slots=True)
class BreakRelease(Task):
    """Find the one of four people whose secret the release discloses, and name the secret."""

    kind = "break-release"
    most = 2
    facts: Facts

    def title(self) -> str:
        """The goal."""
        return _("Break this release: whose salary class does it disclose?")

    def judge(self, person: int, value: str) -> Attempt:
        """Whether it is the person and the value."""
        right = (person, value) == (self.facts["person"], self.facts["value"])
        return Attempt(
            reached=right, value=float(right), solution={"person": person, "value": value}
        )

    def result(self, attempt: Attempt) -> str:
        """Right or wrong."""
        return _("disclosed") if attempt.reached else _("not disclosed")

    def mark(self, attempts: Sequence[Attempt], others: Sequence[Attempt]) -> float:
        """All at the first attempt, half at the second."""
        places = [place for place, each in enumerate(attempts) if each.reached]
        return FULL_MARK / (1 + places[0]) if places else 0.0


@dataclass(frozen=True, slots=True)
class ChooseEpsilon(Task):
    """Choose the smallest epsilon with which a noisy count is as near as is asked."""

    kind = "choose-epsilon"
    most = 10
    within: int = 10

    def __post_init__(self) -> None:
        if not 1 <= self.within <= 10_000:
            raise _bad_task()

    @property
    def least(self) -> float:
        """The smallest epsilon that is enough, by the mechanism itself."""
        from celosia.mechanisms import Count

        return Count(epsilon=1.0).with_accuracy(self.within, confidence=CONFIDENCE).epsilon

    def title(self) -> str:
        """The goal."""
        return _(
            "A hospital publishes how many patients it has. Choose the smallest epsilon with which "
            "the answer is at most {error} away from the truth, 19 times in 20",
            error=number(self.within),
        )

    def judge(self, epsilon: float) -> Attempt:
        """How far the answer may be away with this epsilon."""
        from celosia.mechanisms import Count

        error = Count(epsilon=epsilon).accuracy(CONFIDENCE)
        return Attempt(
            reached=error <= self.within,
            value=epsilon,
            solution={"epsilon": epsilon, "error": error},
        )

    def result(self, attempt: Attempt) -> str:
        """Epsilon and error."""
        return _(
            "epsilon {epsilon}: at most {error} away",
            epsilon=number(attempt.value, 3),
            error=number(attempt.solution["error"]),
        )

    def mark(self, attempts: Sequence[Attempt], others: Sequence[Attempt]) -> float:
        """The smallest epsilon that is enough, divided by the one that was chosen."""
        own = [each.value for each in attempts if each.reached]
        return min(FULL_MARK, FULL_MARK * self.least / min(own)) if own else 0.0


@dataclass(frozen=True, slots=True)
class Quiz(Task):
    """The questions of a lesson."""

    kind = "quiz"
    most = 1
    technique: str

    def __post_init__(self) -> None:
        technique_of(self.technique)

    def title(self) -> str:
        """The goal."""
        return _("Quiz: {name}", name=_(technique_of(self.technique).name))

    def judge(self, answers: Sequence[int | None]) -> Attempt:
        """How many answers are right."""
        found = rights(self.technique, answers)
        return Attempt(
            reached=all(found),
            value=sum(found) / len(found),
            solution={"answers": list(answers), "right": found},
        )

    def result(self, attempt: Attempt) -> str:
        """How many are right."""
        found = attempt.solution["right"]
        return _("{right} of {all} right", right=number(sum(found)), all=number(len(found)))

    def mark(self, attempts: Sequence[Attempt], others: Sequence[Attempt]) -> float:
        """The share of right answers."""
        return FULL_MARK * max((each.value for each in attempts), default=0.0)


@dataclass(frozen=True, slots=True)
class LiveQuestion(Task):
    """A survey by local differential privacy; whose report is whose is not known, so no mark."""

    kind = "live-question"
    most = 0
    survey: Survey

    def title(self) -> str:
        """The question."""
        return self.survey.form.question


def release_to_break(seed: int) -> Facts:
    """A small release in which one of four people is disclosed: plain values, in no language.

    Args:
        seed: which invented people; others are taken where nobody or everybody is disclosed.

    >>> found = release_to_break(0)
    >>> len(found["people"]), len(found["rows"])
    (4, 60)
    """
    from celosia import datasets
    from celosia.core.errors import PrivacyError
    from celosia.studio.learn.published_tables import classes_of
    from celosia.tables import KAnonymity, Schema, publish

    *names, secret = columns = ["sex", "age", "marital-status", "education", "salary-class"]
    whole = datasets.census_schema()
    schema = Schema(columns=tuple(each for each in whole.columns if each.name in columns))
    rng = random.Random(seed)  # noqa: S311 - an exercise about invented people
    while True:
        table = datasets.census(60, seed=rng.randrange(2**31)).select(columns)
        try:
            # Invented people, in order: their classes are looked up below.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = publish(table, schema, KAnonymity(3), suppression=0, keep_order=True).data
        except PrivacyError:
            continue
        classes = classes_of(made, names)
        secrets: dict[int, set[str]] = {}
        for each, value in zip(classes, table[secret], strict=True):
            secrets.setdefault(each, set()).add(value)
        disclosed = [at for at, each in enumerate(classes) if len(secrets[each]) == 1]
        others = [at for at, each in enumerate(classes) if len(secrets[each]) > 1]
        if disclosed and len(others) >= 3:
            break
    found = rng.choice(disclosed)
    people = [found, *rng.sample(others, 3)]
    rng.shuffle(people)
    rows = sorted(zip(made.rows(), classes, strict=True), key=lambda each: (each[1], each[0]))
    return {
        "columns": columns,
        "rows": [row for row, _class in rows],
        "classes": [each for _row, each in rows],
        "people": [table.row(each)[:-1] for each in people],
        "values": sorted(set(table[secret])),
        "person": people.index(found),
        "value": table[secret][found],
    }


def _bad_task() -> InputError:
    return InputError("CEL-W101.task")
