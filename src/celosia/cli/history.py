"""`celosia history`: the history of the releases of a source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import PrivacyError
from celosia.core.messages import say, say_of

if TYPE_CHECKING:
    from celosia.tables.history import Entry, HistoryCheck

app = typer.Typer(
    no_args_is_help=True,
    help="""List and verify the releases of a source: what was published when, at which levels.

    **Examples**

    `celosia publish people.csv -s people.toml --k 5 --history people.history -o safe.csv`

    `celosia history list people.history`

    `celosia history verify people.history`
    """,
)

History = Annotated[Path, "argument HISTORY", "The file that celosia publish --history writes."]


@app.command("list")
def list_releases(history: History, outputs: JsonOutputs) -> None:
    """List the releases of a source, with their levels and their joint classes.

    **Examples**

    `celosia history list people.history`

    `celosia history list people.history --json`
    """
    from celosia.tables.history import ReleaseHistory

    with ReleaseHistory.open(history, read_only=True) as book:
        entries = book.entries()
    facts = {"releases": [entry.as_dict() for entry in entries]}
    last = say("cli.history.count", releases=len(entries))
    outputs.show(lambda: facts, lambda: _show(entries), last)


def _show(entries: list[Entry]) -> None:
    console.show_table(
        say("cli.history.title"),
        console.columns("made", "levels", "promises", "records:,", "shown:,", "joint_smallest"),
        [
            [
                entry.created,
                " ".join(_level(*each) for each in zip(entry.columns, entry.levels, strict=True)),
                "; ".join(entry.models),
                entry.rows,
                entry.shown,
                "" if entry.joint is None else entry.joint["smallest"],
            ]
            for entry in entries
        ],
    )


def _level(column: str, level: int | None) -> str:
    return f"{column}={'?' if level is None else level}"


@app.command()
def verify(history: History, outputs: JsonOutputs) -> None:
    """Verify a history: no entry was changed, and each class and joint class is large enough.

    The exit code is 1 unless all of this holds.

    **Examples**

    `celosia history verify people.history`
    """
    from celosia.tables.history import ReleaseHistory

    with ReleaseHistory.open(history, read_only=True) as book:
        found = book.verify()
    if not found.holds:
        raise PrivacyError("CEL-P124", **found.as_dict())
    outputs.show(found.as_dict, lambda: _show_check(found), found)


def _show_check(found: HistoryCheck) -> None:
    console.show(say_of("cli.history.verified", found))
