"""`celosia rdf`: load facts into a store, describe, check and export them; for the curator."""

from __future__ import annotations

import typer

from celosia.cli.frame import add_commands
from celosia.cli.rdf import check, load, store

app = typer.Typer(
    no_args_is_help=True,
    help="""Load an RDF graph into a store; inspect, check and export it.

    These commands are for the curator: they show exact figures.

    **Examples**

    `celosia rdf load people.ttl places.nt.gz -o people.graph`

    `celosia rdf info people.graph`

    `celosia rdf check policy.toml`

    `celosia rdf export people.graph -o people.nt`
    """,
)
add_commands(app, load.load, store.info, check.check, store.export)

__all__ = ["app"]
