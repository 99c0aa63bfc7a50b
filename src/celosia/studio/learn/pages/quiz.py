"""The quiz of a lesson: radio buttons, and what was right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import ui

from celosia.studio.language import _, number
from celosia.studio.learn.quizzes import quiz_of, rights
from celosia.studio.widgets.text import heading, quiet


def show_quiz(
    technique: str,
    *,
    on_answers: Callable[[list[int | None]], object] | None = None,
    given: Sequence[int | None] | None = None,
) -> None:
    """The questions with a button to check them; with answers given, what was right and why.

    Args:
        technique: the address of the lesson.
        on_answers: called once with the answers, as places; None for a quiz of one's own, which
            can be tried again.
        given: answers to show.
    """
    questions = quiz_of(technique)
    chosen: list[int | None] = list(given or [None] * len(questions))
    reasons: list[ui.label] = []
    radios: list[ui.radio] = []
    for at, question in enumerate(questions):
        heading(f"{number(at + 1)}. {question.text}", 3)

        def pick(event: object, at: int = at) -> None:
            chosen[at] = getattr(event, "value", None)

        radio = ui.radio(dict(enumerate(question.answers)), value=chosen[at], on_change=pick)
        radio.props["aria-label"] = question.text
        radio.props["data-test"] = f"question-{at + 1}"
        radios.append(radio)
        reasons.append(ui.label().classes("celosia-quiet").props('role="status"'))

    def reveal() -> None:
        for label, question, right in zip(
            reasons, questions, rights(technique, chosen), strict=True
        ):
            word = _("Right.") if right else _("Not right.")
            answer = "" if right else f" {question.answers[question.right]}."
            label.set_text(f"{word}{answer} {question.why}")

    def check() -> None:
        if on_answers is not None:
            on_answers(list(chosen))
            button.delete()
            for radio in radios:
                radio.disable()
        reveal()

    if given is not None:
        for radio in radios:
            radio.disable()
        reveal()
        return
    if on_answers is not None:
        quiet("Your first answers count.")
    button = ui.button(_("Check the answers"), icon="check", on_click=check).classes("q-my-md")
    button.props('data-test="check-quiz"')
