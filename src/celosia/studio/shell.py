"""What every page has around it: doors, language, colours, jobs and a place for errors."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

from nicegui import Client, app, core, run, ui
from nicegui.logging import log
from starlette.requests import Request

from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.core.messages import capital, speaking
from celosia.studio import error_page, guard, language
from celosia.studio.doors import DOORS
from celosia.studio.language import NAMES, Language, _, negotiated
from celosia.studio.runtime import studio
from celosia.studio.visitors import Visitor
from celosia.studio.widgets.text import heading, paragraph

P = ParamSpec("P")
T = TypeVar("T")

NOT_FOUND = ("CEL-W010", "CEL-W011", "CEL-W040", "CEL-W100", "CEL-L001")
"""Errors of an address that asks for something that is not there."""
FAULT = "CEL-W033"
OF_WORK = ("CEL-W011", "CEL-W012", "CEL-W025", "CEL-W076")
"""Errors where the list of all work helps."""


def prepare() -> None:
    """What holds for all pages; once, before the first."""
    language.resolve_by(_language_of_client)
    ui.add_head_html('<link rel="stylesheet" href="/assets/studio.css">', shared=True)
    ui.add_head_html('<script src="/assets/studio.js" defer></script>', shared=True)
    app.on_exception(lambda error: None)  # logged by the toolkit already
    _bind_sockets()


def owner(client: str) -> Visitor | None:
    """Whose an open page is, by its id; None where nobody knows."""
    found = Client.instances.get(client)
    return None if found is None else found.request.scope.get(guard.SCOPE)


def dismiss(visitor: Visitor) -> None:
    """Send all open pages of somebody who has left to the entrance."""
    for client in list(Client.instances.values()):
        if owner(client.id) is visitor:
            client.open(guard.LEFT)


def _bind_sockets() -> None:
    """Let a socket speak for pages of its own visitor only; to the toolkit any id of a page does.

    The ids are secrets of the visitor, so this is a second lock on the same door.
    """
    sio = core.sio
    for name in ("handshake", "event", "javascript_response", "ack", "log"):
        sio.on(name, handler=_bound(sio, sio.handlers["/"][name]))


def _bound(sio: Any, inner: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    async def bound(sid: str, message: Any) -> Any:
        if not isinstance(message, dict) or not isinstance(message.get("client_id"), str):
            return False
        whose = owner(message["client_id"])
        if whose is not None and whose is not sio.get_environ(sid)["asgi.scope"].get(guard.SCOPE):
            return False
        result = inner(sid, message)
        return await result if isinstance(result, Awaitable) else result

    return bound


async def in_thread(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | None:
    """What a function gives that would keep other pages waiting; None where the studio closes.

    It runs in a thread, which would else speak English whatever the page does.
    """
    spoken = language.current()

    def run_spoken() -> T:
        with speaking(spoken):
            return function(*given, **named)

    return await run.io_bound(run_spoken)


def visitor() -> Visitor:
    """Whose page is being shown."""
    found = ui.context.client.request.scope.get(guard.SCOPE)
    if found is None:  # a browser without cookies
        found = studio().visitors.enter(None)
    elif studio().visitors.known(found.token) is None:
        # A page left open for longer than work is kept: a reload gives a new visitor. Nothing may
        # be done for the old one, whose folder would never be removed.
        ui.navigate.reload()
        raise InputError("CEL-W012")
    assert isinstance(found, Visitor)
    return found


def page(path: str, title: str, *, door: str = "") -> Callable[[Any], Any]:
    """Make a function a page of the studio: it draws the middle, this draws the rest.

    The function's parameters are those of the path and of the query, with their types, and
    `request` if it wants it. A `CelosiaError` in it becomes a page that says what to do next.

    Args:
        path: the address, such as `/publish/{work_id}`.
        title: the name of the page (a key of the catalogue).
        door: the address of the door it belongs to.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        async def shown(request: Request, **arguments: Any) -> Any:
            _set_up(request)
            ui.page_title(f"{_(title)} · Celosía")
            with _frame(request, door):
                try:
                    result = function(**_wanted(function, request, arguments))
                    if isinstance(result, Awaitable):
                        result = await result
                except CelosiaError as error:
                    _show_instead(request, error, door)
                    return None
                except Exception as error:  # its text may hold a cell, and the toolkit shows it
                    _show_instead(request, fault(error), door)
                    return None
            return result

        # The web framework reads the parameters of a page from its signature.
        first = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
        hints = inspect.get_annotations(function, eval_str=True)
        rest = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[each.name])
            for each in inspect.signature(function).parameters.values()
            if each.name != "request"
        ]
        shown.__signature__ = inspect.Signature([first, *rest])  # type: ignore[attr-defined]
        ui.page(path, response_timeout=20.0)(shown)
        return function

    return decorate


