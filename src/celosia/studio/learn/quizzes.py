"""Quizzes of the lessons: questions with one right answer each, and why it is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from celosia.studio.language import text_of
from celosia.studio.learn.techniques import technique_of

_QUESTION = re.compile(r"^## (.+)\n\n?((?:- \[[x ]\] .+\n)+)\n?> (.+)$", re.MULTILINE)
_ANSWER = re.compile(r"^- \[([x ])\] (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `right` is the place of its right answer."""

    text: str
    answers: tuple[str, ...]
    right: int
    why: str


def quiz_of(technique: str) -> tuple[Question, ...]:
    """The questions about a technique in the language of the page.

    Raises:
        InputError: CEL-W040, there is no such technique.

    >>> [question.right for question in quiz_of("k-anonymity")]
    [1, 0, 2]
    """
    return read(text_of(f"quizzes/{technique_of(technique).module}"))


def read(text: str) -> tuple[Question, ...]:
    r"""The questions of a text: a heading, a list with one tick, a quotation.

    >>> read("## Two?\n\n- [ ] 1\n- [x] 2\n\n> It is.\n")
    (Question(text='Two?', answers=('1', '2'), right=1, why='It is.'),)
    """
    found = []
    for question, listed, why in _QUESTION.findall(text):
        marks, answers = zip(*_ANSWER.findall(listed), strict=True)
        found.append(Question(question, answers, marks.index("x"), why))
    return tuple(found)


def rights(technique: str, answers: Sequence[int | None]) -> list[bool]:
    """Which answers are right.

    >>> rights("k-anonymity", [1, 1, None])
    [True, False, False]
    """
    questions = quiz_of(technique)
    given = [*answers, *[None] * len(questions)]
    return [question.right == each for question, each in zip(questions, given, strict=False)]
