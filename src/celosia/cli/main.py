"""The `celosia` command: gathers the commands, and turns every error into words and an exit code.

Exit codes: 0 done; 1 what is asked cannot be promised; 2 wrong usage or input; 3 budget exhausted;
70 a fault of ours; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import io
import logging
import sys
from typing import Annotated

import typer

from celosia.cli import (
    assess,
    audit,
    collect,
    console,
    datasets,
    demo,
    doctor,
    epsilon,
    explain,
    explore,
    graph,
    hierarchy,
    lab,
    ledger,
    magnitude,
    mask,
    policy,
    publish,
    query,
    rdf,
    release,
    serve,
    studio,
    synthesise,
    teach,
)
from celosia.cli.ending import MISUSE, discard_output, refused, run

app = typer.Typer(
    name="celosia",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 cannot be promised, 2 wrong input, 3 no budget left, "
    "70 a fault of Celosía. "
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
    """Data privacy under one roof: publish tables, release noisy answers, check every promise.

    **Try it:** `celosia demo`

    **Publish a table:** `celosia publish people.csv --schema people.toml --k 5 -o safe.csv`

    **Release an answer:** `celosia release mean pay.csv --column pay --lower 0 --upper 9000 -e 0.5`

    **Ask a database:** `celosia query policy.toml "SELECT count(*) FROM orders" --epsilon 0.5`
    """


app.command("demo")(demo.demo)
app.command("publish")(publish.publish)
app.command("explore")(explore.explore)
app.command("mask")(mask.mask)
app.command("synthesise")(synthesise.synthesise)
app.command("magnitude")(magnitude.magnitude)
app.add_typer(release.app, name="release")
app.add_typer(epsilon.app, name="epsilon")
app.command("query")(query.query)
app.add_typer(policy.app, name="policy")
app.add_typer(rdf.app, name="rdf")
app.add_typer(graph.app, name="graph")
app.add_typer(collect.app, name="collect")
app.add_typer(ledger.app, name="ledger")
app.command("serve")(serve.serve)
app.add_typer(serve.tokens_app, name="token")
app.add_typer(assess.app, name="assess")
app.command("audit")(audit.audit)
app.add_typer(hierarchy.app, name="hierarchy")
app.add_typer(datasets.app, name="datasets")
app.add_typer(lab.app, name="lab")
app.command("studio")(studio.studio)
app.command("teach")(teach.teach)
app.command("explain")(explain.explain)
app.command("doctor")(doctor.doctor)


def main() -> None:
    """Run the command line and exit."""
    # fastexcel logs a guess about empty columns that means nothing to a user.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a letter that it lacks is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    code, error = run(app)
    try:
        if error is not None:
            console.show_error(error, as_json="--json" in sys.argv[1:])
        if sys.stdout is not None:  # it is None where the caller has closed it
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # the latter is Rich's way to say the former
        # Whoever read our output has enough (`| head`); a complaint at exit would be noise.
        discard_output()
    except OSError as refusal:
        if error is None:
            code = MISUSE
            console.show_error(refused(refusal), as_json=False)
        discard_output()
    sys.exit(code)
