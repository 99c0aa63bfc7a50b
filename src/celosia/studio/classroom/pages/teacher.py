"""The teacher's pages: the class, the board for the projector, and the solution of one seat."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from secrets import randbelow
from typing import Any

import segno
from nicegui import ui
from starlette.requests import Request

from celosia.core.errors import CelosiaError
from celosia.studio.classroom import forms, jobs
from celosia.studio.classroom.model import Classroom, Seat, spaced
from celosia.studio.classroom.pages.entrance import field, form, show_refusal, submit
from celosia.studio.classroom.pages.student import release_shown, show_attempts
from celosia.studio.classroom.tasks import (
    BreakRelease,
    ChooseEpsilon,
    LeastLoss,
    LiveQuestion,
    Quiz,
    Task,
)
from celosia.studio.collect.pages.live import show_estimates
from celosia.studio.collect.surveys import SURVEYS, SurveyForm
from celosia.studio.guard import JOIN
from celosia.studio.language import Words, _, number
from celosia.studio.learn.experiment import Experiment
from celosia.studio.learn.pages.experiment import show_result
from celosia.studio.learn.pages.quiz import show_quiz
from celosia.studio.learn.techniques import TECHNIQUES
from celosia.studio.runtime import studio
from celosia.studio.shell import notify_error, page
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.live import SECONDS, follow_changes
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, main_heading, notice, paragraph, quiet
from celosia.studio.worker import task as work

SEEDS = 10**6
KINDS = ("least-loss", "break-release", "choose-epsilon", "quiz", "live-question")


@page("/class/{code}/teach", "Classroom", door="/learn")
def teach(request: Request, code: str, fault: str = "") -> None:
    """The class as its teacher sees it."""
    room = studio().classrooms.of(code)
    if not forms.is_teacher(room, request):
        _ask_for_key(room, fault)
        return
    main_heading(room.title)
    with ui.element("div").classes("celosia-split"):
        with ui.element("div"):
            _way_in(room, request)
        with ui.element("div"):
            heading("Set a task")
            _setting(room)
    heading("Board")
    board(room, hidden=False)
    with ui.row().classes("celosia-onwards q-my-md"):
        ui.link(_("Projector"), f"/class/{room.code}/board", new_tab=True)
        ui.link(_("Marks (CSV)"), f"/class/{room.code}/marks.csv")
    heading("One seat")
    _one_seat(room)
    _ending(room)


def _ask_for_key(room: Classroom, fault: str) -> None:
    main_heading(room.title)
    show_refusal(fault)
    with ui.card(), form(f"/class/{room.code}/key"):
        field("key", _("Key of the teacher"), most=40)
        submit(_("Open the class"), "key")


def _way_in(room: Classroom, request: Request) -> None:
    heading("Join the class")
    address = forms.reachable(request)
    if address is None:
        notice(
            "Only this computer can reach the studio. Start it for the network, with celosia "
            "studio --share, so that phones and other computers can join."
        )
        address = str(request.base_url).rstrip("/")
    link = f"{address}{JOIN}{room.code}"
    with ui.row().classes("items-center"):
        ui.html(qr(link), sanitize=False).classes("celosia-qr")
        with ui.column():
            ui.label(spaced(room.code)).classes("celosia-class-code").props('data-test="code"')
            ui.link(link, link).classes("celosia-break")
    with ui.expansion(_("Open this class on another computer")).classes("celosia-quiet"):
        paragraph("There, open the address of this page and type the key of the teacher:")
        ui.label(room.key).classes("celosia-kind").props('data-test="key"')


def qr(text: str) -> str:
    """A QR code as SVG, dark on white whatever the colours of the page are."""
    drawn = segno.make(text, error="m").svg_inline(omitsize=True, dark="#000", light="#fff")
    label = escape(_("QR code with the address of the class"))
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


KIND_NAMES = Words(
    {
        "least-loss": "Small risk with the least loss",
        "break-release": "Break a release",
        "choose-epsilon": "Choose an epsilon",
        "quiz": "Quiz of a lesson",
        "live-question": "Live question to all phones",
    }
)
"""What can be set."""


def _setting(room: Classroom) -> None:
    choice = ui.select(dict(KIND_NAMES), value=KINDS[0], label=_("Task")).classes("w-full")
    choice.props('data-test="kind"')
    place = ui.column().classes("w-full")

    def draw() -> None:
        place.clear()
        with place:
            make = _controls(choice.value, room)
            ui.button(_("Set this task"), icon="add_task", on_click=make).props(
                'data-test="set-task"'
            )

    choice.on_value_change(draw)
    draw()


def _controls(kind: str, room: Classroom) -> Callable[[], object]:
    """The controls of a kind of task, and what sets it."""

    def set_task(make: Callable[[], Task]) -> None:
        try:
            room.set_task(make())
        except CelosiaError as error:
            notify_error(error)

    if kind == "least-loss":
        risk = ui.number(_("Highest risk, at most (%)"), value=10, min=0.1, max=100)
        risk.style("min-width: 16rem")  # as its name
        return lambda: set_task(lambda: LeastLoss(float(risk.value or 0) / 100))
    if kind == "break-release":
        quiet(
            "Sixty invented people are published, and the salary class of one of four known people "
            "is disclosed."
        )
        return lambda: start(
            _("Break a release"),
            work(jobs.release_to_break, seed=randbelow(SEEDS)),
            on_done=lambda facts: set_task(lambda: BreakRelease(facts)),
        )
    if kind == "choose-epsilon":
        within = ui.number(_("At most this far from the truth (patients)"), value=10, min=1)
        within.style("min-width: 22rem")
        return lambda: set_task(lambda: ChooseEpsilon(int(within.value or 0)))
    if kind == "quiz":
        names = {each.slug: _(each.name) for each in TECHNIQUES}
        lesson = ui.select(names, value=TECHNIQUES[1].slug, label=_("Lesson")).classes("w-full")
        return lambda: set_task(lambda: Quiz(str(lesson.value)))
    question = ui.input(_("Question"), value=_("How did you come here today?")).classes("w-full")
    answers = ui.textarea(
        _("Answers, one on each line"), value="\n".join(map(_, ("on foot", "by bike", "by car")))
    ).classes("w-full")
    epsilon = ui.number("epsilon", value=1.0, min=0.1, max=10, step=0.1)

    def ask() -> Task:
        listed = tuple(each.strip() for each in answers.value.splitlines() if each.strip())
        asked = SurveyForm(question.value or "", listed, float(epsilon.value or 0))
        return LiveQuestion(SURVEYS.start(asked))

    return lambda: set_task(ask)


def board(room: Classroom, *, hidden: bool) -> None:
    """The results of all seats, as they come in; with `hidden`, without names."""
    place = ui.element("div").classes("w-full").props('aria-live="polite" data-test="board"')
    follow_changes(lambda: room.changes, lambda: _results(room, hidden=hidden), place)


def _results(room: Classroom, *, hidden: bool) -> None:
    if not room.seats:
        paragraph("Nobody has a seat yet. Show the code or the QR code to your students.")
    if not room.tasks:
        paragraph("No task is set yet.")
    judged = [at for at, each in enumerate(room.tasks) if each.most]
    with ui.element("ol").classes("celosia-tasks"):
        for at in judged:
            with ui.element("li").props(f'value="{at + 1}"'):
                ui.label(room.tasks[at].title())
    rows = []
    for seat in room.seats.values():
        marks = [room.mark(seat, at) or 0.0 for at in judged]
        cells = [_cell(room, seat, at) for at in judged]
        rows.append((sum(marks), [seat.shown(hidden=hidden), *cells, number(sum(marks), 1)]))
    rows.sort(key=lambda each: -each[0])
    heads = [_("Task {number}", number=number(at + 1)) for at in judged]
    if rows:
        show_table([_("Seat"), *heads, _("Points")], [row for _points, row in rows])


def _cell(room: Classroom, seat: Seat, at: int) -> str:
    best = room.best(seat, at)
    if best is None:
        return "-"
    mark = number(room.mark(seat, at) or 0.0, 1)
    return f"{mark} · {room.task(at).result(best)}"


def _one_seat(room: Classroom) -> None:
    """Replay, lock, new attempts and removal, for the seat that is chosen."""
    chosen: dict[str, Any] = {"seat": None, "task": None}
    row = ui.row().classes("items-center")
    with row:
        seats = ui.select({}, label=_("Seat")).bind_value(chosen, "seat").style("min-width: 12rem")
        tasks = ui.select({}, label=_("Task")).bind_value(chosen, "task").style("min-width: 12rem")
        seats.props('data-test="seat"')

    def seat() -> Seat | None:
        found = room.seats.get(chosen["seat"]) if chosen["seat"] is not None else None
        if found is None:
            ui.notify(_("Choose a seat first."), type="warning")
        return found

    def replay() -> None:
        if (found := seat()) is not None and chosen["task"] is not None:
            ui.navigate.to(f"/class/{room.code}/seat/{found.number}/{chosen['task'] + 1}")

    def again() -> None:
        if (found := seat()) is not None and chosen["task"] is not None:
            room.grant(found, chosen["task"])

    def lock() -> None:
        if (found := seat()) is not None:
            room.lock(found, locked=not found.locked)
            ui.notify(_("The seat is locked.") if found.locked else _("The seat is open."))

    def remove() -> None:
        if (found := seat()) is not None:
            room.remove(found)

    with ui.row():
        for text, icon, act in (
            (_("Replay the solution"), "replay", replay),
            (_("Give new attempts"), "restart_alt", again),
            (_("Lock or open the seat"), "lock", lock),
            (_("Take the seat away"), "person_remove", remove),
        ):
            ui.button(text, icon=icon, on_click=act).props(f'outline data-test="{icon}"')
    quiet("Attempts are counted by seat: locking one never locks out another.")

    def follow() -> None:
        seats.set_options({each.number: each.shown() for each in room.seats.values()})
        judged = {
            at: f"{number(at + 1)}. {KIND_NAMES[each.kind]}"
            for at, each in enumerate(room.tasks)
            if each.most
        }
        tasks.set_options(judged, value=chosen["task"] if chosen["task"] in judged else None)
        if chosen["task"] is None and judged:
            tasks.set_value(next(iter(judged)))

    follow_changes(lambda: room.changes, follow)


def _ending(room: Classroom) -> None:
    def end() -> None:
        studio().classrooms.end(room)
        ui.navigate.to("/class")

    with ui.dialog() as asked, ui.card():
        heading("End the class?")
        paragraph("The code lets nobody in any more, and names, results and marks are forgotten.")
        with ui.row():
            ui.button(_("End the class"), icon="stop", on_click=end).props('data-test="end-now"')
            ui.button(_("Stay"), on_click=asked.close).props("flat")
    asked.props["aria-label"] = _("End the class?")
    ui.button(_("End the class"), icon="stop", on_click=asked.open).props(
        'flat data-test="end"'
    ).classes("q-mt-lg")


@page("/class/{code}/board", "Classroom", door="/learn")
def projector(request: Request, code: str, names: int = 1) -> None:
    """The board in large letters, without anything to press but the names."""
    room = studio().classrooms.of(code)
    if not forms.is_teacher(room, request):
        _ask_for_key(room, "")
        return
    ui.query("body").classes("celosia-projector")
    main_heading(room.title)
    with ui.element("div").classes("celosia-beside"):
        with ui.element("div"):
            address = forms.reachable(request) or str(request.base_url).rstrip("/")
            ui.html(qr(f"{address}{JOIN}{room.code}"), sanitize=False).classes("celosia-qr")
            ui.label(spaced(room.code)).classes("celosia-class-code")
            ui.label(address).classes("celosia-break")
        with ui.element("div"):
            board(room, hidden=not names)
            _surveys(room)
    with ui.row().classes("celosia-onwards q-my-md"):
        other = _("Without names") if names else _("With names")
        ui.link(other, f"/class/{room.code}/board?names={0 if names else 1}")
        ui.link(_("Back to the class"), f"/class/{room.code}/teach")


def _surveys(room: Classroom) -> None:
    """The estimates of every live question; one that is asked later comes as it is set."""
    place = ui.column().classes("w-full")
    shown: list[Task] = []

    def draw() -> None:
        for each in room.tasks:
            if isinstance(each, LiveQuestion) and each not in shown:
                shown.append(each)
                with place:
                    heading(each.title(), 2)
                    show_estimates(each.survey)

    draw()
    ui.timer(SECONDS, draw)


@page("/class/{code}/seat/{seat}/{at}", "Classroom", door="/learn")
def replay(request: Request, code: str, seat: int, at: int) -> None:
    """The attempts of one seat at one task, and its best one done again."""
    room = studio().classrooms.of(code)
    if not forms.is_teacher(room, request):
        _ask_for_key(room, "")
        return
    ui.link(_("Back to the class"), f"/class/{room.code}/teach").classes("celosia-quiet")
    task = room.task(at - 1)
    found = room.seats.get(seat)
    if found is None:
        notice("There is no such seat any more.")
        return
    main_heading("The solution of {seat}", seat=found.shown())
    ui.label(task.title()).classes("celosia-lead q-mb-md")
    show_attempts(task, found.attempts.get(at - 1, []))
    best = room.best(found, at - 1)
    if best is None:
        paragraph("No attempt at this task yet.")
    elif isinstance(task, LeastLoss):
        asked = Experiment.read(best.solution)
        heading("The best attempt again", 2)
        start(
            _("Run an algorithm"),
            work(jobs.experiment, asked=asked.as_dict()),
            on_done=lambda facts: show_result(asked, facts),
        )
    elif isinstance(task, BreakRelease):
        release_shown(task.facts)
    elif isinstance(task, Quiz):
        show_quiz(task.technique, given=best.solution["answers"])
