"""The addresses of an aggregator. Loaded when an app is made: FastAPI is part of an extra."""

from __future__ import annotations

import asyncio
from hmac import compare_digest
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from celosia.collect.collector.batches import BatchLimits
from celosia.collect.collector.routes import (
    Refusal,
    read_body,
    response_of,
    success_reply,
    token_of,
)
from celosia.collect.secure.client import KEY_HEADER
from celosia.collect.secure.networked import LARGEST_BATCH, LeadingAggregator
from celosia.collect.secure.prio3 import NONCE
from celosia.collect.secure.service import AggregatorEndpoint, check_id
from celosia.core.errors import InputError


def _endpoint(request: Request) -> AggregatorEndpoint:
    found: AggregatorEndpoint = request.app.state.endpoint
    return found


Aggregating = Annotated[AggregatorEndpoint, Depends(_endpoint)]
router = APIRouter(prefix="/v1", default_response_class=Response)
FROM_LEADER = BatchLimits(batch_bytes=1000 + NONCE * LARGEST_BATCH)
"""What the leader may send at once, whatever devices may: else a batch could not be closed."""


@router.get("/health")
async def health() -> Response:
    """Whether the endpoint runs; it tells nothing else."""
    return response_of(success_reply({"status": "running"}))


@router.get("/task")
async def task(endpoint: Aggregating) -> Response:
    """What devices must know to send shares, and which aggregator this is."""
    found = endpoint.aggregator
    key = None if found.public_key is None else found.public_key.hex()
    facts = {"role": found.role, "fingerprint": found.task.fingerprint.hex(), "seal_key": key}
    return response_of(success_reply(facts | {"task": found.task.as_dict()}))


@router.get("/metrics")
async def metrics(request: Request, endpoint: Aggregating) -> Response:
    """Figures for Prometheus; for holders of the token of the monitor."""
    if not endpoint.who.access.is_monitor(token_of(request)):
        raise Refusal("CEL-R084")
    text = await asyncio.to_thread(endpoint.metrics)
    return Response(text, 200, media_type="text/plain; version=0.0.4")


@router.post("/shares")
async def shares(request: Request, endpoint: Aggregating) -> Response:
    """Take in shares of this aggregator. They are on disk when this answers."""
    if endpoint.who.access.sender(token_of(request)) is None:
        raise Refusal("CEL-R084")
    data = await read_body(request, endpoint)
    receipt = await asyncio.to_thread(endpoint.aggregator.take, data)
    endpoint.taken += receipt.new
    endpoint.repeated += receipt.reports - receipt.new
    return response_of(success_reply(receipt.as_dict()))


@router.post("/checks")
async def checks(request: Request, endpoint: Aggregating) -> Response:
    """What the helper finds of reports; for the leader."""
    _check_peer(request, endpoint)
    data = await read_body(request, endpoint, FROM_LEADER)
    return _bytes(await asyncio.to_thread(endpoint.aggregator.decide, data))


@router.put("/batches/{id}")
async def close_batch(id: str, request: Request, endpoint: Aggregating) -> Response:
    """Have the helper add up the reports of a batch; for the leader."""
    _check_peer(request, endpoint)
    data = await read_body(request, endpoint, FROM_LEADER)
    await asyncio.to_thread(endpoint.aggregator.close_batch, check_id(id), data)
    return response_of(success_reply({"closed": True}))


@router.post("/batches/{id}")
async def collect(id: str, request: Request, endpoint: Aggregating) -> Response:
    """Close a batch of all that waits; for the collector, who asks the leader."""
    leader = endpoint.aggregator
    if not endpoint.who.access.is_curator(token_of(request)):
        raise Refusal("CEL-R084")
    if not isinstance(leader, LeadingAggregator):
        raise InputError("CEL-R109.role", role=leader.role)
    return _bytes(await asyncio.to_thread(leader.collect, check_id(id)))


@router.get("/batches/{id}")
async def sum_of(id: str, request: Request, endpoint: Aggregating) -> Response:
    """The sum of a closed batch; for the collector."""
    if not endpoint.who.access.is_curator(token_of(request)):
        raise Refusal("CEL-R084")
    return _bytes(await asyncio.to_thread(endpoint.aggregator.sum_of, check_id(id)))


def _check_peer(request: Request, endpoint: AggregatorEndpoint) -> None:
    if not endpoint.who.peer.is_curator(token_of(request)):
        raise Refusal("CEL-R084")
    aggregator = endpoint.aggregator
    if isinstance(aggregator, LeadingAggregator):
        raise InputError("CEL-R109.role", role=aggregator.role)
    told = request.headers.get(KEY_HEADER, "").encode()
    if not compare_digest(told, aggregator.key_mark.encode()):
        raise InputError("CEL-R109.other_key")


def _bytes(data: bytes) -> Response:
    return Response(data, 200, media_type="application/octet-stream")
