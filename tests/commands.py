"""The commands, put together once for all tests that call them in this process.

Typer does it anew for each call, which takes a tenth of a second; a user calls once, tests call
thousands of times. A command keeps nothing of a call, for each call hands it all its parameters;
but it keeps how its first caller asked for help, and the shells known when it was made: tests about
these take `fresh` ones.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import typer.main

fresh = typer.main.get_command


@cache
def shared(app: typer.Typer) -> Any:
    """The commands of an app, those of the last call."""
    return fresh(app)
