"""What every masking method is: declared parameters, and one function of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.methods import Method, Parameter, check_list
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import real, whole
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source

if TYPE_CHECKING:
    from celosia.tables.masking.value_counts import ValueCounts

Reach = Literal["row", "facts", "whole"]
"""What the result of a row depends on, besides the row and the parameters: on nothing; on facts of
its columns that an engine counts first; or on all other rows, which must then be in memory."""

REACHES: dict[Reach, Message] = {
    "row": Message("masking.reach.row"),
    "facts": Message("masking.reach.facts"),
    "whole": Message("masking.reach.whole"),
}

Cells = Callable[[pl.Series, Source], pl.Series]
"""What becomes of some cells of a column, whichever others come with them."""


@dataclass(frozen=True, slots=True, eq=False)
class CellFunction:
    """A method made ready for one column, so that batches of its rows can be masked anywhere."""

    mask: Cells = field(repr=False)
    """Can be pickled: it may run on other machines."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For the report; those that only the drawn rows would tell are left out."""
    epsilon: float | None = None
    """Of one cell, where it is randomised response: by chances fixed before any row is seen."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodResult:
    """A table after one method, and what the method has to say about it."""

    frame: pl.DataFrame
    """The whole table: the columns asked for are masked, the others are as they were."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Counts and losses for the report, as plain values; never a cell."""
    rows: NDArray[np.int64] | None = None
    """The row of the given table that each row comes from; None where they are the same rows."""
    synthetic: bool = False
    """Whether the rows are new, so that no row comes from any other."""


class Work(NamedTuple):
    """What a method works with beside the table."""

    rng: Source
    progress: Progress


class MaskingMethod(Method, ABC):
    """A way to mask columns; a frozen dataclass whose fields are its parameters.

    The names of the fields are the keys of a step in a recipe.
    """

    randomised: ClassVar[bool]
    """Whether it draws: a method that does is repeated by a seed, and only a simulation then."""
    truthful: ClassVar[bool]
    """Whether what is released is true, if less exact (a non-perturbative method)."""
    picks_rows: ClassVar[bool] = False
    """Whether the released rows are others than those given: fewer, more, or new."""
    neighbours: ClassVar[Neighbours | None] = None
    """Of a differentially private method: which two tables its result does not tell apart."""

    confidential: ClassVar[tuple[str, ...]] = ()
    """Facts that tell a moment of the original columns: for the report, never for a certificate."""
    reaches: ClassVar[tuple[Reach, ...]] = ("whole",)
    """The reach that it has with one or the other parameters, the least first."""

    @property
    def reach(self) -> Reach:
        """What the result of a row depends on, with these parameters."""
        return self.reaches[0]

    @property
    def draws(self) -> bool:
        """Whether it draws with these parameters."""
        return self.randomised

    def cell_function(
        self, column: pl.Series, value_counts: Callable[[], ValueCounts]
    ) -> CellFunction:
        """The method made ready for one column; of those that reach no other rows.

        Args:
            column: without cells, for its name and type.
            value_counts: counts the values of the column; called only where the result needs it.

        Raises:
            InputError: the column has the wrong type, or a parameter does not fit it.
        """
        assert self.reach == "row", "facts are read by a method of its own"
        return CellFunction(partial(_alone, self))

    def apply(
        self,
        frame: pl.DataFrame,
        columns: Sequence[str],
        *,
        rng: Source,
        progress: Progress = silent,
    ) -> MethodResult:
        """Mask `columns` of a table; the given frame stays as it is.

        Raises:
            InputError: a column is absent or of the wrong type, or a parameter does not fit it.
        """
        return self._apply(frame, columns, Work(rng, progress))

    @abstractmethod
    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        """What `apply` does, method by method."""

    def declared_values(self) -> Mapping[str, tuple[Any, ...]]:
        """Values or bounds that are declared of columns: no cell may decide what these hold."""
        return {}

    def promise(self, columns: Sequence[str]) -> str | None:
        """What is guaranteed of these columns, in one line; None where nothing is."""
        return None

    def assumes(self) -> tuple[str, ...]:
        """What must hold for its promise, besides one record for each person."""
        return ()

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        """What a reader of the release must know that the method does not do."""
        return ()

    def _exactly_one(self, *names: str) -> str:
        """The one of some parameters that is given; none or several are refused."""
        found = [name for name in names if getattr(self, name) is not None]
        if not found:
            raise InputError("CEL-V201.none_given", given=list(names), method=self.method_name)
        if len(found) > 1:
            raise InputError(
                "CEL-V201.several_given", given=list(names), found=found, method=self.method_name
            )
        return found[0]


LARGEST = 1e100
"""Parameters beyond this mean nothing for a table, and their squares would leave the floats."""


def check_number(value: Any) -> float:
    """A finite number, as parameters of masking methods are."""
    found = real(value)
    if found is None or not abs(found) <= LARGEST:
        raise ValueError
    return found


def _check_whole(value: Any) -> int:
    found = whole(value)
    if found is None or not abs(found) < 2**63:
        raise ValueError
    return found


def check_texts(value: Any) -> tuple[str, ...]:
    """A list of different texts."""
    found = (value,) if isinstance(value, str) else check_list(value)
    if not all(isinstance(each, str) for each in found) or len(set(found)) != len(found):
        raise ValueError
    return found


