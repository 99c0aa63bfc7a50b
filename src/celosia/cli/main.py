"""The `celosia` command: runs a command, and turns every error into a message and an exit code.

Exit codes: 0 done; 1 the guarantee is not possible; 2 wrong usage or input; 3 budget exhausted;
70 a fault of ours; 130 stopped by Ctrl-C. A message of a foreign exception is never shown, because
it may hold cell values.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

    from celosia.core.errors import CelosiaError

MISUSE = 2
FAULT = 70
INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a letter that it lacks is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    if sys.argv[1:] == ["--version"] and _show_version():
        sys.exit(0)
    import atexit
    import gc
    import logging

    # Loading makes many objects that stay: to look for garbage among them takes a tenth of it. And
    # the end of the process frees them all: Python need not look at each of them once more.
    gc.set_threshold(200_000, 25, 25)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)

    from celosia.cli import console
    from celosia.cli.app import app
    from celosia.core.messages import speaking

    # fastexcel logs a guess about empty columns that means nothing to a user.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    with speaking(None):  # the option decides anew; a caller in this process keeps its language
        sys.argv[1:] = _language_first(sys.argv[1:])
        code, error = _run(app)
        try:
            if error is not None:
                console.show_error(error, as_json="--json" in sys.argv[1:])
            if sys.stdout is not None:  # it is None where the caller has closed it
                sys.stdout.flush()
        except (BrokenPipeError, SystemExit):  # the latter is Rich's way to say the former
            # The reader of our output has closed it (`| head`): no error message.
            _discard_output()
        except OSError as refusal:
            if error is None:
                code = MISUSE
                console.show_error(_system_error(refusal), as_json=False)
            _discard_output()
    sys.exit(code)


def _language_first(words: list[str]) -> list[str]:
    """The words of the command line with `--language` before the command, whose option it is.

    >>> _language_first(["explain", "CEL-T011", "--language", "es"])
    ['--language', 'es', 'explain', 'CEL-T011']
    """
    end = words.index("--") if "--" in words else len(words)
    for place, word in enumerate(words[:end]):
        if word == "--language" or word.startswith("--language="):
            after = place + (2 if word == "--language" else 1)
            return [*words[place:after], *words[:place], *words[after:]]
    return words


def _show_version() -> bool:
    """Print the version without loading any command; whether it could be written.

    Where it could not, the usual way tries again, and says why.
    """
    from celosia import __version__

    try:
        print(f"celosia {__version__}", flush=True)
    except OSError:
        return False
    return True


def _run(app: typer.Typer) -> tuple[int, CelosiaError | None]:
    """Run the command: how to end, and what to say if it did not go well."""
    from typer import Abort

    from celosia.core.errors import CelosiaError

    with _signal_handlers() as stopped:
        try:
            # Not standalone: Typer would print interrupts and errors its own way.
            result = app(standalone_mode=False)
        except SystemExit:  # completion is done, or nobody reads our output any more
            return 0, None
        except (KeyboardInterrupt, Abort):
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
    from celosia.cli import console

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
    from celosia.core.errors import CelosiaError

    if isinstance(error, CelosiaError):
        return error.exit_code, error
    if hasattr(error, "format_message"):  # Typer's own: wrong usage
        return MISUSE, _misuse(error)
    if os.environ.get("CELOSIA_DEBUG"):
        raise error
    if isinstance(error, OSError):
        return MISUSE, _system_error(error)
    if isinstance(error, MemoryError):
        return MISUSE, CelosiaError("CEL-I042")
    # No message of the exception: it may hold cell values.
    return FAULT, CelosiaError("CEL-X001", name=type(error).__name__)


def _misuse(error: Any) -> CelosiaError | None:
    from celosia.core.errors import CelosiaError

    message = error.format_message()
    if not message:  # no arguments: the help was shown
        return None
    context = getattr(error, "ctx", None)
    path = "celosia" if context is None else context.command_path
    return CelosiaError("CEL-I040", problem=message, command=path)


def _system_error(error: OSError) -> CelosiaError:
    """The error for what the operating system would not do."""
    from celosia.core.errors import CelosiaError

    # Not the message of the exception: a library may have put cell values into it.
    reason = "" if error.errno is None else f": {os.strerror(error.errno)}"
    place = "" if error.filename is None else f" ({os.fsdecode(error.filename)})"
    return CelosiaError("CEL-I041", reason=reason, place=place)


def _discard_output() -> None:
    """Let nothing that is still buffered fail once more when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError):  # closed, or not a file
            os.dup2(nowhere, stream.fileno())
