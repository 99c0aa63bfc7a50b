"""Places, organisations, addresses, professions, diseases and amounts in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from celosia.assess.recognisers import Match
from celosia.assess.recognisers.places import matches_at, run_start
from celosia.core.errors import InputError
from celosia.texts import word_lists
from celosia.texts.detection.tokens import TermList, Words
from celosia.texts.detection.triggers import TERMS, Group

_UPPER = "A-ZÀ-ÖØ-Þ"
_NAME = rf"[{_UPPER}][^\W\d_]{{0,30}}(?:['-][^\W\d_]{{1,30}})?"
_LINK = r"(?:de la|de los|de las|del|de|la|y|of the|of|and|for|San|Santa|St\.?)"
_NAMES = rf"(?:{_NAME}|\d{{1,2}})(?: (?:{_LINK} ){{0,2}}{_NAME}){{0,4}}"

_ORGANISATIONS = re.compile(
    r"(?<!\w)(?:Hospital|Clínica|Clinica|Centro de Salud|Centro|Universidad|Instituto|Ayuntamiento"
    r"|Banco|Caja|Colegio|Juzgado|Residencia|Fundación|Farmacia|Asociación|Ministerio|Consejería"
    rf"|Laboratorios|University of|Bank of|Ministry of|Talleres|Transportes)"
    rf" (?:{_LINK} ){{0,2}}{_NAMES}"
    rf"|(?<!\w){_NAME}(?: (?:{_LINK} )?{_NAME}){{0,3}} (?:Hospital|Infirmary|University|College"
    r"|School|Bank|Council|Clinic|Medical Cent(?:re|er)"
    r"|Health Cent(?:re|er)|Surgery|Pharmacy|Court|Trust"
    r"|Laboratories|Ltd|Limited|Inc|LLC|plc|S\.A\.|S\.L\.|Garage|Motors)(?!\w)"
)
_ADDRESSES = re.compile(
    r"(?<!\w)(?:[Cc]alle|[Cc]/(?! ?[A-Z](?!\w))|[Aa]vda\.?|[Aa]venida|[Pp]laza|[Pp]za\.?|[Pp]aseo"
    rf"|[Cc]amino|[Cc]arretera|[Rr]onda|[Tt]ravesía|[Uu]rbanización) ?(?:{_LINK} ){{0,2}}{_NAMES}"
    r"(?:,? (?:n[.º°úu]{0,2}m?\.? ?)?\d{1,4}(?:[- ]?[A-Z](?!\w))?"
    r"(?:,? \d{1,2}[ºª°]? ?[A-Za-z]{0,4}(?!\w))?)?"
    rf"(?:,? \d{{5}}(?: {_NAME}(?: {_NAME})?)?)?"
)
_NUMBERED = re.compile(
    rf"[0-9](?<![\w.,].)\d{{0,4}}[A-Z]? (?:{_NAME} ){{1,3}}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln"
    r"|Drive|Dr|Court|Ct|Close|Way|Square|Terrace|Gardens|Place|Crescent|Hill|Boulevard|Blvd)(?!\w)\.?"
    r"(?:,? (?:Apt|Flat|Unit)\.? \w{1,5})?"
)
_POSTCODES = re.compile(r"[A-Z](?<!\w.)[A-Z]?\d[A-Z\d]? \d[A-Z]{2}(?!\w)")
_POSTAL_NUMBERS = re.compile(
    r"\d(?=\d{4})(?:(?<=CP .)|(?<=C\.P\. .)|(?<=código postal .)|(?<=ZIP .)|(?<=zip code .))\d{4}"
    r"(?:-\d{4})?(?!\w)"
)
_AMOUNTS = re.compile(
    r"[€$£\d](?<![\w.,].)(?:(?<=[€$£]) ?\d{1,3}(?:[.,]?\d{3}){0,4}(?:[.,]\d{1,2})?"
    r"|(?<=\d)\d{0,2}(?:[.,]?\d{3}){0,4}(?:[.,]\d{1,2})?"
    r" ?(?:€|euros?|EUR|dollars?|USD|pounds?|GBP|pesos))(?!\w)"
)
_SIGNS = re.compile("[€$£]")
_ALONE = frozenset(("place", "nation", "belief"))


@cache
def _own_terms() -> TermList[tuple[str, bool]]:
    """The lists that come with Celosía: the kind, and whether a term must be capitalised."""
    return TermList(
        (term, (kind, kind in _ALONE and term[0].isupper()))
        for kind in TERMS
        for language in word_lists.LANGUAGES
        for term in word_lists.terms(kind, language)
    )


@cache
def holidays() -> TermList[str]:
    """Holidays named in words: beside a shifted date they give the shift away."""
    return TermList(
        (term, "date")
        for language in word_lists.LANGUAGES
        for term in word_lists.terms("holiday", language)
    )


def read_lists(lists: Mapping[str, str]) -> TermList[str]:
    """The terms of the user's files, one a line, each with its kind.

    Raises:
        InputError: CEL-N011 a file cannot be read.
    """
    terms = []
    for kind, path in lists.items():
        try:
            lines = Path(path).read_text("utf-8").splitlines()
        except (OSError, ValueError):
            raise InputError("CEL-N011", path=path, kind=kind) from None
        terms += [(line.strip(), kind) for line in lines if line.strip()]
    return TermList(terms)


def _after(words: Words, group: Group) -> list[int]:
    """Where the words after those of a detector begin."""
    return [words.starts[at + 1] for at in words.hits.get(group, ()) if at + 1 < len(words.starts)]


def _amounts(words: Words) -> list[int]:
    """Where amounts may begin: at the sign of a currency, or at the number before it."""
    text = words.text
    signs = [match.start() for match in _SIGNS.finditer(text)]
    before = [
        run_start(text, at - (text[at - 1 : at] == " "), ".,")
        for at in (*signs, *words.starts_of("currency"))
    ]
    return sorted([*signs, *before])


def find(words: Words, lists: TermList[str]) -> Iterator[Match]:
    """All terms of a folded text."""
    text = words.text
    # Four names of two words each and what links them may stand before the word that tells.
    capitals = [at for at in words.starts_of("organisation", back=14) if text[at].isupper()]
    for matches, kind, score in (
        (matches_at(_ORGANISATIONS, text, capitals), "organisation", 0.7),
        (matches_at(_ADDRESSES, text, words.starts_of("address")), "address", 0.85),
        (_NUMBERED.finditer(text), "address", 0.85),
        (matches_at(_POSTCODES, text, words.places.letters), "address", 0.7),
        (matches_at(_POSTAL_NUMBERS, text, _after(words, "postal")), "address", 0.7),
        (matches_at(_AMOUNTS, text, _amounts(words)), "amount", 0.8),
    ):
        for match in matches:
            yield Match(*match.span(), kind, f"{kind} pattern", score)
    for first, last, (kind, capital) in _own_terms().find(words, words.hits.get("term", ())):
        if not capital or words.is_capital(first):
            # A place at the start of a sentence, a surname, a common word: a little less sure.
            score = 0.6 if kind in _ALONE and words.is_first(first) else 0.75
            yield Match(words.starts[first], words.ends[last], kind, f"{kind} list", score)
    for first, last, kind in lists.find(words):
        yield Match(words.starts[first], words.ends[last], kind, "own list", 0.9)
    for first, last, kind in holidays().find(words, words.hits.get("holiday", ())):
        if words.is_capital(first):
            yield Match(words.starts[first], words.ends[last], kind, "holiday", 0.7)
