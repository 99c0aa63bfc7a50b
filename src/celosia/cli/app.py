"""The commands of `celosia`, each with the module that is loaded when it is named."""

from __future__ import annotations

from typing import Annotated

import typer

from celosia.cli.loading import Home, group_of

HOMES = {
    "demo": Home(
        "celosia.cli.demo",
        "demo",
        "Generate a census of invented people, publish it with k-anonymity, and write a report.",
    ),
    "publish": Home(
        "celosia.cli.publish",
        "publish",
        "Publish a table so that its privacy models hold, losing as little information as can be.",
    ),
    "explore": Home(
        "celosia.cli.explore",
        "explore",
        "List the solutions that no other beats in both loss and risk, to choose one to publish.",
    ),
    "mask": Home(
        "celosia.cli.mask",
        "mask",
        "Mask a table by a recipe: noise, microaggregation, swapping, synthesis and more.",
    ),
    "synthesise": Home(
        "celosia.cli.synthesise",
        "synthesise",
        "Make a synthetic table of all columns, and measure what it gives away and keeps.",
    ),
    "magnitude": Home(
        "celosia.cli.magnitude",
        "magnitude",
        "Sum a column over one to three others, and suppress or round so that nobody is given "
        "away.",
    ),
    "query": Home(
        "celosia.cli.query",
        "query",
        "Ask tables in SQL or a graph in SPARQL, with differential privacy, paid from a budget.",
    ),
    "serve": Home(
        "celosia.cli.serve",
        "serve",
        "Let analysts ask a database over HTTP, under its policy and their budgets.",
    ),
    "studio": Home(
        "celosia.cli.studio",
        "studio",
        "Open the studio, a web application over every door, until Ctrl-C.",
    ),
    "teach": Home(
        "celosia.cli.teach",
        "teach",
        "Watch a classic algorithm search the lattice of a table, and compare it with the optimum.",
    ),
    "explain": Home(
        "celosia.cli.explain",
        "explain",
        "Explain an error code: what it means and what to do.",
    ),
    "doctor": Home(
        "celosia.cli.doctor",
        "doctor",
        "Show versions, cores and optional parts, to paste into a bug report.",
    ),
    "release": Home(
        "celosia.cli.release",
        "app",
        "Release one differentially private answer about a table.",
    ),
    "epsilon": Home(
        "celosia.cli.epsilon",
        "app",
        "Understand epsilon: what it means, what it costs, and what several come to.",
    ),
    "policy": Home(
        "celosia.cli.policy",
        "app",
        "Draft, check and show a policy: what may be asked of a database, and how much.",
    ),
    "rdf": Home(
        "celosia.cli.rdf",
        "app",
        "Load an RDF graph into a store, describe it, check it and export it.",
    ),
    "graph": Home(
        "celosia.cli.graph",
        "app",
        "Publish a social, communication or contact network, and check what it gives away.",
    ),
    "collect": Home(
        "celosia.cli.collect",
        "app",
        "Collect what is common on devices, from reports that are private already.",
    ),
    "ledger": Home(
        "celosia.cli.ledger",
        "app",
        "Show, check and export the ledger: every charge, and what is left.",
    ),
    "token": Home(
        "celosia.cli.serve",
        "tokens_app",
        "Make, list and revoke tokens of the analysts and curators of a service.",
    ),
    "assess": Home(
        "celosia.cli.assess",
        "app",
        "Assess what risk a table leaves, and what use.",
    ),
    "audit": Home(
        "celosia.cli.audit",
        "app",
        "Try to break what is promised: mechanisms by their outputs (the usual audit), and private "
        "queries by the time, failures and sizes of their answers.",
    ),
    "hierarchy": Home(
        "celosia.cli.hierarchy",
        "app",
        "Build and check generalisation hierarchies.",
    ),
    "datasets": Home(
        "celosia.cli.datasets",
        "app",
        "List data to start with, generated or loaded; nothing is downloaded.",
    ),
    "lab": Home(
        "celosia.cli.lab",
        "app",
        "Compute published results again, cell by cell.",
    ),
}
"""In the order of the help: commands, then groups of them."""

app = typer.Typer(
    name="celosia",
    cls=group_of(HOMES),
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
