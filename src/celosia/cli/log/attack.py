"""`celosia log attack` and `assess`: attacks on a published log, and what is left of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import ReportOutputs
from celosia.cli.log.input_options import LogFile, LogInput
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.logs import Log
    from celosia.logs.attacks import LogAttack


def attack(
    original: LogFile,
    given: LogInput,
    outputs: ReportOutputs,
    release: Annotated[
        Path | None,
        typer.Argument(help="The published file. Default: the original, persons as pseudonyms."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME[:KEY=VALUE,...]",
            help="Instead of a release: apply this method first; repeat it for more.",
        ),
    ] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME[:KEY=VALUE,...]",
            help="known-items, rare-queries, session-linking or hash-columns; repeat it for more.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of what the attacker knows.")] = None,
) -> None:
    """Attack a published log with what an attacker may know about the original.

    **Examples**

    `celosia log attack searches.csv --declare log.toml`  (pseudonyms, and nothing else)

    `celosia log attack searches.csv safe.csv --declare log.toml --report attacks.html`

    `celosia log attack searches.csv --declare log.toml --method user-threshold:5`

    `celosia log attack searches.csv --declare log.toml --attack known-items:3,choice=rare`

    `celosia log attack searches.csv --declare log.toml --attack session-linking --json`
    """
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.logs.attacks.method import DEFAULT, AttackedLog, attack_from_text

    outputs.check(inputs=(original, release, given.declare))
    wanted = [attack_from_text(each) for each in attacks] if attacks else list(DEFAULT)
    rng = source(seed)
    with outputs.working() as progress:
        log = given.read(original)
        published = _published(log, release, methods, seed)
        found: list[LogAttack] = []
        for each in wanted:
            progress(Step(each.method_name, len(found), len(wanted)))
            found.append(each.run(AttackedLog(original=log, release=published), rng=rng))
    outputs.write_report(
        lambda: Document(
            say("cli.log.attacks"),
            say("cli.log.attacked", records=log.records),
            [block for each in found for block in each.blocks()],
        )
    )
    outputs.show(lambda: [each.as_dict() for each in found], lambda: _show(found), found[-1])


def _published(
    log: Log, release: Path | None, methods: list[str] | None, seed: int | None
) -> Log | None:
    """The release of a file, or what methods make of the log; None for pseudonyms alone."""
    from celosia.core.errors import InputError
    from celosia.core.notation import method_from_text
    from celosia.core.randomness import source
    from celosia.logs.matching import open_release
    from celosia.logs.registry import log_methods
    from celosia.logs.run import apply_methods

    if methods and release is not None:
        raise InputError("CEL-U045")
    if release is not None:
        return open_release(release, log.declaration)
    if not methods:
        return None
    return apply_methods(
        log, [method_from_text(log_methods(), each) for each in methods], rng=source(seed)
    )


def _show(found: list[LogAttack]) -> None:
    console.show_table(
        say("cli.log.attacks"),
        console.columns("attack", "targets:,", "exposed:,", "share:.2%"),
        [[str(each.name), each.targets, each.exposed, each.share_exposed] for each in found],
    )


def assess(
    original: LogFile,
    release: Annotated[Path, typer.Argument(help="The published file.")],
    given: LogInput,
    outputs: ReportOutputs,
    seed: Annotated[int | None, typer.Option(help="Seed of what the attacker knows.")] = None,
) -> None:
    """Compare a published log with its original: what is left of its use, and of its risk.

    **Examples**

    `celosia log assess searches.csv safe.csv --declare log.toml`

    `celosia log assess searches.csv safe.csv --declare log.toml --report r.html --json`
    """
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.logs.account import log_account
    from celosia.logs.matching import open_release
    from celosia.logs.report import UTILITY, account_blocks

    outputs.check(inputs=(original, release, given.declare))
    with outputs.working() as progress:
        log = given.read(original)
        found = log_account(
            log, open_release(release, log.declaration), rng=source(seed), progress=progress
        )
    outputs.write_report(
        lambda: Document(
            say("cli.log.assessed"),
            say("cli.log.attacked", records=log.records),
            account_blocks(found),
        )
    )
    outputs.show(
        found.figures,
        lambda: _show(list(found.attacks)),
        "; ".join(
            f"{UTILITY[name]}: {console.number(value, '.2%')}"
            for name, value in found.utility.items()
        ),
    )
