"""`celosia publish`: protect a table and write it."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from celosia.cli import console, engines, model_options, options
from celosia.cli.release_summary import show_release, show_warnings
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.frames import ReadKeywords
    from celosia.tables.release import PublishedTable

GROWTH = 6
"""A table in memory, with what the work needs, takes up to this many times its file."""

EXAMPLES = """**Examples**

`celosia publish people.csv --schema people.toml --k 5 -o safe.csv --report report.html`

`celosia publish people.csv -s people.toml --k 5 --l entropy:3 --t 0.2,hierarchical -o safe.csv`

`celosia publish people.csv -q age -q zip --sensitive disease --k 5 --suppression 2% -o safe.csv`

`celosia publish people.csv -s people.toml --k 5 --weight age=3 --local -o safe.csv`

`celosia publish people.csv -s people.toml --k 5 --method mondrian -o safe.csv`

`celosia publish people.csv -s people.toml --k 5 --level age=2 --level zip=3 -o safe.csv`

`celosia publish people.csv -s people.toml --model k-map:5 --population all.csv -o safe.csv`

`celosia publish people.csv -s people.toml --k 5 --json`  (write nothing, print the figures)

`celosia publish 'raw/*.parquet' -s people.toml --k 5 --engine duckdb -o safe.parquet`

`celosia publish census.people -s people.toml --k 5 --engine postgres --url '$DATABASE' -o
census.safe --certificate safe.cert.json`
"""


def publish(
    table: engines.Table,
    k: model_options.K = None,
    diversity: model_options.L = None,
    closeness: model_options.T = None,
    model: model_options.OtherModels = None,
    schema: options.SchemaFile = None,
    output: engines.Output = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    suppression: Annotated[
        str, typer.Option(help="Largest share of records to suppress; 100% for no limit.")
    ] = "5%",
    metric: model_options.MetricName = None,
    weights: model_options.Weights = None,
    method: Annotated[
        str,
        typer.Option(help="lattice (the optimum), or mondrian or mondrian-relaxed (finer, fast)."),
    ] = "lattice",
    local: Annotated[
        bool,
        typer.Option("--local", help="Local recoding: recode the suppressed records once more."),
    ] = False,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            "--level",
            metavar="COLUMN=LEVEL",
            help="Set the generalisation levels (see celosia explore); other columns stay raw.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Stop after this time, and publish the best solution found."
        ),
    ] = None,
    population: options.Population = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    other_columns: options.OtherColumns = None,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order", help="Do not shuffle the rows (their order may re-identify records)."
        ),
    ] = False,
    drop_suppressed: Annotated[
        bool, typer.Option("--drop-suppressed", help="Leave suppressed records out of the file.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the shuffle; makes the release a simulation.")
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--in-memory",
            help="Work in chunks from file to file; by default for files too large for memory.",
        ),
    ] = None,
    engine: engines.Engine = None,
    url: engines.Url = None,
    certificate: engines.Certificate = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish a table so that its privacy models hold, with the least loss of information."""
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.frames import format_of, read
    from celosia.tables.options import PublishOptions
    from celosia.tables.run import publish_table
    from celosia.tables.run_on_engine import publish_on_engine
    from celosia.tables.run_on_file import publish_to_file

    # Before any work, not after minutes of it.
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    engines.check_options(
        engine, url, certificate, output,
        others={
            "--stream": stream is not None,
            "--population": population is not None,
            "--delimiter, --encoding, --header or --decimal": bool(reading),
        },
    )  # fmt: skip
    file = None if output is None else Path(output)
    if engine is None:
        places = {"release": file, "certificate": file and _certificate(file), "report": report}
        inputs = (Path(table), schema, population)
        options.check_outputs(places, inputs=inputs, overwrite=overwrite)
        if file is not None:
            format_of(file)
    else:
        options.check_outputs({"report": report}, inputs=(schema,), overwrite=overwrite)
    models = model_options.models_from(k, diversity, closeness, model)
    roles = options.schema_from(
        schema,
        quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        other_columns=other_columns,
    )
    # Choices that do not go together are refused before the file is read.
    wanted = PublishOptions.of(
        roles,
        models,
        suppression=options.share(suppression, option="--suppression"),
        metric=model_options.metric_from(metric, weights),
        method=method,
        local=local,
        levels=model_options.levels_from(levels),
        time_limit=time_limit,
        keep_order=keep_order,
        drop_suppressed=drop_suppressed,
        rng=source(seed),
    )
    wanted.check_population(given=population is not None)
    whole = method != "lattice" or population is not None
    chunked = None if engine else _in_chunks(Path(table), file, wanted=stream, whole=whole)
    release: PublishedTable
    with console.progress_bar(quiet=as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and they are shown below
        if engine is not None and output is not None:
            with engines.open_engine(engine, url) as there:
                release = publish_on_engine(
                    there,
                    table,
                    output,
                    wanted,
                    overwrite=overwrite,
                    certificate=certificate,
                    progress=progress,
                )
        elif chunked is not None:
            release = publish_to_file(
                table,
                chunked,
                wanted,
                reading=cast("ReadKeywords", reading),
                overwrite=overwrite,
                progress=progress,
            )
        else:
            progress(Step(Message("cli.step.reading_file"), 0))
            frame = read(table, types=roles.types(), **reading)
            people = None if population is None else read(population, types=roles.types())
            release = publish_table(frame, wanted, population=people, progress=progress)
            if file is not None:
                release.save(file, overwrite=overwrite)
    if report is not None:
        release.report(report, overwrite=overwrite)
    if not model_options.hides_identity(models):
        console.note(say("cli.explore.warning", identity_open=Message(model_options.IDENTITY_OPEN)))
    if as_json:
        show_warnings(release)
        console.show_json(release.certificate())
    else:
        show_release(release, file, report, roles)


publish.__doc__ = f"{publish.__doc__}\n\n{EXAMPLES}"


def _certificate(output: Path) -> Path:
    from celosia.core.release import certificate_path

    return certificate_path(output)


def _in_chunks(
    table: Path, output: Path | None, *, wanted: bool | None, whole: bool
) -> Path | None:
    """Where to publish to in chunks; None to do the work in memory, which may need it whole."""
    if wanted and whole:
        raise InputError("CEL-I053")
    if wanted and output is None:
        raise InputError("CEL-I038")
    too_large = table.is_file() and table.stat().st_size * GROWTH > _memory()
    return output if (too_large and not whole if wanted is None else wanted) else None


def _memory() -> int:
    """Bytes of physical memory, or no limit where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize
