"""The options of all `celosia release` commands, and their run: price, read, release, print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import options
from celosia.cli.frame import AnswerOutputs
from celosia.cli.payment import Payment
from celosia.cli.release import display
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.progress import Step as ProgressStep

if TYPE_CHECKING:
    import polars as pl

    from celosia.frames import ColumnType
    from celosia.mechanisms import Mechanism

Lower = Annotated[float, "Smaller values are raised to this public bound."]
Upper = Annotated[float, "Larger values are lowered to this public bound."]
Step = Annotated[float | None, "--grid STEP", "Step that values are rounded to; fine by default."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """The statistic that a command releases."""

    make: Callable[..., Mechanism[Any, Any]]
    """The mechanism for an epsilon and neighbours; of rows, also for `may_be_empty`."""
    error_in: str
    """The unit of the error."""
    needs_column: bool = True
    cells: ColumnType | None = None
    """The type that the cells of the column are read as, whatever they look like."""
    equals: str | None = None
    """Count the rows whose cell is this."""
    bound: str | None = None
    """The argument of `make` that bounds the contribution of a unit, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """The options of every `celosia release` command."""

    table: options.Input
    column: Annotated[str | None, "--column -c", "The column of the statistic."] = None
    epsilon: Annotated[
        float | None, options.EPSILON, "The privacy loss: 0.1 to 1 for one answer."
    ] = None
    error: Annotated[
        float | None, "Instead of --epsilon: the target error; the least epsilon is found."
    ] = None
    size: Annotated[int, "Approximate number of rows or questions, for the expected error."] = 1
    confidence: options.Confidence = 0.95
    neighbours: Annotated[
        Relation, "Neighbour relation; change-one makes the number of rows public."
    ] = Relation.ADD_REMOVE
    explain: Annotated[
        bool, "--explain", "Read nothing: print the privacy loss and expected error."
    ] = False
    seed: options.NoiseSeed = None
    outputs: AnswerOutputs
    payment: Payment
    reading: options.Reading

    def units(self) -> tuple[str | None, int | None]:
        """The column of the privacy unit and the most rows of one, where it is not a row."""
        return None, None

    def arguments(self, request: ReleaseRequest) -> dict[str, Any]:
        """The arguments that the options add to the mechanism of a request."""
        return {"neighbours": Neighbours(self.neighbours)}

    def run(self, request: ReleaseRequest) -> None:
        """Release one answer, or with --explain print what it would cost."""
        from celosia.core.randomness import source
        from celosia.mechanisms import table_release
        from celosia.mechanisms.parameters import check_confidence

        self.outputs.check(inputs=(self.table,))
        check_confidence(self.confidence)
        rng = source(self.seed)
        mechanism = self._mechanism(request)
        if self.explain:
            display.show_plan(self._charged(mechanism), self, error_in=request.error_in)
            return
        if self.column is None and request.needs_column:
            raise InputError("CEL-M120.check_column")
        unit, rows_per_unit = self.units()
        with self.outputs.working() as progress, self.payment.budget(self.epsilon) as budget:
            frame = self._read(request, mechanism)
            progress(ProgressStep(Message("cli.step.drawing_answer"), 0))
            answer = table_release.release_from_table(
                frame,
                mechanism,
                column=self.column,
                question=self._question(request),
                confidence=self.confidence,
                budget=budget,
                rng=rng,
                unit=unit,
                rows_per_unit=rows_per_unit,
            )
        self.outputs.save(answer)
        self.outputs.finish(answer, lambda: display.show_answer(answer))

    def _mechanism(self, request: ReleaseRequest) -> Mechanism[Any, Any]:
        """The mechanism with the epsilon that was given, or the least one for the error."""
        from celosia.mechanisms.guarantees import unwrap

        if (self.epsilon is None) == (self.error is None):
            raise InputError("CEL-M128")
        shared = self.arguments(request)
        if self.error is None:
            mechanism = request.make(epsilon=self.epsilon, **shared)
            self._charged(mechanism)  # refuses what cannot be charged so
            return mechanism
        trial = self._charged(request.make(epsilon=1.0, **shared))
        found = trial.with_accuracy(self.error, confidence=self.confidence, size=self.size)
        return unwrap(found)

    def _charged(self, mechanism: Mechanism[Any, Any]) -> Mechanism[Any, Any]:
        """The mechanism with its promise for all rows of a unit."""
        from celosia.mechanisms import table_release

        unit, rows_per_unit = self.units()
        return table_release.for_unit(mechanism, unit=unit, rows_per_unit=rows_per_unit)

    def _read(self, request: ReleaseRequest, mechanism: Mechanism[Any, Any]) -> pl.DataFrame:
        from celosia.frames import as_text
        from celosia.mechanisms.table_columns import read_columns

        column = self.column
        frame = read_columns(
            self.table,
            mechanism,
            column=column,
            unit=self.units()[0],
            cells=request.cells,
            reading=self.reading.as_arguments(),
        )
        if column is None or request.cells != "string":
            return frame
        cells = as_text(frame.get_column(column))  # in a typed file they may be numbers
        if request.equals is not None:
            cells = (cells == request.equals).fill_null(False)
        return frame.with_columns(cells.alias(column))

    def _question(self, request: ReleaseRequest) -> str | None:
        if request.equals is None:
            return None
        return Message("cli.release.rows_with", column=self.column, value=request.equals)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReleaseOptions(ReleaseOptions):
    """The options of a command about rows of a table, of which one person may have several."""

    unit: Annotated[
        str | None, "COLUMN", "Protect all rows with the same value here, such as customer."
    ] = None
    rows_per_unit: Annotated[
        int | None, "With --unit: most rows (or keys) that count per unit."
    ] = None
    may_be_empty: Annotated[
        bool, "--may-be-empty", "Also release from an empty table: emptiness is private."
    ] = False

    def units(self) -> tuple[str | None, int | None]:
        return self.unit, self.rows_per_unit

    def arguments(self, request: ReleaseRequest) -> dict[str, Any]:
        shared = ReleaseOptions.arguments(self, request) | {"may_be_empty": self.may_be_empty}
        if request.bound is not None and self.rows_per_unit is not None:
            shared[request.bound] = self.rows_per_unit
        return shared
