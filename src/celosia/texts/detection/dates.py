"""Dates, ages and times in English and Spanish, and what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cache

from celosia.assess.recognisers import Match
from celosia.assess.recognisers.identifiers import folded
from celosia.assess.recognisers.places import matches_at
from celosia.texts.detection.tokens import Words
from celosia.texts.documents import Language

MONTHS: dict[Language, tuple[str, ...]] = {
    "en": ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December"),
    "es": ("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
           "octubre", "noviembre", "diciembre"),
}  # fmt: skip
_SHORT = {"setiembre": 9, "sept": 9, "ene": 1, "abr": 4, "ago": 8, "dic": 12}


@cache
def _month_numbers() -> dict[str, int]:
    found = dict(_SHORT)
    for months in MONTHS.values():
        for number, name in enumerate(months, 1):
            found.setdefault(name.lower(), number)
            found.setdefault(name.lower()[:3], number)
    return found


_MONTH = "|".join(sorted({each for names in MONTHS.values() for each in names}
                         | {"setiembre", "sept?", "ene", "feb", "mar", "abr", "apr", "jun", "jul",
                            "ago", "aug", "oct", "nov", "dic", "dec", "jan"},
                         key=len, reverse=True))  # fmt: skip
_G = r"[ \n]"
"""A blank, or the end of a line in the middle of a date."""
_WORDS = re.compile(
    rf"(?<!\w)(?:(?<!\d[.,])(?P<d1>\d{{1,2}})(?:st|nd|rd|th|º)?(?:{_G}de|{_G}of)?{_G}(?P<m1>{_MONTH})\.?"
    rf"(?:,?{_G}(?:del?{_G})?(?P<y1>\d{{4}}))?"
    rf"|(?P<m2>{_MONTH})\.?{_G}(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:,?{_G}(?P<y2>\d{{4}}))?"
    rf"|(?P<m3>{_MONTH})\.?,?{_G}(?:del?{_G}|of{_G})?(?P<y3>(?:19|20)\d\d))(?!\w)",
    re.IGNORECASE,
)
_ISO = re.compile(
    r"(?P<y>[12](?<![\w.-].)(?:(?<=1)9|(?<=2)0)\d\d)([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\w)"
)
_NUMBERS = re.compile(
    r"(?P<a>\d(?<![\w./-].)\d?)([./-])(?P<b>\d{1,2})\2(?P<y>(?:19|20)\d\d|\d\d)(?![\w/-]|\.\d)"
)
_RELATIVE = re.compile(
    rf"(?<!\w)(?:yesterday|tomorrow|today|last{_G}(?:night|week|month|year|Monday|Tuesday|Wednesday"
    rf"|Thursday|Friday|Saturday|Sunday)|next{_G}(?:week|month|year)"
    rf"|(?:\d{{1,3}}|two|three|four|five|six){_G}(?:days|weeks|months|years){_G}ago"
    rf"|ayer|anteayer|mañana{_G}por{_G}la{_G}mañana|hoy"
    rf"|hace{_G}(?:\d{{1,3}}|dos|tres|cuatro|cinco|seis){_G}(?:días|semanas|meses|años)"
    rf"|la{_G}semana{_G}pasada|el{_G}(?:mes|año|lunes|martes|miércoles|jueves|viernes"
    rf"|sábado|domingo){_G}pasado)(?!\w)",
    re.IGNORECASE,
)
_AGE = re.compile(
    rf"[0-9](?<![\w.,/].)(?:(?<=1)[01]\d|\d?)(?:[- \n]years?[- \n]olds?|{_G}years?{_G}of{_G}age"
    rf"|{_G}años(?:{_G}de{_G}edad)?|[- \n]?y/?o)(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[0-9](?<!\w.)(?=\d{0,3}(?:[./-]\d|[- \n]?[yYaA]))")
"""Where dates of numbers and ages begin."""
_SAID_AGE = re.compile(
    rf"(?<!\w)(?:aged?|edad(?:{_G}de)?|age{_G}of)[: \n]{{1,2}}(?:1[01]\d|\d{{1,2}})(?![\w./])",
    re.IGNORECASE,
)
_BIRTH = re.compile(
    r"(?:born(?: on| in)?|birth|DOB|D\.O\.B\.|nacid[oa](?: el| en)?|nacimiento|F\.? ?Nac\.?"
    r"|birthday)[ :.(]{0,4}(?:is |was |on |el |es )?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ParsedDate:
    """A date that was read, with the parts that were written."""

    day: date
    form: str
    """How it was written: `iso`, `numbers` or `words`, and for words what was left out."""
    has_day: bool = True
    has_year: bool = True
    is_ambiguous: bool = False


def find(words: Words) -> list[Match]:
    """Dates, births, ages and relative dates of a folded text."""
    text = words.text
    numbers = [match.start() for match in _NUMBER.finditer(text)]
    found = []
    for matches, meaning in (
        (matches_at(_ISO, text, numbers), _by_iso),
        (matches_at(_NUMBERS, text, numbers), _by_numbers),
        (matches_at(_WORDS, text, _month_starts(words)), _by_words),
    ):
        for match in matches:
            if meaning(match, "en") is not None:
                kind = "birth" if _is_birth(text, match.start()) else "date"
                found.append(Match(*match.span(), kind, f"{kind} pattern", 0.9))
    for match in matches_at(_RELATIVE, text, words.starts_of("relative", back=2)):
        found.append(Match(*match.span(), "date", "relative date", 0.7))
    for matches in (
        matches_at(_AGE, text, numbers),
        matches_at(_SAID_AGE, text, words.starts_of("age")),
    ):
        for match in matches:
            found.append(Match(*match.span(), "age", "age pattern", 0.9))
    return found


def _month_starts(words: Words) -> list[int]:
    """Where dates with a month in words may begin: a number stands beside it ("may" is a verb)."""
    found = {
        near
        for at in words.hits.get("month", ())
        if any(word[:1].isdigit() for word in words.words[max(0, at - 2) : at + 3])
        for near in range(max(0, at - 2), at + 1)
    }
    return [words.starts[at] for at in sorted(found)]


def _is_birth(text: str, start: int) -> bool:
    before = text[max(0, start - 30) : start].lower()
    if not any(each in before for each in ("born", "birth", "dob", "d.o.b", "nac")):
        return False
    return _BIRTH.search(text, max(0, start - 30), start) is not None


def parse(text: str, language: Language) -> ParsedDate | None:
    """What a written date means; None where it means none (the 31st of April, "yesterday")."""
    for pattern, meaning in ((_ISO, _by_iso), (_NUMBERS, _by_numbers), (_WORDS, _by_words)):
        match = pattern.fullmatch(text)
        if match is not None:
            return meaning(match, language)
    return None


def _by_iso(match: re.Match[str], language: Language) -> ParsedDate | None:
    del language
    return _made(match["y"], match["m"], match["d"], "iso")


def _by_words(match: re.Match[str], language: Language) -> ParsedDate | None:
    del language
    month = match["m1"] or match["m2"] or match["m3"]
    number = _month_numbers().get(folded(month).rstrip("."))
    year, day = match["y1"] or match["y2"] or match["y3"], match["d1"] or match["d2"]
    if number is None:
        return None
    return _made(
        year or "2000", str(number), day or "1", "words", has_day=bool(day), has_year=bool(year)
    )


def _by_numbers(match: re.Match[str], language: Language) -> ParsedDate | None:
    first, second = int(match["a"]), int(match["b"])
    year = match["y"]
    if len(year) == 2:
        year = ("19" if int(year) > 50 else "20") + year
    # English writes both: the first number is the month only where that is the only reading, or
    # where the year has two digits, as in the United States.
    is_american = language == "en" and len(match["y"]) == 2 and first <= 12
    day, month = (second, first) if is_american or (first <= 12 < second) else (first, second)
    ambiguous = first <= 12 and second <= 12 and first != second and language == "en"
    return _made(year, str(month), str(day), "numbers", is_ambiguous=ambiguous)


def _made(year: str, month: str, day: str, form: str, **more: bool) -> ParsedDate | None:
    try:
        return ParsedDate(date(int(year), int(month), int(day)), form, **more)
    except ValueError:
        return None


def write(day: date, parsed: ParsedDate, original: str, language: Language) -> str:
    """A day in the form that another one was written in.

    >>> write(date(2026, 1, 31), parse("3 de mayo de 2025", "es"), "3 de mayo de 2025", "es")
    '31 de enero de 2026'
    """
    if parsed.form == "iso":
        mark = original[4]
        return f"{day.year:04d}{mark}{day.month:02d}{mark}{day.day:02d}"
    if parsed.form == "numbers":
        match = _NUMBERS.fullmatch(original)
        assert match is not None, "it was parsed"
        mark = match.group(2)
        numbers = [day.day, day.month]
        if (int(match["a"]), int(match["b"])) == (parsed.day.month, parsed.day.day) and (
            parsed.day.day != parsed.day.month
        ):
            numbers.reverse()
        width = max(len(match["a"]), len(match["b"]))
        shown = [str(each).zfill(width if width == 2 else 1) for each in numbers]
        year = f"{day.year:04d}"[-len(match["y"]) :]
        return mark.join([*shown, year])
    name = MONTHS[language][day.month - 1]
    if language == "es":
        pieces = [f"{day.day} de {name}" if parsed.has_day else name]
        return " de ".join([*pieces, *([f"{day.year}"] if parsed.has_year else [])])
    pieces = [f"{day.day} {name}" if parsed.has_day else name]
    return " ".join([*pieces, *([f"{day.year}"] if parsed.has_year else [])])


def age_of(text: str) -> int | None:
    """The number of years in the text of an age."""
    match = re.search(r"\d{1,3}", text)
    return None if match is None else int(match.group())
