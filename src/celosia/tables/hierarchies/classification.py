"""Codes and places that mean something, grouped by published classifications.

What is shipped is facts: countries by region and continent (ISO 3166, United Nations M49), states
of the United States by census division and region, Spanish provinces by community and NUTS 1
region, regions of Europe (NUTS), levels of education, groups of occupations (ISCO-08), and blocks
and chapters of diagnoses (ICD-10).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import ClassVar, Literal

import polars as pl

from celosia.core.errors import InputError
from celosia.tables.hierarchies.hierarchy import ROOT, Builder, Hierarchy, distinct_texts

OTHER = "other"
"""The group of values that a classification does not know, such as `?`."""
ENOUGH = 0.8
"""A classification fits a column if it knows this share of its different values."""
FEW = 3
"""Below so many different values a classification may fit by chance."""

Name = Literal[
    "countries", "us-states", "spanish-provinces", "nuts", "education", "isco-08", "icd-10"
]
Groups = tuple[str, ...]
"""The groups of a value, from fine to coarse."""

CHAPTERS = (
    *("A00-B99", "C00-D48", "D50-D89", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95"),
    *("I00-I99", "J00-J99", "K00-K93", "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96"),
    *("Q00-Q99", "R00-R99", "S00-T98", "V01-Y98", "Z00-Z99", "U00-U99"),
)
"""The chapters of ICD-10 (World Health Organization), by the codes of their categories."""

NUTS_COUNTRIES = (
    "AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "
    "UK CH IS LI NO AL BA ME MK RS TR XK"
)
"""The countries whose regions have codes of NUTS (Eurostat), members or not."""

MAJOR_GROUPS = (
    *("Armed forces", "Managers", "Professionals", "Technicians", "Clerical support"),
    *("Services and sales", "Agriculture", "Crafts", "Machine operators", "Elementary"),
)
"""The major groups of ISCO-08 (International Labour Organization), by their digit, shortened."""


@dataclass(frozen=True, slots=True)
class Classification(Builder):
    """Groups of a published classification, such as the continents of countries.

    Values are compared without case, accents and hyphens. A value that the classification does not
    know is in the group `other`; a column of which it knows too little is refused.

    Args:
        name: countries, us-states, spanish-provinces, nuts, education, isco-08 or icd-10.

    >>> Classification("countries").build(pl.Series(["ES", "CL", "fra"])).paths()[0]
    ('CL', 'South America', 'Americas', '*')
    >>> Classification("icd-10").build(pl.Series(["J45.0", "I21"])).paths()[0]
    ('I21', 'I21', 'I20-I25', 'I00-I99', '*')
    """

    method_name: ClassVar[str] = "classification"

    name: Name = "countries"

    def build(self, values: pl.Series) -> Hierarchy:
        """The values in the order of their groups.

        Raises:
            InputError: CEL-H042 the classification knows too few of the values.
        """
        texts = distinct_texts(values)
        found = [CLASSIFICATIONS[self.name](text) for text in texts]
        known = sum(groups is not None for groups in found)
        if known < ENOUGH * len(texts):
            raise InputError("CEL-H042", name=self.name, known=known, values=len(texts))
        height = max((len(groups) for groups in found if groups is not None), default=0)
        paths: list[tuple[str, ...]] = [
            (text, *((OTHER,) * height if groups is None else groups), ROOT)
            for text, groups in zip(texts, found, strict=True)
        ]
        return Hierarchy.from_paths(sorted(paths, key=lambda path: tuple(reversed(path))))


def recognise(texts: Sequence[str]) -> Classification | None:
    """The classification that knows most of some different texts, if one knows enough.

    >>> recognise(["Spain", "Chile", "France", "Peru", "?"])
    Classification(name='countries')
    >>> recognise(["Lugo", "Vigo", "Ferrol"]) is None
    True
    """
    if len(texts) < FEW:
        return None
    shares = {
        name: sum(find(text) is not None for text in texts) / len(texts)
        for name, find in CLASSIFICATIONS.items()
        if name != "isco-08"  # any number of four digits would be one
    }
    best = max(shares, key=shares.__getitem__)
    return Classification(best) if shares[best] >= ENOUGH else None


def _listed(name: str, text: str) -> Groups | None:
    return _table(name).get(_plain(text))


@cache
def _table(name: str) -> dict[str, Groups]:
    """The groups of each name of a shipped list: names, then groups from fine to coarse."""
    folder = files("celosia.tables.hierarchies").joinpath("classifications")
    lines = folder.joinpath(f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return {_plain(each): tuple(groups) for names, *groups in rows for each in names.split("|")}


@cache
def _plain(text: str) -> str:
    """A name without case, accents, hyphens and spaces at its ends."""
    bare = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(letter)
    )
    return " ".join(re.split(r"[\s_-]+", bare.casefold().strip()))


def _diagnosis(text: str) -> Groups | None:
    """The category, the block and the chapter of a code of ICD-10."""
    match = re.fullmatch(r"([A-Z]\d\d)(?:\.?[\dA-Z]{1,4})?", text.strip().upper())
    if match is None:
        return None
    category = match[1]
    chapter = _range(category, CHAPTERS)
    if chapter is None:
        return None
    # Categories that only a national edition has are in no block of the international one.
    return category, _range(category, _blocks()) or chapter, chapter


def _range(category: str, ranges: Sequence[str]) -> str | None:
    return next((each for each in ranges if each[:3] <= category <= each[4:]), None)


@cache
def _blocks() -> tuple[str, ...]:
    folder = files("celosia.tables.hierarchies").joinpath("classifications")
    return tuple(folder.joinpath("icd-10-blocks.txt").read_text(encoding="utf-8").split())


def _region(text: str) -> Groups | None:
    """The regions of levels 2 and 1 and the country of a code of NUTS, level 1 to 3."""
    code = text.strip().upper()
    if (
        code[:2] not in NUTS_COUNTRIES.split()
        or re.fullmatch(r"[A-Z]{2}[0-9A-Z]{1,3}", code) is None
    ):
        return None
    return code[:4], code[:3], code[:2]


def _occupation(text: str) -> Groups | None:
    """The sub-major and the major group of a code of ISCO-08 with four digits."""
    code = text.strip()
    if re.fullmatch(r"\d{4}", code) is None:
        return None
    return code[:3], code[:2], f"{code[0]} {MAJOR_GROUPS[int(code[0])]}"


CLASSIFICATIONS: dict[Name, Callable[[str], Groups | None]] = {
    "countries": partial(_listed, "countries"),
    "us-states": partial(_listed, "us-states"),
    "spanish-provinces": partial(_listed, "spanish-provinces"),
    "nuts": _region,
    "education": partial(_listed, "education"),
    "isco-08": _occupation,
    "icd-10": _diagnosis,
}
"""How each classification finds the groups of a text."""
