"""The commands of `celosia`, each with the module that is loaded when it is named."""

from __future__ import annotations

from typing import Annotated

import typer

from celosia.cli.loading import Home, group_of

HOMES = {
    "demo": Home("celosia.cli.demo", "demo"),
    "publish": Home("celosia.cli.publish", "publish"),
    "explore": Home("celosia.cli.explore", "explore"),
    "mask": Home("celosia.cli.mask", "mask"),
    "synthesise": Home("celosia.cli.synthesise", "synthesise"),
    "magnitude": Home("celosia.cli.magnitude", "magnitude"),
    "query": Home("celosia.cli.query", "query"),
    "serve": Home("celosia.cli.serve", "serve"),
    "studio": Home("celosia.cli.studio", "studio"),
    "teach": Home("celosia.cli.teach", "teach"),
    "explain": Home("celosia.cli.explain", "explain"),
    "doctor": Home("celosia.cli.doctor", "doctor"),
    "release": Home("celosia.cli.release", "app"),
    "epsilon": Home("celosia.cli.epsilon", "app"),
    "policy": Home("celosia.cli.policy", "app"),
    "rdf": Home("celosia.cli.rdf", "app"),
    "graph": Home("celosia.cli.graph", "app"),
    "collect": Home("celosia.cli.collect", "app"),
    "ledger": Home("celosia.cli.ledger", "app"),
    "token": Home("celosia.cli.serve", "tokens_app"),
    "assess": Home("celosia.cli.assess", "app"),
    "audit": Home("celosia.cli.audit", "app"),
    "hierarchy": Home("celosia.cli.hierarchy", "app"),
    "datasets": Home("celosia.cli.datasets", "app"),
    "lab": Home("celosia.cli.lab", "app"),
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