def _wanted(
    function: Callable[..., Any], request: Request, arguments: dict[str, Any]
) -> dict[str, Any]:
    names = inspect.signature(function).parameters
    return arguments | ({"request": request} if "request" in names else {})


def _set_up(request: Request) -> None:
    """The language and colours of this page, kept by the browser."""
    client = ui.context.client
    spoken = _language_of(request)
    client.page = copy.copy(client.page)  # its language belongs to this visitor alone
    client.page.language = "es" if spoken == "es" else "en-GB"
    theme = request.cookies.get(error_page.THEME, "auto")
    client.page.dark = {"light": False, "dark": True}.get(theme)


def _language_of(request: Request) -> Language:
    return negotiated(
        request.query_params.get("lang"),
        request.cookies.get(error_page.LANGUAGE),
        request.headers.get("accept-language"),
    )


def _language_of_client() -> Language | None:
    try:
        return _language_of(ui.context.client.request)
    except RuntimeError:  # no page is being shown
        return None


@contextmanager
def _frame(request: Request, door: str) -> Iterator[None]:
    ui.colors(primary="#0f5c6e", secondary="#b4532a", accent="#7a5c99")
    with ui.header(elevated=False).classes("celosia-header items-center no-wrap"):
        menu = ui.button(icon="menu").props(
            f'flat round dense color=white aria-label="{_("Menu")}"'
        )
        menu.classes("celosia-narrow")
        with ui.link(target="/").classes("celosia-name"):
            ui.html('<img src="/assets/lattice.svg" alt="" width="28" height="28">', sanitize=False)
            ui.label("Celosía")
        with (
            ui.element("nav")
            .classes("celosia-doors celosia-wide")
            .props(f'aria-label="{_("Doors")}"')
        ):
            _doors(door)
        ui.space()
        tray = _jobs_tray()
        _switches(request)
        if studio().settings.passwords:
            _way_out()
    with (
        ui.left_drawer(value=False)
        .props("overlay behavior=mobile")
        .classes("celosia-drawer") as drawer,
        ui.element("nav").props(f'aria-label="{_("Doors")}"'),
    ):
        _doors(door)
    menu.on_click(drawer.toggle)
    with ui.element("div").classes("celosia-main").props('tabindex="-1"') as middle:
        yield
    with tray:  # not before: its timer would send an asynchronous page before it is whole
        from celosia.studio.widgets.job_progress import job_list  # it uses this module

        job_list()
    ui.skip_link(_("Skip to the content"), target=middle)
    # Long forms have many fields before the button that they are for.
    main = ui.skip_link(_("Skip to the main button"), target=middle)
    main.on("click", js_handler="(event) => celosiaMain(event)")
    with ui.element("footer").classes("celosia-footer"):
        paragraph("Your files stay on the machine that runs this studio until your work expires.")
        ui.link(_("Your work"), "/works")


def _doors(door: str) -> None:
    for address, name, icon in DOORS:
        with ui.link(target=address).classes("celosia-door") as link:
            ui.icon(icon).props('aria-hidden="true"')
            ui.label(_(name))
        if address == door:
            link.props('aria-current="page"')


def _switches(request: Request) -> None:
    here = quote(str(request.url.path) + (f"?{_query(request)}" if _query(request) else ""))
    spoken = _language_of(request)
    other: Language = "en" if spoken == "es" else "es"
    ui.link(NAMES[other], f"/choose?language={other}&back={here}").classes("celosia-switch").props(
        f'lang="{other}" hreflang="{other}"'
    )
    theme = request.cookies.get(error_page.THEME, "auto")
    following = {"auto": "dark", "dark": "light", "light": "auto"}[
        theme if theme in ("auto", "dark", "light") else "auto"
    ]
    icon = {"auto": "brightness_auto", "dark": "dark_mode", "light": "light_mode"}.get(theme)
    label = {
        "auto": _("Colours as the system has them; switch to dark"),
        "dark": _("Dark colours; switch to light"),
        "light": _("Light colours; switch to those of the system"),
    }.get(theme, _("Colours"))
    with (
        ui.link(target=f"/choose?theme={following}&back={here}")
        .classes("celosia-switch")
        .props(f'aria-label="{label}" title="{label}"')
    ):
        ui.icon(icon or "brightness_auto").props('aria-hidden="true"')


