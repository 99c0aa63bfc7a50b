"""Sequential trees: each column by a decision tree of those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.tables.masking.draws import uniforms
from celosia.tables.masking.method import MaskingMethod, MethodResult, Work, check_columns
from celosia.tables.synthesis.checks import (
    NEW_ROWS,
    NO_PROMISE,
    check_filled,
    check_whole_table,
)
from celosia.tables.synthesis.variables import Variable, variables

Matrix = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees(MaskingMethod):
    """New rows, one column after the other, each drawn from the leaf that the row falls into.

    The first column is drawn with replacement. For each next one a decision tree is grown on the
    columns before it; a new row falls into a leaf by what it has so far, and takes the cell of a
    real row there, empty cells too. With `bayesian` the rows of a leaf are weighted at random first
    (the Bayesian bootstrap), as proper multiple imputation needs.

    With `partial` the rows stay: only the columns given are drawn anew, each from a tree of all
    columns that are kept and of those drawn before; the other columns are as they were.

    It promises nothing: every cell is the cell of a real person. Needs scikit-learn, the extra
    `celosia[utility]`.

    Reference: Reiter 2005, Using CART to generate partially synthetic public use microdata, Journal
    of Official Statistics 21; Rubin 1981 for the Bayesian bootstrap.
    """

    method_name: ClassVar[str] = "trees"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False

    rows: int | None = parameter(None, like=NEW_ROWS)
    leaf: int = parameter(5, least=1, most=2**31 - 1, is_main=True)
    bayesian: bool = False
    partial: bool = False

    def check(self) -> None:
        """Refuse a number of rows where the rows stay."""
        if self.partial and self.rows is not None:
            raise InputError("CEL-Y009.partial")

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        if self.partial:
            check_columns(frame, columns, self.method_name)
        else:
            check_whole_table(frame, columns, self.method_name)
        check_filled(frame, self.method_name)
        grow = _trees()
        kept = [name for name in frame.columns if name not in columns]
        known = variables(frame, kept)
        count = frame.height if self.rows is None else self.rows
        seen, made = [_feature(each) for each in known], [_feature(each) for each in known]
        cells, leaves = [], []
        for place, variable in enumerate(variables(frame, columns)):
            work.progress(Step(Message("masking.stage.growing_trees"), place, len(columns)))
            if seen:
                tree = grow(
                    variable, np.column_stack(seen), self.leaf, int(work.rng.integers(2**31, 1)[0])
                )
                homes = tree.apply(np.column_stack(seen))
                wanted = tree.apply(np.column_stack(made))
                leaves.append(int(tree.get_n_leaves()))
            else:
                homes, wanted = np.zeros(frame.height, dtype=np.int64), np.zeros(count, np.int64)
            donors = self._donors(homes, wanted, work.rng)
            values = variable.values[donors]
            cells.append(variable.series(values))
            seen.append(_feature(variable))
            made.append(seen[-1][donors])
        drawn = pl.DataFrame(cells)
        return MethodResult(
            frame=(frame.with_columns(cells) if self.partial else pick(drawn, frame.columns)),
            facts={"rows": count, "leaves": leaves},
            synthetic=not self.partial,
        )

    def _donors(self, homes: Places, wanted: Places, rng: Source) -> Places:
        """For each new row a real row of its leaf."""
        order = np.argsort(homes, kind="stable")
        leaves, starts, sizes = np.unique(homes[order], return_index=True, return_counts=True)
        leaf = np.searchsorted(leaves, wanted)
        levels = uniforms(rng, wanted.size)
        if not self.bayesian:
            return order[starts[leaf] + (levels * sizes[leaf]).astype(np.int64)]
        # Weights of the Bayesian bootstrap: exponential numbers, as shares of their leaf.
        ends = np.cumsum(-np.log(uniforms(rng, homes.size)))
        before = np.concatenate([[0.0], ends])[starts]
        after = ends[starts + sizes - 1]
        at = before[leaf] + levels * (after - before)[leaf]
        found = np.searchsorted(ends, at, side="right")
        places: Places = np.clip(found, starts[leaf], starts[leaf] + sizes[leaf] - 1)
        return order[places]

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps = [
            Message(NO_PROMISE),
            Message("masking.gap.real_cells"),
            Message("masking.gap.few_rows", rows=self.leaf),
        ]
        if self.partial:
            gaps.append(Message("masking.gap.real_columns"))
        return tuple(gaps)


def _feature(variable: Variable) -> Matrix:
    """A variable for trees to split by: its numbers or codes, an empty cell below all of them."""
    found = variable.present
    if not found.size:
        return np.zeros(variable.values.size)
    low, high = float(found.min()), float(found.max())
    # Trees keep single precision: from 0 to 1, whatever the unit and the origin.
    return np.where(np.isnan(variable.values), -0.5, (variable.values - low) / ((high - low) or 1))


def _trees() -> Any:
    try:
        from sklearn.tree import (  # optional, and slow to load
            DecisionTreeClassifier,
            DecisionTreeRegressor,
        )
    except ImportError:
        raise InputError("CEL-Y010") from None

    def grow(variable: Variable, features: Matrix, leaf: int, seed: int) -> Any:
        if variable.labels is not None:
            tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed)
            return tree.fit(features, np.nan_to_num(variable.values, nan=-1.0).astype(np.int64))
        empty = np.isnan(variable.values)
        tree = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=seed)
        feature = np.where(empty, 0.0, _feature(variable))
        # Two goals at once where cells are empty: which ones are, and what the others hold.
        return tree.fit(features, np.column_stack([feature, empty]) if empty.any() else feature)

    return grow
