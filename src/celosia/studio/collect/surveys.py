"""Surveys of the browsers in a room: each draws its report itself, and no answer comes here."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from secrets import token_urlsafe
from threading import Lock
from typing import Any

from celosia.collect import KaryResponse, Reports
from celosia.collect.clients.parameters import client_parameters
from celosia.core.errors import InputError

MOST_SURVEYS = 50
"""The oldest goes when there would be more."""
MOST_REPORTS = 100_000
MOST_ANSWERS = 20
MOST_LETTERS = 200
"""Of a question and of an answer."""


@dataclass(frozen=True, slots=True)
class SurveyForm:
    """What is asked, and how well each report hides its answer."""

    question: str
    answers: tuple[str, ...]
    epsilon: float

    def __post_init__(self) -> None:
        texts = (self.question, *self.answers)
        if (
            not 2 <= len(self.answers) <= MOST_ANSWERS
            or len(set(self.answers)) < len(self.answers)
            or not all(0 < len(each.strip()) <= MOST_LETTERS for each in texts)
        ):
            raise InputError("CEL-W080.survey", most=MOST_ANSWERS, letters=MOST_LETTERS)


@dataclass(slots=True)
class Survey:
    """One survey that goes on: its protocol, and counts of reports."""

    id: str
    form: SurveyForm
    _marks: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    protocol: KaryResponse = field(init=False)
    _server: Any = field(init=False)

    def __post_init__(self) -> None:
        form = self.form
        self.protocol = KaryResponse(epsilon=form.epsilon, key=self.id, domain=form.answers)
        self._server = self.protocol.server()

    @property
    def reports(self) -> int:
        """How many devices have reported."""
        return int(self._server.users)

    @property
    def parameters(self) -> dict[str, Any]:
        """What a browser must know; all of it is public."""
        return client_parameters(self.protocol)

    def absorb(self, data: bytes, mark: str) -> None:
        """Count the report of one browser; a mark that came before is not counted again.

        Raises:
            InputError: CEL-W080 not one report of this survey, or too many of them.
        """
        batch = Reports.from_bytes(data)
        with self._lock:
            if mark in self._marks:
                return
            if len(batch) != 1 or not 16 <= len(mark) <= 64 or self.reports >= MOST_REPORTS:
                raise InputError("CEL-W080.survey_report")
            self._server.absorb(batch)
            self._marks.add(mark)

    def shares(self) -> list[tuple[str, float, float, float]]:
        """Each answer with its estimated share, and where it lies 19 times in 20."""
        with self._lock:
            found = self._server.estimate(self.form.answers)
        low, high = found.interval(0.95)
        users = max(1, found.users)
        rows = zip(found.counts, low, high, strict=True)
        shown = [tuple(float(each) / users for each in row) for row in rows]
        return [(name, *row) for name, row in zip(self.form.answers, shown, strict=True)]


class Surveys:
    """The surveys of this studio, by their names that cannot be guessed."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Survey] = OrderedDict()
        self._lock = Lock()

    def start(self, form: SurveyForm) -> Survey:
        """A new survey."""
        made = Survey(token_urlsafe(12), form)
        with self._lock:
            self._kept[made.id] = made
            while len(self._kept) > MOST_SURVEYS:
                self._kept.popitem(last=False)
        return made

    def of(self, name: str) -> Survey:
        """A survey by its name.

        Raises:
            InputError: CEL-W011 there is none, or no longer.
        """
        found = self._kept.get(name)
        if found is None:
            raise InputError("CEL-W011.survey")
        return found


SURVEYS = Surveys()
