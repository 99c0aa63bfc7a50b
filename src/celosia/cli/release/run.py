"""The run of a `celosia release` command: price, read the table, release, write and print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.cli import console
from celosia.cli import options as common
from celosia.cli.frame import check_outputs
from celosia.cli.release import display
from celosia.cli.release.options import ReleaseOptions, ReleaseRequest, RowReleaseOptions
from celosia.core.errors import InputError
from celosia.core.messages import Message

if TYPE_CHECKING:
    import polars as pl

    from celosia.mechanisms import Mechanism


def run_release(options: ReleaseOptions, request: ReleaseRequest) -> None:
    """Release one answer, or with --explain print what it would cost."""
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.mechanisms import table_release
    from celosia.mechanisms.parameters import check_confidence

    _check_paths(options)
    check_confidence(options.confidence)
    rng = source(options.seed)
    units = _units(options)
    mechanism = _mechanism(options, request, units)
    if options.explain:
        display.show_plan(
            table_release.for_unit(mechanism, **units), options, error_in=request.error_in
        )
        return
    _check_column(options, request)
    with console.progress_bar(quiet=options.as_json) as progress:
        progress(Step(Message("cli.step.reading_file"), 0))
        frame = _read(options, request, mechanism)
        progress(Step(Message("cli.step.drawing_answer"), 0))
        answer = table_release.release_from_table(
            frame,
            mechanism,
            column=options.column,
            question=_question(options, request),
            confidence=options.confidence,
            rng=rng,
            **units,
        )
    if options.output is not None:
        answer.save(options.output, overwrite=options.overwrite)
    if options.report is not None:
        answer.report(options.report, overwrite=options.overwrite)
    display.show_warnings(answer)
    if options.as_json:
        console.show_json(answer.certificate())
    else:
        display.show_answer(answer, output=options.output, report=options.report)


def _check_paths(options: ReleaseOptions) -> None:
    """Refuse files that could not be written, before any work."""
    from celosia.core.release import certificate_path
    from celosia.frames import format_of

    output = options.output
    certificate = None if output is None else certificate_path(output)
    places = {"answer": output, "certificate": certificate, "report": options.report}
    check_outputs(places, inputs=(options.table,), overwrite=options.overwrite)
    if output is not None and output.suffix.lower() != ".json":
        format_of(output)


def _units(options: ReleaseOptions) -> dict[str, Any]:
    if not isinstance(options, RowReleaseOptions):
        return {"unit": None, "rows_per_unit": None}
    return {"unit": options.unit, "rows_per_unit": options.rows_per_unit}


def _mechanism(
    options: ReleaseOptions, request: ReleaseRequest, units: dict[str, Any]
) -> Mechanism[Any, Any]:
    """The mechanism with the epsilon that was given, or the least one for the error."""
    from celosia.core.neighbours import Neighbours
    from celosia.mechanisms import table_release
    from celosia.mechanisms.guarantees import unwrap

    if (options.epsilon is None) == (options.error is None):
        raise InputError("CEL-M128")
    shared: dict[str, Any] = {"neighbours": Neighbours(options.neighbours)}
    if isinstance(options, RowReleaseOptions):
        shared["may_be_empty"] = options.may_be_empty
        if request.bound is not None and options.rows_per_unit is not None:
            shared[request.bound] = options.rows_per_unit
    if options.error is None:
        mechanism = request.make(epsilon=options.epsilon, **shared)
        table_release.for_unit(mechanism, **units)  # refuses what cannot be charged so
        return mechanism
    trial = table_release.for_unit(request.make(epsilon=1.0, **shared), **units)
    found = trial.with_accuracy(options.error, confidence=options.confidence, size=options.size)
    return unwrap(found)


def _check_column(options: ReleaseOptions, request: ReleaseRequest) -> None:
    if options.column is None and request.needs_column:
        raise InputError("CEL-M120.check_column")


def _read(
    options: ReleaseOptions, request: ReleaseRequest, mechanism: Mechanism[Any, Any]
) -> pl.DataFrame:
    from celosia.frames import as_text
    from celosia.mechanisms.table_columns import read_columns

    reading = common.Reading(
        delimiter=options.delimiter,
        encoding=options.encoding,
        header=options.header,
        decimal=options.decimal,
    )
    column = options.column
    frame = read_columns(
        options.table,
        mechanism,
        column=column,
        unit=_units(options)["unit"],
        cells=request.cells,
        reading=reading.as_arguments(),
    )
    if column is None or request.cells != "string":
        return frame
    cells = as_text(frame.get_column(column))  # in a typed file they may be numbers
    if request.equals is not None:
        cells = (cells == request.equals).fill_null(False)
    return frame.with_columns(cells.alias(column))


def _question(options: ReleaseOptions, request: ReleaseRequest) -> str | None:
    if request.equals is None:
        return None
    return Message("cli.release.rows_with", column=options.column, value=request.equals)
