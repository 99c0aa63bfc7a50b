"""A report as a value: blocks of text, numbers, tables and figures that become one file.

It is HTML, or PDF where the name ends so (`core.report_pdf`). The file needs nothing else: no
script, no font, no network. Every text is escaped, and a figure can only be an `Svg`, which has
been checked, so a report is as safe to open as a photograph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Literal

from celosia.core.errors import EngineError
from celosia.core.figures.svg import Svg
from celosia.core.files import replacing
from celosia.core.messages import number, render, say

_NUMBER = re.compile(r"[<>≤≥≈~]?\s*[-+\u2212]?\d[\d.,\s]*(\s*[%‰])?")
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that may not stand in an HTML file: controls, and halves of a surrogate pair."""


def text(words: str) -> str:
    """Words that a browser shows as they are, in an element or in a quoted attribute.

    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", render(words)))


def cell_text(cell: str | int) -> str:
    """The words of a cell: a whole number with its thousands set apart, a text as it is.

    >>> cell_text(30162), cell_text("30162")
    ('30,162', '30162')
    """
    return number(cell) if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def is_number(words: str) -> bool:
    """Whether a cell holds a number, perhaps with a unit sign, or nothing.

    >>> [is_number(words) for words in ("1,204", "< 0.1 %", "", "10-19", "age")]
    [True, True, True, False, False]
    """
    plain = words.strip("\N{EN DASH}\N{EM DASH} \N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}")
    return not plain or _NUMBER.fullmatch(plain) is not None


@dataclass(slots=True)
class Page:
    """What blocks must agree on while a page is written: names in use and running numbers."""

    contents: list[tuple[int, str, str]] = field(default_factory=list)
    """Level, name and words of each heading."""
    figures: int = 0
    tables: int = 0

    def enter(self, level: int, words: str) -> str:
        """A name of its own for a heading, which enters the contents.

        >>> page = Page()
        >>> page.enter(2, "Risk left"), page.enter(2, "Risk left")
        ('s-risk-left', 's-risk-left-2')
        """
        # An id may hold any letter, but no space; the prefix keeps it apart from ids of figures.
        stem = "-".join(["s", *re.findall(r"\w+", words.casefold())])
        taken = {name for _, name, _ in self.contents}
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}-{number}"
        self.contents.append((level, name, words))
        return name

    def around(self, body: str, *, title: str, subtitle: str) -> str:
        """The whole file with `body`, which is markup already, in its middle."""
        here = files("celosia.core")
        return Template(here.joinpath("report_page.html").read_text("utf-8")).substitute(
            title=text(title),
            subtitle=text(subtitle),
            style=here.joinpath("report_style.css").read_text("utf-8"),
            contents=self._list_of_contents(),
            body=body,
            version=text(version("celosia")),
            language=say("reports.page.language"),
            skip=text(say("reports.page.skip")),
            report=text(say("reports.page.report")),
            footer=text(say("reports.page.footer", version=version("celosia"))),
        )

    def _list_of_contents(self) -> str:
        entries = "".join(
            f'<li class="level-{level}"><a href="#{text(name)}">{text(words)}</a></li>'
            for level, name, words in self.contents
            if level < 4
        )
        if not entries:
            return ""
        heading = f'<h2 id="contents">{text(say("reports.page.contents"))}</h2>'
        return f'<nav aria-labelledby="contents">{heading}<ol>{entries}</ol></nav>'


Tone = Literal["info", "warning", "simulation"]
TONES: dict[Tone, str] = {
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
        for place, row in enumerate(self.rows, 1):
            if len(row) != len(self.header):
                raise ValueError(
                    f"row {place} of the table: {len(row)} cells for {len(self.header)} columns."
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


def table_section(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str | int]],
    caption: str = "",
    numeric: Sequence[int] | None = None,
) -> list[Block]:
    """A heading with its table; nothing where there are no rows."""
    return [Heading(title), Table(header, rows, caption, numeric)] if rows else []


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
        if self.tone not in TONES:
            raise ValueError(f"the tone must be one of {', '.join(TONES)}, got {self.tone!r}.")

    def _html(self, page: Page) -> str:
        return (
            f'<aside class="notice {self.tone}" role="note"><b>{text(say(TONES[self.tone]))}</b>'
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

    def pdf(self) -> bytes:
        """One PDF file for archives and paper, with its typefaces, bookmarks and descriptions.

        Raises:
            EngineError: CEL-I082 fpdf2 is not installed.
        """
        from celosia.core import report_pdf  # it builds on this module

        return report_pdf.pdf(self)

    def write(self, path: str | Path, *, overwrite: bool = True) -> Path:
        """Write the report, whole or not at all: PDF if the name ends in .pdf, HTML otherwise."""
        target = Path(path)
        with replacing(target, overwrite=overwrite) as draft:
            draft.write_bytes(self.pdf() if is_pdf(target) else self.html().encode("utf-8"))
        return target


def is_pdf(path: Path) -> bool:
    """Whether a report of this name is a PDF file.

    >>> is_pdf(Path("report.PDF")), is_pdf(Path("report.html"))
    (True, False)
    """
    return path.suffix.lower() == ".pdf"


def check_report_format(path: Path) -> None:
    """Refuse, before any work, a PDF file that could not be written.

    Raises:
        EngineError: CEL-I082 fpdf2 is not installed.
    """
    if is_pdf(path) and find_spec("fpdf") is None:
        raise EngineError("CEL-I082")


def _flush(right: bool) -> str:
    return ' class="number"' if right else ""
