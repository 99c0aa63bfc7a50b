"""Exit codes of the command line, and the error message of every exception.

A message of a foreign exception is never shown, because it may hold cell values.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, current_thread, main_thread
from typing import Any

import typer

from celosia.cli import console
from celosia.core.errors import CelosiaError

MISUSE = 2
FAULT = 70
INTERRUPTED = 130


def run(app: typer.Typer) -> tuple[int, CelosiaError | None]:
    """Run the command: how to end, and what to say if it did not go well."""
    with _signal_handlers() as stopped:
        try:
            # Not standalone: Typer would print interrupts and errors its own way.
            result = app(standalone_mode=False)
        except SystemExit:  # completion is done, or nobody reads our output any more
            return 0, None
        except (KeyboardInterrupt, typer.Abort):
            result = INTERRUPTED
        except BaseException as error:  # a panic of Polars is no Exception
            if not stopped.is_set():
                return _translate_error(error)
            result = INTERRUPTED
    if result == INTERRUPTED:  # Typer turns Ctrl-C into this, or raises Abort in older versions
        return INTERRUPTED, CelosiaError("CEL-C001.interrupted")
    return result if isinstance(result, int) else 0, None


@contextmanager
def _signal_handlers() -> Iterator[Event]:
    """Whether Ctrl-C was pressed, or the system asked us to end (SIGTERM): temporary files must go.

    A library may tell it as an error of its own, or not at all.
    """
    stopped = console.STOPPED
    stopped.clear()

    def stop(*_: object) -> None:
        stopped.set()
        raise KeyboardInterrupt

    usual: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    if current_thread() is not main_thread():
        usual = {}
    # A signal about which somebody else decides stays theirs: a script ignores Ctrl-C for what it
    # starts in the background, and may still ask it to end.
    usual = {each: does for each, does in usual.items() if signal.getsignal(each) == does}
    for each in usual:
        signal.signal(each, stop)
    try:
        yield stopped
    finally:
        for each, does in usual.items():
            signal.signal(each, does)


def _translate_error(error: BaseException) -> tuple[int, CelosiaError | None]:
    """The exit code of an exception, and the error to show."""
    if isinstance(error, CelosiaError):
        return error.exit_code, error
    if hasattr(error, "format_message"):  # Typer's own: wrong usage
        return MISUSE, _misuse(error)
    if os.environ.get("CELOSIA_DEBUG"):
        raise error
    if isinstance(error, OSError):
        return MISUSE, system_error(error)
    if isinstance(error, MemoryError):
        return MISUSE, CelosiaError("CEL-I042")
    # No message of the exception: it may hold cell values.
    return FAULT, CelosiaError("CEL-X001", name=type(error).__name__)


def _misuse(error: Any) -> CelosiaError | None:
    message = error.format_message()
    if not message:  # no arguments: the help was shown
        return None
    context = getattr(error, "ctx", None)
    path = "celosia" if context is None else context.command_path
    return CelosiaError("CEL-I040", problem=message, command=path)


def system_error(error: OSError) -> CelosiaError:
    """The error for what the operating system would not do."""
    # Not the message of the exception: a library may have put cell values into it.
    reason = "" if error.errno is None else f": {os.strerror(error.errno)}"
    place = "" if error.filename is None else f" ({os.fsdecode(error.filename)})"
    return CelosiaError("CEL-I041", reason=reason, place=place)


def discard_output() -> None:
    """Let nothing that is still buffered fail once more when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError):  # closed, or not a file
            os.dup2(nowhere, stream.fileno())
