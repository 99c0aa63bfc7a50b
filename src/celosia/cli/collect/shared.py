"""What the commands of `celosia collect` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProtocolFile = Annotated[
    Path,
    typer.Argument(
        metavar="PROTOCOL",
        help="The protocol file (TOML) that devices and server share.",
        show_default=False,
    ),
]
Folder = Annotated[
    Path,
    typer.Option(help="The folder of the collector.", show_default=False),
]
