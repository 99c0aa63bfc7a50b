"""Every visible sentence of the studio has a Spanish one, with the same places to fill in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from celosia.core.errors import InputError
from celosia.core.messages import FAMILIES, did_you_mean, read_family
from celosia.core.messages import Message as CelosiaMessage
from celosia.studio import language
from celosia.studio.doors import DOORS
from celosia.studio.graphs import model as graphs
from celosia.studio.language import _, chosen, n_
from celosia.studio.logs import model as logs
from celosia.studio.mask import model as mask
from celosia.studio.publish import model_kinds
from celosia.studio.traces import model as traces
from celosia.studio.widgets.method_form import label_of

STUDIO = Path(language.__file__).parent
PO_FILES = sorted((STUDIO / "locales" / "es").glob("*.po"))
TEXTS = sorted((STUDIO / "texts").rglob("*.en.md"))
PROMISING = ("graphs", "tables/masking", "tables/private", "tables/synthesis")
"""Where the library says what the certificates of the studio promise."""
ENGLISH = re.compile(r"(?<![\w-])(the|of|and|by|with|at|from|is|are|to|for|on)(?![\w-])")
"""Words that no Spanish sentence has."""
CODE = re.compile(
    r"{.*?}|`.*?`|'.*?'|\".*?\"|\w+\.of\b|\)\.of\(|\bby = |bloque with|-5 to -1|race to the top"
    r"|NOT EXISTS \(SELECT \.\.\.\)"
)
"""What is no language: places, names, code."""
SENTENCES: dict[str, tuple[int, ...]] = {
    "_": (0,),
    "page": (1,),
    "Stage": (0,),
    "run_button": (0, 1),
    "last_result": (0, 1),
    "same_elsewhere": (1,),
    "control": (1,),
    "settings": (1,),
    "step": (0, 1),
    "story": (0,),
    "figure": (0, 2),
    "Technique": (1, 3),
    "Word": (0, 1),
    "Meaning": (0, 1),
    "WorkStep": (1,),
} | dict.fromkeys(("heading", "lead", "main_heading", "notice", "paragraph", "quiet"), (0,))
"""Calls with sentences, and where in them: the title of a page is its second argument."""
NAMED = ("Sample", "TableSample", "Door")
"""Calls whose arguments of these names are sentences."""
NAMES = ("title", "heading", "about", "bring", "kinds")
METHODS = ("{method.kind}",)
"""Stages that are the name of a method."""
Key = str | tuple[str, ...]


@cache
def wanted() -> dict[Key, str]:
    """Every sentence in the code, and where it stands first.

    By the syntax tree: the extraction of Babel does not look into formatted strings before
    Python 3.12.
    """
    found: dict[Key, str] = {name: "doors.py" for _address, name, _icon in DOORS}
    for file, call in calls():
        for key in sentences(call):
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


def sentences(call: ast.Call) -> Iterator[Key]:
    """The literal sentences of a call."""
    called = call.func
    name = called.id if isinstance(called, ast.Name) else ""
    if isinstance(called, ast.Attribute) and called.attr in SENTENCES:
        name = called.attr
    if name == "n_":
        one, many = (literal(each) for each in call.args[:2])
        if one and many:
            yield one, many
    if name == "Words" and isinstance(call.args[0], ast.Dict):
        yield from map(literal, call.args[0].values)
    for place in SENTENCES.get(name, ()):
        if place < len(call.args) and (text := literal(call.args[place])):
            yield text
    if name in NAMED:
        for given in call.keywords:
            if given.arg in NAMES and (text := literal(given.value)):
                yield text


def literal(node: ast.expr) -> str:
    """The text of a literal; empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


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


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_library_says_is_told_in_spanish(family: str) -> None:
    wrong = [
        f"{key}: {spanish!r}"
        for key, entry in read_family(family).items()
        for english, spanish in texts_in(entry)
        if (spanish == english and len(re.findall(r"[^\W\d]{3,}", CODE.sub("", spanish))) > 3)
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


def test_every_parameter_of_a_form_has_a_spanish_name(in_spanish: None) -> None:
    cards = [
        *graphs.cards().values(),
        *traces.cards().values(),
        *mask.cards().values(),
        *logs.set_cards().values(),
        *logs.key_cards().values(),
    ]
    models = [each for name in model_kinds.OFFERED for each in model_kinds.declared(name)]
    controls = [each for card in cards for each in card.controls]
    controls += [*logs.field_controls(), *models]
    names = {each.name for each in controls if len(each.name) > 1}
    assert len(names) > 80
    assert [each for each in sorted(names) if f"parameter {each}" not in known()] == []
    assert label_of("max_metres") == "Metros como máximo"
    assert label_of("k") == "k"


def test_an_error_speaks_the_language_of_the_page(in_spanish: None) -> None:
    error = InputError("CEL-W040", hint=did_you_mean("maskin", ["masking"]))
    assert error.part("title") == "No existe esa técnica"
    assert error.what == "no hay ninguna técnica con este nombre (¿quiso decir 'masking'?)."


def test_a_message_of_the_library_speaks_the_language_of_the_page(in_spanish: None) -> None:
    assert _(CelosiaMessage("studio.the_file")) == "el archivo"
    assert f"{CelosiaMessage('studio.the_file')}" == "el archivo"


def test_what_a_certificate_promises_is_a_message() -> None:
    plain = [
        f"{file.name}: {text!r}"
        for folder in PROMISING
        for file in sorted((STUDIO.parent / folder).rglob("*.py"))
        if "leaves_open" in (source := file.read_text("utf-8"))
        for text in promises_in(ast.parse(source))
    ]
    assert plain == [], "\n".join(plain)


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


def test_every_stage_of_a_job_is_told_in_spanish() -> None:
    """The library's are messages, and the studio's own are sentences of its catalogues."""
    missing = [
        f"{file.name}: {stage!r}"
        for file in sorted(STUDIO.parent.rglob("*.py"))
        if file.name != "progress.py"
        for stage in re.findall(r"\bSt(?:ep|age)\(\s*f?\"([^\"]+)\"", file.read_text("utf-8"))
        if (STUDIO not in file.parents or stage not in known()) and stage not in METHODS
    ]
    assert missing == [], "\n".join(missing)


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


def test_a_sentence_of_the_shell_is_told_in_spanish(in_spanish: None) -> None:
    assert _("Skip to the content") == "Saltar al contenido"
