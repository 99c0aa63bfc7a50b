"""The web application: our gate and routes, with the pages of the toolkit behind them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from traceback import walk_tb
from typing import Any

from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.core.server import listening, run_server
from celosia.studio.runtime import Studio, studio
from celosia.studio.settings import Settings

LOGGERS = ("nicegui", "uvicorn.error", "asyncio", "socketio.server", "engineio.server")
"""Who logs errors of pages and of the server; a filter holds for one logger only."""
UNHEARD = ("handle_log_message", "_exception_handler_404")
"""Functions of the toolkit that log what a browser sends; a visitor could fill the disk with it."""


# The text of a foreign error may hold a cell, and so may each line of its trace.
class LogFilter(logging.Filter):
    """Replaces each error by its kind and place, and drops what browsers say."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Make a record fit to be kept; whether it is kept at all."""
        if record.funcName in UNHEARD:
            return False
        error = record.exc_info[1] if record.exc_info else None
        if error is None and isinstance(record.msg, BaseException):
            error = record.msg
        if error is not None:
            record.msg, record.args = describe(error), ()
            record.exc_info = record.exc_text = record.stack_info = None
        return True


def describe(error: BaseException) -> str:
    """The kind of an error and the lines of code it came through, without its text.

    >>> describe(ValueError("a cell"))
    'ValueError'
    """
    places = [
        f"{Path(frame.f_code.co_filename).name}:{line}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    code = getattr(error, "code", None)
    text = type(error).__name__ + (f" {code}" if isinstance(code, str) else "")
    return f"{text} at {' < '.join(reversed(places[-6:]))}" if places else text


def keep_quiet() -> None:
    """Let no error of a page or of the server be logged with its text, unless for debugging."""
    if os.environ.get("CELOSIA_STUDIO_DEBUG"):
        return
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, LogFilter) for each in logger.filters):
            logger.addFilter(LogFilter())


ASSETS = Path(__file__).parent / "assets"
TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".html": "text/html",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".py": "text/x-python",
}
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""A report is read and printed; nothing in it may run, whatever a column was called."""


def check_toolkit() -> None:
    """Refuse to begin without the packages of the extra `studio`; none of them is loaded."""
    for package in ("nicegui", "fastapi", "uvicorn", "babel"):
        if find_spec(package) is None:
            raise EngineError("CEL-W031", package=package)


def build(running: Studio) -> Any:
    """The whole application, for a server to run.

    Raises:
        EngineError: CEL-W031, the extra `studio` is not installed.
    """
    check_toolkit()
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(running.folder / "toolkit"))
    from fastapi import FastAPI  # seconds, only for a studio
    from fastapi.staticfiles import StaticFiles
    from nicegui import app as toolkit
    from nicegui import ui

    from celosia.studio import pages, shell
    from celosia.studio.guard import Guard

    keep_quiet()
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/assets", StaticFiles(directory=ASSETS))
    _add_routes(app)
    pages.load()
    shell.prepare()
    # The toolkit's own bar at the top has no name; an upload shows its progress in its box.
    toolkit.config.quasar_config["loadingBar"] = {"skipHijack": True}
    ui.run_with(
        app,
        title="Celosía",
        favicon=ASSETS / "lattice.svg",
        reconnect_timeout=30.0,
        show_welcome_message=False,
    )
    app.add_middleware(Guard, studio=running, owner=shell.owner, dismiss=shell.dismiss)
    return app


def _add_routes(app: Any) -> None:
    from fastapi import Request, Response
    from fastapi.responses import (
        FileResponse,
        JSONResponse,
        PlainTextResponse,
        RedirectResponse,
    )

    from celosia.studio import error_page, guard, on_demand
    from celosia.studio.language import LANGUAGES

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok")

    async def choose(request: Request) -> Response:
        """Keep the language or the colours, and go back to the page."""
        answer = RedirectResponse(_back(request.query_params.get("back", "/")), 303)
        for name, cookie, known in (
            ("language", error_page.LANGUAGE, LANGUAGES),
            ("theme", error_page.THEME, ("light", "dark", "auto")),
        ):
            value = request.query_params.get(name)
            if value in known:
                answer.set_cookie(cookie, str(value), max_age=31_536_000, samesite="lax")
        return answer

    async def file(request: Request) -> Response:
        """A file of one of the visitor's own works: to keep, or a report to read.

        Cells are written as they are, those too that a spreadsheet would take for a formula: a
        release must be exactly what its certificate says. It is handed out as a file, never opened.
        """
        visitor = request.scope.get(guard.SCOPE)
        name = request.path_params["name"]
        try:
            if visitor is None:
                raise FileNotFoundError
            path = await on_demand.find(visitor, visitor.work(request.path_params["work"]), name)
        except (InputError, FileNotFoundError):
            return error_page.answer("file-gone", request.scope)
        except CelosiaError as error:  # it could not be made
            many = error.code == "CEL-W022"
            return error_page.answer("jobs" if many else "fault", request.scope)
        shown = path.suffix == ".html" and "show" in request.query_params
        kind = TYPES.get(path.suffix, "application/octet-stream")
        answer = FileResponse(
            path,
            media_type=kind,
            filename=name,
            content_disposition_type="inline" if shown else "attachment",
        )
        answer.headers["Content-Security-Policy"] = REPORT_POLICY
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def jobs(request: Request) -> Response:
        """The visitor's jobs, for programs and for those who wait elsewhere."""
        visitor = request.scope.get(guard.SCOPE)
        found = [] if visitor is None else studio().jobs.of(visitor.token)
        facts = [
            {
                "id": job.id,
                "title": job.title,
                "state": job.state,
                "stage": job.step and job.step.stage,
                "share": job.share,
                "address": job.address,
                "error": job.error and job.error.as_dict(),
            }
            for job in found
        ]
        return JSONResponse({"ok": True, "data": {"jobs": facts}, "status": 200})

    app.add_route("/health", health, methods=["GET"])
    app.add_route("/choose", choose, methods=["GET"])
    app.add_route("/files/{work}/{name}", file, methods=["GET"])
    app.add_route("/api/jobs", jobs, methods=["GET"])


def _back(address: str) -> str:
    """A page of ours to go back to, whatever was asked."""
    is_ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_ours and address.isprintable() else "/"


def serve(settings: Settings, *, ready: Callable[[], object] = lambda: None) -> None:
    """Run a studio until it is stopped; then nothing of its visitors is left.

    Args:
        settings: how it is set up.
        ready: called once, as soon as visitors are answered.

    Raises:
        EngineError: CEL-W031 the extra is not installed, CEL-W032 the port cannot be had.
    """
    with (
        listening(settings.host, settings.port, code="CEL-W032") as sockets,
        Studio(settings) as running,
    ):
        run_server(
            build(running),
            sockets,
            ready=ready,
            code="CEL-W032",
            log_level="warning",
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.key,
            timeout_graceful_shutdown=2,
            server_header=False,
            proxy_headers=False,  # login attempts are counted by the real address, not by a header
            ws_max_size=2_000_000,
        )
