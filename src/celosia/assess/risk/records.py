"""The risk of each record by several measures at once, one row a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from celosia.assess.risk.attribute import AttributeRisk, attribute_risk
from celosia.assess.risk.individual import BlankRule, IndividualRisk, check_weights, individual_risk
from celosia.assess.risk.log_linear import LogLinearRisk, log_linear_risk
from celosia.assess.risk.profile import THRESHOLD, check_known
from celosia.assess.risk.suda import SudaScores
from celosia.assess.risk.suda import suda as suda_scores
from celosia.core.errors import InputError
from celosia.core.progress import Progress, silent
from celosia.frames import as_frame

FRACTION = 0.01
"""The share of the population that is in the table, where neither it nor weights are given."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordRisks:
    """What was measured; None or nothing where it was not asked for."""

    by_weights: IndividualRisk | None = None
    suda: SudaScores | None = None
    log_linear: LogLinearRisk | None = None
    sensitive: tuple[AttributeRisk, ...] = ()

    def frame(self) -> pl.DataFrame:
        """One row a record, in the order of the table."""
        measured = [each for each in (self.by_weights, self.suda, self.log_linear) if each]
        frames = [each.frame() for each in measured]
        for each in self.sensitive:
            shown = each.frame()
            shown.columns = [f"{each.sensitive}_{name}" for name in shown.columns]
            frames.append(shown)
        return pl.concat(frames, how="horizontal")

    def as_dict(self) -> dict[str, Any]:
        """The figures of the file as plain values."""
        facts = {} if self.by_weights is None else self.by_weights.as_dict()
        if self.suda is not None:
            facts["suda"] = self.suda.as_dict()
        if self.log_linear is not None:
            facts["log_linear"] = self.log_linear.as_dict()
        if self.sensitive:
            facts["sensitive"] = [each.as_dict() for each in self.sensitive]
        return facts

    def __str__(self) -> str:
        measured = (self.by_weights, self.suda, self.log_linear, *self.sensitive)
        return "; ".join(str(each) for each in measured if each is not None)


def record_risks(
    data: Any,
    *,
    keys: Sequence[str],
    weights: str | None = None,
    missing: BlankRule = "own",
    household: str | None = None,
    threshold: float = THRESHOLD,
    suda: bool = False,
    at_most: int | None = None,
    log_linear: str | None = None,
    sampling_fraction: float | None = None,
    sensitive: Sequence[str] = (),
    progress: Progress = silent,
) -> RecordRisks:
    """The risk of each record: by weights, by SUDA, by a log-linear model, and of sensitive values.

    Args:
        data: the sample.
        keys: what an attacker may know of a person.
        weights: the column with how many people each record stands for.
        missing: with weights, what an empty key is: a value of its own, or any value.
        household: with weights, the column that says which records belong together.
        threshold: with weights, from which risk on a record counts as exposed.
        suda: whether SUDA and DIS-SUDA scores are computed.
        at_most: the largest sets of columns of SUDA; all unless given.
        log_linear: the interactions of a log-linear model, `none` or `two-way`.
        sampling_fraction: the share of the population that is in the table, for SUDA and the model;
            found from the weights if there are any.
        sensitive: columns whose l and t are measured.
        progress: called as the work proceeds.

    Raises:
        InputError: CEL-A290 nothing is asked for, and as the single measures do.
    """
    if weights is None and not suda and log_linear is None and not sensitive:
        raise InputError("CEL-A290.nothing")
    if weights is None and household is not None:
        raise InputError("CEL-A290.household")
    frame = as_frame(data)
    fraction = sampling_fraction
    if weights is not None and fraction is None:
        check_known([weights], frame.columns)
        fraction = min(1.0, frame.height / float(check_weights(frame, weights).sum()))
    fraction = FRACTION if fraction is None else fraction
    return RecordRisks(
        by_weights=None
        if weights is None
        else individual_risk(
            frame,
            keys=keys,
            weights=weights,
            missing=missing,
            household=household,
            threshold=threshold,
        ),
        suda=suda_scores(
            frame, keys, at_most=at_most, sampling_fraction=fraction, progress=progress
        )
        if suda
        else None,
        log_linear=None
        if log_linear is None
        else log_linear_risk(frame, keys=keys, sampling_fraction=fraction, interactions=log_linear),
        sensitive=tuple(attribute_risk(frame, keys=keys, sensitive=name) for name in sensitive),
    )
