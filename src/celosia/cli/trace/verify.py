"""`celosia trace verify`: count the persons of each published trace again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.frame import JsonOutputs
from celosia.core.messages import say


def verify(
    release: Annotated[Path, "argument", "The published file."],
    key: Annotated[Path, "The key that was written with it (CSV)."],
    k: Annotated[int, typer.Option("-k", min=2, help="How many persons must share each trace.")],
    outputs: JsonOutputs,
) -> None:
    """Count in the published file whether every trace is that of k different persons.

    Traces are compared by all that is published of them, and the key says whose they are. The
    check shares no code with the methods and believes no certificate. A broken promise ends the
    command with an error.

    **Examples**

    `celosia trace verify safe.csv --key key.csv -k 5`
    """
    from celosia import frames
    from celosia.core.errors import PrivacyError
    from celosia.traces import verify as count
    from celosia.traces.keys import read_owners

    with outputs.working():
        found = count(frames.read(release), read_owners(key))
    if not found.holds(k):
        raise PrivacyError("CEL-J016", path=str(release), smallest=found.smallest, k=k)
    outputs.show(
        lambda: {"groups": found.groups, "smallest": found.smallest},
        None,
        say("traces.cli.verified", groups=found.groups, smallest=found.smallest),
    )
