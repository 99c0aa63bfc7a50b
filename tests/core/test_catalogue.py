"""Every message has its template in both languages, and every template belongs to a message."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import celosia
from celosia.core.catalogue import explanation, explanations
from celosia.core.errors import InputError
from celosia.core.messages import FAMILIES, LANGUAGES, read_family

SOURCE = Path(celosia.__file__).parent
ERROR = re.compile(r"CEL-[A-Z]\d{3}(\.\w+)?")
MESSAGE = re.compile(rf"(?:{'|'.join(FAMILIES)})(?:\.[\w-]+)+")
BY_NAME = ("lab.studies.", "methods.", "sketches.fact.", "sketches.size.", "words.")
"""Families whose keys are made of names: of a study, a method, a figure, a kind of parameter."""
MESSAGE_MAKERS = ("Message", "say")
MAKERS_OF_VALUES = ("of", "say_of")
PARTS = ("title", "text", "what", "why", "fix")
GIVEN_BY_REFUSALS = {"at", "line", "column"}


class Use(NamedTuple):
    """A key in the source, and the fields that are given with it; None if they cannot be seen."""

    key: str
    place: str
    fields: frozenset[str] | None
    owner: str = ""
    """The class whose attributes are given too."""


class Members(NamedTuple):
    """What the classes of a name declare or define, and the names of those that they extend."""

    names: set[str]
    bases: set[str]


CLASSES: dict[str, Members] = {}
"""Of all classes in the source, once `uses` has read it."""


@cache
def uses() -> tuple[Use, ...]:
    return tuple(use for path in sorted(SOURCE.rglob("*.py")) for use in _uses_of(path))


def _uses_of(path: Path) -> Iterator[Use]:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from _uses_of_class(node, path)
        if not isinstance(node, ast.Call) or not node.args:
            continue
        yield from _columns_of(node, path)
        first = node.args[0]
        is_message = isinstance(node.func, ast.Name) and node.func.id in MESSAGE_MAKERS
        if isinstance(first, ast.Constant) and _is_key(first.value, is_message=is_message):
            called.add(id(first))
            names = [word.arg for word in node.keywords]
            hidden = None in names or len(node.args) > 1
            fields = None if hidden else frozenset(str(name) for name in names)
            yield Use(str(first.value), f"{path.name}:{node.lineno}", fields)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in called:
            continue
        if _is_key(node.value) or node.value in messages():  # in a table of keys
            yield Use(str(node.value), f"{path.name}:{node.lineno}", None)


def _uses_of_class(node: ast.ClassDef, path: Path) -> Iterator[Use]:
    """What is said with the attributes of `self`."""
    own = CLASSES.setdefault(node.name, Members(set(), set()))
    own.bases.update(ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases)
    for each in node.body:
        match each:
            case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                own.names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                own.names.add(name)
    for call in ast.walk(node):
        match call:
            case ast.Call(
                func=ast.Name(id=maker) | ast.Attribute(attr=maker), args=[key, ast.Name(id="self")]
            ) if maker in MAKERS_OF_VALUES:
                given = frozenset(str(word.arg) for word in call.keywords)
                for part in ast.walk(key):
                    if isinstance(part, ast.Constant) and _is_key(part.value, is_message=True):
                        place = f"{path.name}:{part.lineno}"
                        yield Use(str(part.value), place, given, node.name)


def members(name: str) -> set[str]:
    own = CLASSES.get(name, Members(set(), set()))
    return own.names.union(*map(members, own.bases))


def _columns_of(call: ast.Call, path: Path) -> Iterator[Use]:
    """The titles that `console.columns("records:,", ...)` names."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "columns":
        for node in ast.walk(call):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
                name = node.value.partition(":")[0]
                yield Use(f"cli.column.{name}", f"{path.name}:{node.lineno}", frozenset())


def _is_key(value: object, *, is_message: bool = False) -> bool:
    form = MESSAGE if is_message else ERROR
    return isinstance(value, str) and form.fullmatch(value) is not None


@cache
def messages() -> dict[str, dict[str, dict[str, str]]]:
    """The parts of every message by its key, with what a variant takes from its code."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for family in FAMILIES:
        for name, entry in read_family(family).items():
            if name.startswith("CEL-"):
                found |= _of_code(name, entry)
            else:
                found |= _of_notice(f"{family}.{name}", entry)
    return found


def _of_code(code: str, entry: dict[str, Any]) -> dict[str, dict[str, dict[str, str]]]:
    own = {part: entry[part] for part in PARTS if part in entry}
    variants = {name: each for name, each in entry.items() if name not in PARTS}
    if not variants:
        return {code: own}
    return {f"{code}.{name}": own | each for name, each in variants.items()}


def _of_notice(key: str, entry: dict[str, Any]) -> dict[str, dict[str, dict[str, str]]]:
    if "text" in entry and isinstance(entry["text"].get("en"), str):
        return {key: entry}
    return {
        name: parts
        for below, each in entry.items()
        for name, parts in _of_notice(f"{key}.{below}", each).items()
    }


def fields_of(template: str) -> set[str]:
    """The names of the fields of a template; a bar begins the words of a plural."""
    return {
        name.partition("|")[0]
        for _, name, _, _ in string.Formatter().parse(template)
        if name is not None
    }


def test_every_key_in_the_source_has_a_message() -> None:
    known = set(messages()) | set(explanations())
    assert {use.place: use.key for use in uses() if use.key not in known} == {}


def test_no_message_is_left_without_a_use() -> None:
    used = {use.key for use in uses()}
    codes = {key for key in used if "." not in key}
    spare = {key for key in messages() if key not in used and key.partition(".")[0] not in codes}
    assert {key for key in spare if not key.startswith(BY_NAME)} == set()


def test_every_field_of_a_message_is_given() -> None:
    missing = {}
    for use in uses():
        if use.fields is None or use.key not in messages():
            continue
        texts = messages()[use.key]
        shown = [texts[part]["en"] for part in ("what", "why", "fix", "text") if part in texts]
        if use.key.startswith("CEL-"):
            shown = [texts[part]["en"] for part in ("what", "why", "fix") if part in texts]
        wanted = (
            set().union(*map(fields_of, shown))
            - use.fields
            - members(use.owner)
            - GIVEN_BY_REFUSALS
        )
        if wanted:
            missing[use.place] = (use.key, wanted)
    assert missing == {}


def test_every_error_says_what_is_wrong() -> None:
    silent = [
        key for key, parts in messages().items() if key.startswith("CEL-") and "what" not in parts
    ]
    assert silent == []


def test_every_language_says_the_same_with_the_same_fields() -> None:
    wrong = {}
    for key, parts in messages().items():
        for part, texts in parts.items():
            fields = [fields_of(texts.get(language, "")) for language in LANGUAGES]
            if not all(texts.get(language) for language in LANGUAGES) or fields[0] != fields[1]:
                wrong[f"{key}.{part}"] = texts["en"]
    assert wrong == {}


def test_an_explanation_has_a_title_and_a_text() -> None:
    for entry in explanations().values():
        assert entry.title
        assert len(entry.text) > 40, entry.code


def test_an_unknown_code_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'CEL-T01' \(did you mean 'CEL-T01"):
        explanation("CEL-T01")
