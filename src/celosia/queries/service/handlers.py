"""Errors of FastAPI in our envelope. Loaded when an app is made."""

from __future__ import annotations

from functools import reduce

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message
from celosia.queries.service.envelope import error_reply
from celosia.queries.service.errors import bad_body, no_address, no_method, other_json
from celosia.queries.service.routes import QueryBody, TokenBody, response_of

FIELDS = {*QueryBody.model_fields, *TokenBody.model_fields, "most", "anchor"}
"""Names that may be repeated in a message: ours, and not whatever was sent."""


def add_handlers(app: FastAPI) -> None:
    """Let an app answer in one form only."""

    # FastAPI gives each handler the kind that it was added for.
    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> Response:
        return response_of(error_reply(bad_body(_problems(error))))

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> Response:
        told = {404: no_address, 405: no_method}.get(error.status_code, bad_body)
        return response_of(error_reply(told()))

    @app.exception_handler(CelosiaError)
    async def _ours(_: Request, error: CelosiaError) -> Response:
        return response_of(error_reply(error))


def _problems(error: RequestValidationError) -> Message:
    """What is wrong, by the names of fields; nothing of what was sent is repeated."""
    found = []
    for each in error.errors()[:5]:
        named = [part for part in each["loc"] if part in FIELDS]
        if each["type"] == "extra_forbidden":
            found.append(Message("queries.body.unknown_field"))
        elif each["type"] == "json_invalid" or not named:
            found.append(other_json())
        elif each["type"] == "missing":
            found.append(Message("queries.body.missing", field=named[0]))
        else:
            problem = f"{str(each['msg'])[:1].lower()}{str(each['msg'])[1:]}"
            found.append(Message("queries.body.wrong", field=named[0], problem=problem))
    return reduce(_both, dict.fromkeys(found))


def _both(one: Message, other: Message) -> Message:
    return Message("queries.body.several", one=one, other=other)
