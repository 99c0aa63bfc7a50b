"""Mask a table where it is: on DuckDB, PostgreSQL or Spark, whatever its size.

Each column is made ready first, by facts that an engine counts where a method needs them; then rows
are masked in batches, wherever the engine has them. Methods that must see all rows are refused.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from celosia.assess.risk import RiskProfile
from celosia.assess.risk.profile import classes_of
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.files import check_writable
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded, Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.engines import Groups
from celosia.engines.tables import Draft, Output, Place, TableEngine, changed_source
from celosia.frames import pick
from celosia.frames.columns import check_names, without_minus_zero
from celosia.tables.masking.account import Account
from celosia.tables.masking.method import Cells, check_columns
from celosia.tables.masking.recipe import Recipe
from celosia.tables.masking.release import EngineMaskedTable, StepOutcome
from celosia.tables.masking.run import at_step, check_widths, guarantee, order_warnings
from celosia.tables.masking.value_counts import ValueCounts
from celosia.tables.run_on_engine import certificate_place, text_columns
from celosia.tables.schema import Role, released_names


@dataclass(frozen=True, slots=True, eq=False)
class PreparedStep:
    """One step, made ready."""

    number: int
    """Its place in the recipe, from 1."""
    masks: Mapping[str, Cells] = field(repr=False)
    """What becomes of each column that it masks."""
    draws: bool


@dataclass(frozen=True, slots=True, eq=False)
class Masker:
    """All steps of a recipe, as a function of a batch; it is pickled for other machines.

    It has no source of randomness of its own. Where it is called each batch draws from the
    operating system there, so that no machine shares or is sent what another draws from.
    """

    names: tuple[str, ...]
    """The columns that are released, in order; others are left out."""
    steps: tuple[PreparedStep, ...]
    seed: int | None
    """Makes a simulation: each batch draws from this seed and its own rows."""

    def with_step(self, step: PreparedStep) -> Masker:
        """The same with one step more."""
        return replace(self, steps=(*self.steps, step))

    def for_columns(self, names: Sequence[str]) -> Masker:
        """What becomes of some columns: each is masked whatever the others are."""
        kept = [
            replace(step, masks={name: step.masks[name] for name in names if name in step.masks})
            for step in self.steps
        ]
        return Masker(tuple(names), tuple(kept), self.seed)

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows as they are released."""
        masked = without_minus_zero(pick(rows, self.names))
        rng = self._source(masked)
        for step in self.steps:
            with at_step(step.number):
                cells = [
                    mask(masked.get_column(name), rng).alias(name)
                    for name, mask in step.masks.items()
                ]
            masked = masked.with_columns(cells)
        named = (pl.Categorical, pl.Enum)
        texts = [each.cast(pl.String) for each in masked if isinstance(each.dtype, named)]
        return without_minus_zero(masked.with_columns(texts))

    def _source(self, rows: pl.DataFrame) -> Source:
        if self.seed is None:
            return System()
        # Not one stream for all batches, which would draw the same for the first row of each.
        mixed = int(np.bitwise_xor.reduce(rows.hash_rows().to_numpy())) if rows.height else 0
        text = f"{self.seed} {rows.height} {mixed}".encode()
        return Seeded(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))


LEFT_OUT = (
    Message("masking.left_out.linkage"),
    Message("masking.left_out.information_loss"),
    Message("masking.left_out.propensity"),
    Message("masking.left_out.drawn_cells"),
)
"""What `mask` measures on both tables side by side, in memory."""
CLASSES = Message("masking.left_out.classes")


