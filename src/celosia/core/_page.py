"""The page around the blocks of a report: head, contents, running numbers, footer, escaping."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template

from celosia.core.messages import number, render, say

_NUMBER = re.compile(r"[<>≤≥≈~]?\s*[-+\u2212]?\d[\d.,\s]*(\s*[%‰])?")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that may not stand in an HTML file: controls, and halves of a surrogate pair."""


def text(words: str) -> str:
    """Words that a browser shows as they are, in an element or in a quoted attribute.

    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", render(words)))


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
