"""What the commands of `celosia collect` have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import options
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.collect.collector.batches import BatchLimits
    from celosia.collect.collector.service import Listening

ProtocolFile = Annotated[
    Path, "argument PROTOCOL", "The protocol file (TOML) that devices and server share."
]
Folder = Annotated[Path, "The folder of the collector."]
UserTable = Annotated[Path | None, "argument [TABLE]", "Values, a row for each user: any table."]
DeviceTable = Annotated[Path, "argument TABLE", "Values, a row for each device (CSV, Parquet)."]
ValuesColumn = Annotated[str, "--column -c", "The column with the values."]
AnyColumn = Annotated[str | None, "--column -c", "The column with the values."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningOptions:
    """Where an endpoint listens, and to whom."""

    host: options.Host = "127.0.0.1"
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port.")] = 8450
    sender_token: Annotated[
        list[Path] | None,
        "FILE",
        "Token file of a sender; without any, anyone may send. Repeatable.",
    ] = None
    metrics_token: Annotated[
        Path | None, "FILE", "Token file for /v1/metrics (Prometheus); without it nobody sees them."
    ] = None
    origin: Annotated[
        list[str] | None,
        "URL",
        "A site whose pages may send from a browser, as https://app.example. Repeatable.",
    ] = None
    batch_bytes: Annotated[int, typer.Option(min=1, help="The largest size of a batch.")] = (
        16 * 2**20
    )
    certificate: options.HttpsCertificate = None
    key: options.HttpsKey = None
    plain: options.Plain = False

    def listening(self) -> Listening:
        """Where to listen."""
        from celosia.collect.collector.service import Listening

        return Listening(
            host=self.host,
            port=self.port,
            certificate=self.certificate,
            key=self.key,
            plain=self.plain,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions(ListeningOptions):
    """Where an endpoint listens, and what it takes."""

    source_reports: Annotated[
        int | None, typer.Option(min=1, help="The largest number of reports of one sender.")
    ] = None
    remember_days: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Days in which a batch may be sent again. Ids then begin with their day, as "
            "2026-11-18:; without it batches are remembered for good.",
        ),
    ] = None

    def limits(self, partition: str = "1/1") -> BatchLimits:
        """What batches and sources may weigh, and which of them belong here."""
        from celosia.collect.collector.batches import BatchLimits

        first, _, of = partition.partition("/")
        if not first.isdecimal() or not of.isdecimal():
            raise InputError("CEL-R077.partition", partitions=of)
        return BatchLimits(
            batch_bytes=self.batch_bytes,
            source_reports=self.source_reports,
            remember_days=self.remember_days,
            partition=int(first),
            partitions=int(of),
        )
