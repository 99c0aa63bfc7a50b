"""The frame of a command: its options, its files, its progress bar, and its result or JSON.

A command takes options values (frozen dataclasses of declared options) as parameters, beside its
own options; the command line shows them one by one. Its body is then always the same:

    outputs.check(inputs=(table,))                # before any work
    with outputs.working() as progress:
        release = publish(reading.read(table), ..., progress=progress)
        outputs.save(release)
    outputs.finish(release, lambda: _show(release))

A command without a release has `ReportOutputs` and ends with `write_report` and `show`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from celosia.cli import console, options
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step

if TYPE_CHECKING:
    import polars as pl

    from celosia.core.release import Release
    from celosia.core.report import Document


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same command, with the options of its options values in the place of each value."""
    own = signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        each.name: each.annotation for each in own if is_dataclass(each.annotation)
    }
    if not groups:
        # Typer evaluates annotations several times: those that are not text any more take no time.
        command.__annotations__ = get_type_hints(command, include_extras=True)
        return command
    listed: list[Parameter] = []
    for each in own:
        group = groups.get(each.name)
        listed += [each] if group is None else signature(group, eval_str=True).parameters.values()

    def run(**given: Any) -> None:
        values = {
            name: group(**{each.name: given.pop(each.name) for each in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature(  # type: ignore[attr-defined]
        [each.replace(kind=Parameter.KEYWORD_ONLY) for each in listed]
    )
    return run


class Outputs:
    """What a command writes, and how it shows its result."""

    __slots__ = ()
    as_json: bool
    overwrite: bool

    def files(self) -> dict[str, Path | None]:
        """The files that are written, by their names in `OUTPUTS`."""
        return {}

    def check(self, *, inputs: Iterable[Path | None] = (), **others: Path | None) -> None:
        """Refuse, before any work, files that could not be written, or that would cost another.

        Args:
            inputs: what is read, and must not be lost.
            others: files of this command alone, by their names in `OUTPUTS`.
        """
        check_outputs(self.files() | others, inputs=inputs, overwrite=self.overwrite)

    @contextmanager
    def working(self, stage: str | None = "cli.step.reading_file") -> Iterator[Progress]:
        """Work under a progress bar that begins with a stage, whose warnings the release has."""
        with console.progress_bar(quiet=self.as_json) as progress, warnings.catch_warnings():
            warnings.simplefilter("ignore")
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
        lines: Callable[[], None],
        last: object,
        *,
        note: str | None = None,
        **others: Path | None,
    ) -> None:
        """Print the facts as JSON, or lines for people, the files and the most important line.

        Args:
            facts: the result as plain values.
            lines: prints the result.
            last: the line that matters most.
            note: something to know beside the result.
            others: files of this command alone, by their names in `console.FILES`.
        """
        if self.as_json:
            console.show_json(facts())
            return
        lines()
        console.show_files(self.files() | others)
        if note is not None:
            console.note(note)
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
        self.write_text(self.report, lambda: document().html())


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

    def check(self, *, inputs: Iterable[Path | None] = (), **others: Path | None) -> None:
        """Refuse, before any work, files that could not be written, or that would cost another."""
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
        facts: dict[str, Any] | None = None,
        **others: Path | None,
    ) -> None:
        """Write the report; show the warnings, and the release or its certificate as JSON.

        Args:
            release: the release, saved already.
            lines: prints what there is to say about it.
            facts: what JSON has besides the certificate.
            others: files of this command alone, or in another place, by their names in
                `console.FILES`.
        """
        if self.report is not None:
            release.report(self.report, overwrite=self.overwrite)
        show_warnings(release)
        if self.as_json:
            console.show_json(release.certificate() | (facts or {}))
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
        Path | None,
        typer.Option("--output", "-o", help="File for the answer: .json, or a table (.csv)."),
    ] = None

    def check_format(self, output: Path) -> None:
        """Refuse a file whose name tells no format of a table, and that is not JSON."""
        if output.suffix.lower() != ".json":
            ReleaseOutputs.check_format(self, output)


def show_warnings(release: Release) -> None:
    """Say what a release warns of, and whether it is only a simulation."""
    for warning in release.warnings:
        console.note(say("cli.query.warning", warning=warning))
    if release.guarantee.simulation:
        console.note(say("cli.magnitude.simulation_made_seed_release"))


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
    inputs: Iterable[Path | None] = (),
    overwrite: bool,
) -> None:
    """Refuse, before any work, results that could not be written, or that would cost another file.

    Args:
        places: where each result goes, by its name in `OUTPUTS`, or a message.
        inputs: what is read, and must not be lost.
        overwrite: whether other files that exist may be replaced.
    """
    from celosia.core.files import check_writable

    read = {path.resolve() for path in inputs if path is not None}
    taken: dict[Path, str] = {}
    for name, path in places.items():
        if path is None:
            continue
        if path.resolve() in read:
            raise InputError("CEL-I007.output", output=_called(name), path=str(path))
        check_writable(path, overwrite=overwrite)
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
