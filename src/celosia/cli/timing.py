"""`celosia audit timing`: side channels of private queries (time, failures, sizes)."""

from __future__ import annotations

from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.core.errors import PrivacyError

EXAMPLES = """**Examples**

`celosia audit timing`  (Python only, some minutes)

`celosia audit timing --runs 200 --door python --door http --door command`  (thorough, hours)

`celosia audit timing --only "chain 5" --only division --json`
"""


def timing(
    runs: Annotated[int, typer.Option(help="Number of runs of each query on each database.")] = 20,
    door: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="python, http or command; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run only this query; may be repeated."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Attack private queries by time, failure and size: exit code 1 if one person is disclosed.

    Two databases differ by one property of one patient. Queries that try to make the engine slow,
    or to make it fail, because of this patient run on both. A classifier then guesses from status,
    text, size and time which database has answered: right in half of all cases is chance.
    """
    from celosia.queries.timing_audit import attacks_named, audit_timing

    wanted = attacks_named(only)
    with console.progress_bar(quiet=as_json) as progress:
        found = audit_timing(runs=runs, doors=door or ["python"], attacks=wanted, progress=progress)
    if not as_json:
        console.show_table(
            "Which database has answered?",
            ["door", "attack", "status", "right", "of", "seconds without", "seconds with"],
            [
                [
                    each.door,
                    each.attack,
                    each.status,
                    str(each.right),
                    str(each.tried),
                    *(f"{seconds:.3f}" for seconds in each.seconds),
                ]
                for each in found.findings
            ],
        )
    if not found.holds:
        raise PrivacyError(
            "CEL-A293",
            f"{found.accuracy:.1%} of all guesses are right, and {len(found.telling)} attacks "
            "are right too often.",
            why="Time, failure or size of an answer tells of one person.",
            fix="Look at the attacks that are right most often; report it to the maintainers.",
            **found.as_dict(),
        )
    if as_json:
        console.show_json(found.as_dict())
    else:
        console.show(
            f"{found.accuracy:.1%} of {sum(each.tried for each in found.findings):,} guesses are "
            "right: no better than chance.",
            strong=True,
        )


timing.__doc__ = f"{timing.__doc__}\n\n{EXAMPLES}"
