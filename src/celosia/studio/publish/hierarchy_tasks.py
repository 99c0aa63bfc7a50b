"""Questions about the hierarchy of a column, small enough for a thread or handed to a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from celosia.core.resources import WorkFolder
from celosia.studio.publish.form import ColumnForm
from celosia.studio.publish.hierarchies import Values, build, preview
from celosia.studio.publish.repair import repair
from celosia.studio.publish.rules import starting_rule
from celosia.tables.hierarchies import write_hierarchy

LARGE = 10_000
"""With more distinct values than this, a question is for a job: it would hold up the pages."""


MOST_LETTERS = 5_000_000
"""Letters of all labels of a hierarchy that a thread of the studio may build."""


def is_small(column: ColumnForm, values: Values) -> bool:
    """Whether a question about a column is quick and takes little; else it is for a job.

    A short rule can make a long hierarchy: a domain of a thousand million numbers is written with
    two of them. Only a job has limits.
    """
    rule = column.hierarchy or {}
    leaves = len(values.texts)
    longest = max(map(len, values.texts), default=0)
    if "domain" in rule:
        try:
            ends = [int(each) for each in rule["domain"]]
            ends += [int(each) for each in values.texts if each.lstrip("-").isdecimal()]
        except (TypeError, ValueError, OverflowError):
            return True  # it will be refused
        leaves += max(ends, default=0) - min(ends, default=0)
    levels = [len(rule[key]) for key in ("widths", "bounds", "levels", "sizes") if rule.get(key)]
    return leaves <= LARGE and leaves * max([*levels, min(longest, 64)]) * longest <= MOST_LETTERS


def ask(what: str, column: ColumnForm, values: Values, **how: Any) -> Any:
    """The answer to one of the `QUESTIONS` about a column with these values.

    Raises:
        InputError: what the rule says of its parameters or of the values.
    """
    return QUESTIONS[what](column, values, **how)


def _start(column: ColumnForm, values: Values, *, method: str) -> dict[str, Any]:
    return starting_rule(method, column, values)


def _labels(column: ColumnForm, values: Values) -> bytes:
    with WorkFolder() as folder:
        path = Path(folder) / "hierarchy.csv"
        return write_hierarchy(build(column, values), path).read_bytes()


QUESTIONS: dict[str, Callable[..., Any]] = {
    "preview": preview,
    "repair": repair,
    "start": _start,
    "labels": _labels,
}
"""What its hierarchy makes of a column, a rule that covers it, a rule of another kind, a file."""
