"""The entrance of classes: a code to type, a seat to take, a class to start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import app, ui
from starlette.requests import Request

from celosia.studio.classroom import forms
from celosia.studio.classroom.model import MOST_LETTERS
from celosia.studio.language import _
from celosia.studio.runtime import studio
from celosia.studio.shell import page, show_error
from celosia.studio.widgets.text import heading, lead, main_heading, paragraph, quiet


@page("/class", "Classroom", door="/learn")
def entrance(request: Request, fault: str = "") -> None:
    """Take a seat by a code, or start a class."""
    main_heading("Classroom")
    lead(
        "A teacher starts a class and sets tasks; students take a seat with a code, solve them, "
        "and the board shows the results as they come in."
    )
    show_refusal(fault)
    with ui.element("div").classes("celosia-split"):
        with ui.card():
            heading("I have a code")
            with form("/class/find"):
                field("code", _("Class code"), most=20, autofocus=True)
                submit(_("To the class"), "login")
        with ui.card():
            heading("I teach")
            if forms.may_start(request):
                with form("/class/start"):
                    field("title", _("Name of the class"), most=MOST_LETTERS)
                    _seat_choice()
                    submit(_("Start a class"), "school")
                quiet(
                    "Names and results are kept in memory until you end the class, or until nobody "
                    "has looked at it for twelve hours. They are never written to a disk."
                )
            else:
                paragraph("You came with the code of a class, so you cannot start one.")


@page("/class/join/{code}", "Classroom", door="/learn")
def join(request: Request, code: str, fault: str = "") -> None:
    """Take a seat in a class."""
    room = studio().classrooms.of(code)
    if forms.seat_of(room, request) is not None:
        ui.navigate.to(f"/class/{room.code}")
        return
    main_heading(room.title)
    show_refusal(fault)
    with ui.card():
        with form(f"/class/{room.code}/seat"):
            if room.named:
                field("name", _("Your name, as the teacher shall see it"), most=MOST_LETTERS)
            else:
                paragraph("Seats have numbers here. Nobody is asked for a name.")
            submit(_("Take a seat"), "event_seat")
        quiet("Your seat belongs to this browser. Your attempts are seen by the teacher.")


@contextmanager
def form(action: str) -> Iterator[None]:
    """A plain form that a browser sends by itself."""
    with ui.element("form").props(f'method="post" action="{action}"').classes("celosia-form"):
        yield


def field(name: str, label: str, *, most: int, autofocus: bool = False) -> None:
    """A field of a plain form."""
    made = ui.input(label).props(f'name="{name}" maxlength="{most}" required autocomplete="off"')
    made.classes("w-full").props(f'data-test="{name}"')
    if autofocus:
        made.props("autofocus")


def submit(text: str, icon: str) -> None:
    """The button of a plain form."""
    ui.button(text, icon=icon).props(f'type="submit" data-test="{icon}"').classes("q-my-sm")


def show_refusal(key: str) -> None:
    """Why a form was refused, if it was."""
    error = forms.refusal(key)
    if error is not None:
        show_error(error, attend=True)


def _seat_choice() -> None:
    choices = (("named", _("Seats with names")), ("anonymous", _("Anonymous seats")))
    radios = "".join(
        f'<label><input type="radio" name="seats" value="{value}"'
        f"{' checked' if value == 'named' else ''}> {text}</label>"
        for value, text in choices
    )
    ui.html(f'<fieldset class="celosia-choice">{radios}</fieldset>', sanitize=False)


app.add_route("/class/start", forms.start, methods=["POST"])
app.add_route("/class/find", forms.find, methods=["POST"])
app.add_route("/class/{code}/seat", forms.take_seat, methods=["POST"])
app.add_route("/class/{code}/key", forms.open_as_teacher, methods=["POST"])
app.add_route("/class/{code}/marks.csv", forms.marks, methods=["GET"])
