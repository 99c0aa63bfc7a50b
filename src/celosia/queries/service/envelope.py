"""The envelope: the one form of every reply of the service.

`{"ok": true, "data": ...}` or `{"ok": false, "code", "error", "why", "hint", "status", "kind",
"details"}`; `kind` is the class of the error, for clients that raise it again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from celosia.core.errors import CelosiaError
from celosia.queries.service import errors

_PARTS = {"what": "error", "why": "why", "fix": "hint"}
"""The parts of an error, and their names in an envelope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that is ready to be sent, to the last byte."""

    status: int
    body: bytes = field(repr=False)
    code: str = "ok"
    """The outcome that the audit log records."""
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str = "application/json"


def success_reply(data: object, *, status: int = 200) -> Reply:
    """The envelope of plain values.

    >>> success_reply({"value": 3}).body
    b'{"ok":true,"data":{"value":3}}'
    """
    return Reply(status=status, body=_encode({"ok": True, "data": data}))


def error_reply(error: BaseException) -> Reply:
    """The envelope of an error, or of the fixed one where it may not be told."""
    public = errors.public_error(error)
    try:
        return _refused(public)
    except (ValueError, TypeError):  # a text that cannot be written
        return _refused(errors.hidden_error())


def _refused(error: CelosiaError) -> Reply:
    status = errors.status_of(error)
    facts = error.as_dict() | {
        "ok": False,
        "status": status,
        "kind": type(error).__name__,
        "details": errors.plain_details(error),
    }
    headers = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, errors.TooBusy):
        headers["Retry-After"] = str(error.details["seconds"])
    return Reply(status=status, body=_encode(facts), code=error.code, headers=headers)


def read_data(values: Any) -> Any:
    """The data of an envelope.

    Raises:
        CelosiaError: the error that the envelope holds, of the class that it names.
        KeyError, TypeError: it is not an envelope.

    >>> read_data({"ok": True, "data": 3})
    3
    """
    if values["ok"] is True:
        return values["data"]
    kind = errors.KINDS.get(values["kind"], CelosiaError)
    error = kind(str(values["code"]), **values["details"])
    error.texts = {part: str(values[name]) for part, name in _PARTS.items()}
    raise error


def _encode(values: object) -> bytes:
    # ASCII: no text, however odd, can then fail to be sent.
    return json.dumps(values, allow_nan=False, separators=(",", ":")).encode("ascii")
