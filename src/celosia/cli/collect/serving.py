"""`celosia collect serve`: the endpoint that devices send to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console
from celosia.cli.collect.shared import Folder, ProtocolFile


def serve(
    protocol: ProtocolFile,
    folder: Folder,
    host: Annotated[
        str, typer.Option(help="The address to listen on; the default is for this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port.")] = 8450,
    curator_token: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Who may see estimates; without it, nobody over HTTP."),
    ] = None,
    sender_token: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Who may send; without any, everybody. Repeat it."),
    ] = None,
    batch_bytes: Annotated[int, typer.Option(min=1, help="The most that one batch may have.")] = 16
    * 2**20,
    source_reports: Annotated[
        int | None, typer.Option(min=1, help="The most reports that one sender may ever send.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For HTTPS (PEM).")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The private key of the certificate (PEM).")
    ] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Serve other machines without HTTPS, behind a proxy that encrypts."
        ),
    ] = False,
) -> None:
    """Let devices send reports over HTTP. Nothing about who sends is kept or logged.

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
    collecting = f"Collecting at {scheme}://{host}:{port} until Ctrl-C."
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
    console.show("The endpoint has ended; what was acknowledged is in the folder.")
