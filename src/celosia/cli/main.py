"""The `celosia` command: runs a command, and turns every error into a message and an exit code.

Exit codes: 0 done; 1 the guarantee is not possible; 2 wrong usage or input; 3 budget exhausted;
70 a fault of ours; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import io
import sys


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
    from celosia.cli.exit_codes import MISUSE, discard_output, run, system_error
    from celosia.core.messages import language

    # fastexcel logs a guess about empty columns that means nothing to a user.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    language.set(None)  # the option decides anew
    sys.argv[1:] = _language_first(sys.argv[1:])
    code, error = run(app)
    try:
        if error is not None:
            console.show_error(error, as_json="--json" in sys.argv[1:])
        if sys.stdout is not None:  # it is None where the caller has closed it
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # the latter is Rich's way to say the former
        # The reader of our output has closed it (`| head`): no error message.
        discard_output()
    except OSError as refusal:
        if error is None:
            code = MISUSE
            console.show_error(system_error(refusal), as_json=False)
        discard_output()
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
