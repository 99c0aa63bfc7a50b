"""A report as a value: blocks of text, numbers, tables and figures that become one HTML file.

The file needs nothing else: no script, no font, no network. Every text is escaped, and a figure can
only be an `Svg`, which has been checked, so a report is as safe to open as a photograph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from celosia.core._page import Page, cell_text, is_number, text
from celosia.core.figures.svg import Svg
from celosia.core.messages import say

Tone = Literal["info", "warning", "simulation"]
_TONES: dict[Tone, str] = {
    "info": "reports.tone.info",
    "warning": "reports.tone.warning",
    "simulation": "reports.tone.simulation",
}
"""The key of what each tone is called."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The start of a section (level 2) or of a part of one (3, 4); the title has level 1."""

    text: str
    level: int = 2

    def __post_init__(self) -> None:
        if self.level not in (2, 3, 4):
            raise ValueError(f"the level of a heading must be 2, 3 or 4, got {self.level}.")

    def _html(self, page: Page) -> str:
        name = text(page.enter(self.level, self.text))
        return f'<h{self.level} id="{name}">{text(self.text)}</h{self.level}>'


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str

    def _html(self, page: Page) -> str:
        return f"<p>{text(self.text)}</p>"


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A number worth a card: what it is, how much, in what unit, and what that means."""

    label: str
    value: str
    note: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """Big numbers in cards, side by side where there is room."""

    items: Sequence[KeyFigure]

    def _html(self, page: Page) -> str:
        return f'<dl class="cards">{"".join(map(self._card, self.items))}</dl>'

    @staticmethod
    def _card(item: KeyFigure) -> str:
        unit = f' <span class="unit">{text(item.unit)}</span>' if item.unit else ""
        note = f'<dd class="note">{text(item.note)}</dd>' if item.note else ""
        return (
            f'<div class="card"><dt>{text(item.label)}</dt>'
            f'<dd class="value">{text(item.value)}{unit}</dd>{note}</div>'
        )


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header; the first cell of a row names it.

    Args:
        header: the names of the columns.
        rows: texts, or whole numbers, whose thousands are set apart.
        caption: what the table shows.
        numeric: positions of the columns set flush right; by default those that hold numbers only.

    >>> Table(["column", "loss"], [["age", "12.5 %"], ["zip", "8 %"]]).flush_right()
    frozenset({1})
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | int]]
    caption: str = ""
    numeric: Sequence[int] | None = None

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.header):
                raise ValueError(
                    f"row {number} of the table: {len(row)} cells for {len(self.header)} columns."
                )

    def flush_right(self) -> frozenset[int]:
        """The positions of the columns that are set flush right."""
        if self.numeric is not None:
            return frozenset(self.numeric)
        return frozenset(
            place
            for place, cells in enumerate(zip(*self.rows, strict=True))
            if all(is_number(cell_text(cell)) for cell in cells)
        )

    def _html(self, page: Page) -> str:
        caption, label = "", say("reports.table")
        if self.caption:
            page.tables += 1
            label = say("reports.table_number", number=page.tables)
            caption = f"<caption><span><b>{label}.</b> {text(self.caption)}</span></caption>"
        right = self.flush_right()
        head = "".join(
            f'<th scope="col"{_flush(place in right)}>{text(name)}</th>'
            for place, name in enumerate(self.header)
        )
        body = "".join(f"<tr>{self._row(row, right)}</tr>" for row in self.rows)
        # Wide tables scroll on a phone, and readers without a mouse must be able to scroll them.
        return (
            f'<div class="table" role="region" tabindex="0" aria-label="{label}"><table>{caption}'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    @staticmethod
    def _row(row: Sequence[str | int], right: frozenset[int]) -> str:
        cells = [(text(cell_text(cell)), _flush(place in right)) for place, cell in enumerate(row)]
        first = "".join(f'<th scope="row"{look}>{cell}</th>' for cell, look in cells[:1])
        return first + "".join(f"<td{look}>{cell}</td>" for cell, look in cells[1:])


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its caption, and its content in words for readers who cannot see it."""

    svg: Svg
    caption: str
    description: str

    def __post_init__(self) -> None:
        if type(self.svg) is not Svg:
            raise ValueError("a figure needs a checked drawing: wrap the markup in Svg(...).")

    def _html(self, page: Page) -> str:
        page.figures += 1
        drawing = self.svg.prefixed(f"f{page.figures}-")
        label = say("reports.figure_number", number=page.figures)
        return (
            f'<figure><div class="plot" role="img" tabindex="0" '
            f'aria-label="{text(self.description)}">{drawing}</div>'
            f"<figcaption><b>{text(label)}.</b> {text(self.caption)}</figcaption></figure>"
        )


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence that must not be missed."""

    text: str
    tone: Tone = "info"

    def __post_init__(self) -> None:
        if self.tone not in _TONES:
            raise ValueError(f"the tone must be one of {', '.join(_TONES)}, got {self.tone!r}.")

    def _html(self, page: Page) -> str:
        return (
            f'<aside class="notice {self.tone}" role="note"><b>{text(say(_TONES[self.tone]))}</b>'
            f"<p>{text(self.text)}</p></aside>"
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what they stand for."""

    items: Sequence[tuple[str, str]]

    def _html(self, page: Page) -> str:
        pairs = (f"<div><dt>{text(n)}</dt><dd>{text(v)}</dd></div>" for n, v in self.items)
        return f'<dl class="facts">{"".join(pairs)}</dl>'


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks behind a summary, unfolded on demand and on paper."""

    summary: str
    blocks: Sequence[Block]

    def _html(self, page: Page) -> str:
        inside = "\n".join(block._html(page) for block in self.blocks)
        return (
            f"<details><summary>{text(self.summary)}</summary>"
            f'<div class="inside">{inside}</div></details>'
        )


Block = Heading | Paragraph | KeyFigures | Table | Figure | Notice | Facts | Details
"""What a report is made of."""


@dataclass(frozen=True, slots=True)
class Document:
    """A report: a title, what it is about, and its blocks.

    >>> report = Document("Census", "5-anonymity", [Heading("Risk"), Paragraph("2 < 5")])
    >>> page = report.html()
    >>> page.startswith("<!DOCTYPE html>"), "2 &lt; 5" in page, "<script" in page
    (True, True, False)
    """

    title: str
    subtitle: str
    blocks: Sequence[Block]

    def html(self) -> str:
        """One self-contained HTML5 file, for screens light and dark, large and small, and paper."""
        page = Page()
        body = "\n".join(block._html(page) for block in self.blocks)
        return page.around(body, title=self.title, subtitle=self.subtitle)


def _flush(right: bool) -> str:
    return ' class="number"' if right else ""