def _way_out() -> None:
    """A button to leave a studio that asks who comes in; it asks first, for work is removed."""
    with ui.dialog() as asked, ui.card().classes("celosia-tight"):
        heading("Leave the studio?")
        paragraph(
            "Your files and results here are removed and your jobs end. To come back, the "
            "password or token is asked again."
        )
        with (
            ui.row().classes("q-mt-md"),
            ui.element("form").props(f'method="post" action="{guard.LEAVE}"'),
        ):
            leave = ui.button(_("Leave and remove my work"), icon="logout")
            leave.props('type="submit" data-test="leave-now"')
            ui.button(_("Stay"), on_click=asked.close).props("flat")
    asked.props["aria-label"] = _("Leave the studio?")
    door = ui.button(icon="logout", on_click=asked.open).props("flat dense no-wrap color=white")
    door.props["aria-label"] = door.props["title"] = _("Leave")
    with door:
        paragraph("Leave").classes("celosia-roomy q-ml-xs")


def _query(request: Request) -> str:
    pairs = [pair for pair in str(request.url.query).split("&") if not pair.startswith("lang=")]
    return "&".join(each for each in pairs if each)


def _jobs_tray() -> ui.menu:
    """A button for the list of all jobs, which is filled when the page is whole."""
    with ui.button(icon="work_history").props(
        f'flat round dense color=white aria-label="{_("Your jobs")}" title="{_("Your jobs")}"'
    ):
        return ui.menu().props("auto-close=false")


def show_error(error: CelosiaError, *, attend: bool = False) -> None:
    """An error as a card: what it is called, what is wrong, why, what to do, and its code.

    Args:
        error: the error.
        attend: whether to bring it into sight and move the focus to it.
    """
    with _alert(error.part("title"), attend=attend):
        with ui.column().classes("gap-1"):
            ui.label(_sentence(error.what))
            if error.why:
                ui.label(error.why)
            if error.fix:
                ui.label(error.fix).classes("text-bold")
        ui.label(error.code).classes("celosia-quiet")


def show_problem(what: str, why: str, fix: str) -> None:
    """The same for a problem without a code, in the language of the page, brought into sight."""
    with _alert(what, attend=True), ui.column().classes("gap-1"):
        ui.label(why)
        ui.label(fix).classes("text-bold")


def _alert(title: str, *, attend: bool) -> ui.card:
    with ui.card().classes("celosia-error w-full").props('role="alert" tabindex="-1"') as card:
        ui.label(title).classes("text-h6")
    if attend:
        ui.run_javascript(f"celosiaAttend({card.id})")
    return card


def _show_instead(request: Request, error: CelosiaError, door: str) -> None:
    """An error in the place of a page, with its status and a way back."""
    if error.code in NOT_FOUND or error.code == FAULT:
        ui.context.client.status_code = 500 if error.code == FAULT else 404
    error_page.mark(request.scope)
    show_error(error)
    ways = [(_("To the first page"), "/")]
    if error.code in OF_WORK:
        ways.insert(0, (_("Your work"), "/works"))
    if door:
        name = next(name for address, name, _icon in DOORS if address == door)
        ways.insert(0, (_("Back to {door}", door=_(name)), door))
    ways_on(ways)


def _sentence(text: str) -> str:
    """With a capital first, unless it begins with a name, such as that of a file.

    >>> _sentence("the table is empty."), _sentence("people.csv: no rows."), _sentence("age: no.")
    ('The table is empty.', 'people.csv: no rows.', 'age: no.')
    """
    first = text.partition(" ")[0]
    return capital(text) if first.isalpha() else text


def ways_on(ways: Sequence[tuple[str, str]]) -> None:
    """What can be done next, each a link that looks like a button; the first is the likeliest."""
    with ui.row().classes("celosia-ways q-mt-md"):
        for text, address in ways:
            ui.link(text, address).classes("celosia-way")


def fault(error: Exception) -> EngineError:
    """What a visitor is told of an error that we did not foresee; the log has its place."""
    log.exception(error)
    return EngineError(FAULT)


def notify_error(error: CelosiaError) -> None:
    """The same in a passing note, where the page itself stays."""
    text = f"{error.part('title')}. {_sentence(error.what)} {error.fix}"
    ui.notify(text, type="negative", multi_line=True, timeout=8000)
