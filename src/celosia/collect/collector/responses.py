"""Replies of the HTTP endpoint: one envelope for all, and a status for every refusal."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field

from celosia.collect.collector.writer import TooBusy
from celosia.core.errors import CelosiaError, EngineError, InputError, QueryRefused

LOGGER = logging.getLogger(__name__)


class Refusal(CelosiaError):  # noqa: N818 - a refusal is an answer, named as one
    """What the endpoint refuses on its own account."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that is ready to be sent."""

    status: int
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict)


STATUSES = {
    "CEL-R074": 503,
    "CEL-R075": 503,
    "CEL-R077": 413,
    "CEL-R080": 403,
    "CEL-R084": 401,
    "CEL-R085": 400,
    "CEL-R086": 429,
    "CEL-R087": 500,
}
"""Where HTTP has a status of its own; all else that is wrong with a batch is 422. After 429 and 503
the batch is not counted and may be sent again, with the same id."""

AGAIN = "5"
"""Seconds after which to send again."""


def success_reply(data: object) -> Reply:
    """The envelope of plain values.

    >>> success_reply({"reports": 3}).body
    b'{"ok":true,"data":{"reports":3}}'
    """
    return Reply(status=200, body=_written({"ok": True, "data": data}))


def error_reply(error: BaseException) -> Reply:
    """The envelope of an error; what is not for others becomes one fixed text.

    Words of unexpected exceptions could be anything. The log gets the name of their class.
    """
    if isinstance(error, (InputError, EngineError, QueryRefused, Refusal, TooBusy)):
        refusal: CelosiaError = error
    else:
        LOGGER.error("a request failed: %s", type(error).__name__)
        refusal = Refusal("CEL-R087")
    status = refusal.details.get("status", STATUSES.get(refusal.code, 422))
    assert isinstance(status, int)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if status in (429, 503):
        headers["Retry-After"] = AGAIN
    facts = {"code": refusal.code, "error": refusal.what, "why": refusal.why, "hint": refusal.fix}
    body = _written({"ok": False, "status": status, **facts})
    return Reply(status=status, body=body, headers=headers)


def _written(values: object) -> bytes:
    # ASCII: no text, however odd, can then fail to be sent.
    return json.dumps(values, allow_nan=False, separators=(",", ":")).encode("ascii")