def check_order(value: Any) -> tuple[Any, ...]:
    """A list of different texts, or of different numbers, from least to greatest."""
    found = check_list(value)
    texts = all(isinstance(each, str) for each in found)
    if not (texts or all(real(each) is not None for each in found)) or len(set(found)) < len(found):
        raise ValueError
    return found


NUMBER = Parameter(kind="number", check=check_number)
"""A number whose square is within the floats."""
WHOLE = Parameter(kind="whole", check=_check_whole)
"""A whole number within 64 bits."""
TEXTS = Parameter(check=check_texts, allowed="tables.must_be.different_texts")
"""A list of different texts; one text alone counts as a list of it."""
ORDER = Parameter(kind="values", check=check_order, allowed="tables.must_be.different_values")
"""The categories of a column from least to greatest: different texts, or different numbers."""


def _alone(method: MaskingMethod, cells: pl.Series, rng: Source) -> pl.Series:
    """A column by itself: of a method that reaches no other rows."""
    return method.apply(cells.to_frame(), [cells.name], rng=rng).frame.get_column(cells.name)


def describe_neighbours(neighbours: Neighbours) -> Message:
    """A neighbour relation of tables in words; their privacy unit is a row.

    >>> from celosia.core.neighbours import ADD_REMOVE
    >>> describe_neighbours(ADD_REMOVE)
    'add or remove one row'
    """
    assert neighbours.unit == "row", "each step changes one row of a table"
    if neighbours.relation is Relation.ADD_REMOVE:
        return Message("masking.neighbours.add_remove")
    return Message("masking.neighbours.change_one")


def check_columns(frame: pl.DataFrame, columns: Sequence[str], method: str) -> None:
    """Refuse a list of columns that is empty, has one twice, or names one that is not there."""
    if not columns:
        raise InputError("CEL-V001", method=method)
    twice = sorted({name for name in columns if list(columns).count(name) > 1})
    if twice:
        raise InputError(
            "CEL-V002", method=method, twice=", ".join(map(repr, twice)), columns=twice
        )
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise InputError("CEL-V003", hint=did_you_mean(absent[0], frame.columns), column=absent[0])


def cells(frame: pl.DataFrame, column: str) -> pl.Series:
    """A column without its name: Polars reads a name such as '^x$' as a pattern.

    >>> cells(pl.DataFrame({"^x$": [1, 2]}), "^x$").unique().to_list()
    [1, 2]
    """
    return frame.get_column(column).alias("")


def numbers(frame: pl.DataFrame, columns: Sequence[str], method: str) -> NDArray[np.float64]:
    """The columns as a matrix of numbers, one row a record; an empty cell is NaN.

    >>> numbers(pl.DataFrame({"age": [20, None]}), ["age"], "noise").tolist()
    [[20.0], [nan]]
    """
    check_columns(frame, columns, method)
    matrix = np.empty((frame.height, len(columns)), dtype=np.float64, order="F")
    for place, name in enumerate(columns):
        series = cells(frame, name)
        if not series.dtype.is_numeric():
            raise InputError("CEL-V004", dtype=series.dtype, method=method, column=name)
        values = series.cast(pl.Float64).to_numpy()
        if np.isinf(values).any():
            raise InputError("CEL-V005.computing", column=name)
        matrix[:, place] = values
    return matrix


def with_numbers(
    frame: pl.DataFrame,
    columns: Sequence[str],
    matrix: NDArray[np.float64],
    *,
    integer: bool = False,
) -> pl.DataFrame:
    """The table with a matrix in place of columns; NaN becomes an empty cell.

    Decimals are kept, also where a column held whole numbers: to cut them would move the mean.
    With `integer` they are rounded to the nearest whole number.
    """
    masked = []
    for place, name in enumerate(columns):
        series = pl.Series(np.ascontiguousarray(matrix[:, place])).fill_nan(None)
        masked.append((series.round(0).cast(pl.Int64) if integer else series).alias(name))
    return frame.with_columns(masked)


def categories(
    frame: pl.DataFrame, column: str, order: Sequence[str] | None = None
) -> tuple[NDArray[np.int64], pl.Series]:
    """A column as codes, -1 for an empty cell, and its distinct values in order of their codes.

    Args:
        frame: the table.
        column: its name.
        order: the values from least to greatest, for a column whose own order is not meant.

    >>> codes, values = categories(pl.DataFrame({"sex": ["m", "f", None]}), "sex")
    >>> codes.tolist(), values.to_list()
    ([1, 0, -1], ['f', 'm'])
    """
    series = cells(frame, column)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if order is None:
        values = series.drop_nulls().unique().sort()
    else:
        values = pl.Series(list(order)).cast(series.dtype, strict=False)
        unknown = int((~series.drop_nulls().is_in(values.implode())).sum())
        if unknown or values.null_count() or values.n_unique() != len(values):
            raise InputError("CEL-V006", unknown=unknown, column=column)
    numbered = pl.DataFrame({"value": values, "code": np.arange(len(values), dtype=np.int64)})
    joined = series.to_frame("value").join(numbered, on="value", how="left", maintain_order="left")
    found = joined.get_column("code")
    return found.fill_null(-1).to_numpy().astype(np.int64), values


def with_categories(
    frame: pl.DataFrame, column: str, codes: NDArray[np.int64], values: pl.Series
) -> pl.DataFrame:
    """The table with codes in place of a column; -1 becomes an empty cell."""
    places = pl.Series(codes).replace(-1, None)
    return frame.with_columns(values.gather(places).alias(column))
