"""The student's pages: the tasks of the class, and one task."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui
from starlette.requests import Request

from celosia.core.errors import CelosiaError
from celosia.studio.classroom import forms
from celosia.studio.classroom.model import Classroom, Seat
from celosia.studio.classroom.tasks import (
    Attempt,
    BreakRelease,
    ChooseEpsilon,
    LeastLoss,
    LiveQuestion,
    Quiz,
    Task,
)
from celosia.studio.guard import JOIN
from celosia.studio.language import _, n_, number
from celosia.studio.learn.experiment import Experiment
from celosia.studio.learn.pages.experiment import bench
from celosia.studio.learn.pages.quiz import show_quiz
from celosia.studio.learn.parts import Facts, table
from celosia.studio.runtime import studio
from celosia.studio.shell import notify_error, page
from celosia.studio.widgets.live import follow_changes
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, main_heading, notice, paragraph, quiet


@page("/class/{code}", "Classroom", door="/learn")
def my_class(request: Request, code: str) -> None:
    """All tasks with what was reached."""
    room = studio().classrooms.of(code)
    seat = forms.seat_of(room, request)
    if seat is None:
        ui.navigate.to(f"{JOIN}{room.code}")
        return
    main_heading(room.title)
    lead("You sit here as {seat}.", seat=seat.shown())
    place = ui.element("div").classes("w-full")
    follow_changes(lambda: room.changes, lambda: _tasks(room, seat), place)


def _tasks(room: Classroom, seat: Seat) -> None:
    if room.seats.get(seat.number) is not seat:
        notice("This class has ended, or your seat was taken away.")
        return
    if not room.tasks:
        paragraph("No task yet. The first one appears here as soon as your teacher sets it.")
    with ui.element("ol").classes("celosia-tasks"):
        for at, each in enumerate(room.tasks):
            with ui.element("li"):
                ui.link(each.title(), _address(room, each, at)).props(f'data-test="task-{at + 1}"')
                best = room.best(seat, at)
                if best is not None:
                    mark = room.mark(seat, at) or 0.0
                    words = _("{mark} of 10 points", mark=number(mark, 1))
                    ui.label(f"{words} · {each.result(best)}").classes("celosia-quiet")


def _address(room: Classroom, task: Task, at: int) -> str:
    if isinstance(task, LiveQuestion):
        return f"/collect/live/{task.survey.id}/device"
    return f"/class/{room.code}/task/{at + 1}"


@page("/class/{code}/task/{at}", "Classroom", door="/learn")
def one_task(request: Request, code: str, at: int) -> None:
    """One task, to be solved."""
    room = studio().classrooms.of(code)
    seat = forms.seat_of(room, request)
    if seat is None:
        ui.navigate.to(f"{JOIN}{room.code}")
        return
    task = room.task(at - 1)
    ui.link(_("All tasks of the class"), f"/class/{room.code}").classes("celosia-quiet")
    main_heading(task.title())
    left = ui.label().classes("celosia-quiet").props('role="status"')
    own = ui.element("div").classes("w-full")

    def refresh() -> None:
        count = max(0, room.left(seat, at - 1))
        left.set_text(n_("{count} attempt left", "{count} attempts left", count))
        own.clear()
        with own:
            show_attempts(task, seat.attempts.get(at - 1, []))

    def add(attempt: Attempt) -> None:
        try:
            room.add(seat, at - 1, attempt)
        except CelosiaError as error:
            notify_error(error)
        refresh()

    def judged(task: LeastLoss, attempt: Attempt) -> None:
        """The verdict stands first: on a phone the tables below are long."""
        add(attempt)
        text = _("Goal reached: {result}") if attempt.reached else _("Not yet: {result}")
        verdict = ui.label(text.format(result=task.result(attempt)))
        verdict.classes("text-bold q-my-sm").props('role="status" data-test="verdict"')

    if isinstance(task, LeastLoss):
        bench(
            Experiment(),
            tables=("census",),
            check=lambda: room.check(seat, at - 1),
            on_result=lambda asked, found: judged(task, task.judge(asked, found)),
        )
    elif isinstance(task, BreakRelease):
        _break(task, add)
    elif isinstance(task, ChooseEpsilon):
        _epsilon(task, add)
    elif isinstance(task, Quiz):
        earlier = seat.attempts.get(at - 1)
        if earlier and room.left(seat, at - 1) < 1:
            show_quiz(task.technique, given=earlier[-1].solution["answers"])
        else:
            show_quiz(task.technique, on_answers=lambda given: add(task.judge(given)))
    own.move(target_index=-1)
    refresh()


def show_attempts(task: Task, attempts: list[Attempt]) -> None:
    """Attempts in their order, with what each came to."""
    if not attempts:
        return
    heading("Attempts", 2)
    rows = [
        (at + 1, _chosen(task, each), task.result(each), each.reached)
        for at, each in enumerate(attempts)
    ]
    show_table(
        [_("Attempt"), _("What was chosen"), _("Result"), _("Goal reached")], rows[-40:]
    ).props('data-test="attempts"')


def _chosen(task: Task, attempt: Attempt) -> str:
    solution = attempt.solution
    if isinstance(task, LeastLoss):
        return Experiment.read(solution).text()
    if isinstance(task, BreakRelease):
        return f"{_person(solution['person'])}: {solution['value']}"
    if isinstance(task, ChooseEpsilon):
        return f"epsilon = {number(solution['epsilon'], 3)}"
    return ", ".join("-" if each is None else "abc"[each] for each in solution["answers"])


def _person(at: int) -> str:
    return _("Person {letter}", letter="ABCD"[at])


def release_shown(facts: Facts) -> None:
    """The release of a task and the four people."""
    quiet(
        "The release is 3-anonymous. You know four of the people in it, with what is in the second "
        "table. The salary of one of them is disclosed: which one, and what is it?"
    )
    with ui.element("div").classes("celosia-sides"):
        shown = table(facts["columns"], facts["rows"], classes=facts["classes"])
        with ui.element("div").classes("celosia-list"):
            show_table(shown.columns, shown.rows, classes=shown.classes, caption=_("The release"))
        people = table(facts["columns"][:-1], facts["people"])
        show_table(
            ["", *people.columns],
            [[_person(at), *row] for at, row in enumerate(people.rows)],
            caption=_("What you know"),
            plain=True,
        )


def _break(task: BreakRelease, add: Callable[[Attempt], None]) -> None:
    release_shown(task.facts)
    people = {at: _person(at) for at in range(len(task.facts["people"]))}
    person = ui.radio(people, value=0).props("inline")
    person.props["aria-label"] = _("Whose salary is disclosed?")
    value = ui.radio(task.facts["values"], value=task.facts["values"][0]).props("inline")
    value.props["aria-label"] = _("Salary class")
    ui.button(
        _("This is disclosed"),
        icon="lock_open",
        on_click=lambda: add(task.judge(person.value, value.value)),
    ).props('data-test="break"')


def _epsilon(task: ChooseEpsilon, add: Callable[[Attempt], None]) -> None:
    quiet(
        "The count is published with noise of the geometric mechanism. A small epsilon is private, "
        "and its answers are far away; find the smallest that is near enough."
    )
    given = ui.number("epsilon", value=1.0, min=0.001, max=20, step=0.01, format="%.3f")
    given.props('data-test="epsilon"')

    def judge() -> None:
        try:
            add(task.judge(float(given.value or 0)))
        except CelosiaError as error:
            notify_error(error)

    ui.button(_("Choose this epsilon"), icon="tune", on_click=judge).props('data-test="choose"')
