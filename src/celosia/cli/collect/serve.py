"""`celosia collect serve`: the endpoint that devices send to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.cli.collect.shared import Folder, ProtocolFile
from celosia.core.messages import say


def serve(
    protocol: ProtocolFile,
    folder: Folder,
    host: options.Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port.")] = 8450,
    curator_token: Annotated[
        Path | None, "FILE", "Token file of the curator; without it no estimates over HTTP."
    ] = None,
    sender_token: Annotated[
        list[Path] | None,
        "FILE",
        "Token file of a sender; without any, anyone may send. Repeatable.",
    ] = None,
    batch_bytes: Annotated[int, typer.Option(min=1, help="The largest size of a batch.")] = 16
    * 2**20,
    source_reports: Annotated[
        int | None, typer.Option(min=1, help="The largest number of reports of one sender.")
    ] = None,
    certificate: options.HttpsCertificate = None,
    key: options.HttpsKey = None,
    plain: options.Plain = False,
) -> None:
    """Let devices send reports over HTTP. The identity of senders is neither stored nor logged.

    It runs until Ctrl-C. A batch that was acknowledged is on disk, and is counted once however
    often it is sent. The addresses are listed in /v1/openapi.json.

    **Examples**

    `celosia collect serve emoji.toml --folder state`

    `celosia collect serve emoji.toml --folder state --curator-token carla.token`
    """
    from celosia.collect.collector.access import Access
    from celosia.collect.collector.batches import BatchLimits
    from celosia.collect.collector.service import serve as run_endpoint

    access = Access.load(curator=curator_token, senders=sender_token or [])
    limits = BatchLimits(batch_bytes=batch_bytes, source_reports=source_reports)
    scheme = "http" if certificate is None else "https"
    collecting = say("cli.collect.serving", address=f"{scheme}://{host}:{port}")
    run_endpoint(
        protocol,
        folder=folder,
        host=host,
        port=port,
        access=access,
        limits=limits,
        certificate=certificate,
        key=key,
        plain=plain,
        ready=lambda: console.note(collecting),
    )
    console.show(say("cli.collect.endpoint_has_ended_what"))
