"""Invented notes, clinical and administrative, with the place of all that identifies a person.

Names are from the word lists of `texts`, and one in four surnames is in none of them. Hard cases
come on purpose and at stated rates (`RATES`). Numbers have check digits that fail, so that none is
a real person's; with `valid` they are right, for tests of detectors.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import polars as pl

from celosia.assess.recognisers import check_digits
from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.texts import word_lists
from celosia.texts.detection.dates import MONTHS
from celosia.texts.documents import Collection, Document, Finding, Language, Part, Span

Kind = Literal["clinical", "administrative"]
Format = Literal["txt", "html", "jsonl", "docx", "pdf"]

RATES = {
    "common_surname": 0.10,
    "lower_case": 0.03,
    "split_line": 0.02,
    "initials": 0.10,
    "nickname": 0.03,
    "misspelt": 0.03,
    "name_in_address": 0.05,
    "named_like_disease_or_place": 0.05,
    "spaced_number": 0.10,
    "relative": 0.20,
    "other_language": 0.02,
    "unknown_surname": 0.25,
}
"""How often each hard case comes."""

_KINDS = {
    "patient": "person", "short": "person", "relative": "person", "doctor": "person",
    "date": "date", "birth": "birth", "age": "age", "years": "age", "place": "place",
    "phone": "contact", "phone2": "contact", "email": "contact", "id": "id", "record": "record",
    "org": "organisation", "job": "profession", "health": "health", "address": "address",
    "account": "account", "account2": "account", "amount": "amount", "plate": "plate",
    "device": "device", "url": "url",
}  # fmt: skip
_FIELD = re.compile(r"\{(\w+)\}")
_TITLE = re.compile(r"(?:Sra?|Mrs?)\. ")
_COMMON = {
    "en": ("Brown", "May", "Cross", "Green", "Day"),
    "es": ("Rosa", "Cruz", "Blanco", "Bueno", "Ríos"),
}
_ODD = {
    "en": ("Parkinson", "Hodgkin", "Crohn", "York"),
    "es": ("Ávila", "Toledo", "Zamora", "Crohn"),
}


@dataclass(frozen=True)
class Notes:
    """Documents, the truth about them, and what is known of their persons."""

    collection: Collection
    truth: tuple[Finding, ...] = field(repr=False)
    """The place, the kind and the entity of every mention."""
    facts: pl.DataFrame = field(repr=False)
    """One row for each person, as a curator would have it."""

    def write(self, folder: str | Path, *, format: Format = "txt") -> Path:
        """Write the documents into a new folder, and the facts beside it (`facts.csv`).

        Raises:
            InputError: CEL-I004 the folder exists.
        """
        target = Path(folder)
        if target.exists():
            raise InputError("CEL-I004", path=str(target))
        target.mkdir(parents=True)
        if format == "jsonl":
            rows = pl.DataFrame(
                {
                    "person": [each.person for each in self.collection],
                    "note": [each.text for each in self.collection],
                }
            )
            rows.write_ndjson(target / "notes.jsonl")
            return target
        for each in self.collection:
            name = Path(each.name).with_suffix(f".{format}").name
            (target / name).write_bytes(_written(each.text, format))
        return target


def notes(
    documents: int = 500,
    *,
    language: Language = "en",
    kind: Kind = "clinical",
    seed: int = 64,
    valid: bool = False,
) -> Notes:
    """Invented notes in English or Spanish, with the truth about every mention.

    Args:
        documents: how many.
        language: `en` or `es`.
        kind: clinical notes, or letters of an administration.
        seed: equal seeds give equal notes on every machine.
        valid: numbers with right check digits, of ranges that nobody has.

    >>> made = notes(20, seed=7)
    >>> len(made.collection), made.collection.persons
    (20, 8)
    """
    if documents < 1 or language not in ("en", "es") or kind not in ("clinical", "administrative"):
        raise InputError("CEL-D040")
    dice = _Dice(seed)
    count = max(1, documents * 2 // 5)
    people = [_person(dice, language, number, valid=valid) for number in range(count)]
    made, truth = [], []
    entities: dict[tuple[str, str], int] = {}
    for number in range(documents):
        who = people[number % count]
        text, places = _document(dice, who, language, kind)
        name = f"{who.number}-{number // count + 1}_{folded(who.surname).replace(' ', '-')}.txt"
        made.append(
            Document(number, name, text, language, who.number, (Part(0, len(text)),), number)
        )
        for start, end, what, entity in places:
            group = entities.setdefault((what, f"{entity}"), len(entities))
            truth.append(Finding(Span(number, start, end - start), what, group))
    table = pl.DataFrame(
        {
            "person": [each.number for each in people],
            "name": [each.full for each in people],
            "birth_date": [each.birth.isoformat() for each in people],
            "national_id": [each.identity for each in people],
            "phone": [each.phone for each in people],
            "email": [each.email for each in people],
            "address": [each.address for each in people],
            "medical_record": [each.record for each in people],
            "bank_account": [each.account for each in people],
        }
    )
    return Notes(Collection(tuple(made), has_persons=True), tuple(truth), table)


class _Dice:
    """Choices from one seed."""

    def __init__(self, seed: int) -> None:
        self._rng = Seeded(seed)

    def number(self, bound: int) -> int:
        return int(self._rng.integers(bound, 1)[0])

    def choice(self, values: Any) -> Any:
        return values[self.number(len(values))]

    def chance(self, share: float) -> bool:
        return self.number(10_000) < share * 10_000

    def digits(self, count: int) -> str:
        return "".join(str(self.number(10)) for _ in range(count))


@dataclass(frozen=True, slots=True)
class _Person:
    number: str
    given: str
    surname: str
    birth: date
    identity: str
    phone: str
    email: str
    address: str
    record: str
    account: str
    card: str
    plate: str
    place: str
    job: str

    @property
    def full(self) -> str:
        return f"{self.given} {self.surname}"


@cache
def _grammar() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("notes.toml").read_text("utf-8"))


def _held_out(name: str) -> list[str]:
    return list(_grammar()["held_out"][name].split("|"))


def templates(language: Language, kind: str) -> list[str]:
    """The sentences of a language and kind."""
    return [line for line in _grammar()[language][kind].splitlines() if line]


def _surname(dice: _Dice, language: Language) -> str:
    if dice.chance(RATES["common_surname"]):
        first = dice.choice(_COMMON[language])
    elif dice.chance(RATES["named_like_disease_or_place"]):
        first = dice.choice(_ODD[language])
    elif dice.chance(RATES["unknown_surname"]):
        first = dice.choice(_grammar()["held_out"][language].split())
    else:
        first = dice.choice(word_lists.surnames(language))
    if language == "es":
        return f"{first} {dice.choice(word_lists.surnames('es'))}"
    return str(first)


def _given(dice: _Dice, language: Language) -> str:
    gender = dice.choice(("female", "male"))
    return str(dice.choice(word_lists.given_names(language, gender)))


def _until(dice: _Dice, make: Any, check: Any, *, valid: bool) -> str:
    while True:
        made = make(dice)
        if bool(check(re.sub(r"[\W_]", "", made))) == valid:
            return str(made)


def _person(dice: _Dice, language: Language, number: int, *, valid: bool) -> _Person:
    given, surname = _given(dice, language), _surname(dice, language)
    first = surname.split(" ")[0]
    in_address = dice.chance(RATES["name_in_address"])
    local = f"{folded(given)}.{folded(first)}" if in_address else f"user{dice.digits(5)}"
    if language == "es":
        identity = _until(
            dice,
            lambda each: each.digits(8) + each.choice("TRWAGMYFPDXBNJZSQVHLCKE"),
            check_digits.dni,
            valid=valid,
        )
        address = f"Calle {dice.choice(_held_out('streets_es'))}, {dice.number(90) + 1}"
    else:
        identity = _until(
            dice,
            lambda each: f"{each.digits(3)} {each.digits(3)} {each.digits(4)}",
            check_digits.nhs,
            valid=valid,
        )
        address = f"{dice.number(90) + 1} {dice.choice(_held_out('streets_en'))} Street"
    account = _until(dice, lambda each: f"ES{each.digits(22)}", check_digits.iban, valid=valid)
    card = _until(dice, lambda each: f"4{each.digits(15)}", check_digits.card, valid=valid)
    if dice.chance(RATES["spaced_number"]):
        account = " ".join(account[at : at + 4] for at in range(0, len(account), 4))
        card = " ".join(card[at : at + 4] for at in range(0, 16, 4))
    letters = "".join(dice.choice("BCDFGHJKLMNPRSTVWXYZ") for _ in range(3))
    return _Person(
        number=f"P{number + 1:04d}",
        given=given,
        surname=surname,
        birth=date(1930, 1, 1) + timedelta(days=dice.number(29_000)),
        identity=identity,
        phone=_phone(dice, language),
        email=f"{local}@example.{dice.choice(('org', 'com', 'net'))}",
        address=address,
        record=f"{dice.number(9) + 1}{dice.digits(6)}",
        account=account,
        card=card,
        plate=f"{dice.digits(4)} {letters}",
        place=dice.choice(word_lists.terms("place", language)),
        job=dice.choice(word_lists.terms("profession", language)),
    )


def _phone(dice: _Dice, language: Language) -> str:
    """A telephone; English ones are of a range that nobody has."""
    if language == "es":
        return f"600 {dice.digits(3)} {dice.digits(3)}"
    return f"0161 496 0{dice.digits(3)}"


Place = tuple[int, int, str, str]


def _document(dice: _Dice, who: _Person, language: Language, kind: Kind) -> tuple[str, list[Place]]:
    """The text of a note and its places: start, end, kind, entity."""
    text: list[str] = []
    places: list[Place] = []
    size = 0

    def add(piece: str) -> None:
        nonlocal size
        text.append(piece)
        size += len(piece)

    def mention(what: str, value: str, entity: str) -> None:
        places.append((size, size + len(value), what, entity))
        add(value)

    first = dict.fromkeys(("patient", "relative"), True)
    relative = f"{_given(dice, language)} {_surname(dice, language)}"
    if dice.chance(0.5):
        for label, what, value in _header(who, language):
            add(f"{label}: ")
            mention(what, value, value)
            add("\n")
        add("\n")
    chosen = templates(language, kind)
    lines = [chosen[dice.number(len(chosen))] for _ in range(6 + dice.number(5))]
    lines.insert(0, next(line for line in chosen if "{patient}" in line))
    if dice.chance(RATES["relative"]):
        lines.append(dice.choice(templates(language, "relatives")))
    for line in dict.fromkeys(lines):
        last = 0
        for match in _FIELD.finditer(line):
            add(line[last : match.start()])
            name = match.group(1)
            value, entity = _value(dice, who, name, language, relative=relative, first=first)
            title = _TITLE.match(value)
            if title is not None:  # a title names no person
                add(title.group())
                value = value[title.end() :]
            mention(_KINDS[name], value, entity)
            last = match.end()
        add(line[last:] + ("\n" if dice.chance(0.3) else " "))
    if dice.chance(RATES["other_language"]):
        add(_grammar()[language]["other"] + "\n")
    return "".join(text).rstrip() + "\n", places


def _header(who: _Person, language: Language) -> list[tuple[str, str, str]]:
    day = who.birth.strftime("%d/%m/%Y")
    if language == "es":
        return [
            ("Paciente", "person", who.full),
            ("Fecha de nacimiento", "birth", day),
            ("DNI", "id", who.identity),
            ("Teléfono", "contact", who.phone),
        ]
    return [
        ("Patient", "person", who.full),
        ("Date of birth", "birth", day),
        ("NHS number", "id", who.identity),
        ("Phone", "contact", who.phone),
    ]


def _value(
    dice: _Dice,
    who: _Person,
    name: str,
    language: Language,
    *,
    relative: str,
    first: dict[str, bool],
) -> tuple[str, str]:
    """What a field is filled with, and the entity that it mentions."""
    if name in ("patient", "short"):
        full = name == "patient"
        return _named(dice, who, language, full=full, first=first), who.full
    if name == "relative":
        return relative, relative
    if name == "doctor":
        other = f"{_given(dice, language)} {_surname(dice, language)}"
        return other, other
    own = {
        "phone": who.phone, "email": who.email, "id": who.identity, "record": who.record,
        "address": who.address, "account": who.account, "account2": who.card, "plate": who.plate,
        "birth": _day(dice, who.birth, language),
    }  # fmt: skip
    if name in own:
        entity = {"birth": who.number + " birth"}.get(name, own[name])
        return own[name], entity
    years = 2026 - who.birth.year
    makers: dict[str, Callable[[], Any]] = {
        "date": lambda: _day(dice, date(2018, 1, 1) + timedelta(days=dice.number(2900)), language),
        "age": lambda: f"{years} años" if language == "es" else f"{years}-year-old",
        "years": lambda: str(years),
        "place": lambda: who.place,
        "phone2": lambda: _phone(dice, language),
        "org": lambda: dice.choice(_held_out(f"organisations_{language}")),
        "job": lambda: who.job,
        "health": lambda: dice.choice(word_lists.terms("health", language)),
        "amount": lambda: f"{dice.number(9000) + 100} euros",
        "device": lambda: f"192.0.2.{dice.number(254) + 1}",
        "url": lambda: f"https://example.org/{dice.digits(6)}",
    }
    made = str(makers[name]())
    return made, made


def _named(
    dice: _Dice, who: _Person, language: Language, *, full: bool, first: dict[str, bool]
) -> str:
    """The patient's name, with the hard cases at their rates; the first mention is plain."""
    if first["patient"]:
        first["patient"] = False
        return who.full
    words = who.full.split(" ")
    family = who.surname.split(" ")[0]
    cut = 2 + dice.number(max(1, len(family) - 3))
    hard = {
        "lower_case": who.full.lower(),
        "split_line": f"{words[0]}\n{' '.join(words[1:])}",
        "initials": f"{who.given[0]}. {family}",
        "nickname": f"{dice.choice(word_lists.nicknames(language))} {family}",
        "misspelt": f"{words[0]} {family[:cut]}{family[cut + (len(family) > 5) :]}",
    }
    for case, name in hard.items():
        if dice.chance(RATES[case]):
            return name
    titles = ("Sr.", "Sra.") if language == "es" else ("Mr.", "Mrs.")
    short = (f"{titles[dice.number(2)]} {family}", who.given, who.full, family)
    return who.full if full else str(dice.choice(short))


def _day(dice: _Dice, day: date, language: Language) -> str:
    """A day as people write it; some forms are ambiguous."""
    month = MONTHS[language][day.month - 1]
    words = (
        f"{day.day} de {month} de {day.year}"
        if language == "es"
        else f"{day.day} {month} {day.year}"
    )
    return str(
        dice.choice(
            (words, words, day.strftime("%d/%m/%Y"), day.isoformat(), day.strftime("%d/%m/%y"))
        )
    )


def _written(text: str, format: Format) -> bytes:
    if format == "txt":
        return text.encode()
    if format == "html":
        from html import escape

        lines = "".join(f"<p>{escape(line)}</p>\n" for line in text.splitlines() if line)
        return f"<!DOCTYPE html>\n<html><body>\n{lines}</body></html>\n".encode()
    if format == "docx":
        from celosia.texts.formats.docx import write_paragraphs

        return write_paragraphs(text.splitlines())
    from celosia.texts.formats.pdf import write_pages

    return write_pages([text])[0]
