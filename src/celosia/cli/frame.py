"""The frame of a command: its options, its files, its progress bar, and its result or JSON.

A command takes options values (frozen dataclasses of declared options) as parameters, beside its
own options; the command line shows them one by one. Its body is then always the same:

    outputs.check(inputs=(table,))                # before any work
    with outputs.working() as progress:
        release = publish(reading.read(table), ..., progress=progress)
        outputs.save(release)
    outputs.finish(release, lambda: _show(release))

A command without a release has `ReportOutputs` and ends with `write_report` and `show`.

An option is `Annotated[type, "help"]`, or with names and a metavar of its own
`Annotated[type, "--column -c NAME", "help"]`; an argument is `Annotated[type, "argument", "help"]`,
or with a metavar `"argument POLICY"`. `typer.Option` and `typer.Argument` are for what needs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, is_dataclass, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from celosia.cli import console, options
from celosia.cli.addresses import resolve_address
from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean, say
from celosia.core.progress import Progress, Step

if TYPE_CHECKING:
    import polars as pl

    from celosia.core.release import Release
    from celosia.core.report import Document
    from celosia.engines.tables import TableEngine


def add_commands(app: typer.Typer, *commands: Callable[..., None]) -> None:
    """Put commands into a group, each under the name of its function."""
    for command in commands:
        app.command()(command)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same command, with the options of its options values in the place of each value."""
    own = list(signature(command, eval_str=True).parameters.values())
    if not any(is_dataclass(each.annotation) for each in own):
        # Typer evaluates annotations several times: those that are not text any more take no time.
        hints = get_type_hints(command, include_extras=True)
        command.__annotations__ = {name: _option(hint) for name, hint in hints.items()}
        return command

    def run(**given: Any) -> None:
        command(**{each.name: _take(each, given) for each in own})

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature(list(_listed(own)))  # type: ignore[attr-defined]
    return run


