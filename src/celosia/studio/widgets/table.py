"""Tables in HTML: every cell is escaped, classes are coloured and told in words as well."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

from nicegui import ui

from celosia.studio.language import _, number, short
from celosia.studio.widgets.meanings import meaning_button

COLOURS = 8
"""How many colours of classes the style sheet has; for more, hues are spread over the circle."""
MOST_LETTERS = 500
"""Letters of a cell that are shown."""
_NUMBER = re.compile(r"[<>≤≥]?\s?[+\-\u2212]?[0-9][0-9.,]*(e[+\-]?[0-9]+)?(\s(%|kB|MB|s|ms))?")
"""A number as a language writes it, with or without a unit."""


def html_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str = "",
    classes: Sequence[int] | None = None,
    marked: Collection[int] = (),
    faded: Collection[int] = (),
    cell_titles: Mapping[tuple[int, int], str] | None = None,
    plain: bool = False,
    label: str = "",
    strong: Collection[int] = (),
) -> str:
    """A table as HTML text, safe whatever its cells hold.

    Args:
        columns: the heads.
        rows: the cells; numbers are aligned to the right, those written out too.
        caption: what it shows.
        classes: the equivalence class of each row, which gives its colour and its number in front.
        marked: rows to point at.
        faded: rows to step back.
        cell_titles: more to say of a cell (row, column), shown when it is pointed at.
        plain: whether whole numbers are shown as the data has them (years, codes), rather than
            with separators of thousands.
        label: what it shows, where that stands beside it and a caption would say it twice.
        strong: columns to set off from the others.
    """
    titles = cell_titles or {}
    numeric = [_is_numeric(rows, at) for at in range(len(columns))]
    head = "".join(
        f'<th scope="col"{_class_of(numeric[at])}>{escape(_cut(str(name)))}</th>'
        for at, name in enumerate(columns)
    )
    if classes is not None:
        head = f'<th scope="col">{escape(_("class"))}</th>{head}'
    body = []
    hues = class_hues(classes or ())
    for place, row in enumerate(rows):
        hue = hues.get(classes[place]) if classes is not None else None
        names = [f"class-{classes[place]}"] if classes is not None and hue is None else []
        names += ["hued"] * (hue is not None)
        names += ["marked"] * (place in marked) + ["faded"] * (place in faded)
        cells = "".join(
            _cell(
                value,
                titles.get((place, at)),
                plain,
                strong=at in strong,
                numeric=at < len(numeric) and numeric[at],
            )
            for at, value in enumerate(row)
        )
        if classes is not None:
            cells = f'<td class="number">{classes[place] + 1}</td>{cells}'
        style = "" if hue is None else f' style="--hue: {hue}"'
        body.append(f'<tr class="{" ".join(names)}"{style}>{cells}</tr>')
    text = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="celosia-scroll" tabindex="0" role="region" '
        f'aria-label="{escape(caption or label or _("Table"))}"><table class="celosia-table">{text}'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def class_hues(classes: Sequence[int]) -> dict[int, int]:
    """A hue for each class, in degrees, where the style sheet has not enough colours for all.

    No two classes of one table have the same colour, and a class has the same colour in two tables
    of the same classes. Suppressed records have none.

    >>> class_hues([0, 1, 7]), class_hues([3, 8])
    ({}, {3: 0, 8: 180})
    """
    seen = sorted({each for each in classes if each >= 0})
    if not seen or seen[-1] < COLOURS:
        return {}
    return {each: round(360 * place / len(seen)) for place, each in enumerate(seen)}


def show_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], **how: Any) -> ui.html:
    """The table on the page; see `html_table` for what can be said of it."""
    return ui.html(html_table(columns, rows, **how), sanitize=False)  # all escaped above


def key_figures(figures: Sequence[tuple[str, str, str]]) -> None:
    """Numbers in boxes: what it is called, its value with its unit, what it means."""
    with ui.element("div").classes("celosia-figures"):
        for name, value, meaning in figures:
            with ui.element("div").classes("celosia-figure") as box:
                box.props["title"] = meaning
                with ui.row().classes("items-center no-wrap gap-0"):
                    ui.label(name).classes("name")
                    meaning_button(name)
                ui.label(value).classes("value")
                ui.label(meaning).classes("celosia-quiet")


def _cell(
    value: Any, title: str | None, plain: bool, *, strong: bool = False, numeric: bool = False
) -> str:
    more = "" if title is None else f' title="{escape(title)}"'
    if strong and value is not None:
        return f"<td{more}><b>{escape(_cut(str(value)))}</b></td>"
    if value is None:
        return f'<td{more}><span class="celosia-quiet">{escape(_("empty"))}</span></td>'
    if isinstance(value, bool):
        return f"<td{more}>{escape(_('yes') if value else _('no'))}</td>"
    if isinstance(value, int | float):
        text = _float(value) if isinstance(value, float) else _whole(value, plain)
        return f'<td class="number"{more}>{escape(text)}</td>'
    text = _cut(str(value))
    is_share = text.endswith("%") and text[0].isdigit()
    return f"<td{_class_of(numeric or is_share)}{more}>{escape(text)}</td>"


def _class_of(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def _is_numeric(rows: Sequence[Sequence[Any]], at: int) -> bool:
    """Whether a column holds numbers alone, so that its head and those written out go right.

    Texts of digits alone may be years or codes of a file, and say nothing by themselves.
    """
    cells = [row[at] for row in rows if at < len(row) and row[at] not in (None, "", "\N{EN DASH}")]
    texts = [str(each) for each in cells if not isinstance(each, int | float)]
    if any(isinstance(each, bool) for each in cells) or not all(map(_NUMBER.fullmatch, texts)):
        return False
    return len(texts) < len(cells) or any(not each.isdigit() for each in texts)


def _whole(value: int, plain: bool) -> str:
    return str(value) if plain else number(value)


def _cut(text: str) -> str:
    """What is shown of a text: a cell may be as long as a file, and pages wait while it is sent."""
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"


def _float(value: float) -> str:
    return short(value) if abs(value) < float("inf") else str(value)
