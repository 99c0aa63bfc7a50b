"""`celosia publish`: protect a table and write it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from celosia.cli import console, options
from celosia.cli.frame import EngineOutputs
from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of

if TYPE_CHECKING:
    from celosia.frames import ReadKeywords
    from celosia.tables import Schema
    from celosia.tables.release import PublishedTable

GROWTH = 6
"""A table in memory, with what the work needs, takes up to this many times its file."""


def publish(
    table: options.EngineTable,
    models: options.ModelOptions,
    schema: options.SchemaOptions,
    unit: options.UnitOptions,
    metric: options.MetricOptions,
    target: EngineOutputs,
    reading: options.Reading,
    suppression: options.Suppression = "5%",
    method: Annotated[
        str, "lattice (the optimum), or mondrian or mondrian-relaxed (finer, fast)."
    ] = "lattice",
    local: Annotated[
        bool, "--local", "Local recoding: recode the suppressed records once more."
    ] = False,
    levels: Annotated[
        list[str] | None,
        "--level COLUMN=LEVEL",
        "Set the generalisation levels (see celosia explore); other columns stay raw.",
    ] = None,
    time_limit: Annotated[
        float | None, "SECONDS", "Stop after this time, and publish the best solution found."
    ] = None,
    population: options.Population = None,
    keep_order: Annotated[
        bool, "--keep-order", "Do not shuffle the rows (their order may re-identify records)."
    ] = False,
    sort: Annotated[
        list[str] | None,
        "--sort COLUMN",
        "Sort the shuffled rows by this released column; may be repeated.",
    ] = None,
    drop_suppressed: Annotated[
        bool, "--drop-suppressed", "Leave suppressed records out of the file."
    ] = False,
    accept_raw: Annotated[
        list[str] | None,
        "--accept-raw COLUMN",
        "Publish this column as it is although records are unique on it; needs --reason.",
    ] = None,
    reason: Annotated[
        str | None, "TEXT", "Why --accept-raw is safe; the certificate keeps it."
    ] = None,
    history: Annotated[
        Path | None,
        "HISTORY",
        "The history of this source's releases: stay anonymous together with these.",
    ] = None,
    accept_joint: Annotated[
        str | None, "REASON", "Why joint classes that are too small are accepted (kept)."
    ] = None,
    seed: Annotated[int | None, "Seed of the shuffle; makes the release a simulation."] = None,
    partition_by: Annotated[
        list[str] | None,
        "COLUMN",
        "With --engine spark: split the Parquet folder by this column's values.",
    ] = None,
    stream: Annotated[
        bool | None,
        "--stream/--in-memory",
        "Work in chunks from file to file; by default for files too large for memory.",
    ] = None,
) -> None:
    """Publish a table so that its privacy models hold, with the least loss of information.

    **Examples**

    `celosia publish people.csv --schema people.toml --k 5 -o safe.csv --report report.html`

    `celosia publish people.csv -s people.toml --k 5 --l entropy:3 --t 0.2,hierarchical -o safe.csv`

    `celosia publish people.csv -q age -q zip --sensitive disease --k 5 --suppression 2% -o o.csv`

    `celosia publish visits.csv -q age -q zip --person patient --k 5 -o safe.csv`

    `celosia publish people.csv -s people.toml --k 5 --weight age=3 --local -o safe.csv`

    `celosia publish people.csv -s people.toml --k 5 --method mondrian -o safe.csv`

    `celosia publish people.csv -s people.toml --k 5 --level age=2 --level zip=3 -o safe.csv`

    `celosia publish people.csv -s people.toml --model k-map:5 --population all.csv -o safe.csv`

    `celosia publish people.csv -s people.toml --k 5 --accept-raw cost --reason "Only the clinic
    knows it" -o safe.csv`

    `celosia publish people.csv -s people.toml --k 5 --history people.history -o safe.csv`

    `celosia publish people.csv -s people.toml --k 5 --sort zip --sort age -o safe.csv`

    `celosia publish people.csv -s people.toml --k 5 --json`  (write nothing, print the figures)

    `celosia publish 'raw/*.parquet' -s people.toml --k 5 --engine duckdb -o safe.parquet`

    `celosia publish census.people -s people.toml --k 5 --engine postgres --url '$DATABASE' -o
    census.safe --certificate safe.cert.json`
    """
    from celosia.core.progress import Stopwatch
    from celosia.core.randomness import source
    from celosia.tables.options import PublishOptions
    from celosia.tables.run import publish_table
    from celosia.tables.run_on_engine import publish_on_engine
    from celosia.tables.run_on_file import publish_to_file

    given = reading.as_arguments()
    refused = {
        "--stream": stream is not None,
        "--population": population is not None,
        options.READING_OPTIONS: bool(given),
    }
    outputs = target.check(table, inputs=(schema.schema, population), refused=refused)
    if partition_by and target.engine is None:
        raise InputError("CEL-P113.no_engine")
    chosen = models.load()
    # Choices that do not go together are refused before the file is read.
    wanted = PublishOptions.of(
        unit.of(schema.load()),
        chosen,
        suppression=options.share(suppression, option="--suppression"),
        metric=metric.load(),
        method=method,
        local=local,
        levels=options.levels_from(levels),
        time_limit=time_limit,
        keep_order=keep_order,
        sort=sort or (),
        drop_suppressed=drop_suppressed,
        accept_raw=accept_raw or (),
        reason=reason,
        history=history,
        accept_joint=accept_joint,
        rng=source(seed),
    )
    wanted.check_population(given=population is not None)
    whole = method == "mondrian-relaxed" or population is not None
    chunked = target.engine is None and _is_chunked(table, outputs.output, stream, whole=whole)
    release: PublishedTable
    certificate = outputs.files()["certificate"]
    stopwatch = Stopwatch()
    with outputs.working() as progress:
        if target.engine is not None and target.output is not None:
            with target.open_engine() as engine:
                release = publish_on_engine(
                    engine, table, target.output, wanted, overwrite=target.overwrite,
                    certificate=target.certificate, partition_by=partition_by or (),
                    progress=progress,
                )  # fmt: skip
                certificate = release.certificate_file
        elif chunked and outputs.output is not None:
            release = publish_to_file(
                options.source_of(table), outputs.output, wanted,
                reading=cast("ReadKeywords", given), overwrite=outputs.overwrite, progress=progress,
            )  # fmt: skip
        else:
            types = wanted.schema.types()
            with stopwatch.measure("reading"):
                people = None if population is None else options.Reading().read(population, types)
                data = reading.read(table, types)
            release = publish_table(
                data,
                wanted,
                population=people,
                record=outputs.output is not None,
                progress=progress,
                stopwatch=stopwatch,
            )
            if outputs.output is not None:
                with stopwatch.measure("writing"):
                    outputs.save(release)
                release = replace(release, timings=stopwatch.timings())
    options.note_open_identity(wanted.models)
    outputs.finish(release, lambda: show_release(release, wanted.schema), certificate=certificate)


def show_release(release: PublishedTable, schema: Schema | None = None) -> None:
    """Print the levels, the risk before and after, and how the solution was found."""
    from celosia.tables.account import describe_search

    solution, risk, before = release.solution, release.risk, release.risk_before
    console.show_table(
        say("cli.release_summary.generalisation"),
        console.columns("column", "level", "of", "loss:.2%"),
        [
            [
                column.name,
                say("cli.word.by_record") if column.level is None else column.level,
                column.height,
                column.loss,
            ]
            for column in solution.columns
        ],
    )
    measures: list[tuple[str, float, float, str]] = [
        (say("cli.column.average"), before.average, risk.average, ".3%"),
        (say("cli.column.highest"), before.maximum, risk.maximum, ".3%"),
        (say("cli.risk.above", share=risk.threshold), before.at_risk, risk.at_risk, ".2%"),
        (say("cli.column.classes"), before.classes, risk.classes, ","),
    ]
    console.show_table(
        say("cli.release_summary.re_identification_risk"),
        console.columns("", "original", "released"),
        [
            [label, console.number(raw, form), console.number(released, form)]
            for label, raw, released, form in measures
        ],
    )
    _show_raw(release)
    _show_intervals(release)
    console.show(say_of("cli.release_summary.method_metric", solution))
    chosen = release.provenance.parameters.get("levels") is not None
    console.show(
        say("cli.release_summary.search", describe_search=describe_search(solution, chosen=chosen))
    )
    if solution.joint is not None:
        joint = solution.joint
        console.show(say_of("cli.release_summary.joint", joint, risk=joint.average_risk))
    _show_timings(release)
    if schema is not None:
        _advise(release, schema)


def _show_intervals(release: PublishedTable) -> None:
    """Print the mean, the limits and the mode of numbers that are released as intervals."""
    from celosia.tables.account import interval_rows

    if release.intervals:
        console.show_table(
            say("tables.intervals.table"),
            ["", *release.intervals],
            interval_rows(release.intervals),
        )


def _show_timings(release: PublishedTable) -> None:
    """Print how long each stage took."""
    from celosia.tables.account import timing_rows

    if release.timings.seconds:
        *stages, (_, total) = timing_rows(release.timings)
        listed = ", ".join(f"{name} {seconds}" for name, seconds in stages)
        console.show(say("cli.release_summary.time", total=total, stages=listed))


def _show_raw(release: PublishedTable) -> None:
    """Print the columns that are published as they are, and how far they single records out."""
    raw = release.raw
    if raw is None:
        return
    all_published = (
        [] if raw.published is None else [(say("cli.word.all_published"), raw.published)]
    )
    together = [(say("cli.word.raw_together"), raw.together)] if len(raw.columns) > 1 else []
    each = [(column.name, column.uniqueness) for column in raw.columns]
    console.show_table(
        say("cli.release_summary.raw_columns"),
        console.columns("column", "values:,", "alone:,", "share:.2%"),
        [
            [name, found.combinations, found.alone, found.alone_share]
            for name, found in [*each, *together, *all_published]
        ],
    )


def _advise(release: PublishedTable, schema: Schema) -> None:
    """Say which columns became `*` because nothing says how their values group."""
    from celosia.tables import Automatic

    rules = {column.name: column.hierarchy for column in schema.quasi_identifiers}
    lost = [
        f"'{column.name}'"
        for column in release.solution.columns
        if column.level == column.height == 1 and isinstance(rules[column.name], Automatic | None)
    ]
    if lost:
        console.note(
            say(
                "cli.release_summary.no_hierarchy_says_which",
                lost=", ".join(lost),
                own_groups=Message("cli.advice.own_groups"),
            )
        )


def _is_chunked(table: str, output: Path | None, wanted: bool | None, *, whole: bool) -> bool:
    """Whether to publish in chunks; some methods need the table whole in memory."""
    if wanted and whole:
        raise InputError("CEL-I053")
    if wanted and output is None:
        raise InputError("CEL-I038")
    if wanted is not None:
        return wanted
    file = Path(table)
    too_large = file.is_file() and file.stat().st_size * GROWTH > _memory()
    return too_large and not whole and output is not None


def _memory() -> int:
    """Bytes of physical memory, or no limit where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize
