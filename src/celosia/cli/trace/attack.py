"""`celosia trace attack`: attacks on published traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.cli.trace.input_options import (
    KeyFile,
    Method,
    Seed,
    TraceFile,
    TraceInput,
)
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.randomness import Source
    from celosia.traces import Traces
    from celosia.traces.attacks import AttackedTraces


def attack(
    points: TraceFile,
    declared: TraceInput,
    outputs: ReportOutputs,
    release: options.PublishedFile = None,
    attacks: Annotated[
        list[str] | None,
        "--attack NAME[:KEY=VALUE,...]",
        "Attack with its parameters: unicity, home-work, averaging, linking (the "
        "default), worst-cells; repeat it for more.",
    ] = None,
    method: Method = None,
    key: KeyFile = None,
    seed: Seed = None,
) -> None:
    """Attack published traces with what an attacker may know about the original.

    With --method instead of a release, the method is applied first.

    **Examples**

    `celosia trace attack pings.csv --declare trace.toml`  (names hidden, and nothing else)

    `celosia trace attack pings.csv safe.csv --declare trace.toml --key key.csv`

    `celosia trace attack pings.csv -d trace.toml --attack unicity:points=2,cell=200 --json`

    `celosia trace attack pings.csv -d trace.toml --method planar-laplace:times=4,within=200`
    """
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.traces.attacks import attack_from_text
    from celosia.traces.attacks.registry import USUAL

    outputs.check(inputs=(points, declared.declare, release, key))
    wanted = tuple(dict.fromkeys(map(attack_from_text, attacks))) if attacks else USUAL
    if release is not None and key is None:
        raise InputError("CEL-J013.no_key")
    rng = source(seed)
    with outputs.working() as progress:
        traces = declared.read(points, progress)
        attacked = _attacked(traces, release, key, method, rng)
        found = [each.run(attacked, rng=rng, progress=progress) for each in wanted]
    outputs.write_report(
        lambda: Document(
            say("traces.cli.attacks"),
            f"{traces}.",
            [block for each in found for block in each.blocks()],
        )
    )

    def lines() -> None:
        console.show_table(
            say("traces.report.risk"),
            [
                say("cli.column.attack"),
                say("traces.cli.found"),
                say("traces.cli.targets"),
                say("traces.report.chance"),
            ],
            [
                [
                    str(each.name),
                    f"{each.found:,} ({each.share:.1%})",
                    console.number(each.targets, ","),
                    console.number(each.chance, ".2%"),
                ]
                for each in found
            ],
        )

    outputs.show(lambda: [each.as_dict() for each in found], lines, found[0])


def _attacked(
    traces: Traces, release: Path | None, key: Path | None, method: str | None, rng: Source
) -> AttackedTraces:
    """What is attacked: a published file with its key, a method's result, or the original."""
    from celosia import frames
    from celosia.traces import PublishOptions, method_from_text, publish
    from celosia.traces.attacks import AttackedTraces
    from celosia.traces.keys import with_key
    from celosia.traces.release import TYPES
    from celosia.traces.samples import samples_from

    if release is not None and key is not None:
        frame = frames.read(release)
        known = {name: kind for name, kind in TYPES.items() if name in frame.columns}
        samples = samples_from(frames.read(release, types=known), traces.plane)
        return AttackedTraces(original=traces, release=with_key(samples, key, traces))
    if method is None:
        return AttackedTraces(original=traces)
    chosen = method_from_text(method)
    made = publish(traces, chosen, options=PublishOptions(assess=False), rng=rng)
    return AttackedTraces(original=traces, release=made.samples, period=chosen.default_period)
