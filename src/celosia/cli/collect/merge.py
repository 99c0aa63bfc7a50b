"""`celosia collect merge`: shards into one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console
from celosia.cli.collect.shared import Folder, ProtocolFile
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say


def merge(
    protocol: ProtocolFile,
    outputs: JsonOutputs,
    shards: Annotated[
        list[Path],
        "argument SHARDS...",
        "Folders of other collectors, or states that servers have written.",
    ],
    folder: Folder,
) -> None:
    """Take in what other collectors have counted. The order does not matter; each counts once.

    **Examples**

    `celosia collect merge emoji.toml shard-1 shard-2 --folder total`
    """
    from celosia.collect.collector.collector import Collector
    from celosia.collect.registry import load_protocol

    declared = load_protocol(protocol)
    merged = []
    with Collector.open(folder, declared) as collector:
        for shard in shards:
            if shard.is_dir():
                with Collector.open(shard, declared, make=False) as other:
                    receipt = collector.merge(other)
            else:
                receipt = collector.merge_state(_bytes(shard))
            merged.append({"shard": str(shard)} | receipt.as_dict())
            if not outputs.as_json:
                console.show(f"{shard}: {receipt}")
        total = collector.users
    last = say("cli.collect.reports_all", total=total)
    outputs.show(lambda: {"shards": merged, "total": total}, None, last)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            "CEL-R082.bytes", path=str(path), reason=(error.strerror or str(error.errno)).lower()
        ) from None
