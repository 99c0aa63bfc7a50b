"""`celosia log init`, `info` and `methods`: declare a log, describe it, and list the methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.cli.log.input_options import LogFile, LogInput
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.logs.summary import LogSummary


def init(
    log: LogFile,
    outputs: FileOutputs,
    output: Annotated[Path | None, "--output -o", "File for the draft (TOML)."] = None,
) -> None:
    """Write a draft of the declaration of a log, from the names of its columns.

    **Examples**

    `celosia log init searches.csv -o log.toml`

    `celosia log init access.log`
    """
    from celosia.logs.draft import draft, draft_text

    outputs.check(inputs=(log,), draft=output)
    found = draft(log)
    text = draft_text(found)
    outputs.write_text(output, lambda: text)
    outputs.show(
        lambda: {"columns": found.columns, "unit": found.unit, "text": text},
        lambda: console.show(text.rstrip()) if output is None else None,
        say("cli.log.declared", roles=list(found.columns)),
        draft=output,
    )


def info(
    log: LogFile,
    given: LogInput,
    outputs: JsonOutputs,
    seed: Annotated[int | None, "Seed for the items an attacker knows."] = None,
) -> None:
    """Describe a log in counts: persons, queries, and how many persons a few queries single out.

    **Examples**

    `celosia log info searches.csv --declare log.toml`

    `celosia log info access.log --json`
    """
    from celosia.core.randomness import source
    from celosia.logs.summary import summarise

    with outputs.working():
        found = summarise(given.read(log), rng=source(seed))
    outputs.show(found.as_dict, lambda: _show_summary(found), found)


def _show_summary(found: LogSummary) -> None:
    from celosia.logs.report import REASONS

    for name, count in found.left_out.items():
        console.note(say("cli.log.left_out", reason=REASONS[name], count=count))
    if found.thresholds:
        console.show_table(
            say("cli.log.thresholds"),
            console.columns("persons:,", "queries:,", "share_of_records:.2%", "record_threshold:,"),
            [[each.k, each.queries, each.records, each.wrong] for each in found.thresholds],
        )
    for attack in found.attacks:
        console.show(str(attack))


def methods(outputs: JsonOutputs) -> None:
    """List the methods for logs and for sets with their parameters.

    **Examples**

    `celosia log methods`

    `celosia log methods --json`
    """
    from celosia.cli.methods import show_methods
    from celosia.logs.registry import methods as known
    from celosia.logs.registry import set_methods

    sets = set(set_methods().values())
    show_methods(outputs, known(), lambda kind: {"data": "sets" if kind in sets else "records"})