def _listed(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """The options one by one, also those of a value inside a value."""
    for each in parameters:
        if is_dataclass(each.annotation):
            yield from _listed(_fields(each.annotation))
        else:
            yield each.replace(kind=Parameter.KEYWORD_ONLY, annotation=_option(each.annotation))


def _option(annotation: Any) -> Any:
    """The same type; texts beside it become the option: its names and metavar, then its help.

    >>> _option(Annotated[str, "--column -c NAME", "The column."]).__metadata__[0].metavar
    'NAME'
    """
    texts = getattr(annotation, "__metadata__", ())
    if not texts or not isinstance(texts[-1], str):
        return annotation
    words = texts[0].split() if len(texts) > 1 else []
    if words[:1] == ["argument"]:
        name = words[1] if len(words) > 1 else None
        return Annotated[
            annotation.__origin__, typer.Argument(metavar=name, help=texts[-1], show_default=False)
        ]
    names = [word for word in words if word.startswith("-")]
    metavar = next((word for word in words if not word.startswith("-")), None)
    option = typer.Option(*names, metavar=metavar, help=texts[-1])
    return Annotated[annotation.__origin__, option]


def _take(parameter: Parameter, given: Mapping[str, Any]) -> Any:
    """The value of a parameter: what was given for it, or a value made of its options."""
    if not is_dataclass(parameter.annotation):
        return given[parameter.name]
    kind: Any = parameter.annotation
    return kind(**{each.name: _take(each, given) for each in _fields(kind)})


def _fields(kind: Any) -> Iterable[Parameter]:
    return signature(kind, eval_str=True).parameters.values()


class Outputs:
    """What a command writes, and how it shows its result."""

    __slots__ = ()
    as_json: bool
    overwrite: bool

    def files(self) -> dict[str, Path | None]:
        """The files that are written, by their names in `OUTPUTS`."""
        return {}

    def check(self, *, inputs: Iterable[Path | str | None] = (), **others: Path | None) -> None:
        """Refuse, before any work, files that could not be written, or that would cost another.

        Args:
            inputs: what is read, and must not be lost.
            others: files of this command alone, by their names in `OUTPUTS`.
        """
        check_outputs(self.files() | others, inputs=inputs, overwrite=self.overwrite)

    @contextmanager
    def working(self, stage: str | None = "cli.step.reading_file") -> Iterator[Progress]:
        """Work under a progress bar that begins with a stage, whose warnings the release has."""
        with console.noted_warnings(), console.progress_bar(quiet=self.as_json) as progress:
            if stage is not None:
                progress(Step(Message(stage), 0))
            yield progress

    def write_text(self, path: Path | None, text: Callable[[], object]) -> None:
        """Write a text file, if it is wanted, whole or not at all."""
        if path is not None:
            write_text(path, str(text()), self.overwrite)

    def write_table(self, path: Path | None, table: Callable[[], pl.DataFrame]) -> None:
        """Write a table, if it is wanted, whole or not at all."""
        from celosia.core.files import replacing
        from celosia.frames import format_of, write

        if path is not None:
            with replacing(path, overwrite=self.overwrite) as draft:
                write(table(), draft, format=format_of(path))

    def show(
        self,
        facts: Callable[[], Any],
        lines: Callable[[], None] | None = None,
        last: object = None,
        *,
        note: str | None = None,
        bare: bool = False,
        **others: Path | None,
    ) -> None:
        """Print the facts as JSON, or lines for people, the files and the most important line.

        Args:
            facts: the result as plain values.
            lines: prints the result, if the last line does not say all of it.
            last: the line that matters most, if one does.
            note: something to know beside the result.
            bare: JSON without the envelope, as benchmarks print theirs.
            others: files of this command alone, by their names in `console.FILES`.
        """
        if self.as_json:
            console.show_json(facts(), bare=bare)
            return
        if lines is not None:
            lines()
        console.show_files(self.files() | others)
        if note is not None:
            console.note(note)
        if last is not None:
            console.show(str(last), strong=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOutputs(Outputs):
    """The outputs of a command that writes no file."""

    as_json: options.AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutputs(Outputs):
    """The outputs of a command whose files are options of its own."""

    overwrite: options.Overwrite = False
    as_json: options.AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOutputs(Outputs):
    """The outputs of a command that measures something."""

    report: options.Report = None
    overwrite: options.Overwrite = False
    as_json: options.AsJson = False

    def files(self) -> dict[str, Path | None]:
        """The report."""
        return {"report": self.report}

    def write_report(self, document: Callable[[], Document]) -> None:
        """Write the report, if it is wanted."""
        if self.report is not None:
            document().write(self.report, overwrite=self.overwrite)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateReportOutputs(ReportOutputs):
    """The outputs of a command whose report shows private data."""

    report: options.PrivateReport = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOutputs(Outputs):
    """The outputs of a command that makes a release."""

    called: ClassVar[str] = "release"
    """The name of the data in `OUTPUTS`."""
    is_shown_whole: ClassVar[bool] = False
    """Whether the terminal shows all of the data, so that a file is not needed."""

    output: options.Output = None
    report: options.Report = None
    overwrite: options.Overwrite = False
    as_json: options.AsJson = False

    def files(self) -> dict[str, Path | None]:
        """The data, the certificate beside it, and the report."""
        from celosia.core.release import certificate_path

        certificate = None if self.output is None else certificate_path(self.output)
        return {self.called: self.output, "certificate": certificate, "report": self.report}

    def check(self, *, inputs: Iterable[Path | str | None] = (), **others: Path | None) -> None:
        check_outputs(self.files() | others, inputs=inputs, overwrite=self.overwrite)
        if self.output is not None:
            self.check_format(self.output)

    def check_format(self, output: Path) -> None:
        """Refuse a file whose name tells no format of a table."""
        from celosia.frames import format_of

        format_of(output)

    def save(self, release: Release) -> None:
        """Write the data and the certificate, if they are wanted."""
        if self.output is not None:
            release.save(self.output, overwrite=self.overwrite)

    def finish(
        self,
        release: Release,
        lines: Callable[[], None],
        *,
        facts: Callable[[], dict[str, Any]] | None = None,
        warns: bool = True,
        **others: Path | None,
    ) -> None:
        """Write the report; show the warnings, and the release or its certificate as JSON.

        Args:
            release: the release, saved already.
            lines: prints what there is to say about it.
            facts: what JSON shows instead of the certificate.
            warns: whether the warnings are shown beside the result.
            others: files of this command alone, or in another place, by their names in
                `console.FILES`.
        """
        if self.report is not None:
            release.report(self.report, overwrite=self.overwrite, data=self.output)
        show_warnings(release, warns=warns)
        if self.as_json:
            console.show_json((facts or release.certificate)())
            return
        lines()
        console.show_files(self.files() | others)
        if self.output is None and not self.is_shown_whole:
            console.note(say("cli.graph.release_written_give_o"))
        console.show(str(release), strong=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOutputs(ReleaseOutputs):
    """The outputs of a command that releases a noisy answer."""

    called: ClassVar[str] = "answer"
    is_shown_whole: ClassVar[bool] = True

    output: Annotated[
        Path | None, "--output -o", "File for the answer: .json, or a table (.csv)."
    ] = None

    def check_format(self, output: Path) -> None:
        """Refuse a file whose name tells no format of a table, and that is not JSON."""
        if output.suffix.lower() != ".json":
            ReleaseOutputs.check_format(self, output)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOutputs(ReleaseOutputs):
    """The outputs of a command that publishes a folder."""

    called: ClassVar[str] = "release"

    output: Annotated[
        Path | None, "--output -o", "Folder for the release; it must not exist yet."
    ] = None

    def check(self, *, inputs: Any = (), **others: Path | None) -> None:
        """Refuse, before any work, a folder that holds something else."""
        from celosia.core.folder_release import check_folder
        from celosia.core.release import certificate_path

        places = {"report": self.report} | others
        if self.output is not None:
            check_folder(self.output, overwrite=self.overwrite)
            places["certificate"] = certificate_path(self.output)
        check_outputs(places, inputs=inputs, overwrite=self.overwrite)


def show_warnings(release: Release, *, warns: bool = True) -> None:
    """Say what a release warns of, and whether it is only a simulation."""
    for warning in release.warnings if warns else ():
        console.note(say("cli.query.warning", warning=warning))
    if release.guarantee.simulation:
        console.note(say("cli.magnitude.simulation_made_seed_release"))


ENGINES = ("duckdb", "postgres", "spark")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOutputs:
    """Where a table is published: to a file, or inside an engine."""

    output: options.EngineOutput = None
    report: options.Report = None
    engine: options.Engine = None
    url: options.Url = None
    certificate: options.Certificate = None
    overwrite: options.Overwrite = False
    as_json: options.AsJson = False

    def check(
        self, table: str, *, inputs: Iterable[Path | str | None], refused: Mapping[str, bool]
    ) -> ReleaseOutputs:
        """The files to write, after all that can be refused before any work.

        Args:
            table: what is published.
            inputs: the other files that are read.
            refused: options that no engine takes, and whether they were given.
        """
        self._check_options(refused)
        outputs = ReleaseOutputs(
            output=None if self.output is None else Path(self.output),
            report=self.report,
            overwrite=self.overwrite,
            as_json=self.as_json,
        )
        if self.engine is None:
            outputs.check(inputs=(Path(table), *inputs))
        else:
            replace(outputs, output=None).check(inputs=inputs)
        return outputs

    def open_engine(self) -> AbstractContextManager[TableEngine]:
        """The engine, ready to work.

        Raises:
            InputError: CEL-Q204 the variable of an address is not set, CEL-Q200 an address with a
                password, which others would see.
        """
        address = None if self.url is None else resolve_address(self.url)
        if self.engine == "postgres":
            from celosia.engines.postgres_tables import PostgresTables

            return PostgresTables(address or "")
        if self.engine == "spark":
            from celosia.engines.spark.tables import SparkTables

            return SparkTables(address)
        from celosia.engines.duckdb_tables import DuckDBTables

        return DuckDBTables(address)

    def _check_options(self, refused: Mapping[str, bool]) -> None:
        """Refuse options that do not go together."""
        if self.engine is None:
            if self.url is not None or self.certificate is not None:
                raise InputError("CEL-P113.no_engine")
            return
        if self.engine not in ENGINES:
            hint = did_you_mean(self.engine, ENGINES)
            raise InputError("CEL-P113.unknown", engine=self.engine, hint=hint, engines=ENGINES)
        if self.engine == "postgres" and self.url is None:
            raise InputError("CEL-P113.no_address")
        if self.output is None:
            raise InputError("CEL-P113.no_output")
        for option, given in refused.items():
            if given:
                raise InputError("CEL-P113.option", option=option)


OUTPUTS = {
    "release": "cli.output.release",
    "certificate": "cli.output.certificate",
    "report": "cli.output.report",
    "answer": "cli.output.answer",
    "key": "cli.output.key",
    "drawing": "cli.output.drawing",
    "candidates": "cli.output.candidates",
    "network": "cli.output.network",
    "people": "cli.output.people",
    "schema": "cli.output.schema",
    "table": "cli.output.table",
    "hierarchy": "cli.output.hierarchy",
    "its_schema": "cli.output.its_schema",
    "export": "cli.output.export",
    "cells": "cli.output.cells",
    "estimates": "cli.output.estimates",
    "reports": "cli.output.reports",
    "checks": "cli.output.checks",
    "sums": "cli.output.sums",
    "client": "cli.output.client",
    "types": "cli.output.types",
    "conformance": "cli.output.conformance",
    "sketch": "cli.output.sketch",
    "draft": "cli.output.draft",
    "risks": "cli.output.risks",
    "plot": "cli.output.plot",
    "store": "cli.output.store",
    "token": "cli.output.token",
    "findings": "texts.output.findings",
    "names": "texts.output.names",
    "index": "texts.output.index",
}
"""The files that commands write, and how messages call each."""


def _called(output: str) -> str:
    return Message(OUTPUTS[output]) if output in OUTPUTS else output


def check_outputs(
    places: Mapping[str, Path | None],
    *,
    inputs: Iterable[Path | str | None] = (),
    overwrite: bool,
) -> None:
    """Refuse, before any work, results that could not be written, or that would cost another file.

    Args:
        places: where each result goes, by its name in `OUTPUTS`, or a message.
        inputs: what is read, and must not be lost.
        overwrite: whether other files that exist may be replaced.
    """
    from celosia.core.files import check_writable

    read = {Path(path).resolve() for path in inputs if path is not None}
    taken: dict[Path, str] = {}
    for name, path in places.items():
        if path is None:
            continue
        if path.resolve() in read:
            raise InputError("CEL-I007.output", output=_called(name), path=str(path))
        check_writable(path, overwrite=overwrite)
        if name == "report" and path.suffix.lower() == ".pdf":
            from celosia.core.report import check_report_format

            check_report_format(path)
        other = taken.setdefault(path.resolve(), name)
        if other != name:
            raise InputError(
                "CEL-I043",
                other=_called(other),
                output=_called(name),
                path=str(path),
            )


def write_text(path: Path, text: str, overwrite: bool) -> None:
    """Write a text file, whole or not at all."""
    from celosia.core.files import replacing

    with replacing(path, overwrite=overwrite) as draft:
        draft.write_text(text, "utf-8")
