"""`celosia trace`: publish locations and traces, attack them, and release private aggregates."""

from __future__ import annotations

import typer

from celosia.cli.frame import with_options
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
app.command("init")(with_options(draft.init))
app.command("info")(with_options(info.info))
app.command("methods")(with_options(info.methods))
app.command("publish")(with_options(publish.publish))
app.command("release")(with_options(release.release))
app.command("cells")(with_options(cells.cells))
app.command("trips")(with_options(trips.trips))
app.command("attack")(with_options(attack.attack))
app.command("assess")(with_options(assess.assess))
app.command("verify")(with_options(verify.verify))

__all__ = ["app"]
