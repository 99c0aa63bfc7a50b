"""Errors of the service itself, and the HTTP status of every error."""

from __future__ import annotations

import json
import logging
from typing import Any

from celosia.core import errors
from celosia.core.messages import Message

LOGGER = logging.getLogger(__name__)


class AccessDenied(errors.CelosiaError):
    """The client is not known, or not allowed to do this."""

    exit_code = 1


class TooBusy(errors.CelosiaError):
    """Too many requests at once or in one minute; nothing was charged."""

    exit_code = 1


KINDS: dict[str, type[errors.CelosiaError]] = {
    kind.__name__: kind
    for kind in (
        AccessDenied,
        errors.BudgetExceeded,
        errors.EngineError,
        errors.InputError,
        errors.PrivacyError,
        errors.QueryRefused,
        TooBusy,
    )
}
"""The errors that an envelope can name, for clients to raise again."""

STATUSES: dict[type[errors.CelosiaError], int] = {
    AccessDenied: 403,
    errors.BudgetExceeded: 402,
    errors.InputError: 422,
    errors.PrivacyError: 400,
    errors.QueryRefused: 400,
    TooBusy: 429,
}
"""By kind. Budget is money that is spent: 402 is used by nothing else between us and a client, so
that the status alone tells it; 409 would read as a clash with another request, to be sent again."""

STATUSES_OF_CODES = {
    "CEL-Q102": 500,
    "CEL-Q104": 500,
    "CEL-Q171": 401,
    "CEL-Q173": 404,
    "CEL-Q174": 405,
    "CEL-Q176": 413,
    "CEL-Q190": 408,
}
"""Where the code says more than the kind: a ledger that is not sound is no fault of the question,
and what HTTP has a status of its own for."""

_SHOWN = ("CEL-Q", "CEL-B")
"""Codes of policy, question and budget; others may come from rows."""
_REQUESTED = frozenset({"epsilon", "rho", "delta", "confidence"})
"""Parameters of a request: only of these may be told that they are out of range."""
_HIDDEN = frozenset({"CEL-Q112", "CEL-Q140", "CEL-Q152"})
"""Raised where an answer is already there, or where rows were compared with the policy."""


def hidden_error() -> errors.EngineError:
    """The one error of everything that goes wrong after the data may have been touched.

    An engine that failed, an answer that took too long, a fault of ours: who can tell them apart
    learns something about the rows.
    """
    return errors.EngineError("CEL-Q180")


def public_error(error: BaseException) -> errors.CelosiaError:
    """The error that may be told: itself if it follows from policy, question and ledger alone.

    Everything else, an unexpected exception as well as the failure of an engine, becomes the one
    of `hidden_error`. The log gets the name of its class and its code, never its words.
    """
    code = error.code if isinstance(error, errors.CelosiaError) else "no code"
    told = error.details if isinstance(error, errors.CelosiaError) else {}
    is_requested = code == "CEL-I060" and told.get("parameter") in _REQUESTED
    is_public = is_requested or (code.startswith(_SHOWN) and code not in _HIDDEN)
    if isinstance(error, errors.CelosiaError) and isinstance(error, tuple(STATUSES)) and is_public:
        return error
    LOGGER.error("a request failed: %s, %s", type(error).__name__, code)
    return hidden_error()


def status_of(error: errors.CelosiaError) -> int:
    """The HTTP status of an error that may be told.

    >>> status_of(hidden_error()), status_of(no_token())
    (500, 401)
    """
    by_kind = next((STATUSES[kind] for kind in STATUSES if isinstance(error, kind)), 500)
    return STATUSES_OF_CODES.get(error.code, by_kind)


def plain_details(error: errors.CelosiaError) -> dict[str, Any]:
    """The details that JSON can carry."""
    kept = {}
    for name, value in error.details.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            continue
        kept[name] = value
    return kept


def no_token() -> AccessDenied:
    """The refusal of whoever shows no good token; it does not tell what is wrong with it."""
    return AccessDenied("CEL-Q171")


def not_allowed(role: str) -> AccessDenied:
    """The refusal of a holder whose role does not suffice."""
    return AccessDenied("CEL-Q172", role=role)


def no_address() -> errors.InputError:
    """The refusal of an address that there is not."""
    return errors.InputError("CEL-Q173.address")


def no_method() -> errors.InputError:
    """The refusal of a method that an address does not have."""
    return errors.InputError("CEL-Q174")


def bad_body(problems: Message | None = None) -> errors.InputError:
    """The refusal of a body that cannot be read; it repeats nothing of the body."""
    return errors.InputError("CEL-Q175.bad_body", problems=problems or other_json())


def other_json() -> Message:
    """The problem of a body of which nothing more can be told."""
    return Message("queries.body.other_json")


def too_many(seconds: float) -> TooBusy:
    """The refusal of one request too many in a minute."""
    return TooBusy("CEL-Q178.token", seconds=max(1, round(seconds + 0.5)))


def too_many_refused(seconds: float) -> TooBusy:
    """The refusal of one more request without a good token, while many of the address wait."""
    return TooBusy("CEL-Q178.no_token", seconds=max(1, round(seconds + 0.5)))


def too_busy() -> TooBusy:
    """The refusal while all places are taken."""
    return TooBusy("CEL-Q178.no_place", seconds=5)


def missing_extra(package: str | None) -> errors.InputError:
    """The refusal where the packages of the service are not installed."""
    if package is None:
        return errors.InputError("CEL-Q170.unknown")
    return errors.InputError("CEL-Q170.package", package=package)
