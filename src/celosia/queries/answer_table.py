"""An answer as a small table of HTML, for notebooks: each number with its interval."""

from __future__ import annotations

from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.queries.answer import Interval, QueryAnswer

MOST_ROWS = 100
"""Rows that are shown; the answer holds all of them."""
_QUIET = "color: gray; font-size: smaller; white-space: nowrap"


def html_table(answer: QueryAnswer) -> str:
    """The rows of an answer with their intervals, its promise, its price and its warnings."""
    names = list(answer.as_columns(bounds=False))
    header = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = [
        "<tr>" + "".join(_cell(row[name], bounds.get(name)) for name in names) + "</tr>"
        for row, bounds in zip(answer.rows[:MOST_ROWS], answer.shown_intervals, strict=False)
    ]
    notes = [
        say("queries.answer.intervals_at", confidence=100 * answer.confidence),
        *([answer.stored_note] if answer.stored else []),
        answer.guarantee.promise,
        *answer.warnings,
    ]
    if len(answer.rows) > MOST_ROWS:
        notes.insert(0, say("queries.answer.rows", rows=len(answer.rows)))
    caption = "".join(f'<div style="{_QUIET}">{escape(str(note))}</div>' for note in notes)
    return (
        f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(lines)}</tbody></table>{caption}"
    )


def _cell(value: Any, bounds: Interval) -> str:
    shown = escape(_number(value))
    if bounds is not None and bounds[0] != bounds[1]:
        low, high = (_number(end) if isfinite(end) else "∞" for end in bounds)
        low = "-∞" if low == "∞" else low
        shown += f' <span style="{_QUIET}">[{escape(low)}, {escape(high)}]</span>'
    return f"<td>{shown}</td>"


def _number(value: Any) -> str:
    if value is None:
        return say("queries.answer.nothing")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    key = "queries.answer.integer" if value == int(value) else "queries.answer.number"
    return say(key, value=int(value) if value == int(value) else value)
