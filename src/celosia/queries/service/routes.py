"""The routes. Loaded when an app is made: FastAPI is part of an extra."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.security import HTTPBearer
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from celosia.accounting.filters import Price
from celosia.accounting.ledger import Ledger
from celosia.accounting.ledger.chain import format_fraction
from celosia.core.resources import WorkFolder
from celosia.queries.policy.values import Policy
from celosia.queries.request import QueryRequest
from celosia.queries.sales import make_invoice
from celosia.queries.service.envelope import Reply, success_reply
from celosia.queries.service.gate import HOLDER
from celosia.queries.service.service import Service
from celosia.queries.service.tokens import LONGEST_DAYS, Token

_STRICT = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class PlanBody(BaseModel):
    """A question to be explained, which costs nothing."""

    model_config = _STRICT

    query: str = Field(
        min_length=1,
        validation_alias=AliasChoices("query", "sql"),
        description="One SELECT: in SPARQL where the policy is of a graph, else in SQL.",
    )
    epsilon: float = Field(default=1.0, gt=0, le=1e6, allow_inf_nan=False)
    delta: float = Field(default=0.0, ge=0, lt=1, allow_inf_nan=False)
    method: str | None = Field(
        default=None, max_length=40, description="A way to bound the answer; chosen if left out."
    )
    rank_intervals: bool = Field(
        default=False, description="Half of the epsilon of MIN, MAX and quantiles for intervals."
    )

    def request(self, analyst: str) -> QueryRequest:
        """The same for the vault; the holder of the token asks."""
        return QueryRequest(
            self.query,
            epsilon=self.epsilon,
            delta=self.delta,
            method=self.method,
            analyst=analyst,
            rank_intervals=self.rank_intervals,
        )


class QueryBody(PlanBody):
    """A question and what it may cost, all its parts together."""

    epsilon: float = Field(gt=0, le=1e6, allow_inf_nan=False)
    confidence: float = Field(default=0.95, gt=0, lt=1, allow_inf_nan=False)
    fresh: bool = Field(default=False, description="Pay again where an answer is stored.")

    def request(self, analyst: str) -> QueryRequest:
        plain = super().request(analyst)
        return replace(plain, confidence=self.confidence, fresh=self.fresh)


class TokenBody(BaseModel):
    """A token to be made."""

    model_config = _STRICT

    role: Literal["analyst", "curator"]
    name: str = Field(min_length=1, max_length=100, description="As the policy names the analyst.")
    days: float = Field(default=30, gt=0, le=LONGEST_DAYS, allow_inf_nan=False)


class SuccessResponse(BaseModel):
    """The reply to a request that succeeded."""

    ok: Literal[True]
    data: dict[str, Any] | list[Any]


class ErrorResponse(BaseModel):
    """The reply to a request that was refused."""

    ok: Literal[False]
    code: str
    error: str
    why: str
    hint: str
    status: int
    kind: str
    details: dict[str, Any]


RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": SuccessResponse},
    400: {"model": ErrorResponse, "description": "Refused: it cannot be promised under the policy"},
    401: {"model": ErrorResponse, "description": "No token that is good now"},
    402: {
        "model": ErrorResponse,
        "description": "The budget does not allow it; nothing was charged",
    },
    403: {"model": ErrorResponse, "description": "The token is of another role"},
    404: {"model": ErrorResponse, "description": "There is no such thing"},
    405: {"model": ErrorResponse, "description": "Not this method"},
    408: {"model": ErrorResponse, "description": "The body did not arrive in time"},
    413: {"model": ErrorResponse, "description": "Too large"},
    422: {"model": ErrorResponse, "description": "A field is missing or out of range"},
    429: {"model": ErrorResponse, "description": "Too many requests; nothing was charged"},
    500: {"model": ErrorResponse, "description": "Not answered; one fixed text whatever happened"},
}


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


def _holder(request: Request) -> Token:
    found: Token = request.scope[HOLDER]
    return found


ServiceDependency = Annotated[Service, Depends(_service)]
HolderDependency = Annotated[Token, Depends(_holder)]

router = APIRouter(prefix="/v1", responses=RESPONSES, default_response_class=Response)
# The gate has checked the token already; this tells OpenAPI that one is wanted.
token_router = APIRouter(dependencies=[Depends(HTTPBearer(auto_error=False))])


def response_of(reply: Reply) -> Response:
    """An envelope as FastAPI sends it."""
    return Response(reply.body, reply.status, dict(reply.headers), reply.media_type)


@router.get("/health")
async def health() -> Response:
    """Whether the service runs. Needs no token, and tells nothing else."""
    return response_of(success_reply({"status": "running"}))


@token_router.post("/query")
async def query(body: QueryBody, service: ServiceDependency, holder: HolderDependency) -> Response:
    """Answer a question under the budget of the holder.

    The same question with the same parameters is given again for free. An answer leaves at the
    deadline that `/v1/explain` shows, counted from the charge, whatever the data.
    """
    return response_of(await service.query(holder, body.request(holder.name)))


@token_router.post("/explain")
async def explain(body: PlanBody, service: ServiceDependency, holder: HolderDependency) -> Response:
    """Plan a question, with its cost and expected error. Nothing is spent."""
    return response_of(await service.explain(holder, body.request(holder.name)))


@token_router.get("/schema")
async def schema(service: ServiceDependency, holder: HolderDependency) -> Response:
    """The tables and columns that may be asked about, as far as they are public."""

    def work() -> Reply:
        return success_reply(service.vault().public_schema())

    return response_of(await service.look_up("schema", holder, work))


@token_router.get("/ledger")
async def ledger(
    service: ServiceDependency,
    holder: HolderDependency,
    most: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> Response:
    """The spent and remaining budget: all for a curator, for analysts only their own."""

    def work() -> Reply:
        vault = service.vault()
        return success_reply(_ledger_view(vault.ledger, vault.policy, holder, most=most))

    return response_of(await service.look_up("ledger", holder, work))


@token_router.get("/invoice")
async def invoice(
    service: ServiceDependency,
    holder: HolderDependency,
    analyst: Annotated[str | None, Query(max_length=100)] = None,
    month: Annotated[str | None, Query(max_length=7)] = None,
) -> Response:
    """The invoice of the holder; of any analyst for a curator."""

    def work() -> Reply:
        vault = service.vault()
        whose = analyst if holder.role == "curator" and analyst is not None else holder.name
        made = make_invoice(vault.policy, vault.ledger.history(), analyst=whose, month=month)
        return success_reply(made.as_dict())

    return response_of(await service.look_up("invoice", holder, work))


@token_router.get("/ledger/verify")
async def verify(
    service: ServiceDependency,
    holder: HolderDependency,
    anchor: Annotated[str | None, Query(max_length=90)] = None,
) -> Response:
    """Check each link of the ledger; for curators."""

    def work() -> Reply:
        return success_reply({"head": str(service.vault().ledger.verify(anchor=anchor))})

    return response_of(await service.look_up("verify", holder, work, role="curator"))


@token_router.get("/ledger/export")
async def export(service: ServiceDependency, holder: HolderDependency) -> Response:
    """All entries of the ledger, which anybody can check; for curators."""

    def work() -> Reply:
        return success_reply(_ledger_lines(service.vault().ledger))

    return response_of(await service.look_up("export", holder, work, role="curator"))


@token_router.get("/metrics")
async def metrics(service: ServiceDependency, holder: HolderDependency) -> Response:
    """Counters in the text format of Prometheus, of replies and the ledger; for curators."""
    return response_of(await service.measure(holder))


@token_router.post("/tokens")
async def create_token(
    body: TokenBody, service: ServiceDependency, holder: HolderDependency
) -> Response:
    """Make a token; its text is in this answer and nowhere else. For curators."""

    def work() -> Reply:
        made = service.tokens.create(role=body.role, name=body.name, days=body.days)
        return success_reply(made.as_dict())

    return response_of(await service.look_up("tokens.create", holder, work, role="curator"))


@token_router.get("/tokens")
async def list_tokens(service: ServiceDependency, holder: HolderDependency) -> Response:
    """All tokens, without their texts; for curators."""

    def work() -> Reply:
        return success_reply([token.as_dict() for token in service.tokens.tokens()])

    return response_of(await service.look_up("tokens.list", holder, work, role="curator"))


@token_router.delete("/tokens/{name}")
async def revoke_token(name: str, service: ServiceDependency, holder: HolderDependency) -> Response:
    """End a token, by its public part, from now on; for curators."""

    def work() -> Reply:
        return success_reply(service.tokens.revoke(name).as_dict())

    return response_of(await service.look_up("tokens.revoke", holder, work, role="curator"))


router.include_router(token_router)


def _ledger_view(ledger: Ledger, policy: Policy, holder: Token, *, most: int) -> dict[str, Any]:
    """The ledger as a holder may see it, with the last charges; amounts as fractions.

    Raises:
        QueryRefused: CEL-Q109 the policy does not name the analyst.
    """
    if holder.role == "analyst":
        own = _account(ledger, holder.name)
        charges = ledger.history(holder.name)
    else:
        own = {"spent": _price(ledger.spent), "remaining": _price(ledger.remaining)}
        own["analysts"] = {name: _account(ledger, name) for name, _ in policy.analysts}
        charges = ledger.history()
    return own | {
        "head": str(ledger.head),
        "charges": [charge.as_dict() for charge in charges[-most:]],
        "left_out": max(0, len(charges) - most),
    }


def _ledger_lines(ledger: Ledger) -> dict[str, Any]:
    """The whole chain, as `Ledger.export` writes it."""
    with WorkFolder() as folder:
        path = Path(folder, "ledger.jsonl")
        head = ledger.export(path)
        return {"head": str(head), "lines": path.read_text("ascii").splitlines()}


def _account(ledger: Ledger, analyst: str) -> dict[str, Any]:
    return {
        "spent": _price(ledger.spent_by(analyst)),
        "remaining": _price(ledger.remaining_of(analyst)),
    }


def _price(price: Price) -> dict[str, str | None]:
    written = {
        name: None if amount is None else format_fraction(amount)
        for name, amount in price.amounts.items()
    }
    if price.promise is not None:
        written["as_epsilon"], written["at_delta"] = map(repr, price.promise)
    return written
