"""`celosia trace`: publish locations and traces, attack them, and release private aggregates."""

from __future__ import annotations

import typer

from celosia.cli.frame import add_commands
from celosia.cli.trace import assess, attack, cells, draft, info, publish, release, trips, verify

app = typer.Typer(
    no_args_is_help=True,
    help="""Publish locations, check-ins and traces, and measure their disclosure risk.

    **Examples**

    `celosia datasets get city -o pings.csv --schema trace.toml`

    `celosia trace info pings.csv --declare trace.toml`

    `celosia trace publish pings.csv --declare trace.toml --glove 5 -o safe.csv --key key.csv`

    `celosia trace attack pings.csv safe.csv --declare trace.toml --key key.csv`

    `celosia trace release grid pings.csv --declare trace.toml --epsilon 1`
    """,
)
add_commands(
    app,
    draft.init,
    info.info,
    info.methods,
    publish.publish,
    release.release,
    cells.cells,
    trips.trips,
    attack.attack,
    assess.assess,
    verify.verify,
)

__all__ = ["app"]
