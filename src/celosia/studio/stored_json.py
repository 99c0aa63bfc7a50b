"""JSON of the studio's own files, in which messages stay messages: they are shown in any language.

JSON that visitors take away is written by `json` itself, where a message is its English text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from celosia.core.messages import Message

_KEY = "celosia.message"


def dumps(value: Any, **options: Any) -> str:
    """A value as JSON, with the key and the fields of every message.

    >>> print(loads(dumps(["age", Message("words.did_you_mean", name="age")]))[1].render("es"))
     (¿quiso decir 'age'?)
    """
    return json.dumps(_packed(value), ensure_ascii=False, **options)


def loads(text: str) -> Any:
    """The inverse of `dumps`."""
    return json.loads(text, object_hook=_unpacked)


def _packed(value: Any) -> Any:
    if isinstance(value, Message):
        fields = {name: _packed(_plain(each)) for name, each in value.fields.items()}
        return {_KEY: value.key, "fields": fields}
    if isinstance(value, Mapping):
        return {name: _packed(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(each) for each in value]
    return value


def _plain(field: object) -> object:
    """A field of a message as JSON can hold it; a number stays one, as its template may say how."""
    if field is None or isinstance(field, str | bool | int | float | Mapping | list | tuple):
        return field
    if isinstance(field, Fraction):
        return float(field)
    item = getattr(field, "item", None)  # a number of NumPy
    return item() if callable(item) else str(field)


def _unpacked(found: dict[str, Any]) -> Any:
    return Message(found[_KEY], **found["fields"]) if _KEY in found else found
