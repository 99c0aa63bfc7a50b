"""Generalise: a date to its month or year, an age to a band, a place or a disease to its like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from celosia.core.methods import parameter
from celosia.texts.actions.action import Action, ActionContext, Mention
from celosia.texts.actions.plain import Label, Redact
from celosia.texts.detection import dates
from celosia.texts.documents import Language
from celosia.texts.lexicon import Lexicon, sample

OLDEST = 90
"""Ages from here on are one band: so few people reach them that the age names them."""


@dataclass(frozen=True)
class Generalise(Action):
    """A more general text that is still true.

    Dates keep their month, quarter, year or decade; ages become bands of five years, and from 90 on
    one band; amounts keep one digit; places, professions and diseases take the term above them in
    the lexicon. What has no general form is replaced by its kind.
    """

    method_name: ClassVar[str] = "generalise"
    is_linkable: ClassVar[bool] = False

    dates: Literal["month", "quarter", "year", "decade"] = parameter("year")
    levels: int = parameter(1, least=1, most=10)

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """The general form of a mention."""
        kind, language = mention.finding.kind, mention.document.language
        if kind in ("date", "birth"):
            made = self._date(mention.text, language)
        elif kind == "age":
            made = _age(mention.text, language)
        elif kind == "amount":
            made = _amount(mention.text)
        else:
            made = general_term(sample(), mention.text, language, self.levels)
        if made is not None:
            return made
        if kind in ("date", "birth"):
            return Redact().replacement(mention, context)
        return Label(numbered=False).replacement(mention, context)

    def _date(self, text: str, language: Language) -> str | None:
        parsed = dates.parse(text, language)
        if parsed is None or not parsed.has_year:
            return None
        day = parsed.day
        if self.dates == "month":
            name = dates.MONTHS[language][day.month - 1]
            return f"{name} de {day.year}" if language == "es" else f"{name} {day.year}"
        if self.dates == "quarter":
            mark = "T" if language == "es" else "Q"
            return f"{mark}{(day.month + 2) // 3} {day.year}"
        if self.dates == "year":
            return str(day.year)
        start = day.year // 10 * 10
        return f"años {start}" if language == "es" else f"{start}s"


def _age(text: str, language: Language) -> str | None:
    years = dates.age_of(text)
    if years is None:
        return None
    start = years // 5 * 5
    band = f"{OLDEST}+" if years >= OLDEST else f"{start}-{start + 4}"
    return f"{band} años" if language == "es" else f"{band} years old"


def _amount(text: str) -> str | None:
    match = re.search(r"\d[\d.,]*\d|\d", text)
    if match is None:
        return None
    written = re.sub(r"[.,]\d{1,2}$", "", match.group())
    number = int(re.sub(r"\D", "", written) or 0)
    size = 10 ** max(0, len(str(number)) - 1)
    rounded = (number + size // 2) // size * size
    return text[: match.start()] + str(rounded) + text[match.end() :]


def general_term(lexicon: Lexicon, text: str, language: Language, levels: int) -> str | None:
    """The term some levels above a term of the lexicon; None where it is not in it."""
    node = lexicon.node(text)
    if node is None:
        return None
    for _ in range(levels):
        node = lexicon.parent(node) or node
    return lexicon.name(node, language)
