"""`celosia collect serve`: the endpoint that devices send to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console
from celosia.cli.collect.shared import EndpointOptions, Folder, ProtocolFile
from celosia.core.messages import say


def serve(
    protocol: ProtocolFile,
    folder: Folder,
    endpoint: EndpointOptions,
    curator_token: Annotated[
        Path | None, "FILE", "Token file of the curator; without it no estimates over HTTP."
    ] = None,
    partition: Annotated[
        str, "I/N", "Which one of N collectors this is; the CRC-32 of an id decides."
    ] = "1/1",
) -> None:
    """Let devices send reports over HTTP. The identity of senders is neither stored nor logged.

    It runs until Ctrl-C; SIGHUP starts it again without refusing a connection. A batch that was
    acknowledged is on disk, and is counted once however often it is sent. The addresses are listed
    in /v1/openapi.json.

    **Examples**

    `celosia collect serve emoji.toml --folder state`

    `celosia collect serve emoji.toml --folder state --curator-token carla.token`

    `celosia collect serve emoji.toml --folder state-2 --partition 2/4 --remember-days 7`
    """
    from celosia.collect.collector.access import Access
    from celosia.collect.collector.service import serve as run_endpoint

    access = Access.load(
        curator=curator_token,
        senders=endpoint.sender_token or [],
        monitor=endpoint.metrics_token,
    )
    limits = endpoint.limits(partition)
    listen = endpoint.listening()
    collecting = say("cli.collect.serving", address=listen.address)
    run_endpoint(
        protocol,
        folder=folder,
        listen=listen,
        access=access,
        limits=limits,
        origins=endpoint.origin or [],
        ready=lambda: console.note(collecting),
    )
    console.show(say("cli.collect.endpoint_has_ended_what"))
