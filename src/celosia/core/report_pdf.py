"""A report as a PDF file: the blocks of `core.report` set on A4 pages.

The file needs nothing else: the typefaces that matplotlib brings are embedded, figures stay
drawings whose text can be searched, headings become bookmarks, and every figure has its
description. fpdf2 lays lines and tables out; it is optional, and a PDF that is asked for without it
is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from io import BytesIO
from itertools import product, zip_longest
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.errors import EngineError
from celosia.core.figures.printed import for_print
from celosia.core.figures.svg import serialise
from celosia.core.messages import render, say
from celosia.core.report import (
    FORBIDDEN,
    TONES,
    Block,
    Details,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
    cell_text,
)

if TYPE_CHECKING:
    from fpdf import FPDF

Colour = tuple[int, int, int]

# Those of report_style.css, whose light theme is that of the studio.
PAPER: Colour = (251, 248, 243)
INK: Colour = (29, 37, 40)
MUTED: Colour = (91, 103, 107)
RULE: Colour = (217, 210, 197)
ACCENT: Colour = (15, 92, 110)
BAND_SOFT: Colour = (198, 221, 226)
TONE_COLOURS: dict[str, tuple[Colour, Colour]] = {
    "info": (ACCENT, (231, 240, 242)),
    "warning": ((154, 52, 18), (251, 238, 230)),
    "simulation": ((107, 76, 0), (250, 242, 217)),
}
"""Of the word and of the ground, by the tone of a notice."""

SANS, SERIF = "sans", "serif"
_FACES = {
    (SANS, ""): "DejaVuSans.ttf",
    (SANS, "B"): "DejaVuSans-Bold.ttf",
    (SERIF, ""): "DejaVuSerif.ttf",
    (SERIF, "B"): "DejaVuSerif-Bold.ttf",
}
MARGIN, TOP, BOTTOM = 18.0, 18.0, 20.0
"""Millimetres."""
BODY, SMALL = 9.0, 7.6
"""Points."""
HEADING_SIZES = {2: 15.0, 3: 11.0, 4: 9.5}
LEAD = 1.5
"""The height of a line, in heights of its letters."""
_POINT = 25.4 / 72
FIGURE_WIDTH = 132.0
CARDS_A_ROW = 3


def pdf(document: Document) -> bytes:
    """The document as one PDF file, in the present language.

    Raises:
        EngineError: CEL-I082 fpdf2 is not installed.

    >>> report = Document("Census", "5-anonymity", [Heading("Risk"), Paragraph("2 < 5")])
    >>> pdf(report)[:5]
    b'%PDF-'
    """
    with _quiet():
        sheet = _new_sheet(document)
        writer = _Writer(sheet)
        writer.title(document)
        for block in document.blocks:
            writer.write(block)
        return bytes(sheet.output())


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing is logged meanwhile: the library would name letters of the report."""
    loggers = [logging.getLogger(name) for name in ("fpdf", "fontTools")]
    before = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in zip(loggers, before, strict=True):
            each.setLevel(level)


def _new_sheet(document: Document) -> FPDF:
    try:
        from fpdf import FPDF  # optional, and slow to load
    except ImportError:
        raise EngineError("CEL-I082") from None

    class Sheet(FPDF):
        """A4 pages with the title at their foot and their number."""

        def footer(self) -> None:
            self.set_y(-13)
            self.set_font(SANS, size=SMALL)
            self.set_text_color(*MUTED)
            self.cell(0, 4, f"Celosía {version('celosia')}", align="L")
            # The number of pages is put in at the end: its room is that of a number like this one.
            page = self.page_no()
            room = self.get_string_width(say("reports.page.number", number=page, pages=page))
            self.set_x(-MARGIN - room)
            self.cell(0, 4, say("reports.page.number", number=page, pages="{nb}"))

    sheet = Sheet(orientation="portrait", unit="mm", format="A4")
    for (family, style), name in _FACES.items():
        sheet.add_font(family, style, _font_folder() / name)
    sheet.set_margins(MARGIN, TOP, MARGIN)
    sheet.set_auto_page_break(True, BOTTOM)
    sheet.set_title(_words(document.title))
    sheet.set_subject(_words(document.subtitle))
    sheet.set_lang(say("reports.page.language"))
    sheet.set_creator(f"Celosía {version('celosia')}")
    sheet.c_margin = 0
    sheet.add_page()
    return sheet


