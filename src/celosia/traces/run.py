"""Publish traces: clean them, apply one method, number traces anew, and account for the result."""

from __future__ import annotations

import warnings
from typing import Any

from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.traces.account import TraceAccount, account
from celosia.traces.cleaning import clean
from celosia.traces.declaration import Declaration
from celosia.traces.method import MethodResult, TraceMethod
from celosia.traces.options import PublishOptions
from celosia.traces.points import Traces
from celosia.traces.readers import traces_from
from celosia.traces.registry import methods as known_methods
from celosia.traces.release import MethodOutcome, TraceRelease


def publish(
    data: Any,
    method: TraceMethod | list[TraceMethod] | tuple[TraceMethod, ...],
    *,
    declaration: Declaration | None = None,
    options: PublishOptions | None = None,
    rng: Source | None = None,
    progress: Progress = silent,
) -> TraceRelease:
    """Traces after a method, under random numbers, with what risk and what use is left.

    Args:
        data: `Traces`, or a table with the columns that `declaration` names.
        method: what is done.
        declaration: what the columns of a table mean.
        options: how long pseudonyms last, whether ends are trimmed, whether the result is attacked.
        rng: where noise and numbers are drawn from; a seed makes it a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: the points or a parameter are wrong; CEL-J023 not one method; CEL-J012 a period
            of pseudonyms that the method cannot use; CEL-J025 nothing is left after cleaning.
        PrivacyError: CEL-J020, CEL-J021 the method cannot keep its promise on these points.

    >>> from celosia import Seeded, datasets, traces
    >>> points = datasets.city(people=60, days=2).traces
    >>> release = publish(points, traces.Glove(k=5), rng=Seeded(1))
    >>> release.outcome.facts["smallest_group"] >= 5
    True
    """
    rng = System() if rng is None else rng
    chosen = _one(method)
    wanted = PublishOptions() if options is None else options
    period = wanted.pseudonym or chosen.default_period
    chosen.check_period(period)
    original = _points(data, declaration)
    cleaned, gone = clean(original, trim=wanted.trim, rng=rng)
    if not cleaned.size:
        raise InputError("CEL-J025")
    done = chosen.apply(cleaned, period, rng=rng, progress=progress)
    samples = done.samples.shuffled(rng)
    measured = TraceAccount()
    if wanted.assess and samples.size:
        measured = account(original, samples, period=period, rng=rng, progress=progress)
    for note in original.warnings:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    return TraceRelease(
        data=samples.frame(original.plane, original.declaration.zone, linked=period != "none"),
        guarantee=_guarantee(chosen, done, period, cleaned=bool(gone), simulation=rng.simulation),
        provenance=Provenance.now(
            "celosia.traces.publish",
            {
                "method": chosen.as_dict(),
                "options": wanted.as_dict(),
                "declaration": original.declaration.as_dict(),
                "period": period,
            },
            seed=rng.seed,
        ),
        warnings=original.warnings,
        outcome=MethodOutcome(chosen.method_name, dict(done.facts), done.kept),
        account=measured,
        figures=measured.figures(),
        left_out=dict(original.counts) | gone,
        samples=samples,
    )


def _one(method: Any) -> TraceMethod:
    given = method if isinstance(method, list | tuple) else (method,)
    if len(given) != 1 or not isinstance(given[0], TraceMethod):
        raise InputError("CEL-J023", count=len(given), methods=list(known_methods()))
    return given[0]


def _points(data: Any, declaration: Declaration | None) -> Traces:
    if isinstance(data, Traces):
        return data
    if declaration is None:
        raise InputError("CEL-J002.missing")
    return traces_from(data, declaration)


def _guarantee(
    method: TraceMethod, done: MethodResult, period: str, *, cleaned: bool, simulation: bool
) -> Guarantee:
    gaps = method.leaves_open(period)
    return Guarantee(
        promise=done.promise,
        unit=Message("traces.unit.person"),
        protects=method.protects(),
        assumes=method.assumes(),
        leaves_open=(*gaps, Message("traces.open.trimmed")) if cleaned else gaps,
        simulation=simulation,
    )
