"""How a column of texts or whole numbers writes its dates, found by trying the usual ways."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class DateFormat(NamedTuple):
    """A way to write dates, and whether the day and the month could be told apart."""

    format: str
    is_sure: bool


_SHAPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%d/%m/%Y", "%m/%d/%Y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%d/%m/%y", "%m/%d/%y")),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", ("%d.%m.%y",)),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", ("%Y.%m.%d",)),
    (r"(?:19|20)\d{6}", ("%Y%m%d",)),
    (r"\d{1,2} [A-Za-z]{3,4}\.? \d{4}", ("%d %b %Y",)),
    (r"\d{1,2}-[A-Za-z]{3,4}\.?-\d{4}", ("%d-%b-%Y",)),
    (r"\d{1,2}/[A-Za-z]{3,4}\.?/\d{4}", ("%d/%b/%Y",)),
    (r"\d{1,2}-[A-Za-z]{3,4}\.?-\d{2}", ("%d-%b-%y",)),
    (r"\d{1,2} [A-Za-z]{3,10} \d{4}", ("%d %B %Y",)),
    (r"\d{1,2} de [A-Za-z]{4,10} de \d{4}", ("%d de %B de %Y",)),
    (r"\d{1,2} de [A-Za-z]{4,10} del \d{4}", ("%d de %B del %Y",)),
    (r"[A-Za-z]{3} \d{1,2}, ?\d{4}", ("%b %d, %Y",)),
    (r"[A-Za-z]{4,9} \d{1,2}, ?\d{4}", ("%B %d, %Y",)),
)
"""The shape of a date, and what it may mean; where two are possible, the day first."""

_TIMES = (
    ("", ""),
    (r" \d{1,2}:\d{2}", " %H:%M"),
    (r" \d{1,2}:\d{2}:\d{2}", " %H:%M:%S"),
    (r"T\d{2}:\d{2}:\d{2}", "T%H:%M:%S"),
)


SPANISH = {
    **{"enero": "january", "febrero": "february", "marzo": "march", "abril": "april"},
    **{"mayo": "may", "junio": "june", "julio": "july", "agosto": "august"},
    **{"septiembre": "september", "setiembre": "september", "octubre": "october"},
    **{"noviembre": "november", "diciembre": "december"},
    **{"ene": "jan", "abr": "apr", "ago": "aug", "sept": "sep", "set": "sep", "dic": "dec"},
}
"""Months of Spanish dates by those that `%B` and `%b` read; other short ones are alike."""
_MONTH = re.compile(r"[^\W\d_]{3,10}\.?")


def read_date(text: str, form: str) -> datetime:
    """The date that a text writes in a format; months may have their Spanish names.

    Raises:
        ValueError: it is none.

    >>> read_date("3 de marzo de 2021", "%d de %B de %Y").isoformat()[:10]
    '2021-03-03'
    """
    if "%b" in form or "%B" in form:
        text = _MONTH.sub(lambda found: _english(found[0]), text)
    return datetime.strptime(text, form)


def _english(word: str) -> str:
    bare = word.casefold().rstrip(".")
    return SPANISH.get(bare, bare)


def find_format(texts: Sequence[str]) -> DateFormat | None:
    """The format in which all texts are dates; None if there is none.

    >>> find_format(["19/08/1963", "01/02/1970"])
    DateFormat(format='%d/%m/%Y', is_sure=True)
    >>> find_format(["01/02/1970", "03/04/1971"]), find_format(["Lugo"])
    (DateFormat(format='%d/%m/%Y', is_sure=False), None)
    """
    if not texts:
        return None
    for shape, formats in _SHAPES:
        for time, written in _TIMES:
            pattern = re.compile(shape + time)
            if all(map(pattern.fullmatch, texts)):
                fitting = [each + written for each in formats if _fits(texts, each + written)]
                return DateFormat(fitting[0], len(fitting) == 1) if fitting else None
    return None


def _fits(texts: Sequence[str], form: str) -> bool:
    try:
        for text in texts:
            read_date(text, form)
    except ValueError:
        return False
    return True
