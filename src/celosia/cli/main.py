"""The `celosia` command: gathers the commands, and turns every error into words and an exit code.

Exit codes: 0 done; 1 what is asked cannot be promised; 2 wrong usage or input; 3 budget exhausted;
70 a fault of ours; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated

import typer

from celosia.cli import assess, console, datasets, demo, doctor, explain, hierarchy, publish
from celosia.core.errors import CelosiaError

FAULT = 70
INTERRUPTED = 130

app = typer.Typer(
    name="celosia",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 cannot be promised, 2 wrong input, 70 a fault of Celosía. "
    "`celosia explain CODE` expands an error code.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from celosia import __version__

        typer.echo(f"celosia {__version__}")
        raise typer.Exit


@app.callback()
def celosia(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Data privacy under one roof: publish tables and assess the risk they leave.

    **Try it:** `celosia demo`

    **Publish a table:** `celosia publish people.csv --schema people.toml --k 5 -o safe.csv`
    """


app.command("demo")(demo.demo)
app.command("publish")(publish.publish)
app.add_typer(assess.app, name="assess")
app.add_typer(hierarchy.app, name="hierarchy")
app.add_typer(datasets.app, name="datasets")
app.command("explain")(explain.explain)
app.command("doctor")(doctor.doctor)


def main() -> None:
    """Run the command line and exit."""
    # fastexcel logs a guess about empty columns that means nothing to a user.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    try:
        code = _run(as_json="--json" in sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has enough (`| head`); a complaint at exit would be noise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _run(*, as_json: bool) -> int:
    try:
        # Not standalone: Typer would print interrupts and errors its own way.
        result = app(standalone_mode=False)
    except CelosiaError as error:
        console.show_error(error, as_json=as_json)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        console.note("Stopped. Nothing was written.")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        return _usage_or_fault(error, as_json=as_json)
    return result if isinstance(result, int) else 0


def _usage_or_fault(error: Exception, *, as_json: bool) -> int:
    show = getattr(error, "show", None)
    if show is not None:  # Typer's own usage errors know how to show themselves
        show()
        return int(getattr(error, "exit_code", 2))
    if os.environ.get("CELOSIA_DEBUG"):
        raise error
    # No message of the exception: it may hold cell values.
    fault = CelosiaError(
        "CEL-X001",
        f"an unexpected {type(error).__name__} stopped the work.",
        why="This is a fault of Celosía, not of your data; nothing was written.",
        fix="Set CELOSIA_DEBUG=1 to see where, and report it with the output of `celosia doctor`.",
    )
    console.show_error(fault, as_json=as_json)
    return FAULT
