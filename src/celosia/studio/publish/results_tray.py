"""The tray: up to four candidates beside each other, with what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from celosia.core.errors import InputError
from celosia.studio.publish.results_solutions import Point, Solutions
from celosia.studio.visitors import Work

MOST = 4
"""Candidates on the tray."""
SAVED = "tray"
"""The name under which a work keeps its tray."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to publish the table, with its figures."""

    promise: str
    """What was asked for; candidates of different runs may be compared."""
    models: tuple[Mapping[str, Any], ...]
    """The same as `Model.as_dict()` writes it."""
    suppression: float
    levels: tuple[int | None, ...]
    columns: tuple[str, ...]
    score: float
    metric: str
    suppressed: int
    rows: int
    classes: int
    average_risk: float
    highest_risk: float

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Candidate:
        """The inverse of `as_dict`."""
        listed = ("levels", "columns", "models")
        return cls(**(dict(values) | {name: tuple(values[name]) for name in listed}))

    @classmethod
    def of_point(cls, point: Point, solutions: Solutions, facts: Mapping[str, Any]) -> Candidate:
        """A solution of the scatter."""
        return cls(
            promise=facts["promise"],
            models=tuple(facts["form"]["models"]),
            suppression=facts["form"]["suppression"],
            levels=point.levels,
            columns=solutions.columns,
            score=point.score,
            metric=solutions.metric,
            suppressed=point.suppressed,
            rows=facts["solution"]["rows"],
            classes=point.classes,
            average_risk=point.average_risk,
            highest_risk=point.highest_risk,
        )

    @classmethod
    def of_release(cls, facts: Mapping[str, Any]) -> Candidate:
        """The release as it is."""
        solution, risk = facts["solution"], facts["risk"]
        return cls(
            promise=facts["promise"],
            models=tuple(facts["form"]["models"]),
            suppression=facts["form"]["suppression"],
            levels=tuple(column["level"] for column in solution["columns"]),
            columns=tuple(column["name"] for column in solution["columns"]),
            score=solution["score"],
            metric=solution["metric"],
            suppressed=solution["suppressed"],
            rows=solution["rows"],
            classes=risk["classes"],
            average_risk=risk["average"],
            highest_risk=risk["maximum"],
        )

    @property
    def smallest(self) -> int:
        """Records of the smallest class."""
        return round(1 / self.highest_risk) if self.highest_risk else 0

    def as_dict(self) -> dict[str, Any]:
        listed = {name: list(getattr(self, name)) for name in ("levels", "columns", "models")}
        return asdict(self) | listed


def load(work: Work) -> list[Candidate]:
    """The candidates on the tray of a work."""
    return [Candidate.from_dict(each) for each in work.load(SAVED, [])]


def add(work: Work, candidate: Candidate) -> list[Candidate]:
    """Put a candidate on the tray, unless it is there already.

    Raises:
        InputError: CEL-W062, the tray is full.
    """
    tray = load(work)
    if candidate in tray:
        return tray
    if len(tray) >= MOST:
        raise InputError("CEL-W062", most=MOST)
    return _saved(work, [*tray, candidate])


def remove(work: Work, place: int) -> list[Candidate]:
    """Take a candidate away."""
    tray = load(work)
    return _saved(work, tray[:place] + tray[place + 1 :])


def differing(candidates: Sequence[Candidate]) -> set[str]:
    """The figures, and the columns by their level, in which not all candidates are the same."""
    figures = ("score", "suppressed", "classes", "average_risk", "highest_risk", "promise")
    found = {name for name in figures if len({getattr(each, name) for each in candidates}) > 1}
    names = dict.fromkeys(name for each in candidates for name in each.columns)
    for name in names:
        if len({level_of(each, name) for each in candidates}) > 1:
            found.add(f"level:{name}")
    return found


def level_of(candidate: Candidate, column: str) -> int | None:
    """The level of a column in a candidate; None where it has none."""
    return dict(zip(candidate.columns, candidate.levels, strict=True)).get(column)


def _saved(work: Work, tray: list[Candidate]) -> list[Candidate]:
    work.save(SAVED, [each.as_dict() for each in tray])
    return tray
