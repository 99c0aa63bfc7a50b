"""Every visible sentence of the studio has a Spanish one, with the same places to fill in."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from celosia.core.catalogue import explanations
from celosia.studio import language
from celosia.studio.language import _, chosen, n_
from celosia.studio.shell import DOORS

STUDIO = Path(language.__file__).parent
PO_FILES = sorted((STUDIO / "locales" / "es").glob("*.po"))
TEXTS = sorted((STUDIO / "texts").rglob("*.en.md"))
SENTENCES = {"_": (0,), "n_": (0, 1), "page": (1,), "Stage": (0,)}
"""Calls with sentences, and where in them: the title of a page is its second argument."""
Key = str | tuple[str, ...]


@cache
def wanted() -> dict[Key, str]:
    """Every sentence in the code, and where it stands first.

    By the syntax tree: the extraction of Babel does not look into formatted strings before
    Python 3.12.
    """
    found: dict[Key, str] = {name: "shell.py (DOORS)" for _address, name, _icon in DOORS}
    for file in sorted(STUDIO.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and (key := sentence(call)):
                found.setdefault(key, f"{file.relative_to(STUDIO)}:{call.lineno}")
    return found


def sentence(call: ast.Call) -> Key | None:
    """The literal sentence of a call; None where it has none."""
    places = SENTENCES.get(call.func.id, ()) if isinstance(call.func, ast.Name) else ()
    texts = tuple(
        each.value
        for each in (call.args[place] for place in places if place < len(call.args))
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )
    if not texts or len(texts) != len(places):
        return None
    return texts if len(texts) > 1 else texts[0]


@cache
def known() -> dict[Key, tuple[str, Message]]:
    """Every sentence of the catalogues, and the file that it is in."""
    found: dict[Key, tuple[str, Message]] = {}
    for file in PO_FILES:
        with file.open("rb") as opened:
            for message in read_po(opened, locale="es"):
                key = tuple(message.id) if isinstance(message.id, tuple | list) else message.id
                if key:
                    found[key] = (file.name, message)
    return found


def told(message: Message) -> list[str]:
    """The Spanish of a message: one text, or one for each plural form."""
    found = message.string or ""
    return [found] if isinstance(found, str) else list(found)


def places(text: str) -> set[str]:
    """The names in braces."""
    return set(re.findall(r"{(\w+)}", text))


def test_every_sentence_has_a_spanish_one() -> None:
    missing = [
        f"{where}: {key!r}"
        for key, where in wanted().items()
        if key not in known() or not all(told(known()[key][1]))
    ]
    assert missing == [], "\n".join(missing)


def test_every_title_of_an_error_of_the_studio_has_a_spanish_one() -> None:
    missing = [
        f"{code}: {each.title!r}"
        for code, each in explanations().items()
        if code.startswith("CEL-W") and each.title not in known()
    ]
    assert missing == [], "\n".join(missing)


def test_no_spanish_sentence_is_empty_or_fuzzy() -> None:
    doubtful = [
        f"{file}: {key!r}"
        for key, (file, message) in known().items()
        if message.fuzzy or not all(told(message))
    ]
    assert doubtful == [], "\n".join(doubtful)


def test_every_sentence_has_the_same_places_to_fill_in() -> None:
    wrong = []
    for key, (file, message) in known().items():
        allowed = set().union(*(places(each) for each in ([key] if isinstance(key, str) else key)))
        wrong += [f"{file}: {key!r}" for each in told(message) if places(each) != allowed]
    assert wrong == [], "\n".join(wrong)


def test_sentences_about_a_number_have_two_forms() -> None:
    wrong = [
        f"{file}: {key!r}"
        for key, (file, message) in known().items()
        if isinstance(key, tuple) and len(told(message)) != 2
    ]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("file", PO_FILES, ids=lambda file: file.stem)
def test_a_catalogue_says_how_spanish_counts(file: Path) -> None:
    with file.open("rb") as opened:
        catalogue = read_po(opened)
    assert catalogue.num_plurals == 2
    assert catalogue.plural_expr.strip("()") == "n != 1"


def test_one_sentence_is_told_alike_by_all_catalogues() -> None:
    versions: dict[str, set[str]] = {}
    for file in PO_FILES:
        with file.open("rb") as opened:
            for message in read_po(opened, locale="es"):
                if message.id and isinstance(message.id, str):
                    versions.setdefault(message.id, set()).add(str(message.string))
    several = [f"{key!r}: {sorted(found)}" for key, found in versions.items() if len(found) > 1]
    assert several == [], "\n".join(several)


def test_every_long_text_is_there_in_both_languages_with_the_same_headings() -> None:
    assert TEXTS
    for english in TEXTS:
        spanish = english.with_name(english.name.replace(".en.md", ".es.md"))
        assert spanish.is_file(), spanish
        levels = [
            re.findall(r"^#+", each.read_text("utf-8"), re.MULTILINE) for each in (english, spanish)
        ]
        assert levels[0] == levels[1], english.name
    spare = {each.name for each in (STUDIO / "texts").rglob("*.es.md")} - {
        each.name.replace(".en.md", ".es.md") for each in TEXTS
    }
    assert spare == set()


@pytest.mark.parametrize(("count", "expected"), [(1, "1 fila"), (0, "0 filas"), (7, "7 filas")])
def test_spanish_counts_as_it_should(
    count: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plurals = {("{count} row", "{count} rows"): {True: "{count} fila", False: "{count} filas"}}
    monkeypatch.setattr(language, "_catalogue", lambda spoken: ({}, plurals))
    token = chosen.set("es")
    try:
        assert n_("{count} row", "{count} rows", count) == expected
    finally:
        chosen.reset(token)


def test_a_sentence_of_the_shell_is_told_in_spanish() -> None:
    token = chosen.set("es")
    try:
        assert _("Skip to the content") == "Saltar al contenido"
    finally:
        chosen.reset(token)
