"""`celosia graph`: publish, attack, measure and draw networks, and release statistics."""

from __future__ import annotations

import typer

from celosia.cli.frame import add_commands
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
add_commands(
    app,
    publish.publish,
    assess.assess,
    attack.attack,
    draw.draw,
    info.info,
    info.methods,
    release.release,
    sample.sample,
)

__all__ = ["app"]
