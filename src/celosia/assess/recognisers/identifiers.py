"""Identifiers by their form, their check digit and the words around them.

A recogniser is a pattern, a check and trigger words. A number whose check is right is surer; one
whose check is wrong is dropped unless a trigger word stands beside it (a misprint is still the
number of a person). Weak checks (a random number passes one time in 23 or more) need a trigger word
or the punctuation that is typical of the kind.

Patterns are linear in the text: a bounded length or a possessive run, and a look behind that lets
no second attempt start inside the same run.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from celosia.assess.recognisers import check_digits
from celosia.assess.recognisers.kinds import KINDS

Check = Callable[[str], bool]

SURE = 0.85
"""The score of a form that hardly anything else has, or of a strong check digit."""
LIKELY = 0.6
POSSIBLE = 0.4
CONTEXT = 0.3
"""What a trigger word beside the number adds."""

BEFORE, AFTER = 5, 2
"""Words before and after a number among which a trigger word counts."""

_WINDOW = 80
"""Characters in which those words are looked for."""


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """A place in a text: what stands there, how sure that is, and which recogniser says so."""

    start: int
    end: int
    kind: str
    by: str
    score: float


@dataclass(frozen=True, slots=True)
class Recogniser:
    """A pattern with its check and its trigger words."""

    name: str
    kind: str
    pattern: re.Pattern[str]
    score: float
    """Without a check, or with a check that is right."""
    check: Check | None = None
    context: frozenset[str] = frozenset()
    needs_context: bool = False
    typical: re.Pattern[str] | None = None
    """Punctuation that makes a weak check enough."""
    keeps_wrong: bool = True
    """Whether a trigger word keeps a number whose check is wrong."""

    def judge(self, written: str, has_context: Callable[[], bool]) -> float:
        """How sure the recogniser is of a text; 0 where it is none."""
        is_right = self.check is None or self.check(compact(written))
        if not is_right:
            return POSSIBLE + CONTEXT / 2 if self.keeps_wrong and has_context() else 0.0
        is_typical = self.typical is not None and self.typical.fullmatch(written) is not None
        if self.needs_context and not is_typical:
            return min(1.0, self.score + CONTEXT) if has_context() else 0.0
        return min(1.0, self.score + (CONTEXT if has_context() else 0.0))


def compact(text: str) -> str:
    """A number without separators, in upper case.

    >>> compact("12.345.678-z")
    '12345678Z'
    """
    return re.sub(r"[\s./·-]", "", text).upper()


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in text.split())


_ID_WORDS = _words(
    "dni nif nie documento identidad identificacion identity id cedula rut run cuit cuil cpf curp"
    " ssn nino passport pasaporte licence license licencia conducir permiso nss afiliacion"
    " seguridad social security nacional national nhs insurance ciudadano fiscal tax cif"
)
_CARD_WORDS = _words(
    "tarjeta card visa mastercard amex maestro credito debito credit debit pago payment"
)
_ACCOUNT_WORDS = _words("iban cuenta account bank banco bancaria domiciliacion ccc payment pago")
_PHONE_WORDS = _words(
    "tel telefono telefonos tfno tlf tf movil fijo celular fax whatsapp llamar llame contacto phone"
    " telephone mobile cell call calls ring contact reached number"
)
_PLATE_WORDS = _words(
    "matricula vehiculo coche placa patente plate registration vehicle car licence license vin"
    " chassis bastidor"
)
_DEVICE_WORDS = _words("ip imei mac device dispositivo terminal equipo serial serie host cookie")
_NHS_WORDS = _words("nhs health service patient document identity")
_RECORD = r"[A-Za-z]{0,4}[-/ ]?\d[\dA-Za-z]{2,11}(?:[-/.]\d[\dA-Za-z]{0,9}){0,3}"

_NOT_BEFORE = r"(?<![\w.,@-])"
_EDGE = r"(?![\w@])"


def _pattern(body: str, *, flags: int = 0) -> re.Pattern[str]:
    return re.compile(f"{_NOT_BEFORE}(?:{body}){_EDGE}", flags)


_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser(
        "e-mail",
        "contact",
        re.compile(
            r"(?<![\w.+%'-])[\w.+%'-]++@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?![\w-])"
        ),
        1.0,
    ),
    Recogniser(
        "url",
        "url",
        re.compile(
            r"(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"'\u2018-\u201d]{1,2000}", re.IGNORECASE
        ),
        1.0,
    ),
    Recogniser(
        "handle",
        "contact",
        re.compile(r"(?<![\w@./])@[A-Za-z_][\w.]{2,29}(?![\w@])"),
        SURE,
    ),
    Recogniser(
        "IBAN",
        "account",
        _pattern(
            r"[A-Z]{2}\d\d(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?", flags=re.IGNORECASE
        ),
        0.95,
        check=check_digits.iban,
        context=_ACCOUNT_WORDS,
    ),
    Recogniser(
        "card",
        "account",
        _pattern(
            r"\d{4}(?:[ -]?\d{4}){2}[ -]?\d{4}(?:[ -]?\d{3})?|3[47]\d\d[ -]?\d{6}[ -]?\d{5}"
            r"|\d{12,19}"
        ),
        LIKELY,
        check=check_digits.card,
        context=_CARD_WORDS,
        needs_context=True,
        typical=re.compile(
            r"\d{4}[ -]\d{4}[ -]\d{4}[ -][\d -]+|3\d{3}[ -]\d{6}[ -]\d{5}|\d{15,16}"
        ),
    ),
    Recogniser(
        "DNI",
        "id",
        _pattern(r"\d{8}[- ]?[A-Za-z]|\d{1,2}\.\d{3}\.\d{3}[- ]?[A-Za-z]"),
        SURE,
        check=lambda text: check_digits.dni(text.zfill(9)),
        context=_ID_WORDS,
        needs_context=True,
        typical=re.compile(r"[\d.]+-?[A-Z]"),
    ),
    Recogniser(
        "NIE",
        "id",
        _pattern(r"[XYZxyz][-. ]?\d{7}[- ]?[A-Za-z]"),
        SURE,
        check=check_digits.nie,
        context=_ID_WORDS,
    ),
    Recogniser(
        "CIF",
        "id",
        _pattern(r"[ABCDEFGHJNPQRSUVW][- ]?\d{7}[- ]?[0-9A-J]"),
        LIKELY,
        check=check_digits.cif,
        context=_ID_WORDS,
        needs_context=True,
        typical=re.compile(r"[A-Z]-?\d{8}|[A-Z]-?\d{7}-?[A-J]"),
    ),
    Recogniser(
        "social security (ES)",
        "id",
        _pattern(r"\d{2}[ /-]?\d{8}[ /-]?\d{2}"),
        LIKELY,
        check=check_digits.social_security_es,
        context=_ID_WORDS,
    ),
    Recogniser(
        "CUIT",
        "id",
        _pattern(r"\d{2}-?\d{8}-?\d"),
        LIKELY,
        check=check_digits.cuit,
        context=_ID_WORDS,
        needs_context=True,
        typical=re.compile(r"\d{2}-\d{8}-\d"),
    ),
    Recogniser(
        "RUT",
        "id",
        _pattern(r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]|\d{7,8}-[\dkK]"),
        LIKELY,
        check=check_digits.rut,
        context=_ID_WORDS,
        needs_context=True,
        typical=re.compile(r"[\d.]+-[\dkK]"),
    ),
    Recogniser(
        "CPF",
        "id",
        _pattern(r"\d{3}\.\d{3}\.\d{3}-\d{2}|\d{11}"),
        LIKELY,
        check=check_digits.cpf,
        context=_ID_WORDS,
        needs_context=True,
        typical=re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
    ),
    Recogniser(
        "CURP",
        "id",
        _pattern(r"[A-Z]{4}\d{6}[HMXhmx][A-Z]{5}[A-Z0-9]\d", flags=re.IGNORECASE),
        SURE,
        check=check_digits.curp,
        context=_ID_WORDS,
    ),
    Recogniser(
        "NHS",
        "id",
        _pattern(r"\d{3}[ -]?\d{3}[ -]?\d{4}"),
        LIKELY,
        check=check_digits.nhs,
        context=_NHS_WORDS,
        needs_context=True,
    ),
    Recogniser(
        "SSN",
        "id",
        _pattern(r"\d{3}([- ]?)\d{2}\1\d{4}"),
        LIKELY,
        check=check_digits.ssn,
        context=_words("ssn social security"),
        needs_context=True,
        typical=re.compile(r"\d{3}-\d{2}-\d{4}"),
    ),
    Recogniser(
        "national insurance (GB)",
        "id",
        _pattern(
            r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
            r" ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
        ),
        SURE,
        context=_ID_WORDS,
    ),
    Recogniser(
        "passport or licence",
        "id",
        _pattern(r"[A-Z]{1,3}[- ]?\d{6,9}|\d{8,9}"),
        POSSIBLE,
        context=_words("passport pasaporte licence license licencia permiso conducir driving"),
        needs_context=True,
    ),
    Recogniser(
        "record number",
        "record",
        re.compile(
            r"(?<!\w)(?:NHC|MRN|historia(?: cl[ií]nica)?|expediente|ficha|folio|caso|episodio"
            r"|factura|medical record|record|case|file|chart|episode|invoice|hospital (?:number|no)"
            r"|policy|p[oó]liza)(?:[ .]{0,2}(?:no|n[uú]m|n[º°]|n[uú]mero|number|id))?[ .:#º°-]{1,3}"
            rf"(?P<value>{_RECORD})(?![\w@])",
            re.IGNORECASE,
        ),
        SURE,
    ),
    Recogniser(
        "telephone (international)",
        "contact",
        re.compile(r"(?<![\w+])(?:\+|00)\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}(?![\w@])"),
        SURE,
        check=lambda text: 8 <= sum(map(str.isdigit, text)) <= 17,
        context=_PHONE_WORDS,
        keeps_wrong=False,
    ),
    Recogniser(
        "telephone (ES)",
        "contact",
        _pattern(
            r"[6789]\d{2}[ .-]?\d{3}[ .-]?\d{3}|[6789]\d{2}(?:[ .-]\d{2}){3}"
            r"|[89]\d[ .-]\d{3}(?:[ .-]\d{2}){2}"
        ),
        LIKELY,
        context=_PHONE_WORDS,
        needs_context=True,
        typical=re.compile(r"[6789]\d{8}|\d{2,3}[ .-]\d{2,3}[ .-]\d{2,3}(?:[ .-]\d{2})?"),
    ),
    Recogniser(
        "telephone",
        "contact",
        re.compile(
            r"(?<![\w.,@-])(?:\(\d{2,4}\) ?\d{3,4}[ .-]?\d{3,4}|\d{3}[ .-]\d{3,4}[ .-]\d{4}"
            r"|\d{3}[ .-]\d{4}|0\d{2,4}[ -]?\d{3,4}[ -]?\d{3,4}|\d{7,11})(?![\w@])"
        ),
        LIKELY,
        context=_PHONE_WORDS,
        needs_context=True,
        typical=re.compile(
            r"\(\d{2,4}\) ?\d{3,4}[ .-]?\d{3,4}|\d{3}[.-]\d{3}[.-]\d{4}|0\d{2,4} \d{3,4} ?\d{3,4}"
        ),
    ),
    Recogniser(
        "IPv4",
        "device",
        re.compile(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w]|\.\d)"),
        SURE,
        context=_DEVICE_WORDS,
    ),
    Recogniser(
        "IPv6",
        "device",
        re.compile(
            r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?![\w:])"
            r"|(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}(?![\w:])"
            r"|(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){2,7}:(?![\w:])"
        ),
        SURE,
        context=_DEVICE_WORDS,
    ),
    Recogniser(
        "MAC",
        "device",
        re.compile(
            r"(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])"
        ),
        SURE,
    ),
    Recogniser(
        "IMEI",
        "device",
        _pattern(r"\d{2}-?\d{6}-?\d{6}-?\d"),
        LIKELY,
        check=check_digits.luhn,
        context=_words("imei"),
        needs_context=True,
    ),
    Recogniser(
        "UUID",
        "device",
        re.compile(r"(?<![\w-])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![\w-])"),
        SURE,
    ),
    Recogniser(
        "VIN",
        "plate",
        _pattern(r"[A-HJ-NPR-Z0-9]{17}"),
        SURE,
        check=check_digits.vin,
        context=_PLATE_WORDS,
    ),
    Recogniser(
        "plate (ES)",
        "plate",
        _pattern(r"\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}|[A-Z]{1,2}[ -]\d{4}[ -][A-Z]{1,2}"),
        SURE,
        context=_PLATE_WORDS,
    ),
    Recogniser(
        "plate (GB)",
        "plate",
        _pattern(r"[A-Z]{2}\d{2} ?[A-Z]{3}"),
        LIKELY,
        context=_PLATE_WORDS,
    ),
)
"""All of them. Their order is no rank: the longest match wins, then the surest."""

PROTECTED: tuple[re.Pattern[str], ...] = (
    re.compile(r"(?<!\w)ISBN(?:-1[03])?[: ]{0,2}[\d -]{9,16}[\dX]", re.IGNORECASE),
    re.compile(r"(?<!\w)10\.\d{4,9}/[^\s\"<>]{1,200}"),
    re.compile(
        r"(?<![\w.,])\d[\d.,]{0,12} ?(?:mg|mcg|µg|ug|g|kg|ml|mL|dl|dL|l|cm|mm|m|km|mmHg|bpm|lpm|ppm"
        r"|UI|IU|U/L|mmol|mEq|kcal|%|°C|ºC)(?:/[A-Za-zµ]{1,4})?(?!\w)"
    ),
    re.compile(r"(?<!\w)(?:ICD|CIE)-?1?[0-9]?[: ]{0,2}[A-Z]\d{2}(?:\.\d{1,3})?(?!\w)"),
    re.compile(
        r"(?<!\w)(?:Ley(?: Org[aá]nica)?|Real Decreto(?:-ley)?|R\.?D\.?|Directiva|Reglamento"
        r"|Regulation|Directive|Act)(?: \((?:UE|EU|CE|EC)\))?(?: n[º°o]\.?)? \d{1,4}/\d{2,4}(?!\w)"
    ),
)
"""Numbers that identify no person: books, articles, quantities, codes of diseases, laws."""


def find(text: str, *, kinds: Iterable[str] = KINDS, least: float = POSSIBLE) -> list[Match]:
    """Every identifier in a text, in order, none inside another.

    Args:
        text: the text; offsets count its characters.
        kinds: those that are wanted.
        least: the least score.

    >>> [(match.kind, match.by) for match in find("DNI 12345678Z, tel. 600 123 456, a@b.org")]
    [('id', 'DNI'), ('contact', 'telephone (ES)'), ('contact', 'e-mail')]
    >>> find("Ley 39/2015, 20 mg, ISBN 978-0-306-40615-7")
    []
    """
    wanted = frozenset(kinds)
    found = [each for each in _candidates(text) if each.kind in wanted and each.score >= least]
    return longest(_unprotected(text, found))


def _candidates(text: str) -> Iterator[Match]:
    for recogniser in RECOGNISERS:
        for match in recogniser.pattern.finditer(text):
            group: int | str = "value" if "value" in recogniser.pattern.groupindex else 0
            start, end = match.span(group)
            start, end = _fitted(recogniser, text, start, end)
            context = partial(_has_context, text, start, end, recogniser.context)
            score = recogniser.judge(text[start:end], context)
            if score:
                yield Match(start, end, recogniser.kind, recogniser.name, round(score, 3))


def _fitted(recogniser: Recogniser, text: str, start: int, end: int) -> tuple[int, int]:
    """The place without what the pattern took too much of."""
    if recogniser.name == "url":
        return start, start + len(text[start:end].rstrip(".,;:!?)]}"))
    if recogniser.name == "IBAN":
        length = check_digits.IBAN_LENGTHS.get(text[start : start + 2].upper(), 0)
        for place in range(start, end):
            length -= text[place].isalnum()
            if not length:
                return start, place + 1
    return start, end


def _has_context(text: str, start: int, end: int, words: frozenset[str]) -> bool:
    if not words:
        return False
    before = _tokens(text[max(0, start - _WINDOW) : start])[-BEFORE:]
    after = _tokens(text[end : end + _WINDOW])[:AFTER]
    return not words.isdisjoint(before + after)


def _tokens(text: str) -> list[str]:
    return [folded(word) for word in re.findall(r"[^\W_]+", text)]


@cache
def _accents() -> dict[int, int]:
    letters = "áàâäãåéèêëíìîïóòôöõúùûüñçÁÀÂÄÃÅÉÈÊËÍÌÎÏÓÒÔÖÕÚÙÛÜÑÇ"
    return {ord(mark): ord(unicodedata.normalize("NFD", mark)[0]) for mark in letters}


@lru_cache(maxsize=1 << 16)
def folded(text: str) -> str:
    """A word in lower case without the accents of English and Spanish; as long as it was.

    >>> folded("TELÉFONO")
    'telefono'
    """
    lower = text.translate(_accents()).lower()
    return lower if len(lower) == len(text) else text.translate(_accents())


def _unprotected(text: str, found: list[Match]) -> list[Match]:
    """Without what lies inside a number that identifies nobody, unless it is very sure."""
    if not found:
        return found
    safe = [match.span() for pattern in PROTECTED for match in pattern.finditer(text)]
    return [
        each
        for each in found
        if each.score > SURE
        or not any(start <= each.start and each.end <= end for start, end in safe)
    ]


def longest(found: Iterable[Match]) -> list[Match]:
    """Matches without overlaps: the longest wins, then the surest, then the kind listed first."""
    rank = {kind: place for place, kind in enumerate(KINDS)}
    order = sorted(
        found, key=lambda each: (each.start - each.end, -each.score, rank[each.kind], each.start)
    )
    kept: list[Match] = []
    taken: set[int] = set()
    for each in order:
        places = range(each.start, each.end)
        if not taken.isdisjoint((each.start, each.end - 1)):
            continue
        taken.update(places)
        kept.append(each)
    return sorted(kept)
