"""`celosia log publish`: protect a log or sets, and write them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from celosia.cli import console, options
from celosia.cli.frame import ReleaseOutputs
from celosia.cli.log.input_options import LogFile, LogInput, SetInput
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.logs.method import LogMethod, SetMethod
    from celosia.logs.release import LogFileRelease, LogRelease, SetRelease

    Published = LogRelease | LogFileRelease | SetRelease


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOutputs(ReleaseOutputs):
    """The outputs of a published log; sets are written as lines or as JSON."""

    called: ClassVar[str] = "release"

    report: options.PrivateReport = None

    def check_format(self, output: Path) -> None:
        """What is written depends on the method: the release itself checks it before it writes."""


def publish(
    log: LogFile,
    given: LogInput,
    sets: SetInput,
    outputs: LogOutputs,
    min_people: Annotated[
        int | None,
        "--min-people K",
        "Publish a query only if at least K different persons asked it.",
    ] = None,
    km: Annotated[
        tuple[int, int] | None,
        typer.Option(
            "--km",
            metavar="K M",
            help="With --sets, k^m-anonymity: every set of up to M items is in at least K "
            "transactions.",
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        "--method NAME[:KEY=VALUE,...]",
        "Method with its parameters (list: celosia log methods); repeat it for more.",
    ] = None,
    no_assess: Annotated[
        bool, "--no-assess", "Do not check, attack or measure the release."
    ] = False,
    stream: Annotated[
        bool,
        "--stream",
        "From file to file, block by block: for logs larger than memory. Fields and "
        "--min-people only; no attack is run.",
    ] = False,
    seed: options.Seed = None,
) -> None:
    """Publish a log, or the sets of items of its persons.

    Fields that identify by themselves (persons, addresses, agents, times) are always treated; give
    --method fields:... to choose how. Columns that are not declared are never published.

    **Examples**

    `celosia log publish access.log --min-people 10 -o safe.csv --report report.html`

    `celosia log publish access.log --min-people 10 --stream -o safe.parquet`  (larger than memory)

    `celosia log publish searches.csv --declare log.toml --min-people 5 -o safe.parquet`

    `celosia log publish searches.csv --declare log.toml --method user-microaggregation:5`

    `celosia log publish searches.csv --declare log.toml --method fields:person=pseudonym`

    `celosia log publish baskets.txt --sets --km 5 2 --hierarchy items.csv -o safe.txt`

    `celosia log publish baskets.txt --sets --method disassociation:5 -o safe.json`
    """
    outputs.check(inputs=(log, given.declare, sets.hierarchy, sets.sensitive))
    wanted = _methods(methods, min_people, km)
    sets.check()
    _check(wanted, is_sets=sets.sets)
    if stream and (sets.sets or outputs.output is None):
        raise InputError("CEL-U024.no_file")
    with outputs.working() as progress:
        release: Published
        if stream:
            release = _publish_file(log, given, wanted, outputs, progress, seed=seed)
        elif sets.sets:
            release = _publish_sets(
                log, given, sets, wanted[0], progress, assess=not no_assess, seed=seed
            )
        else:
            release = _publish_log(log, given, wanted, progress, assess=not no_assess, seed=seed)
        if not stream:
            outputs.save(release)
    outputs.finish(release, lambda: _show(release))


def _methods(
    written: list[str] | None, min_people: int | None, km: tuple[int, int] | None
) -> list[LogMethod | SetMethod[Any]]:
    from celosia.logs.registry import method_from, method_from_text

    made = [method_from_text(each) for each in written or ()]
    if min_people is not None:
        made.append(method_from("user-threshold", {"k": min_people}))
    if km is not None:
        made.append(method_from("km-anonymity", {"k": km[0], "m": km[1]}))
    return made


def _check(methods: list[LogMethod | SetMethod[Any]], *, is_sets: bool) -> None:
    """Refuse, before any work, methods that do not go together."""
    from celosia.logs.method import LogMethod

    if is_sets:
        set_method(methods)
        return
    for method in methods:
        if not isinstance(method, LogMethod):
            raise InputError("CEL-U023.sets", method=method.method_name)


def set_method(methods: list[LogMethod | SetMethod[Any]]) -> SetMethod[Any]:
    """The one method for sets."""
    from celosia.logs.method import SetMethod

    if len(methods) != 1:
        key = "CEL-U023.twice" if methods else "CEL-U023.no_method"
        raise InputError(key, method=methods[-1].method_name if methods else "")
    (method,) = methods
    if not isinstance(method, SetMethod):
        raise InputError("CEL-U023.records", method=method.method_name)
    return method


def _publish_log(
    path: Path,
    given: LogInput,
    methods: list[Any],
    progress: Progress,
    *,
    assess: bool,
    seed: int | None,
) -> LogRelease:
    from celosia import logs
    from celosia.core.randomness import source

    return logs.publish(
        given.read(path), methods, assess=assess, rng=source(seed), progress=progress
    )


def _publish_file(
    path: Path,
    given: LogInput,
    methods: list[Any],
    outputs: LogOutputs,
    progress: Progress,
    *,
    seed: int | None,
) -> LogFileRelease:
    from celosia import logs
    from celosia.core.randomness import source

    assert outputs.output is not None
    return logs.publish_file(
        path,
        outputs.output,
        methods,
        declare=given.declaration(path),
        overwrite=outputs.overwrite,
        rng=source(seed),
        progress=progress,
    )


def _publish_sets(
    path: Path,
    given: LogInput,
    sets: SetInput,
    method: Any,
    progress: Progress,
    *,
    assess: bool,
    seed: int | None,
) -> SetRelease:
    from celosia import logs
    from celosia.core.randomness import source

    return logs.publish_sets(
        given.read_sets(path),
        method,
        hierarchy=sets.hierarchy,
        sensitive=sets.items(),
        declare=given.declare,
        assess=assess,
        rng=source(seed),
        progress=progress,
    )


def _show(release: Published) -> None:
    from celosia.core.messages import format_numbers
    from celosia.logs.report import FACTS, REASONS, UTILITY

    for name, count in release.left_out.items():
        console.note(say("cli.log.left_out", reason=REASONS[name], count=count))
    for each in release.methods:
        numbers = format_numbers(each.facts, FACTS)
        console.show(f"{each.method}: {numbers}" if numbers else each.method)
    if release.account.attacks:
        console.show_table(
            say("cli.log.singled_out"),
            console.columns("attack", "before:.2%", "after:.2%"),
            [
                [str(after.name), before.share_exposed, after.share_exposed]
                for before, after in zip(
                    release.account.before, release.account.attacks, strict=True
                )
            ],
        )
    for name, value in release.account.utility.items():
        console.show(f"{UTILITY[name]}: {console.number(value, '.2%')}")
    if release.account.violations == 0:
        console.show(say("cli.log.checked"))
