"""Questions about the hierarchy of a column, small enough for a thread or handed to a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from celosia.studio.model.publish.choices import ColumnChoice
from celosia.studio.model.publish.hierarchies import Values, build, preview
from celosia.studio.model.publish.repairing import repaired
from celosia.studio.model.publish.rules import starting_rule
from celosia.tables.hierarchies import write_hierarchy

LARGE = 10_000
"""With more distinct values than this, a question is for a job: it would hold up the pages."""


def ask(what: str, column: ColumnChoice, values: Values, **how: Any) -> Any:
    """The answer to one of the `QUESTIONS` about a column with these values.

    Raises:
        InputError: what the rule says of its parameters or of the values.
    """
    return QUESTIONS[what](column, values, **how)


def _start(column: ColumnChoice, values: Values, *, kind: str) -> dict[str, Any]:
    return starting_rule(kind, column, values)


def _labels(column: ColumnChoice, values: Values) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hierarchy.csv"
        return write_hierarchy(build(column, values), path).read_bytes()


QUESTIONS: dict[str, Callable[..., Any]] = {
    "preview": preview,
    "repair": repaired,
    "start": _start,
    "labels": _labels,
}
"""What its hierarchy makes of a column, a rule that covers it, a rule of another kind, a file."""