def _words(text: str) -> str:
    """The text as it can be set: letters that the typeface lacks are seen to be missing."""
    known = _letters()
    shown = FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", render(text))
    return "".join(
        letter if ord(letter) in known or letter.isspace() else "\N{REPLACEMENT CHARACTER}"
        for letter in shown
    )


@cache
def _letters() -> frozenset[int]:
    from fontTools.ttLib import TTFont  # comes with fpdf2, slow to load

    with TTFont(_font_folder() / _FACES[SANS, ""], lazy=True) as font:
        return frozenset(font.getBestCmap())


def _font_folder() -> Path:
    import matplotlib  # slow to load

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@dataclass(slots=True)
class _Writer:
    """Sets blocks on the sheet from top to bottom."""

    sheet: FPDF
    left: float = MARGIN
    figures: int = 0
    tables: int = 0

    @property
    def width(self) -> float:
        return float(self.sheet.w) - MARGIN - self.left

    @property
    def room(self) -> float:
        """What is left of the page."""
        return float(self.sheet.h) - BOTTOM - float(self.sheet.get_y())

    def write(self, block: Block) -> None:
        """Set one block, and the space after it."""
        match block:
            case Heading():
                self.heading(block)
            case Paragraph():
                self.text(block.text)
                self.skip(2.4)
            case KeyFigures():
                self.cards(block.items)
            case Table():
                self.table(block)
            case Figure():
                self.figure(block)
            case Notice():
                self.notice(block)
            case Facts():
                self.facts(block)
            case Details():
                self.details(block)

    def title(self, document: Document) -> None:
        """The band at the top of the first page: maker, title, subtitle, and the lattice."""
        sheet, inside = self.sheet, self.width * 0.86
        title, subtitle = _words(document.title), _words(document.subtitle)
        height = 16 + self.height(title, inside, 22, family=SERIF, lead=1.25)
        height += 4 + self.height(subtitle, inside, 10) + 9
        sheet.set_fill_color(*ACCENT)
        sheet.rect(0, 0, sheet.w, height + 6, style="F")
        self._lattice(height + 6)
        sheet.set_xy(MARGIN, 13)
        self.text("Celosía", size=10, bold=True, colour=PAPER)
        sheet.set_xy(MARGIN + sheet.get_string_width("Celosía "), 13)
        self.text(say("reports.page.report"), size=10, colour=BAND_SOFT, x=sheet.get_x())
        sheet.set_xy(MARGIN, 22)
        self.text(title, size=22, family=SERIF, colour=PAPER, width=inside, lead=1.25)
        self.skip(2.5)
        self.text(subtitle, size=10, colour=BAND_SOFT, width=inside)
        sheet.set_xy(MARGIN, height + 14)

    def _lattice(self, height: float) -> None:
        sheet, step = self.sheet, 9.0
        right = float(sheet.w)
        with sheet.rect_clip(right - 62, 0, 62, height), sheet.local_context(stroke_opacity=0.16):
            sheet.set_draw_color(*PAPER)
            for column, row in product(range(8), range(ceil(height / step) + 1)):
                x, y = right - 62 + column * step, row * step
                sheet.set_line_width(0.45)
                sheet.line(x, y, x + step, y + step)
                sheet.line(x + step, y, x, y + step)
                sheet.set_line_width(0.18)
                sheet.polygon(
                    [
                        (x + step / 2, y + step * 0.2),
                        (x + step * 0.8, y + step / 2),
                        (x + step / 2, y + step * 0.8),
                        (x + step * 0.2, y + step / 2),
                    ]
                )

    def text(
        self,
        words: str,
        *,
        size: float = BODY,
        bold: bool = False,
        family: str = SANS,
        colour: Colour = INK,
        width: float | None = None,
        x: float | None = None,
        lead: float = LEAD,
    ) -> None:
        """Lines of running text; afterwards the pen is below them, at the left."""
        sheet = self.sheet
        sheet.set_font(family, "B" if bold else "", size)
        sheet.set_text_color(*colour)
        sheet.set_x(self.left if x is None else x)
        sheet.multi_cell(
            self.width if width is None else width,
            size * lead * _POINT,
            _words(words),
            align="L",
            new_x="LMARGIN",
            new_y="NEXT",
            wrapmode=_wrapping(words),
        )

    def height(
        self,
        words: str,
        width: float,
        size: float,
        *,
        bold: bool = False,
        family: str = SANS,
        lead: float = LEAD,
    ) -> float:
        """How high lines of text will be."""
        self.sheet.set_font(family, "B" if bold else "", size)
        taken = self.sheet.multi_cell(
            width,
            size * lead * _POINT,
            _words(words),
            align="L",
            dry_run=True,
            output="HEIGHT",
            wrapmode=_wrapping(words),
        )
        return float(taken)  # type: ignore[arg-type]

    def skip(self, height: float) -> None:
        """Leave space, but not at the top of a new page."""
        if self.room > height:
            self.sheet.set_y(self.sheet.get_y() + height)
        self.sheet.set_x(self.left)

    def keep(self, height: float) -> None:
        """Begin a new page unless so much fits on this one, or on none."""
        whole = float(self.sheet.h) - TOP - BOTTOM
        if self.room < height <= whole and self.sheet.get_y() > TOP:
            self.sheet.add_page()
        self.sheet.set_x(self.left)

    def heading(self, block: Heading) -> None:
        size = HEADING_SIZES[block.level]
        self.keep(size * 0.6 + 30)  # never the last thing on a page
        if self.sheet.get_y() > TOP:
            self.skip(size * 0.35)
        self.sheet.start_section(_words(block.text), level=block.level - 2, strict=False)
        large = block.level == 2
        self.text(
            block.text,
            size=size,
            bold=not large,
            family=SERIF if large else SANS,
            colour=ACCENT if large else INK,
            lead=1.25,
        )
        if large:
            y = self.sheet.get_y() + 1
            self.sheet.set_draw_color(*RULE)
            self.sheet.set_line_width(0.3)
            self.sheet.line(self.left, y, self.left + self.width, y)
        self.skip(3.2 if large else 1.4)

    def cards(self, items: Sequence[KeyFigure]) -> None:
        """Numbers in cards, as many in a row as there is room for, those of a row equally high."""
        gap, pad = 4.0, 3.6
        for start in range(0, len(items), CARDS_A_ROW):
            row = items[start : start + CARDS_A_ROW]
            columns = min(CARDS_A_ROW, len(items))
            wide = (self.width - gap * (columns - 1)) / columns
            inside = wide - 2 * pad
            high = max(self._card_height(item, inside) for item in row) + 2 * pad
            self.keep(high)
            top = self.sheet.get_y()
            for place, item in enumerate(row):
                x = self.left + place * (wide + gap)
                self._box(x, top, wide, high, ground=(255, 255, 255), frame=RULE)
                self.sheet.set_xy(x + pad, top + pad)
                self.text(item.label, size=SMALL, colour=MUTED, x=x + pad, width=inside)
                self.text(
                    self._value(item),
                    size=self._value_size(item, inside),
                    family=SERIF,
                    colour=ACCENT,
                    x=x + pad,
                    width=inside,
                    lead=1.3,
                )
                if item.note:
                    self.text(item.note, size=SMALL, x=x + pad, width=inside)
            self.sheet.set_xy(self.left, top + high)
            self.skip(gap)

    @staticmethod
    def _value(item: KeyFigure) -> str:
        return f"{item.value} {item.unit}".strip()

    def _value_size(self, item: KeyFigure, inside: float) -> float:
        """As large as fits on one line, between 11 and 18 points."""
        self.sheet.set_font(SERIF, "", 18)
        wide = float(self.sheet.get_string_width(_words(self._value(item))))
        return max(11.0, min(18.0, 18 * inside / max(wide * 1.02, 0.1)))

    def _card_height(self, item: KeyFigure, inside: float) -> float:
        high = self.height(item.label, inside, SMALL)
        size = self._value_size(item, inside)
        high += self.height(self._value(item), inside, size, family=SERIF, lead=1.3)
        return high + (self.height(item.note, inside, SMALL) if item.note else 0)

    def _box(
        self, x: float, y: float, wide: float, high: float, *, ground: Colour, frame: Colour | None
    ) -> None:
        self.sheet.set_fill_color(*ground)
        self.sheet.set_line_width(0.25)
        if frame is not None:
            self.sheet.set_draw_color(*frame)
        style = "F" if frame is None else "DF"
        self.sheet.rect(x, y, wide, high, style=style, round_corners=True, corner_radius=1.8)

    def notice(self, block: Notice) -> None:
        colour, ground = TONE_COLOURS[block.tone]
        pad = 3.6
        inside = self.width - 2 * pad
        label = say(TONES[block.tone])
        high = self.height(label, inside, SMALL, bold=True)
        high += self.height(block.text, inside, BODY) + 2 * pad
        self.keep(high)
        top = self.sheet.get_y()
        if high <= self.room:  # a notice longer than a page has no ground
            self._box(self.left, top, self.width, high, ground=ground, frame=None)
            self.sheet.set_fill_color(*colour)
            self.sheet.rect(self.left, top, 1.1, high, style="F")
        self.sheet.set_y(top + pad)
        self.text(label, size=SMALL, bold=True, colour=colour, x=self.left + pad, width=inside)
        self.text(block.text, x=self.left + pad, width=inside)
        self.sheet.set_y(self.sheet.get_y() + pad)
        self.skip(4)

    def facts(self, block: Facts) -> None:
        rows = [(_words(name), _words(value)) for name, value in block.items]
        if rows:
            self._grid(rows, shares=(0.27, 0.73), right=frozenset(), heading=False, size=BODY - 0.6)
            self.skip(4)

    def table(self, block: Table) -> None:
        header = [_words(name) for name in block.header]
        rows = [tuple(_words(cell_text(cell)) for cell in row) for row in block.rows]
        if not header:
            return
        size = BODY - 0.6 if len(header) <= 7 else max(4.6, (BODY - 0.6) * 7.5 / len(header))
        self.keep(26)
        if block.caption:
            self.tables += 1
            label = say("reports.table_number", number=self.tables)
            self.text(f"{label}. {_words(block.caption)}", size=SMALL, colour=MUTED)
            self.skip(1)
        shares = self._shares([header, *rows], size)
        self._grid(
            [header, *rows], shares=shares, right=block.flush_right(), heading=True, size=size
        )
        self.skip(5)

    def _shares(self, rows: Sequence[Sequence[str]], size: float) -> tuple[float, ...]:
        """The part of the width for each column: by its longest cell, or its longest word."""
        self.sheet.set_font(SANS, "B", size)
        measure = self.sheet.get_string_width
        columns = list(zip(*(rows[:400]), strict=True))
        longest = [max(float(measure(cell)) for cell in cells) + 3 for cells in columns]
        word = [
            max(float(measure(part)) for cell in cells for part in cell.split() or [""]) + 3
            for cells in columns
        ]
        total = self.width
        if sum(longest) <= total:
            return tuple(each / sum(longest) for each in longest)
        least = [min(each, total / len(columns)) for each in word]
        spare = max(total - sum(least), 0)
        wanted = [max(whole - floor, 0) for whole, floor in zip(longest, least, strict=True)]
        grown = [
            floor + spare * want / max(sum(wanted), 1e-9)
            for floor, want in zip(least, wanted, strict=True)
        ]
        return tuple(each / sum(grown) for each in grown)

    def _grid(
        self,
        rows: Sequence[Sequence[str]],
        *,
        shares: Sequence[float],
        right: frozenset[int],
        heading: bool,
        size: float,
    ) -> None:
        from fpdf.fonts import FontFace

        sheet = self.sheet
        sheet.set_font(SANS, "", size)
        sheet.set_text_color(*INK)
        sheet.set_draw_color(*RULE)
        sheet.set_fill_color(255)  # cells of a style of their own have a ground
        sheet.set_line_width(0.2)
        name = FontFace(color=MUTED) if not heading else FontFace(emphasis="BOLD")
        # A table begins where the margin is.
        sheet.set_left_margin(self.left)
        with sheet.table(
            width=self.width,
            col_widths=tuple(share * 100 for share in shares),
            align="LEFT",
            text_align=tuple("RIGHT" if place in right else "LEFT" for place in range(len(shares))),
            first_row_as_headings=heading,
            headings_style=FontFace(emphasis="BOLD", color=MUTED),
            borders_layout="HORIZONTAL_LINES",
            line_height=size * 1.4 * _POINT,
            padding=(1.1, 1.5, 1.1, 0),
            v_align="TOP",
            wrapmode="WORD",
        ) as table:
            for number, cells in enumerate(self._short(rows, shares, size)):
                row = table.row()
                for place, cell in enumerate(cells):
                    first = place == 0 and not (heading and number == 0)
                    text = self._breakable(cell, shares[place] * self.width - 2)
                    row.cell(text, style=name if first else None)
        sheet.set_left_margin(MARGIN)

    def _short(
        self, rows: Sequence[Sequence[str]], shares: Sequence[float], size: float
    ) -> Iterator[Sequence[str]]:
        """The same rows; one that would be higher than a page goes on in further rows."""
        lines = 40
        most = [int(lines * share * self.width / (size * _POINT * 0.75)) for share in shares]
        for cells in rows:
            pieces = (_pieces(cell, max(part, 40)) for cell, part in zip(cells, most, strict=True))
            yield from zip_longest(*pieces, fillvalue="")

    def _breakable(self, cell: str, room: float) -> str:
        """The cell with places, that are not seen, where words too long for a line are broken."""
        measure = self.sheet.get_string_width
        if float(measure(cell)) <= room:
            return cell
        words = cell.split(" ")
        for place, word in enumerate(words):
            wide = float(measure(word)) * 1.08  # as if it were bold
            if wide > room:
                part = max(int(len(word) * room / wide), 1)
                pieces = (word[at : at + part] for at in range(0, len(word), part))
                words[place] = "\N{ZERO WIDTH SPACE}".join(pieces)
        return " ".join(words)

    def figure(self, block: Figure) -> None:
        self.figures += 1
        tree = for_print(block.svg, family=SANS)
        for each in tree.iter("text"):
            each.text = _words(each.text or "")
        box = [float(each) for each in (tree.get("viewBox") or "0 0 100 60").split()]
        pad = 4.0
        wide = min(FIGURE_WIDTH, self.width - 2 * pad)
        most = float(self.sheet.h) - TOP - BOTTOM - 30
        high = wide * box[3] / max(box[2], 1e-9)
        if high > most:
            wide, high = wide * most / high, most
        label = say("reports.figure_number", number=self.figures)
        caption = f"{label}. {_words(block.caption)}"
        below = self.height(caption, self.width - 2 * pad, SMALL)
        whole = high + below + 3 * pad
        self.keep(whole)
        top = self.sheet.get_y()
        self._box(self.left, top, self.width, whole, ground=(255, 255, 255), frame=RULE)
        drawing = BytesIO(serialise(tree).encode("utf-8"))
        self.sheet.image(
            drawing,
            self.left + (self.width - wide) / 2,
            top + pad,
            wide,
            high,
            alt_text=_words(block.description),
        )
        self.sheet.set_y(top + high + 2 * pad)
        self.text(caption, size=SMALL, colour=MUTED, x=self.left + pad, width=self.width - 2 * pad)
        self.sheet.set_xy(self.left, top + whole)
        self.skip(5)

    def details(self, block: Details) -> None:
        self.keep(24)
        self.text(block.summary, bold=True)
        self.skip(1.5)
        self.left += 4
        try:
            for each in block.blocks:
                self.write(each)
        finally:
            self.left -= 4


def _wrapping(words: str) -> Any:
    """Lines break between words, or anywhere if one word would not fit."""
    return "CHAR" if any(len(word) > 90 for word in words.split()) else "WORD"


def _pieces(cell: str, most: int) -> list[str]:
    """The cell in pieces of so many letters at most, cut between words where there are some.

    >>> _pieces("one two three", 8), _pieces("", 8)
    (['one two', 'three'], [''])
    """
    found = []
    while len(cell) > most:
        end = cell.rfind(" ", 1, most + 1)
        end = most if end < 0 else end
        found.append(cell[:end])
        cell = cell[end:].removeprefix(" ")
    return [*found, cell]
