"""What the cells of a column look like: patterns by regular expressions.

Every function takes distinct texts (none missing) and tells for each whether it matches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk import check_digits

Flags = NDArray[np.bool_]
Test = Callable[[pl.Series], Flags]

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"


@dataclass(frozen=True, slots=True)
class Pattern:
    """How sure cells make us of a kind of content, alone and with the column's name."""

    kind: str
    test: Test | str
    """Which texts have it; a regular expression, or more than one can say."""
    alone: float | None
    """Share of matching cells that suffices without a telling name; None: the name is needed."""
    named: float = 0.3
    """Share that suffices if the name tells the same."""

    def flags(self, texts: pl.Series) -> Flags:
        """Which of some texts have the content."""
        if isinstance(self.test, str):
            return np.asarray(texts.str.contains(self.test).to_numpy(), dtype=np.bool_)
        return self.test(texts)


def _social_security(texts: pl.Series) -> Flags:
    parts = texts.str.contains(r"^\d{3}([- ]?)\d{2}([- ]?)\d{4}$")
    unused = texts.str.contains(r"^(?:000|666|9)|^\d{3}[- ]?00|0000$")
    return np.asarray((parts & ~unused).to_numpy(), dtype=np.bool_)


def _spelt_social_security(texts: pl.Series) -> Flags:
    dashed = texts.str.contains(r"^\d{3}-\d{2}-\d{4}$")
    return np.asarray(dashed.to_numpy() & _social_security(texts), dtype=np.bool_)


@cache
def _given_names() -> list[str]:
    """Common ones, English and Spanish; those that are also places or words are left out."""
    text = files("celosia.assess.risk").joinpath("given_names.txt").read_text(encoding="utf-8")
    return text.split()


def _given_name(texts: pl.Series) -> Flags:
    first = texts.str.to_lowercase().str.normalize("NFKD").str.replace_all(r"\p{M}", "")
    # "Ana Rojas", "Rojas, Ana" and "ana" alike; a sentence that starts with a name is no name.
    wanted = first.str.extract(r"^(?:[\p{L}' -]+, )?([a-z]+)(?:[ .-][\p{L}'. -]+)?$")
    short = texts.str.len_chars() <= 60
    return np.asarray((wanted.is_in(_given_names()).fill_null(value=False) & short).to_numpy())


PATTERNS: tuple[Pattern, ...] = (
    Pattern("e-mail address", r"(?i)^[^@\s,;]+@[^@\s,;]+\.[a-z]{2,}$", 0.1, 0.05),
    Pattern("web address", r"(?i)^(?:https?://|ftp://|www\.)\S+$", 0.1, 0.05),
    Pattern("device identifier", r"(?i)^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$", 0.5),
    Pattern(
        "IP address",
        rf"(?i)^{_OCTET}(?:\.{_OCTET}){{3}}$|^[0-9a-f]{{1,4}}(?::[0-9a-f]{{1,4}}){{7}}$"
        r"|^[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*)?$",
        0.5,
    ),
    Pattern("bank account", check_digits.iban, 0.2, 0.1),
    Pattern("Chilean identity number", check_digits.rut, 0.5),
    Pattern("Spanish identity number", check_digits.dni, 0.5),
    Pattern("card number", check_digits.luhn, 0.5),
    Pattern("vehicle identifier", check_digits.vin, 0.5),
    Pattern("social security number", _spelt_social_security, 0.5),
    Pattern(
        "telephone number",
        r"^\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}$|^\(\d{2,4}\) ?\d{3,4}[ .-]?\d{3,4}$"
        r"|^\d{3}-\d{3}-\d{4}$",
        0.5,
    ),
    Pattern("key", r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", 0.5),
    Pattern("personal name", _given_name, 0.5, 0.1),
    Pattern(
        "postal code",
        r"^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$|^[A-Z]\d[A-Z] ?\d[A-Z]\d$|^\d{5}-\d{4}$",
        0.8,
    ),
    Pattern(
        "date",
        r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$|^\d{4}/\d{1,2}/\d{1,2}$"
        r"|^\d{1,2}([/.-])\d{1,2}[/.-](?:19|20)\d{2}(?: \d{1,2}:\d{2}.*)?$",
        0.8,
    ),
)
"""Content that is recognised by itself, the surest first."""

LIKELY: tuple[Pattern, ...] = (
    Pattern("social security number", _social_security, None, 0.5),
    Pattern("telephone number", r"^\+?[\d ()./-]{6,20}$", None, 0.6),
    Pattern("device identifier", r"^[A-Za-z0-9:-]*\d[A-Za-z0-9:-]*$", None, 0.6),
    Pattern("vehicle identifier", r"^[A-Z0-9][A-Z0-9 ·-]{3,16}$", None, 0.6),
    Pattern("bank account", r"^[\d -]{6,34}$", None, 0.6),
    Pattern("identity number", r"^[A-Z]{0,6}[\d.\-]{4,20}[A-Z0-9]{0,8}$", None, 0.6),
    Pattern("Chilean identity number", r"^[\d.]{6,10}-[\dkK]$", None, 0.6),
    Pattern("Spanish identity number", r"^[XYZ\d]\d{7}[A-Z]$", None, 0.6),
    Pattern("medical record number", r"^[A-Za-z]{0,6}[ -]?\d[\d -]*$", None, 0.6),
    Pattern(
        "personal name",
        r"^\p{L}[\p{L}'\u{2019}. -]*(?:, \p{L}[\p{L}'. -]*)?$",
        None,
        0.6,
    ),
    Pattern("street address", r"\p{L}", None, 0.6),
    Pattern("postal code", r"^[A-Z0-9 -]*\d[A-Z0-9 *-]*$", None, 0.6),
)
"""Looser shapes that only a telling name makes suspicious."""
