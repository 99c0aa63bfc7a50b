"""Which groups an answer shows: all combinations of declared keys, or those of many people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import Key, Question, Relation
from celosia.queries.bounds.lineage import as_column
from celosia.queries.emission import Target
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.planning.refusals import too_many_groups

MOST_GROUPS = 2**16
"""Groups of one answer."""
_PARTS = {
    "month": (1, 12),
    "quarter": (1, 4),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
}
"""Parts of a moment that have few values, whatever the data."""


@dataclass(frozen=True, slots=True)
class KeyDomains:
    """The keys of a question: their public values, or None where any has none."""

    values: tuple[tuple[Any, ...], ...] | None
    undeclared: tuple[str, ...]
    """Names of keys without declared values."""


def find_key_domains(question: Question, target: Target) -> KeyDomains:
    """The public values of each key of GROUP BY: declared, or known from the query itself.

    Raises:
        QueryRefused: CEL-Q147 too many combinations.
    """
    lists, undeclared, number = [], [], 1
    for key in question.keys:
        declared = target.declared_column(key.expression, question.source)
        values = (
            declared.keys if declared is not None else implied_values(key, question.source, target)
        )
        if values is None:
            undeclared.append(key.name)
        else:
            lists.append(tuple(values))
            number *= len(values)
    if number > MOST_GROUPS:
        raise too_many_groups(number, MOST_GROUPS)
    return KeyDomains(None if undeclared else tuple(lists), tuple(undeclared))


def implied_values(key: Key, source: Relation, target: Target) -> tuple[Any, ...] | None:
    """All values of a key that follow from the query itself: truth values, months, named cases.

    They are known without the data, so every group of them is shown.
    """
    tree = key.expression
    while isinstance(tree, exp.Paren | exp.Try):
        tree = tree.this
    if isinstance(tree, exp.Extract):
        part = tree.name.lower()
        first, last = _PARTS.get(part, (1, 0))
        return tuple(range(first, last + 1)) or None
    if isinstance(tree, exp.Case):
        return _cases(tree)
    if as_column(tree) is None and infer_type(tree, source, target=target) == "boolean":
        return False, True
    return None


def _cases(tree: exp.Case) -> tuple[Any, ...] | None:
    """The written results of CASE, each once, in order."""
    results = [each.args["true"] for each in tree.args["ifs"]]
    if tree.args.get("default") is not None:
        results.append(tree.args["default"])
    written = [each for each in results if not isinstance(each, exp.Null)]
    if not written or not all(isinstance(each, exp.Literal) for each in written):
        return None
    if all(each.is_string for each in written):
        return tuple(dict.fromkeys(each.name for each in written))
    if all(not each.is_string and each.name.isdecimal() for each in written):
        return tuple(sorted({int(each.name) for each in written}))
    return None


def format_key(value: Any) -> str:
    """A key as one text: dates in ISO form, whatever the engine returns them as.

    >>> from datetime import date
    >>> format_key(date(2026, 11, 16)), format_key(3), format_key("a")
    ('2026-11-16', '3', 'a')
    """
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def as_plain_key(value: Any) -> str | int | bool:
    """A key as a plain value for JSON, which can be written into a query again."""
    return value if isinstance(value, bool | int | str) else format_key(value)
