"""`celosia collect share`, `verify`, `aggregate` and `combine`: sums by two aggregators (Prio3).

`upload` and `aggregator` are the same over a network.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from celosia.cli import console
from celosia.cli.collect.privatise import column_values
from celosia.cli.collect.shared import DeviceTable, ListeningOptions, ValuesColumn
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.core.errors import EngineError, InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.collect.secure.aggregation import Aggregator, SecureResult
    from celosia.collect.secure.records import Role as RoleName
    from celosia.collect.secure.tasks import SecureTask


Role = Literal["leader", "helper"]
"""Which of the two aggregators."""


TaskFile = Annotated[
    Path, "argument TASK", "The task file (TOML) that devices and aggregators share."
]
Shares = Annotated[Path, "argument SHARES", "The shares of this aggregator (.clp)."]
As = Annotated[Role, "--as", "Which aggregator this is."]
VerifyKey = Annotated[
    Path, "FILE", "A file with 64 hexadecimal digits that both aggregators have, and no device."
]
Output = Annotated[Path, "--output -o", "What is written."]


def share(
    task: TaskFile,
    outputs: FileOutputs,
    table: DeviceTable,
    column: ValuesColumn,
    leader: Annotated[Path, "The shares for the leader."],
    helper: Annotated[Path, "The shares for the helper."],
) -> None:
    """Split values into shares for two aggregators, as devices would. Neither can read a value.

    **Examples**

    `celosia collect share votes.toml today.csv -c vote --leader leader.clp --helper helper.clp`
    """
    from celosia.collect.secure.aggregation import write_shares
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    outputs.check(inputs=(task, table), reports=leader, checks=helper)
    reports = declared.share(column_values(table, column))
    count = write_shares(declared, reports, (leader, helper), overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"reports": count, "leader": str(leader), "helper": str(helper)},
        None,
        say("collect.secure.shared", reports=count),
    )


def verify(
    task: TaskFile,
    outputs: FileOutputs,
    shares: Shares,
    role: As,
    verify_key: VerifyKey,
    output: Output,
) -> None:
    """Check shares, and write what the other aggregator must be told. It reveals no value.

    **Examples**

    `celosia collect verify votes.toml leader.clp --as leader --verify-key both.key -o leader.check`
    """
    from celosia.collect.secure.aggregation import read_file, write_file
    from celosia.collect.secure.records import pack_checks, unpack_shares
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    outputs.check(inputs=(task, shares, verify_key), checks=output)
    mine = unpack_shares(declared, role, read_file(shares))
    found = _aggregator(declared, role, verify_key).check(mine)
    told = pack_checks(declared, role, found)
    write_file(output, told, overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"reports": len(found), "output": str(output)},
        None,
        say("collect.secure.verified", reports=len(found)),
    )


def aggregate(
    task: TaskFile,
    outputs: FileOutputs,
    shares: Shares,
    role: As,
    verify_key: VerifyKey,
    other: Annotated[Path, "What the other aggregator has told."],
    output: Output,
) -> None:
    """Add up the shares of valid reports, with noise. Do it once for one set of reports.

    **Examples**

    `celosia collect aggregate votes.toml leader.clp --as leader --verify-key both.key
    --other helper.check -o leader.sum`
    """
    from celosia.collect.secure.aggregation import read_file, write_file
    from celosia.collect.secure.records import pack_sum, unpack_checks, unpack_shares
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    outputs.check(inputs=(task, shares, verify_key, other), sums=output)
    aggregator = _aggregator(declared, role, verify_key)
    told_by: RoleName = "leader" if role == "helper" else "helper"
    theirs = unpack_checks(declared, told_by, read_file(other))
    aggregator.check(unpack_shares(declared, role, read_file(shares)))
    found = aggregator.total(theirs)
    share = pack_sum(declared, role, found)
    write_file(output, share, overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"reports": found.reports, "refused": found.refused, "output": str(output)},
        None,
        say("collect.secure.aggregated", reports=found.reports, refused=found.refused),
    )


def combine(
    task: TaskFile,
    outputs: JsonOutputs,
    leader: Annotated[str, "argument LEADER", "The sum of the leader, or the address of it."],
    helper: Annotated[str, "argument HELPER", "The sum of the helper, or the address of it."],
    token: Annotated[
        Path | None, "FILE", "Token file by which both aggregators know the collector."
    ] = None,
    batch: Annotated[
        str | None,
        "ID",
        "With addresses: a batch that was asked for before; without it a new one is closed.",
    ] = None,
) -> None:
    """Put the sums of both aggregators together: the published result.

    With addresses, both aggregators close a batch of all reports that wait. If that fails, ask for
    the same batch again: it has the same reports and the same noise.

    **Examples**

    `celosia collect combine votes.toml leader.sum helper.sum`

    `celosia collect combine votes.toml https://leader.example https://helper.example
    --token collector.token`
    """
    from celosia.collect.secure.aggregation import combine as combine_sums
    from celosia.collect.secure.aggregation import read_file
    from celosia.collect.secure.records import unpack_sum
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    remote = [each.startswith(("http://", "https://")) for each in (leader, helper)]
    if any(remote):
        if not all(remote) or token is None:
            raise InputError("CEL-R109.two_addresses")
        found = _collected(declared, leader, helper, token, batch)
    else:
        sums = (
            unpack_sum(declared, "leader", read_file(Path(leader))),
            unpack_sum(declared, "helper", read_file(Path(helper))),
        )
        found = combine_sums(declared, *sums)
    outputs.show(found.as_dict, lambda: _show(found), found)


def _collected(
    task: SecureTask, leader: str, helper: str, token: Path, batch: str | None
) -> SecureResult:
    from secrets import token_hex

    from celosia.collect.secure.client import collect_batch
    from celosia.collect.secure.service import check_id

    id = token_hex(16) if batch is None else check_id(batch)
    try:
        return collect_batch(task, id, leader=leader, helper=helper, token=token)
    except EngineError:
        console.note(say("collect.secure.batch", id=id))
        raise


def upload(
    task: TaskFile,
    outputs: JsonOutputs,
    shares: Shares,
    role: As,
    to: Annotated[str, "URL", "The address of this aggregator, as https://leader.example."],
    token: Annotated[Path | None, "FILE", "Token file by which it knows this sender."] = None,
    seal_to: Annotated[
        str | None, "KEY", "The public key of this aggregator, where it takes sealed shares only."
    ] = None,
) -> None:
    """Send shares to their aggregator. Sent again, they are not counted again.

    **Examples**

    `celosia collect upload votes.toml leader.clp --as leader --to https://leader.example`
    """
    from celosia.collect.secure.aggregation import read_file
    from celosia.collect.secure.client import upload_shares
    from celosia.collect.secure.records import unpack_shares
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    data = read_file(shares)
    count = len(unpack_shares(declared, role, data))
    upload_shares(declared, role, data, to=to, token=token, seal_key=seal_to)
    outputs.show(
        lambda: {"reports": count, "role": role},
        None,
        say("collect.secure.uploaded", reports=count, role=role),
    )


def aggregator(
    task: TaskFile,
    role: As,
    verify_key: VerifyKey,
    folder: Annotated[Path, "The folder of the aggregator."],
    peer_token: Annotated[Path, "FILE", "Token file by which the helper knows the leader."],
    collector_token: Annotated[Path, "FILE", "Token file of the collector, who alone gets sums."],
    endpoint: ListeningOptions,
    peer: Annotated[str | None, "URL", "For the leader: the address of the helper."] = None,
    every: Annotated[
        float, "For the leader: seconds between two times that it checks what waits."
    ] = 60,
    waiting: Annotated[int, typer.Option(min=1, help="The most reports that may wait.")] = (
        1_000_000
    ),
    wait_days: Annotated[
        int,
        typer.Option(
            min=1,
            help="Days that a share waits for its other half; choose more than the other "
            "aggregator may ever be away.",
        ),
    ] = 30,
    seal_key: Annotated[
        Path | None,
        "FILE",
        "A file with 64 hexadecimal digits of this aggregator alone; it then takes only shares "
        "that are sealed to the public key of it, which is told.",
    ] = None,
) -> None:
    """Run one of two aggregators, which take shares of devices and cannot read a report alone.

    What was acknowledged is on disk. A report is in one batch at most, and a batch has one sum with
    one noise, also after a crash. It runs until Ctrl-C; SIGHUP starts it again without refusing a
    connection. The protocol is Prio3; its transport is our own, and not that of the IETF (DAP).

    **Examples**

    `celosia collect aggregator votes.toml --as helper --folder helper --verify-key both.key
    --peer-token peer.token --collector-token collector.token --port 8452`

    `celosia collect aggregator votes.toml --as leader --folder leader --verify-key both.key
    --peer-token peer.token --collector-token collector.token --peer https://helper.example`
    """
    from celosia.collect.collector.access import Access, read_token
    from celosia.collect.collector.batches import BatchLimits
    from celosia.collect.secure.client import RemoteHelper
    from celosia.collect.secure.guarantee import secure_guarantee
    from celosia.collect.secure.networked import LeadingAggregator, NetworkedAggregator, key_mark
    from celosia.collect.secure.sealing import public_key
    from celosia.collect.secure.service import AggregatorAccess, serve_aggregator
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    key = _key(verify_key)
    own = None if seal_key is None else _key(seal_key)
    if read_token(peer_token) == read_token(collector_token):
        raise InputError("CEL-R088.same_token")
    who = AggregatorAccess(
        access=Access.load(
            curator=collector_token,
            senders=endpoint.sender_token or [],
            monitor=endpoint.metrics_token,
        ),
        peer=Access.load(curator=peer_token),
    )
    if (peer is None) == (role == "leader"):
        raise InputError("CEL-R109.peer", role=role)
    listen = endpoint.listening()
    mark = key_mark(declared, key)
    helper = None if peer is None else RemoteHelper(peer, token=peer_token, key_mark=mark)

    def opened() -> NetworkedAggregator:
        named: dict[str, Any] = {"waiting": waiting, "wait_days": wait_days, "seal_key": own}
        if helper is None:
            return NetworkedAggregator(folder, declared, "helper", key, **named)
        return LeadingAggregator(folder, declared, key, helper, **named)

    def ready() -> None:
        for line in secure_guarantee(declared).lines():
            console.note(line)
        if own is not None:
            console.note(say("collect.secure.seal_key", key=public_key(own).hex()))
        console.note(say("collect.secure.serving", role=role, address=listen.address))

    serve_aggregator(
        opened,
        who=who,
        listen=listen,
        limits=BatchLimits(batch_bytes=endpoint.batch_bytes),
        every=every,
        origins=endpoint.origin or [],
        ready=ready,
    )
    console.show(say("cli.collect.endpoint_has_ended_what"))


def _show(found: SecureResult) -> None:
    rows = [
        [label, figure, found.error]
        for label, figure in zip(found.labels, found.figures, strict=True)
    ]
    columns = console.columns("value", "count:,", "error:,.1f")
    console.show_table(say("collect.secure.title", epsilon=found.epsilon), columns, rows)


def _aggregator(task: SecureTask, role: Role, path: Path) -> Aggregator:
    from celosia.collect.secure.aggregation import Aggregator

    return Aggregator(task, role, _key(path))


def _key(path: Path) -> bytes:
    from celosia.collect.collector.access import read_token

    try:
        return bytes.fromhex(read_token(path))
    except ValueError:
        raise InputError("CEL-R096.key") from None
