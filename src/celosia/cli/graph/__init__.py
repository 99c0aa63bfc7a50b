"""`celosia graph`: publish, attack, measure and draw networks, and release statistics."""

from __future__ import annotations

import typer

from celosia.cli.graph import (
    assess,
    attack,
    draw,
    info,
    publish,
    release,
    sample,
)

app = typer.Typer(
    no_args_is_help=True,
    help="""Publish a social, communication or contact network, and measure its disclosure risk.

    **Examples**

    `celosia datasets get network -o friends.edges`

    `celosia graph info friends.edges`

    `celosia graph publish friends.edges --k-degree 10 -o safe.edges --key key.csv`

    `celosia graph attack friends.edges safe.edges --key key.csv`

    `celosia graph release edges friends.edges --epsilon 0.5`
    """,
)
app.command("publish")(publish.publish)
app.command("assess")(assess.assess)
app.command("attack")(attack.attack)
app.command("draw")(draw.draw)
app.command("info")(info.info)
app.command("methods")(info.methods)
app.command("release")(release.release)
app.command("sample")(sample.sample)

__all__ = ["app"]
