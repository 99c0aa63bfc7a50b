"""The commands of `celosia`, each with the module that is loaded when it is called."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from celosia.cli.lazy_commands import CommandEntry, lazy_group

PANELS: dict[str, dict[str, tuple[str, str, str]]] = {
    "Tables": {
        "publish": (
            "celosia.cli.publish",
            "publish",
            "Publish a table so that its privacy models hold, with the least loss of information.",
        ),
        "explore": (
            "celosia.cli.explore",
            "explore",
            "List the solutions on the front of loss and risk, to choose the one to publish.",
        ),
        "hierarchy": (
            "celosia.cli.hierarchy",
            "app",
            "Build and check generalisation hierarchies.",
        ),
        "mask": (
            "celosia.cli.mask",
            "mask",
            "Mask a table by a recipe: noise, microaggregation, swapping, synthesis and more.",
        ),
        "synthesise": (
            "celosia.cli.synthesise",
            "synthesise",
            "Make a synthetic table, and measure its disclosure risk and its utility.",
        ),
        "magnitude": (
            "celosia.cli.magnitude",
            "magnitude",
            "Publish a table of sums, and suppress or round cells that disclose a contribution.",
        ),
    },
    "Graphs": {
        "graph": (
            "celosia.cli.graph",
            "app",
            "Publish a social, communication or contact network, and measure its disclosure risk.",
        ),
    },
    "Documents": {
        "text": (
            "celosia.cli.text",
            "app",
            "Publish documents: find what identifies people, replace it, verify the new files.",
        ),
    },
    "Traces": {
        "trace": (
            "celosia.cli.trace",
            "app",
            "Publish locations, check-ins and traces, and measure their disclosure risk.",
        ),
    },
    "Queries": {
        "query": (
            "celosia.cli.query",
            "query",
            "Query tables in SQL or a graph in SPARQL with differential privacy, within a budget.",
        ),
        "policy": (
            "celosia.cli.policy",
            "app",
            "Draft, check and show a policy: the allowed queries of a database and their budget.",
        ),
        "ledger": (
            "celosia.cli.ledger",
            "app",
            "Show, check and export the privacy ledger: every charge and the remaining budget.",
        ),
        "rdf": (
            "celosia.cli.rdf",
            "app",
            "Load an RDF graph into a store; inspect, check and export it.",
        ),
        "serve": (
            "celosia.cli.serve",
            "serve",
            "Serve queries over HTTP, under a policy and with a budget for each analyst.",
        ),
        "token": (
            "celosia.cli.serve",
            "tokens_app",
            "Create, list and revoke the access tokens of a query service.",
        ),
    },
    "Devices": {
        "collect": (
            "celosia.cli.collect",
            "app",
            "Collect statistics from devices with local differential privacy.",
        ),
    },
    "Noise and budgets": {
        "release": (
            "celosia.cli.release",
            "app",
            "Release one statistic of a table with differential privacy.",
        ),
        "epsilon": (
            "celosia.cli.epsilon",
            "app",
            "Understand epsilon: its meaning, its error, and the total of several releases.",
        ),
    },
    "Checking": {
        "assess": (
            "celosia.cli.assess",
            "app",
            "Measure the disclosure risk and the utility of a table.",
        ),
        "audit": (
            "celosia.cli.audit",
            "app",
            "Test the privacy guarantees: mechanisms by their outputs (the default), and private"
            " queries by the time, failures and sizes of their answers.",
        ),
    },
    "Learning": {
        "demo": (
            "celosia.cli.demo",
            "demo",
            "Generate a census of invented people, publish it with k-anonymity, and write a "
            "report.",
        ),
        "teach": (
            "celosia.cli.teach",
            "teach",
            "Follow a classic algorithm step by step on a table, and compare it with the optimum.",
        ),
        "lab": (
            "celosia.cli.lab",
            "app",
            "Reproduce published tables and figures, cell by cell.",
        ),
        "datasets": (
            "celosia.cli.datasets",
            "app",
            "List the sample data, generated or loaded; nothing is downloaded.",
        ),
    },
    "Set-up": {
        "studio": (
            "celosia.cli.studio",
            "studio",
            "Open the studio, the web application, until Ctrl-C.",
        ),
        "explain": (
            "celosia.cli.explain",
            "explain",
            "Explain an error code: its meaning and its remedy.",
        ),
        "doctor": (
            "celosia.cli.doctor",
            "doctor",
            "Show versions, cores and optional packages, to paste into a bug report.",
        ),
    },
}
"""The commands by panel of the help: the module, the name in it, and the summary."""

COMMANDS = {
    name: CommandEntry(*entry, panel)
    for panel, commands in PANELS.items()
    for name, entry in commands.items()
}
"""All commands, in the order of the help."""

app = typer.Typer(
    name="celosia",
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 no such guarantee, 2 wrong input, 3 budget exhausted, "
    "70 internal error. "
    "`celosia explain CODE` explains an error code.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from celosia import __version__

        typer.echo(f"celosia {__version__}")
        raise typer.Exit


def _speak(wanted: str | None) -> str | None:
    """Let messages and reports be in a language; JSON, which is for programs, stays English."""
    if wanted is None:
        return None
    from celosia.core.messages import LANGUAGES, language

    if wanted not in LANGUAGES:
        raise typer.BadParameter(f"{wanted!r} is not one of {', '.join(LANGUAGES)}.")
    if "--json" not in sys.argv:
        language.set(wanted)
    return wanted


@app.callback()
def celosia(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="en|es",
            envvar="CELOSIA_LANGUAGE",
            callback=_speak,
            help="Language of messages and reports; it may also follow the command. Help and JSON "
            "are in English.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Data privacy: publish tables and graphs, answer queries privately, and check the guarantees.

    **Try it:** `celosia demo`

    **Publish a table:** `celosia publish people.csv --schema people.toml --k 5 -o safe.csv`

    **Release an answer:** `celosia release mean pay.csv --column pay --lower 0 --upper 9000 -e 0.5`

    **Query a database:** `celosia query policy.toml "SELECT count(*) FROM orders" --epsilon 0.5`
    """
