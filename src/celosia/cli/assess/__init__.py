"""`celosia assess`: risk and utility of a table; one module per command."""

from __future__ import annotations

import typer

from celosia.cli.assess.attack import attack
from celosia.cli.assess.check import check
from celosia.cli.assess.columns import columns
from celosia.cli.assess.identifiers import identifiers
from celosia.cli.assess.individual import individual
from celosia.cli.assess.linkage import linkage
from celosia.cli.assess.map import map_maskings
from celosia.cli.assess.risk import risk
from celosia.cli.assess.synthetic import synthetic
from celosia.cli.assess.uniqueness import uniqueness
from celosia.cli.assess.utility import utility
from celosia.cli.frame import add_commands

app = typer.Typer(
    no_args_is_help=True,
    help="""Measure the disclosure risk and the utility of a table.

    **Examples**

    `celosia assess identifiers people.csv -o people.toml`  (before: what do the columns hold?)

    `celosia assess risk safe.csv --schema people.toml`  (after: how exposed are the records?)

    `celosia assess check safe.csv --schema people.toml --k 5 --l 3`  (does the promise hold?)
    """,
)
add_commands(
    app,
    identifiers,
    columns,
    risk,
    uniqueness,
    individual,
    check,
    attack,
    utility,
    linkage,
    synthetic,
)
app.command("map")(map_maskings)
