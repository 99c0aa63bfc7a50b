"""`celosia log attack` and `assess`: attacks on a published log, and what is left of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from celosia.cli import console
from celosia.cli.frame import ReportOutputs
from celosia.cli.log.input_options import LogFile, LogInput, SetInput
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.methods import Method
    from celosia.core.progress import Progress
    from celosia.core.randomness import Source
    from celosia.logs import Log
    from celosia.logs.account import LogAccount
    from celosia.logs.attacks import AttackedSets, LogAttack


Attacking = TypeVar("Attacking", bound="Method")


def attack(
    original: LogFile,
    given: LogInput,
    sets: SetInput,
    outputs: ReportOutputs,
    release: Annotated[
        Path | None, "argument", "The published file. Default: the original, persons as pseudonyms."
    ] = None,
    methods: Annotated[
        list[str] | None,
        "--method NAME[:KEY=VALUE,...]",
        "Instead of a release: apply this method first; repeat it for more.",
    ] = None,
    attacks: Annotated[
        list[str] | None,
        "--attack NAME[:KEY=VALUE,...]",
        "known-items, rare-queries, session-linking or hash-columns; with --sets, "
        "known-items or association; repeat it for more.",
    ] = None,
    seed: Annotated[int | None, "Seed of what the attacker knows."] = None,
) -> None:
    """Attack a published log, or published sets, with what an attacker may know of the original.

    **Examples**

    `celosia log attack searches.csv --declare log.toml`  (pseudonyms, and nothing else)

    `celosia log attack searches.csv safe.csv --declare log.toml --report attacks.html`

    `celosia log attack searches.csv --declare log.toml --method user-threshold:5`

    `celosia log attack searches.csv --declare log.toml --attack known-items:3,choice=rare`

    `celosia log attack searches.csv --declare log.toml --attack session-linking --json`

    `celosia log attack baskets.txt safe.txt --sets --hierarchy items.csv`

    `celosia log attack baskets.txt safe.json --sets --sensitive secret.txt --attack association:2`
    """
    from celosia.core.randomness import source
    from celosia.core.report import Document

    outputs.check(inputs=(original, release, given.declare, sets.hierarchy, sets.sensitive))
    sets.check()
    if methods and release is not None:
        raise InputError("CEL-U045")
    with outputs.working() as progress:
        if sets.sets:
            subject = _sets_subject(original, given, sets, release, methods, seed=seed)
            found = _attack_sets(subject, attacks, source(seed), progress)
            size = say("logs.summary.sets", count=subject.original.count)
        else:
            log = given.read(original)
            published = _published(log, release, methods, seed)
            found = _attack_log(log, published, attacks, source(seed), progress)
            size = say("cli.log.attacked", records=log.records)
    blocks = [block for each in found for block in each.blocks()]
    outputs.write_report(lambda: Document(say("cli.log.attacks"), size, blocks))
    outputs.show(lambda: [each.as_dict() for each in found], lambda: _show(found), found[-1])


def _attack_log(
    log: Log, published: Log | None, attacks: list[str] | None, rng: Source, progress: Progress
) -> list[LogAttack]:
    from celosia.logs.attacks.method import DEFAULT, AttackedLog, attack_from_text

    wanted = [attack_from_text(each) for each in attacks] if attacks else list(DEFAULT)
    subject = AttackedLog(original=log, release=published)
    return [each.run(subject, rng=rng) for each in _reported(wanted, progress)]


def _attack_sets(
    subject: AttackedSets, attacks: list[str] | None, rng: Source, progress: Progress
) -> list[LogAttack]:
    from celosia.logs.attacks.method import SET_DEFAULT, Association, set_attack_from_text

    wanted = [set_attack_from_text(each) for each in attacks or ()]
    if not wanted:
        wanted = [*SET_DEFAULT, *([Association()] if subject.context.sensitive else [])]
    return [each.run_on_sets(subject, rng=rng) for each in _reported(wanted, progress)]


def _reported(wanted: Sequence[Attacking], progress: Progress) -> Iterator[Attacking]:
    from celosia.core.progress import Step

    for done, each in enumerate(wanted):
        progress(Step(each.method_name, done, len(wanted)))
        yield each


def _sets_subject(
    original: Path,
    given: LogInput,
    sets: SetInput,
    release: Path | None,
    methods: list[str] | None,
    *,
    seed: int | None,
) -> AttackedSets:
    """Transactions with the release of a file, or with what a method makes of them."""
    from celosia.cli.log.publish import set_method
    from celosia.core.randomness import source
    from celosia.logs import method_from_text, publish_sets
    from celosia.logs.attacks import AttackedSets
    from celosia.logs.matching import open_set_release

    context = sets.context(given)
    data = given.read_sets(original)
    if release is not None:
        made = open_set_release(release, data, context)
        return AttackedSets(original=data, release=made, context=context)
    if not methods:
        return AttackedSets(original=data, context=context)
    method = set_method([method_from_text(each) for each in methods])
    done = publish_sets(
        data, method, hierarchy=context.tree, sensitive=context.sensitive, assess=False,
        rng=source(seed),
    )  # fmt: skip
    return AttackedSets(original=data, release=done.data, context=context)


def _published(
    log: Log, release: Path | None, methods: list[str] | None, seed: int | None
) -> Log | None:
    """The release of a file, or what methods make of the log; None for pseudonyms alone."""
    from celosia.core.notation import method_from_text
    from celosia.core.randomness import source
    from celosia.logs.matching import open_release
    from celosia.logs.registry import log_methods
    from celosia.logs.run import apply_methods

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
    release: Annotated[Path, "argument", "The published file."],
    given: LogInput,
    sets: SetInput,
    outputs: ReportOutputs,
    seed: Annotated[int | None, "Seed of what the attacker knows."] = None,
) -> None:
    """Compare a published log, or published sets, with the original: what use and risk are left.

    **Examples**

    `celosia log assess searches.csv safe.csv --declare log.toml`

    `celosia log assess searches.csv safe.csv --declare log.toml --report r.html --json`

    `celosia log assess baskets.txt safe.txt --sets --hierarchy items.csv`
    """
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.logs.account import log_account
    from celosia.logs.matching import open_release
    from celosia.logs.report import UTILITY, account_blocks

    outputs.check(inputs=(original, release, given.declare, sets.hierarchy, sets.sensitive))
    sets.check()
    with outputs.working() as progress:
        if sets.sets:
            found, size = _assess_sets(original, release, given, sets, source(seed), progress)
        else:
            log = given.read(original)
            published = open_release(release, log.declaration)
            found = log_account(log, published, rng=source(seed), progress=progress)
            size = say("cli.log.attacked", records=log.records)
    outputs.write_report(lambda: Document(say("cli.log.assessed"), size, account_blocks(found)))
    outputs.show(
        found.figures,
        lambda: _show(list(found.attacks)),
        "; ".join(
            f"{UTILITY[name]}: {console.number(value, '.2%')}"
            for name, value in found.utility.items()
        ),
    )


def _assess_sets(
    original: Path,
    release: Path,
    given: LogInput,
    sets: SetInput,
    rng: Source,
    progress: Progress,
) -> tuple[LogAccount, str]:
    """What is left of published sets, and how many there were."""
    from dataclasses import replace

    from celosia.logs.account import set_account
    from celosia.logs.matching import open_set_release

    context = replace(sets.context(given), rng=rng, progress=progress)
    data = given.read_sets(original)
    made = open_set_release(release, data, context)
    return set_account(data, made, None, context), say("logs.summary.sets", count=data.count)
