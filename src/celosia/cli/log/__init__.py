"""`celosia log`: publish, attack and measure logs and sets, and release frequent queries."""

from __future__ import annotations

import typer

from celosia.cli.frame import with_options
from celosia.cli.log import attack, info, publish, release, verify

app = typer.Typer(
    no_args_is_help=True,
    help="""Publish search logs, access logs and baskets, and measure their disclosure risk.

    **Examples**

    `celosia datasets get searches -o searches.csv`

    `celosia log init searches.csv -o log.toml`

    `celosia log info searches.csv --declare log.toml`

    `celosia log publish searches.csv --declare log.toml --min-people 10 -o safe.csv`

    `celosia log release keys searches.csv --declare log.toml --epsilon 1 --delta 1e-6`

    `celosia log publish baskets.txt --sets --km 5 2 --hierarchy items.csv -o safe.txt`
    """,
)
app.command("init")(with_options(info.init))
app.command("info")(with_options(info.info))
app.command("publish")(with_options(publish.publish))
app.command("methods")(with_options(info.methods))
app.command("release")(with_options(release.release))
app.command("plan")(with_options(release.plan))
app.command("attack")(with_options(attack.attack))
app.command("assess")(with_options(attack.assess))
app.command("verify")(with_options(verify.verify))

__all__ = ["app"]
