"""`celosia collect shuffle`: the station between devices and collector; and what it promises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.collect.shared import EndpointOptions, ProtocolFile
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.collect.secure.guarantee import SecureGuarantee
    from celosia.collect.shuffler.guarantee import ShuffleGuarantee

Delta = Annotated[float, "The chance that the promise of shuffling fails."]


def shuffle(
    protocol: ProtocolFile,
    folder: Annotated[Path, "The folder of the shuffler."],
    to: Annotated[str, "URL", "The address of the collector, as https://collector.example."],
    endpoint: EndpointOptions,
    least: Annotated[int, typer.Option(min=2, help="The fewest reports that leave together.")] = (
        1000
    ),
    every: Annotated[float, "Seconds between two releases of reports."] = 3600,
    token: Annotated[
        Path | None, "FILE", "Token file by which the collector knows this shuffler."
    ] = None,
    delta: Delta = 1e-8,
) -> None:
    """Take reports from devices, and send them on in a random order, without their senders.

    Reports wait until there are enough of them. What leaves carries no address, time, order or id
    of a device. What was acknowledged is on disk, before and after. It runs until Ctrl-C; SIGHUP
    starts it again without refusing a connection.

    **Examples**

    `celosia collect shuffle emoji.toml --folder pool --to https://collector.example --least 10000`
    """
    from celosia.collect.collector.access import Access
    from celosia.collect.registry import load_protocol
    from celosia.collect.shuffler.guarantee import shuffle_guarantee
    from celosia.collect.shuffler.service import http_sender, serve_shuffler

    access = Access.load(senders=endpoint.sender_token or [], monitor=endpoint.metrics_token)
    limits = endpoint.limits()
    listen = endpoint.listening()
    send = http_sender(to, token=token)
    found = shuffle_guarantee(load_protocol(protocol), reports=least, delta=delta)

    def ready() -> None:
        for line in found.lines():
            console.note(line)
        console.note(say("cli.collect.serving", address=listen.address))

    serve_shuffler(
        protocol,
        folder=folder,
        send=send,
        least=least,
        every=every,
        listen=listen,
        access=access,
        limits=limits,
        origins=endpoint.origin or [],
        ready=ready,
    )
    console.show(say("cli.collect.endpoint_has_ended_what"))


def guarantee(
    protocol: Annotated[
        Path,
        "argument PROTOCOL",
        "The protocol file (TOML), or the file of a task of secure aggregation.",
    ],
    outputs: JsonOutputs,
    reports: Annotated[
        int | None,
        typer.Option(min=1, help="How many honest reports are shuffled together."),
    ] = None,
    delta: Delta = 1e-8,
) -> None:
    """Tell what a report promises its sender, and whom one has to trust with what.

    For a protocol: with an honest shuffler and without. For a task of secure aggregation: with two
    aggregators that do not work together.

    **Examples**

    `celosia collect guarantee emoji.toml --reports 100000`

    `celosia collect guarantee votes.toml`
    """
    from celosia.collect.registry import load_protocol, read_declaration
    from celosia.collect.secure.guarantee import secure_guarantee
    from celosia.collect.secure.tasks import TASKS, load_task
    from celosia.collect.shuffler.guarantee import shuffle_guarantee

    found: ShuffleGuarantee | SecureGuarantee
    if read_declaration(protocol).get("method") in TASKS:
        found = secure_guarantee(load_task(protocol))
    elif reports is None:
        raise InputError("CEL-I063", method="guarantee", parameter="reports")
    else:
        found = shuffle_guarantee(load_protocol(protocol), reports=reports, delta=delta)
    outputs.show(found.as_dict, lambda: _show(found), found)


def _show(found: ShuffleGuarantee | SecureGuarantee) -> None:
    for line in found.lines():
        console.show(line)