def mask_on(
    engine: TableEngine,
    source: Place,
    target: Place,
    recipe: Recipe,
    *,
    keep_order: bool = False,
    classes: bool = True,
    rng: Source | None = None,
    progress: Progress = silent,
    overwrite: bool = True,
    certificate: str | Path | None = None,
) -> EngineMaskedTable:
    """Mask a table of an engine to another place of it; as `mask` otherwise.

    The release and its certificate appear together at the end, or neither does. What memory here
    holds: a batch of rows; the distinct values of one column at a time, where a method needs them
    (`MaskingMethod.reach` is "facts"); and the distinct combinations of quasi-identifiers, for
    classes.

    Args:
        engine: where the table is; it stays open.
        source: Parquet (a file, a folder or a pattern) or the name of a table.
        target: a Parquet file, or the name of a table.
        recipe: as for `mask`; no step that needs all rows (`MaskingMethod.reach` is "whole").
        keep_order: leave the rows in the order in which the engine reads them.
        classes: count the classes of equal quasi-identifiers before masking and, if no step draws
            theirs, after it.
        rng: a seeded source makes the release a simulation. Each batch draws by itself: from
            the operating system of the machine that masks it, or from the seed and its own rows.
        progress: called before each stage; may raise `Cancelled`.
        overwrite: whether an existing target may be replaced.
        certificate: where the certificate goes; beside a file of Parquet if not given.

    Raises:
        InputError: the table does not fit the recipe, or a method refuses its columns; CEL-V207 a
            step that needs all rows in memory, CEL-V208 one that needs facts of what an earlier
            one draws, CEL-P112 a table as target and no place for the certificate.
        PrivacyError: a method cannot keep what it promises.
        EngineError: CEL-E002 and CEL-E020 to CEL-E022, see `TableEngine`.
    """
    check_row_by_row(recipe)
    rng = System() if rng is None else rng
    paper = certificate_place(target, certificate)
    check_writable(paper, overwrite=overwrite)
    types = pl.DataFrame(schema=engine.columns(source))
    check_names(types.columns)
    recipe.schema.check_columns(types.columns)
    names = released_names(types, recipe.schema)
    check_widths(pick(types, names))
    engine.check_target(source, target, overwrite=overwrite)
    preparation = _Preparation(engine, source, Masker(tuple(names), (), rng.seed), progress)
    outcomes = preparation.run(recipe, pick(types, names))
    masker = preparation.masker
    measured = preparation.account(recipe) if classes else _empty_account()
    notes = order_warnings(keep_order)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    progress(Step(Message("masking.stage.masking_engine"), 0))
    with engine.map_batches(
        source,
        Output(
            place=target,
            order="kept" if keep_order else "shuffled",
            rng=rng,
            overwrite=overwrite,
        ),
        masker,
        dict(masker(types).schema),
    ) as draft:
        _check_rows(draft, preparation.counted)
        parameters = recipe.as_dict() | {
            "keep_order": keep_order,
            "quasi_identifiers": list(recipe.schema.named(Role.QUASI_IDENTIFIER)),
            "engine": engine.name,
        }
        release = EngineMaskedTable(
            guarantee=_guarantee(recipe, names, measured, rng, keep_order=keep_order),
            provenance=Provenance.now("celosia.tables.masking.mask_on", parameters, seed=rng.seed),
            warnings=notes,
            steps=outcomes,
            account=measured,
            figures=measured.figures()
            | {"left_out": [*([CLASSES] if measured.risk is None else []), *LEFT_OUT]},
            engine=engine.name,
            target=target,
            rows_written=draft.rows,
            text_columns=text_columns(draft),
            certificate_file=paper,
        )
        release.finish(draft, overwrite=overwrite)
    return release


