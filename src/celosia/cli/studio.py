"""`celosia studio`: the web application."""

from __future__ import annotations

from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated

import typer

from celosia.cli import console
from celosia.core.errors import InputError

EXAMPLES = """**Examples**

`celosia studio`  (this machine only, at http://127.0.0.1:8080)

`celosia studio --port 9000 --no-open`

`celosia studio --share`  (a classroom: other machines may enter, with the password it prints)

`celosia studio --share --tokens class.txt --certificate host.pem --key host.key`
"""


def studio(
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port.")] = 8080,
    share: Annotated[
        bool,
        typer.Option("--share", help="Let other machines in, with a password (made if not given)."),
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            help="Where to listen with --share; all addresses of this machine if not given."
        ),
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the password; nothing secret in options."),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="One token a line, such as one for each student."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name by which other machines call this one."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For HTTPS (PEM).")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The private key of the certificate (PEM).")
    ] = None,
    upload_megabytes: Annotated[
        float, typer.Option(help="The largest file that a visitor may bring.")
    ] = 100,
    idle_minutes: Annotated[
        float, typer.Option(help="After this time without a visit, a visitor's work is removed.")
    ] = 60,
    workers: Annotated[int, typer.Option(min=1, help="Jobs that run at the same time.")] = 2,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the browser.")
    ] = True,
) -> None:
    """Open the studio, the web application, until Ctrl-C.

    It needs no internet and no other service. Only this machine can reach it unless --share is
    given.
    """
    from celosia.studio.app import serve
    from celosia.studio.settings import MEGABYTE, Settings

    if host is not None and not share:
        raise InputError(
            "CEL-W004",
            "--host without --share.",
            why="Only a shared studio listens to other machines.",
            fix="Add --share, which asks visitors for a password.",
        )
    passwords = _secrets(password_file, tokens) if share or password_file or tokens else ()
    made = share and not passwords
    if made:
        passwords = (token_urlsafe(12),)
    settings = Settings(
        host=(host or "0.0.0.0") if share else "127.0.0.1",  # noqa: S104 - with a password
        port=port,
        passwords=passwords,
        certificate=certificate,
        key=key,
        most_upload=round(upload_megabytes * MEGABYTE),
        idle=60 * idle_minutes,
        workers=workers,
        names=tuple(name or ()),
    )

    def ready() -> None:
        if made:
            console.note(f"Password for visitors: {passwords[0]}")
        if share and certificate is None:
            console.note(
                "Warning: without --certificate what visitors send can be read on the network."
            )
        console.note(f"The studio is at {settings.address} until Ctrl-C.")
        if open_browser and not share:
            _open(settings.address)

    serve(settings, ready=ready)
    console.note("The studio has ended; the work of its visitors is removed.")


studio.__doc__ = f"{studio.__doc__}\n\n{EXAMPLES}"


def _secrets(password_file: Path | None, tokens: Path | None) -> tuple[str, ...]:
    found: list[str] = []
    for file in (password_file, tokens):
        if file is not None:
            lines = file.read_text("utf-8").splitlines()
            found += [line.strip() for line in lines if line.strip()]
    if any(len(each) < 8 for each in found) or (not found and (password_file or tokens)):
        raise InputError(
            "CEL-W005",
            "a password or token is shorter than 8 letters, or there is none in the file.",
            why="It could be guessed.",
            fix="Write one longer secret a line.",
        )
    return tuple(found)


def _open(address: str) -> None:
    """Open the browser, beside the studio; nothing happens where there is none."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
