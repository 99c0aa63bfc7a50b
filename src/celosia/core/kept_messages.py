"""Messages beside the English text of a certificate, which can be told in any language by them.

Fields are kept as far as the text shows them: a number with the digits that are printed, a count
that only chooses between one and many as such, and nothing that the text does not say.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import Any, overload

from celosia.core.catalogue import FAMILIES, template
from celosia.core.messages import LANGUAGES, Message

_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a message that somebody else wrote can raise."""
_WHOLE = frozenset(["", ",", "_", "d", "n"])
"""Forms that show all of a whole number."""


def kept(texts: Iterable[str | None]) -> list[dict[str, Any]]:
    """The key, the fields and the English of each message among some texts, for JSON.

    >>> kept([Message("words.did_you_mean", name="age"), "a plain text"])
    [{'key': 'words.did_you_mean', 'fields': {'name': 'age'}, 'text': " (did you mean 'age'?)"}]
    """
    found = {text: _facts(text) for text in texts if isinstance(text, Message)}
    return [facts for facts in found.values() if facts is not None]


class KeptMessages:
    """The messages of a certificate by their English.

    >>> known = KeptMessages(kept([Message("words.did_you_mean", name="edad")]))
    >>> known.message(" (did you mean 'edad'?)").render("es"), known.message("other")
    (" (¿quiso decir 'edad'?)", 'other')
    """

    def __init__(self, kept: object) -> None:
        found = [_message(each) for each in kept] if isinstance(kept, list) else []
        self._known = {str.__str__(each): each for each in found if each is not None}

    @overload
    def message(self, text: str) -> str: ...
    @overload
    def message(self, text: None) -> None: ...
    def message(self, text: str | None) -> str | None:
        """The message that a text is the English of; the text itself where none is known."""
        return self._known.get(text, text) if isinstance(text, str) else text


def _facts(message: Message) -> dict[str, Any] | None:
    """A message as plain values; None where its text cannot be made from what it shows."""
    text = str.__str__(message)
    try:
        forms = _forms(template(message.key, "en"))
        fields = {name: _shown(message.fields[name], each) for name, each in forms.items()}
    except _WRONG:
        return None
    facts = {"key": message.key, "fields": fields, "text": text}
    return facts if _message(facts) is not None else None


def _message(facts: Any) -> Message | None:
    """The message that was kept; None where it does not say, in this version, what is written."""
    try:
        if facts["key"].partition(".")[0] not in FAMILIES:
            return None
        fields = {name: _field(each) for name, each in facts["fields"].items()}
        message = Message(facts["key"], **fields)
        for language in LANGUAGES:
            message.render(language)
    except _WRONG:
        return None
    return message if message == facts["text"] else None


def _field(value: Any) -> Any:
    if isinstance(value, dict):
        found = _message(value)
        if found is None:
            raise ValueError("no message")
        return found
    return [_field(each) for each in value] if isinstance(value, list) else value


def _forms(text: str) -> dict[str, list[str]]:
    """The fields of a template with the forms they are shown in; none if only counted by."""
    found: dict[str, list[str]] = {}
    for _literal, field, form, conversion in string.Formatter().parse(text):
        if field is None:
            continue
        name, *words = field.split("|")
        shown = found.setdefault(name, [])
        if not words:
            shown.append("" if conversion else form or "")
    return found


def _shown(value: object, forms: list[str]) -> Any:
    """As much of a field as its forms show."""
    if not forms:
        return 1 if value == 1 else 2
    if isinstance(value, Message):
        facts = _facts(value)
        if facts is None:
            raise ValueError("no message")
        return facts
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool):
        return value
    if {"list", "quoted", "lines"} & {*forms}:
        assert isinstance(value, Iterable)
        return [_shown(each, [""]) for each in value]
    return _shown_number(value, forms)


def _shown_number(value: Any, forms: list[str]) -> Any:
    """A number with the digits of the form that shows most of it."""
    item = getattr(value, "item", None)  # a number of NumPy
    value = item() if callable(item) else value
    if not isinstance(value, int | float):
        return str(value) if {*forms} == {""} else _printed(value, forms)
    exact = _WHOLE if isinstance(value, int) else {""}
    return value if exact & {*forms} else _printed(value, forms)


def _printed(value: Any, forms: list[str]) -> float:
    texts = [(format(value, form), form) for form in forms]
    text, form = max(texts, key=lambda each: len(each[0]))
    number = float(text.replace(",", "").rstrip("%"))
    return number / 100 if form.endswith("%") else number
