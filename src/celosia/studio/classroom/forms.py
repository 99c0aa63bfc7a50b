"""The plain forms of a class: start, take a seat, open as the teacher, fetch the marks.

They set cookies, which a page of the toolkit cannot do once it is open.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from celosia.core.errors import CelosiaError, InputError
from celosia.studio import error_page, guard
from celosia.studio.classroom.model import Classroom, Seat
from celosia.studio.language import chosen, negotiated
from celosia.studio.runtime import studio

SEAT, TEACH = "celosia_seat", "celosia_teach"
"""Cookies of a seat and of the teacher; each is for the pages of one class."""
FAULTS = ("CEL-W100", "CEL-W100.key", "CEL-W101.name", "CEL-W101.full", "CEL-W101.classes")
"""What a form may be refused for, as the page of the form is told."""
SECONDS = 12 * 3600


def seat_of(room: Classroom, request: Request) -> Seat | None:
    """The seat of whoever asks for a page."""
    return room.seat_of(request.cookies.get(SEAT))


def is_teacher(room: Classroom, request: Request) -> bool:
    """Whether the teacher asks for a page."""
    return room.is_teacher(request.cookies.get(TEACH))


def may_start(request: Request) -> bool:
    """Whether this visitor may start a class: not one whom only a class code has let in.

    The code of a class ends with it; a class of a student's own would let others in after that.
    """
    return not request.scope.get(guard.STUDENT)


def refusal(key: str) -> InputError | None:
    """Why a form was refused, by what the address says; None for anything else."""
    return InputError(key, most=40) if key in FAULTS else None


def reachable(request: Request) -> str | None:
    """The address of this studio for phones; None where only this machine can reach it."""
    host = request.url.hostname or ""
    if not studio().settings.shared:
        return None
    if host == "localhost" or _is_loopback(host):
        host = _own_address() or host
    port = "" if request.url.port is None else f":{request.url.port}"
    return f"{request.url.scheme}://{f'[{host}]' if ':' in host else host}{port}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _own_address() -> str | None:
    """The address of this machine in its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # for documentation: belongs to nobody
            return str(probe.getsockname()[0])
        except OSError:
            return None


async def start(request: Request) -> Response:
    """Start a class, and make the browser the teacher's."""
    given = await _form(request)
    visitor = request.scope.get(guard.SCOPE)
    if visitor is None or not may_start(request):
        return error_page.answer("refused", request.scope)
    try:
        room = studio().classrooms.start(
            given.get("title", ""), named=given.get("seats") == "named", owner=visitor.token
        )
    except CelosiaError as error:
        return _back("/class", error)
    return _with_cookie(f"/class/{room.code}/teach", TEACH, room, None)


async def find(request: Request) -> Response:
    """From a code that was typed to the page of its class."""
    room = studio().classrooms.find((await _form(request)).get("code", ""))
    if room is None:
        return _back("/class", InputError("CEL-W100"))
    return RedirectResponse(f"{guard.JOIN}{room.code}", 303)


async def take_seat(request: Request) -> Response:
    """Take a seat; a browser that has one keeps it."""
    room = studio().classrooms.find(request.path_params["code"])
    if room is None:
        return _back("/class", InputError("CEL-W100"))
    seat = seat_of(room, request)
    if seat is None:
        try:
            seat = room.join((await _form(request)).get("name", ""))
        except CelosiaError as error:
            return _back(f"{guard.JOIN}{room.code}", error)
    return _with_cookie(f"/class/{room.code}", SEAT, room, seat)


async def open_as_teacher(request: Request) -> Response:
    """Make another browser the teacher's, by the key."""
    room = studio().classrooms.find(request.path_params["code"])
    if room is None:
        return _back("/class", InputError("CEL-W100"))
    if not room.opens((await _form(request)).get("key", "").strip()):
        return _back(f"/class/{room.code}/teach", InputError("CEL-W100.key"))
    return _with_cookie(f"/class/{room.code}/teach", TEACH, room, None)


async def marks(request: Request) -> Response:
    """The marks of a class, for its teacher."""
    room = studio().classrooms.find(request.path_params["code"])
    if room is None or not is_teacher(room, request):
        return error_page.answer("missing", request.scope)
    spoken = negotiated(
        None, request.cookies.get(error_page.LANGUAGE), request.headers.get("accept-language")
    )
    token = chosen.set(spoken)
    try:
        text = room.marks_csv()
    finally:
        chosen.reset(token)
    # With a mark of its encoding: spreadsheets take accents for something else without it.
    answer = Response(text.encode("utf-8-sig"), media_type="text/csv")
    answer.headers["Content-Disposition"] = f'attachment; filename="marks-{room.code}.csv"'
    answer.headers["Cache-Control"] = "no-store"
    return answer


async def _form(request: Request) -> dict[str, str]:
    body = (await request.body())[:10_000]
    found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    return {name: values[0] for name, values in found.items()}


def _back(page: str, error: CelosiaError) -> Response:
    return RedirectResponse(f"{page}?fault={quote(error.key)}", 303)


def _with_cookie(page: str, name: str, room: Classroom, seat: Seat | None) -> Response:
    answer = RedirectResponse(page, 303)
    answer.set_cookie(
        name,
        room.cookie(seat),
        max_age=SECONDS,
        path=f"/class/{room.code}",
        httponly=True,
        samesite="lax",
        secure=studio().settings.certificate is not None,
    )
    return answer
