"""Every visible sentence of the studio has a Spanish one, with the same places to fill in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from celosia.core.catalogue import read_family
from celosia.core.errors import InputError
from celosia.core.messages import Message as CelosiaMessage
from celosia.core.wording import did_you_mean
from celosia.studio import language
from celosia.studio.doors import DOORS
from celosia.studio.language import _, chosen, n_
from celosia.studio.translation import Field, Pattern, translate

STUDIO = Path(language.__file__).parent
PO_FILES = sorted((STUDIO / "locales" / "es").glob("*.po"))
LIBRARY_FILES = sorted((STUDIO / "locales" / "es" / "library").glob("*.po"))
"""What the library says; pages do not look for their own sentences here."""
TEXTS = sorted((STUDIO / "texts").rglob("*.en.md"))
PROMISING = ("graphs", "tables/masking", "tables/private", "tables/synthesis")
"""Where the library says what the certificates of the studio promise."""
ENGLISH = re.compile(r"(?<![\w-])(the|of|and|by|with|at|from|is|are|to|for|on)(?![\w-])")
"""Words that no Spanish sentence has."""
CODE = re.compile(r"{.*?}|`.*?`")
"""What is no language: places and code."""
SENTENCES = {"_": (0,), "n_": (0, 1), "page": (1,), "Stage": (0,)}
"""Calls with sentences, and where in them: the title of a page is its second argument."""
Key = str | tuple[str, ...]


@cache
def wanted() -> dict[Key, str]:
    """Every sentence in the code, and where it stands first.

    By the syntax tree: the extraction of Babel does not look into formatted strings before
    Python 3.12.
    """
    found: dict[Key, str] = {name: "doors.py" for _address, name, _icon in DOORS}
    for file, call in calls():
        if key := sentence(call):
            found.setdefault(key, f"{file.relative_to(STUDIO)}:{call.lineno}")
    return found


@cache
def calls() -> list[tuple[Path, ast.Call]]:
    """Every call in the code of the studio, and its file."""
    return [
        (file, each)
        for file in sorted(STUDIO.rglob("*.py"))
        for each in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(each, ast.Call)
    ]


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


@pytest.fixture
def in_spanish() -> Iterator[None]:
    """Speak Spanish."""
    token = chosen.set("es")
    yield
    chosen.reset(token)


@cache
def of_library() -> list[tuple[str, str, Message]]:
    """What the library says: the field, the English sentence, the message."""
    found = []
    for file in LIBRARY_FILES:
        with file.open("rb") as opened:
            found += [
                (file.stem, str(each.id), each) for each in read_po(opened, locale="es") if each.id
            ]
    return found


def text(message: Message) -> list[str]:
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
        if key not in known() or not all(text(known()[key][1]))
    ]
    assert missing == [], "\n".join(missing)


def test_every_error_of_the_studio_is_told_in_spanish() -> None:
    wrong = [
        f"{code}: {spanish!r}"
        for code, entry in read_family("studio").items()
        for english, spanish in texts_in(entry)
        if (spanish == english and any(each.isalpha() for each in CODE.sub("", spanish)))
        or ENGLISH.search(CODE.sub("", spanish))
    ]
    assert wrong == [], "\n".join(wrong)


def texts_in(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The English and the Spanish of every text of an entry of the catalogue of messages."""
    if isinstance(entry.get("en"), str):
        yield entry["en"], entry["es"]
        return
    for each in entry.values():
        yield from texts_in(each)


def test_an_error_speaks_the_language_of_the_page(in_spanish: None) -> None:
    error = InputError("CEL-W040", hint=did_you_mean("maskin", ["masking"]))
    assert error.part("title") == "No existe esa técnica"
    assert error.what == "no hay ninguna técnica con este nombre (¿quiso decir 'masking'?)."


def test_a_message_of_the_library_speaks_the_language_of_the_page(in_spanish: None) -> None:
    assert translate(CelosiaMessage("studio.the_file"), "plans") == "el archivo"


def test_what_a_certificate_promises_is_told_in_spanish(in_spanish: None) -> None:
    missing = [
        f"{file.name}: {text!r}"
        for folder in PROMISING
        for file in sorted((STUDIO.parent / folder).rglob("*.py"))
        if "leaves_open" in (source := file.read_text("utf-8"))
        for text in promises_in(ast.parse(source))
        if translate(text, "promises") == text
    ]
    assert missing == [], "\n".join(missing)


