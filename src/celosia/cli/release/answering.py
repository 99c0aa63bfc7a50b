"""From a wish to an answer: choose the price, read the table, ask, write and tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.cli import console, options
from celosia.cli.release import telling
from celosia.cli.release.settings import OfRows, Settings, Wish
from celosia.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from celosia.mechanisms import Mechanism


def carry_out(settings: Settings, wish: Wish) -> None:
    """Release one answer, or with --explain tell what it would cost."""
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.mechanisms import asking
    from celosia.mechanisms.parameters import check_confidence

    _check_places(settings)
    check_confidence(settings.confidence)
    rng = source(settings.seed)
    units = _units(settings)
    mechanism = _priced(settings, wish, units)
    if settings.explain:
        telling.plan(asking.for_unit(mechanism, **units), settings, error_in=wish.error_in)
        return
    _check_column(settings, wish)
    with console.progress_bar(quiet=settings.as_json) as progress:
        progress(Step("Reading the file", 0))
        frame = _read(settings, wish, mechanism)
        progress(Step("Drawing the answer", 0))
        answer = asking.ask(
            frame,
            mechanism,
            column=settings.column,
            question=_question(settings, wish),
            confidence=settings.confidence,
            rng=rng,
            **units,
        )
    if settings.output is not None:
        answer.save(settings.output, overwrite=settings.overwrite)
    if settings.report is not None:
        answer.report(settings.report, overwrite=settings.overwrite)
    telling.warn(answer)
    if settings.as_json:
        console.show_json(answer.certificate())
    else:
        telling.answer(answer, output=settings.output, report=settings.report)


def _check_places(settings: Settings) -> None:
    """Refuse files that could not be written, before any work."""
    from celosia.core.release import certificate_path
    from celosia.frames import format_of

    output = settings.output
    certificate = None if output is None else certificate_path(output)
    places = {"the answer": output, "its certificate": certificate, "the report": settings.report}
    options.check_output_paths(places, inputs=(settings.table,), overwrite=settings.overwrite)
    if output is not None and output.suffix.lower() != ".json":
        format_of(output)


def _units(settings: Settings) -> dict[str, Any]:
    if not isinstance(settings, OfRows):
        return {"unit": None, "rows_per_unit": None}
    return {"unit": settings.unit, "rows_per_unit": settings.rows_per_unit}


def _priced(settings: Settings, wish: Wish, units: dict[str, Any]) -> Mechanism[Any, Any]:
    """The mechanism with the epsilon that was given, or the least one for the error."""
    from celosia.core.neighbours import Neighbours
    from celosia.mechanisms import asking
    from celosia.mechanisms.promises import inner

    if (settings.epsilon is None) == (settings.error is None):
        raise InputError(
            "CEL-M128",
            "an answer needs either --epsilon or --error.",
            why="The one is the price, and the other finds it.",
            fix="Write --epsilon 0.5, or --error 100 for the least epsilon that is so exact.",
        )
    shared: dict[str, Any] = {"neighbours": Neighbours(settings.neighbours)}
    if isinstance(settings, OfRows):
        shared["may_be_empty"] = settings.may_be_empty
        if wish.bound is not None and settings.rows_per_unit is not None:
            shared[wish.bound] = settings.rows_per_unit
    if settings.error is None:
        mechanism = wish.make(epsilon=settings.epsilon, **shared)
        asking.for_unit(mechanism, **units)  # refuses what cannot be charged so
        return mechanism
    tried = asking.for_unit(wish.make(epsilon=1.0, **shared), **units)
    found = tried.with_accuracy(settings.error, confidence=settings.confidence, size=settings.size)
    return inner(found)


def _check_column(settings: Settings, wish: Wish) -> None:
    if settings.column is None and wish.needs_column:
        raise InputError(
            "CEL-M120",
            "it is not said which column is asked about.",
            why="Each column is a question of its own, at its own price.",
            fix="Add --column NAME.",
        )


def _read(settings: Settings, wish: Wish, mechanism: Mechanism[Any, Any]) -> pl.DataFrame:
    from celosia.frames import as_text
    from celosia.mechanisms.picking import read_for

    reading = options.ReadOptions(
        settings.delimiter, settings.encoding, settings.header, settings.decimal
    )
    column = settings.column
    frame = read_for(
        settings.table,
        mechanism,
        column=column,
        unit=_units(settings)["unit"],
        cells=wish.cells,
        reading=reading.as_arguments(),
    )
    if column is None or wish.cells != "string":
        return frame
    cells = as_text(frame.get_column(column))  # in a typed file they may be numbers
    if wish.equals is not None:
        cells = (cells == wish.equals).fill_null(False)
    return frame.with_columns(cells.alias(column))


def _question(settings: Settings, wish: Wish) -> str | None:
    if wish.equals is None:
        return None
    return f"number of rows with {settings.column} {wish.equals}"
