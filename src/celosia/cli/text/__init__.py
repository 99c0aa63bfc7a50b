"""`celosia text`: find what identifies people in documents, publish and verify them."""

from __future__ import annotations

import typer

from celosia.cli.frame import add_commands
from celosia.cli.text import check, index, publish

app = typer.Typer(
    no_args_is_help=True,
    help="""Publish documents: find what identifies people, replace it, verify the new files.

    **Examples**

    `celosia datasets get notes -o notes --people patients.csv`

    `celosia text init -o text.toml --person '^(P[0-9]+)-'`

    `celosia text find notes --declare text.toml --facts patients.csv -o findings.csv`

    `celosia text publish notes --declare text.toml --findings findings.csv -o safe --key key.bin`

    `celosia text verify safe --original notes --findings findings.csv --declare text.toml`

    `celosia text index safe --k 5 -o index.parquet`
    """,
)
add_commands(
    app,
    publish.init,
    publish.find,
    publish.review,
    publish.publish,
    check.verify,
    check.attack,
    check.assess,
    index.index,
    index.release,
    index.methods,
    index.forget_key,
)

__all__ = ["app"]