def promises_in(tree: ast.Module) -> Iterator[str]:
    """The gaps and the promise that a method returns, but for sentences in several parts."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name in ("leaves_open", "promise"):
            inside = [
                piece
                for each in ast.walk(function)
                if isinstance(each, ast.JoinedStr | ast.IfExp)
                for piece in ast.iter_child_nodes(each)
            ]
            for each in ast.walk(function):
                if (
                    isinstance(each, ast.Constant)
                    and isinstance(each.value, str)
                    and each not in inside
                    and each.value.count(" ") > 4
                    and each.value != ast.get_docstring(function, clean=False)
                ):
                    yield each.value


def test_every_stage_of_the_library_is_told_in_spanish(in_spanish: None) -> None:
    missing = [
        f"{file.name}: {stage!r}"
        for file in sorted(STUDIO.parent.rglob("*.py"))
        if "cli" not in file.parts and file.parent.name != "bench"
        for stage in re.findall(r"\bSt(?:ep|age)\(\s*\"([^\"{]+)\"", file.read_text("utf-8"))
        if translate(stage, "stages") == stage and not stage.isupper()
    ]
    assert missing == [], "\n".join(missing)


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        (
            "promises",
            "epsilon 0.5, delta 1e-06 when neighbours add or remove one row, over age, city",
            "épsilon 0,5, delta 1e-06 entre tablas que difieren en añadir o quitar una fila, sobre "
            "age, city",
        ),
        (
            "promises",
            "3-anonymity over age; step 2 (mdav on a): each value of a occurs at least 3 times",
            "3-anonimato respecto a age; paso 2 (mdav on a): cada valor de a aparece al menos 3 "
            "veces",
        ),
        ("plans", "private; custkey unique", "privada; custkey única"),
        (
            "plans",
            "rows of bills that lead to no patient are not counted (bills.visit is NULL or missing "
            "in visits, or visits.patient is NULL)",
            "las filas de bills que no llevan a ningún patient no se cuentan (bills.visit es NULL "
            "o falta en visits, o visits.patient es NULL)",
        ),
        (
            "plans",
            "a visits.patient that is missing in patients counts as one patient",
            "un visits.patient que falta en patients cuenta como un patient",
        ),
        ("plans", "scan orders as o", "leer orders como o"),
        (
            "plans",
            "34 vertices, 1,078 edges from 1,100 records: 2 loops dropped, 20 repeated edges "
            "merged; ignored: shapes and colours of vertices (34)",
            "34 vértices, 1.078 aristas de 1.100 registros: 2 bucles descartados, 20 aristas "
            "repetidas reunidas; ignorado: formas y colores de vértices (34)",
        ),
        ("stages", "Estimating (2 of 10)", "Estimando (2 de 10)"),
        ("stages", "something that nobody foresaw", "something that nobody foresaw"),
    ],
)
def test_places_of_the_library_are_filled_in(
    field: Field, text: str, expected: str, in_spanish: None
) -> None:
    assert translate(text, field) == expected


def test_names_that_look_like_places_stay_as_they_are(in_spanish: None) -> None:
    assert translate("scan {text} as {1}", "plans") == "leer {text} como {1}"


def test_a_long_name_is_told_at_once(in_spanish: None) -> None:
    """Every place ends where what follows it is found first: no other way is tried."""
    name = " of " * 100_000
    assert name in translate(f"each combination of {name} occurs at least 3 times", "promises")


def test_places_of_the_library_can_be_found() -> None:
    """Something stands between two places, no place is there twice, and a sentence says more."""
    assert {field for field, _english, _message in of_library()} == set(get_args(Field))
    wrong = []
    for field, english, _message in of_library():
        pattern = Pattern.of(english, "")
        apart = all(pattern.literals[1:-1]) and len(set(pattern.names)) == len(pattern.names)
        if not (apart and any(each.strip() for each in pattern.literals)):
            wrong.append(f"{field}: {english!r}")
    assert wrong == [], "\n".join(wrong)


def test_no_spanish_of_the_library_is_english_or_lacks_a_place() -> None:
    wrong = [
        f"{field}: {english!r}"
        for field, english, message in of_library()
        for each in text(message)
        if places(each) != places(english) or not each or ENGLISH.search(CODE.sub("", each))
    ]
    assert wrong == [], "\n".join(wrong)


def test_no_spanish_sentence_is_empty_or_fuzzy() -> None:
    doubtful = [
        f"{file}: {key!r}"
        for key, (file, message) in known().items()
        if message.fuzzy or not all(text(message))
    ]
    assert doubtful == [], "\n".join(doubtful)


def test_every_sentence_has_the_same_places_to_fill_in() -> None:
    wrong = []
    for key, (file, message) in known().items():
        allowed = set().union(*(places(each) for each in ([key] if isinstance(key, str) else key)))
        wrong += [f"{file}: {key!r}" for each in text(message) if places(each) != allowed]
    assert wrong == [], "\n".join(wrong)


def test_sentences_about_a_number_have_two_forms() -> None:
    wrong = [
        f"{file}: {key!r}"
        for key, (file, message) in known().items()
        if isinstance(key, tuple) and len(text(message)) != 2
    ]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("file", [*PO_FILES, *LIBRARY_FILES], ids=lambda file: file.stem)
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


def test_a_sentence_of_the_shell_is_told_in_spanish(in_spanish: None) -> None:
    assert _("Skip to the content") == "Saltar al contenido"
