"""`celosia log`: publish, attack and measure logs and sets, and release frequent queries."""

from __future__ import annotations

import typer

from celosia.cli.frame import add_commands
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
add_commands(
    app,
    info.init,
    info.info,
    publish.publish,
    info.methods,
    release.release,
    release.plan,
    attack.attack,
    attack.assess,
    verify.verify,
)

__all__ = ["app"]
