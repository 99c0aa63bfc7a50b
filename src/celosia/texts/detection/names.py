"""Names of people: titles, known names, initials, and lines that say whose name follows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache

from celosia.assess.recognisers import Match
from celosia.assess.recognisers.identifiers import folded
from celosia.assess.recognisers.places import matches_at
from celosia.texts import word_lists
from celosia.texts.detection.tokens import Words, is_first
from celosia.texts.documents import word_set

_UPPER = "A-ZÀ-ÖØ-Þ"
_GAP = r"(?:[ \t]{1,2}|[ \t]?\n[ \t]?)"
_REST = r"(?:[^\W\d_]|['-](?=[^\W\d_])){0,30}+"
_NAME_WORD = rf"[{_UPPER}]{_REST}"
_PARTICLES = word_set("de del la las los y i da do dos di van von der den el bin ben san e")
_PARTICLE = rf"(?:{'|'.join(sorted(_PARTICLES, key=len, reverse=True))})"
_SEQUENCE = re.compile(
    rf"[{_UPPER}](?<![\w@./].)(?:\.|{_REST})(?:(?:{_GAP}(?:{_PARTICLE}{_GAP}){{0,2}}|(?<=\.))"
    rf"(?:[{_UPPER}]\.|{_NAME_WORD}(?![\w@]))){{0,5}}+"
)
_TITLES = word_set(
    "mr mrs ms miss mx dr dra doctor doctora prof profesor profesora professor sir lady "
    "rev sr sra srta don dona d da señor señora senor senora nurse sister father padre "
    "hermana"
)
_INTRODUCTIONS = word_set(
    "patient paciente named called llamado llamada nombre name wife husband son daughter "
    "mother father brother sister uncle aunt neighbour friend mr mrs dr marido mujer "
    "esposa esposo hijo hija madre padre hermano hermana tio tia vecino vecina amigo amiga "
    "abuelo abuela cuidador cuidadora carer doctor doctora dra señor señora senor senora "
    "don dona sr sra firmado signed gp surgeon cirujano cirujana enfermero enfermera "
    "applicant solicitante defendant demandado demandante claimant witness testigo contact "
    "tutor tutora representante grandmother grandfather nephew niece cousin primo prima "
    "sobrino sobrina nieto nieta conocido conocida known"
)
_STATES = ("U.S.", "U.K.", "E.U.", "U.N.", "U.E.")
_WEAK = word_set("nombre name named called llamado llamada known conocido conocida contact")
"""Things have names, too: what follows is a name, and is not looked for elsewhere."""
_LINKS = word_set("es is was como as por by")
_BEFORE_NAMES = _INTRODUCTIONS | _LINKS
_NOT_NAMES = word_set(
    "hospital clinica centro universidad university school college street road avenue "
    "calle avenida plaza paseo bank banco court council juzgado ayuntamiento instituto "
    "institute department departamento service servicio unit unidad ward planta street "
    "january february march april june july august september october november december "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre monday tuesday wednesday thursday friday saturday sunday lunes martes "
    "miercoles jueves viernes sabado domingo nhs dni nie nif iban ssn tel phone email date "
    "fecha ref no medical centre center health royal general saint county"
)
_INITIALS = re.compile(rf"[{_UPPER}](?<![\w.].)\.[ ]?(?:[{_UPPER}]\.[ ]?){{1,3}}(?![\w])")
_INITIAL = re.compile(rf"\.(?<=[{_UPPER}].)")
_GAPS = (re.compile(r"[.,:]?[ \t\n]{1,2}"), re.compile(r"[.,:]?[ \t\n]?"))
"""Between a name and the word before it, and between that one and the one before it."""


def find(words: Words) -> list[Match]:
    """Names of people in a folded text."""
    return [*_by_capitals(words), *_lower_case(words), *_by_initials(words)]


def _by_capitals(words: Words) -> Iterator[Match]:
    never, given = _never_alone(), word_lists.known_given()
    for match in _SEQUENCE.finditer(words.text):
        run = match.group()
        if run.isalpha():
            word = folded(run)
            if word in never or (word not in given and not _introduction(words, match.start())):
                continue
        elif run.startswith(_STATES):
            continue
        yield from _judged(words, match)


@cache
def _never_alone() -> frozenset[str]:
    """Words that are no name by themselves, whatever stands before them."""
    return _TITLES | word_lists.plain_words() | _NOT_NAMES | _PARTICLES


@cache
def _ends() -> frozenset[str]:
    """Words that end a name, or stand before one."""
    return word_lists.plain_words() - _PARTICLES


_PIECE = re.compile(r"[^\s.]+\.?")


def _pieces(run: str) -> list[tuple[int, int, str]]:
    """The words of a run of capital words: place, end, folded.

    A run goes on over the end of a line only with a known name: the next line may begin a sentence.
    """
    end = 0
    found: list[tuple[int, int, str]] = []
    for each in _PIECE.finditer(run):
        word = folded(each.group()).rstrip(".")
        start, last = each.span()
        if found and "\n" in run[end:start] and not _is_known(word) and word not in _PARTICLES:
            break
        end = last
        found.append((start, end, word))
    return found


def _judged(words: Words, match: re.Match[str]) -> Iterator[Match]:
    begin, run = match.start(), match.group()
    first, is_titled = _named_from(run)
    if first < 0:
        return
    introduction = _introduction(words, begin + first)
    is_weak = introduction in _WEAK
    if is_titled or introduction:
        name = _introduced_name(run, is_titled=is_titled, is_weak=is_weak)
    else:
        begins_run = is_first(words.text, begin)
        begins_name = is_first(words.text, begin + first) if first else begins_run
        name = _bare_name(run, begins_run=begins_run, begins_name=begins_name)
    if name is not None:
        start, end, score = name
        yield Match(begin + start, begin + end, "person", "name", score)


# The same runs of capital words come again and again: what they are is kept.
_RUNS = 1 << 14
_Name = tuple[int, int, float]
"""Where in a run a name begins and ends, and how sure that is."""


@lru_cache(_RUNS)
def _named_from(run: str) -> tuple[int, bool]:
    """Where the words after titles begin (-1: there are none), and whether there was a title."""
    pieces, is_titled = _without_titles(_pieces(run))
    return pieces[0][0] if pieces else -1, is_titled


def _name_words(run: str) -> tuple[list[tuple[int, int, str]], list[str], int]:
    """The words of a name, those that are no particles, and the place of the first known one."""
    pieces, _ = _without_titles(_pieces(run))
    # An organisation, a month or a function word ends a name; what stands before is judged alone.
    known = word_lists.known_names()
    named = [at for at, each in enumerate(pieces) if each[2] in known]
    company = len(named) > 1
    first = named[0] if named else len(pieces)
    for at, (_, _, word) in enumerate(pieces):
        if (word in _NOT_NAMES and not (company and word in known)) or (
            at > first and word in _ends()
        ):
            pieces = pieces[:at]
            break
    while pieces and pieces[-1][2] in _PARTICLES:
        pieces.pop()
    return pieces, [word for _, _, word in pieces if word not in _PARTICLES], first


@lru_cache(_RUNS)
def _introduced_name(run: str, *, is_titled: bool, is_weak: bool) -> _Name | None:
    """The name in a run of capital words that a title or another word introduces."""
    pieces, names, _ = _name_words(run)
    score = _introduced_score(names, is_titled=is_titled, is_weak=is_weak)
    return (pieces[0][0], pieces[-1][1], score) if score else None


@lru_cache(_RUNS)
def _bare_name(run: str, *, begins_run: bool, begins_name: bool) -> _Name | None:
    """The name in a run of capital words that nothing introduces.

    Args:
        run: the capital words.
        begins_run: whether the run begins a sentence or a line.
        begins_name: whether what follows its function words does.
    """
    pieces, names, first = _name_words(run)
    has_dots = any(run[end - 1] == "." for _, end, _ in pieces)
    score = _score(names, is_first=begins_name, has_dots=has_dots)
    if not score:
        return None
    if len(names) > 1:
        # Words before the first known one are the start of a sentence rather than a name, and a
        # function word among them is no part of one.
        begins = begins_run or any(each[2] in _ends() for each in pieces[: first + 1])
        while begins and len(pieces) > 1 and len(pieces[0][2]) > 1 and not _is_known(pieces[0][2]):
            pieces.pop(0)
    return pieces[0][0], pieces[-1][1], score


def _without_titles(
    pieces: list[tuple[int, int, str]],
) -> tuple[list[tuple[int, int, str]], bool]:
    """The words after titles and the first words of a sentence, and whether a title was there."""
    # "Saw Mr Ng": a title inside a run of capital words begins the name.
    first = max([at + 1 for at, each in enumerate(pieces) if each[2] in _TITLES], default=0)
    is_titled = first > 0
    function = word_lists.plain_words()
    while first < len(pieces) and pieces[first][2] in function:
        is_titled = False
        first += 1
    return pieces[first:], is_titled


def _is_known(word: str) -> bool:
    return word in word_lists.known_names()


def _introduced_score(names: list[str], *, is_titled: bool, is_weak: bool) -> float:
    """After a title or a word such as "patient"."""
    full = [word for word in names if len(word) > 1]
    if not full:
        return 0.0
    if is_titled or any(map(_is_known, names)):
        return 0.9
    if _is_list_word(full):
        return 0.0
    return 0.45 if is_weak else 0.55


def _score(names: list[str], *, is_first: bool, has_dots: bool) -> float:
    """Of a run of capital words that nothing introduces."""
    common, given = word_lists.common_words(), word_lists.known_given()
    full = [word for word in names if len(word) > 1]
    known = [word for word in names if _is_known(word)]
    sure = [word for word in known if word not in common]
    if len(full) >= 2 and known:
        if sure and any(word in given for word in names):
            return 0.9
        if len(known) >= 2:
            return 0.75
        return (0.5 if is_first else 0.6) if sure else 0.0
    if len(full) == 1 and len(names) > 1:
        # "X Library" may be anything: it is found here, and not looked for elsewhere.
        return 0.7 if known else 0.5 if has_dots else 0.45
    if len(full) == 1 and sure and full[0] in given:
        return 0.45 if is_first else 0.6
    return 0.0


def _is_list_word(full: list[str]) -> bool:
    return len(full) == 1 and full[0] in _places()


@cache
def _places() -> frozenset[str]:
    return frozenset(
        folded(term)
        for language in word_lists.LANGUAGES
        for term in word_lists.terms("place", language)
    )


def _introduction(words: Words, start: int) -> str:
    """The word before, or the one before "is" or a colon, if it says that a name follows."""
    at = bisect_left(words.starts, start)
    for gap in _GAPS:
        at -= 1
        word = words.words[at] if at >= 0 else ""
        if word not in _BEFORE_NAMES or not gap.fullmatch(words.text, words.ends[at], start):
            return ""
        if word in _INTRODUCTIONS:
            return word
        start = words.starts[at]
    return ""


def _lower_case(words: Words) -> Iterator[Match]:
    """A given name and a surname without capitals, neither of them a common word."""
    family, common = word_lists.known_surnames(), word_lists.ordinary_words()
    for at in words.hits.get("given", ()):
        first, second = (*words.words[at : at + 2], "")[:2]
        if second not in family or words.is_capital(at):
            continue
        if first in common and second in common and not _introduction(words, words.starts[at]):
            continue
        if words.text[words.ends[at] : words.starts[at + 1]] not in (" ", "\n", "  "):
            continue
        last = at + 1
        if (
            last + 1 < len(words.words)
            and words.words[last + 1] in family
            and not words.is_capital(last + 1)
        ):
            last += 1
        yield Match(words.starts[at], words.ends[last], "person", "lower-case name", 0.65)


def _by_initials(words: Words) -> Iterator[Match]:
    starts = [match.start() - 1 for match in _INITIAL.finditer(words.text)]
    for match in matches_at(_INITIALS, words.text, starts):
        if _introduction(words, match.start()):
            end = match.start() + len(match.group().rstrip())
            yield Match(match.start(), end, "person", "initials", 0.6)
