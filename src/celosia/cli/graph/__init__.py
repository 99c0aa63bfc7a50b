"""`celosia graph`: publish a network, attack it, measure it, draw it, ask it."""

from __future__ import annotations

import typer

from celosia.cli.graph import (
    assessing,
    attacking,
    drawing,
    looking,
    private,
    publishing,
    sampling,
)
from celosia.cli.graph.reading import command

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
command(app, "publish", publishing.publish)
command(app, "assess", assessing.assess)
command(app, "attack", attacking.attack)
command(app, "draw", drawing.draw)
command(app, "info", looking.info)
app.command("methods")(looking.methods)
command(app, "release", private.release)
app.command("sample")(sampling.sample)

__all__ = ["app"]
