"""`celosia epsilon`: the meaning of an epsilon, its cost, and the total of several."""

from __future__ import annotations

import typer

from celosia.cli.epsilon.amplify import amplify
from celosia.cli.epsilon.belief import belief
from celosia.cli.epsilon.choose import choose
from celosia.cli.epsilon.compose import compose
from celosia.cli.epsilon.curve import curve
from celosia.cli.epsilon.group import group
from celosia.cli.epsilon.split import split
from celosia.cli.frame import add_commands

app = typer.Typer(
    no_args_is_help=True,
    help="""Understand epsilon: its meaning, its error, and the total of several releases.

    No data is read: all answers follow from public parameters.

    **Examples**

    `celosia epsilon belief`  (what may an attacker come to believe?)

    `celosia epsilon choose count --error 10`  (which epsilon do I need?)

    `celosia epsilon compose --pure 0.1x100 --delta 1e-6`  (what do a hundred answers cost?)
    """,
)
add_commands(app, belief, curve, choose, compose, split, amplify, group)