class _Preparation:
    """Steps made ready one after the other, by what the engine counts."""

    def __init__(
        self, engine: TableEngine, source: Place, masker: Masker, progress: Progress
    ) -> None:
        self._engine, self._source, self._progress = engine, source, progress
        self.masker = masker
        self.counted: int | None = None
        """The rows of the table, where something was counted."""

    def run(self, recipe: Recipe, empty: pl.DataFrame) -> tuple[StepOutcome, ...]:
        """What each step has to say; an error says at which of them."""
        outcomes = []
        for number, step in enumerate(recipe.steps, 1):
            self._progress(
                Step(
                    Message("masking.stage.step", number=number, method=step.method.method_name),
                    number - 1,
                    len(recipe.steps),
                )
            )
            with at_step(number):
                check_columns(empty, step.columns, step.method.method_name)
                shown = self.masker(empty)
                ready = {
                    name: step.method.cell_function(shown.get_column(name), self._tally(name))
                    for name in step.columns
                }
            masks = {name: each.mask for name, each in ready.items()}
            self.masker = self.masker.with_step(
                PreparedStep(number, masks, draws=step.method.draws)
            )
            with at_step(number):
                self.masker(empty)  # refuses columns of the wrong type
            facts = {name: dict(each.facts) for name, each in ready.items() if each.facts}
            outcomes.append(
                StepOutcome(
                    step.method.method_name, step.columns, facts, tuple(step.method.confidential)
                )
            )
        return tuple(outcomes)

    def account(self, recipe: Recipe) -> Account:
        """The classes of quasi-identifiers before and, if no step draws theirs, after."""
        names = set(self.masker.names)
        keys = [each for each in recipe.schema.named(Role.QUASI_IDENTIFIER) if each in names]
        if not keys:
            return _empty_account()
        self._progress(Step(Message("masking.stage.counting_classes"), 0))
        groups = self._groups(keys)
        after = None
        if not any(ready.draws and set(keys) & set(ready.masks) for ready in self.masker.steps):
            after = _profile(self.masker.for_columns(keys)(groups.values), groups)
        return Account(risk=after, risk_before=_profile(groups.values, groups), compared=None)

    def _tally(self, name: str) -> Callable[[], ValueCounts]:
        earlier = self.masker.for_columns([name])

        def count() -> ValueCounts:
            groups = self._groups([name])
            return ValueCounts.of(earlier(groups.values).get_column(name), groups.sizes)

        return count

    def _groups(self, names: list[str]) -> Groups:
        groups = self._engine.count_groups(self._source, names)
        rows = int(groups.sizes.sum())
        if rows == 0:
            raise _no_rows()
        if self.counted not in (None, rows):
            raise changed_source()
        self.counted = rows
        return groups


def check_row_by_row(recipe: Recipe) -> None:
    """Refuse, before any work, what cannot be done row by row."""
    drawn: dict[str, int] = {}
    for number, step in enumerate(recipe.steps, 1):
        kind, reach = step.method.method_name, step.method.reach
        if reach == "whole":
            depends = len(step.method.reaches) > 1
            key = "CEL-V207.parameters" if depends else "CEL-V207.always"
            raise InputError(key, method=kind, step=number)
        before = [name for name in step.columns if name in drawn]
        if reach == "facts" and before:
            raise InputError(
                "CEL-V208", kind=kind, drawn=drawn[before[0]], step=number, column=before[0]
            )
        if step.method.draws:
            drawn |= dict.fromkeys(step.columns, number)


def _check_rows(draft: Draft, counted: int | None) -> None:
    if draft.rows == 0:
        raise _no_rows()
    if counted is not None and draft.rows != counted:
        raise changed_source()


def _no_rows() -> InputError:
    return InputError("CEL-P015.no_rows")


def _empty_account() -> Account:
    return Account(risk=None, risk_before=None, compared=None)


def _profile(values: pl.DataFrame, groups: Groups) -> RiskProfile:
    """The risk of classes, some of which may have become one."""
    # Numbered: Polars reads some names as patterns.
    numbered = values.rename({name: f"c{n}" for n, name in enumerate(values.columns)})
    sized = numbered.with_columns(pl.Series("size", groups.sizes))
    merged = sized.group_by(numbered.columns).agg(pl.col("size").sum())
    sizes = merged["size"].to_numpy().astype(np.int64)
    found = classes_of(Groups(merged.drop("size"), sizes))
    return RiskProfile.of_sizes(found.sizes, suppressed=found.suppressed)


def _guarantee(
    recipe: Recipe, names: list[str], measured: Account, rng: Source, *, keep_order: bool
) -> Guarantee:
    found = guarantee(
        recipe,
        names,
        k=0 if measured.risk is None else measured.risk.smallest,
        simulation=rng.simulation,
        keep_order=keep_order,
    )
    if measured.risk is not None or not recipe.schema.named(Role.QUASI_IDENTIFIER):
        return found
    gap = Message("masking.gap.not_counted")
    return replace(found, leaves_open=(gap, *found.leaves_open))
