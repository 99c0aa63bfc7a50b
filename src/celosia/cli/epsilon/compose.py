"""`celosia epsilon compose`: what several releases of the same data cost together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console
from celosia.cli.epsilon import release_notation
from celosia.cli.epsilon.formatting import format_at_most
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import PrivacyError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.accounting import Explanation


ReleaseList = list[str] | None


def compose(
    outputs: ReportOutputs,
    pure: Annotated[ReleaseList, "EPSILON[xTIMES]", "Releases with a known epsilon."] = None,
    approximate: Annotated[
        ReleaseList, "EPSILON,DELTA[xTIMES]", "Releases with a known epsilon and delta."
    ] = None,
    exponential: Annotated[
        ReleaseList, "EPSILON[xTIMES]", "Releases of the exponential mechanism."
    ] = None,
    rho: Annotated[ReleaseList, "RHO[xTIMES]", "Releases with a known rho (zCDP)."] = None,
    laplace: Annotated[
        ReleaseList,
        "SCALE[,sensitivity=S][xTIMES]",
        "Releases with Laplace noise on whole numbers.",
    ] = None,
    gaussian: Annotated[
        ReleaseList,
        "SIGMA[,sensitivity=S][xTIMES]",
        "Releases with Gaussian noise on whole numbers.",
    ] = None,
    delta: Annotated[float, "The chance that the promise fails, for all together."] = 1e-6,
    sampled: Annotated[
        float | None, "RATE", "Each release uses its own secret Poisson sample of this rate."
    ] = None,
) -> None:
    """Add up releases of the same data: every bound side by side, the tightest marked.

    Some bounds need all losses to be fixed in advance; others hold as well when each next release
    is chosen by the answers so far.

    **Examples**

    `celosia epsilon compose --pure 0.1x100 --delta 1e-6`

    `celosia epsilon compose --gaussian sigma=10x50 --laplace 2x30 --rho 0.01 --delta 1e-6`

    `celosia epsilon compose --approximate 0.5,1e-8x10 --pure 1/3 --report cost.html`

    `celosia epsilon compose --gaussian 4x1000 --sampled 0.01 --json`
    """
    from celosia.accounting import explain
    from celosia.accounting import report as pages
    from celosia.accounting.amounts import delta_amount

    outputs.check()
    parts = release_notation.parse_releases(
        {
            "--pure": pure,
            "--approximate": approximate,
            "--exponential": exponential,
            "--rho": rho,
            "--laplace": laplace,
            "--gaussian": gaussian,
        }
    )
    failure = float(delta_amount(delta, zero=True))
    if sampled is not None:
        parts = release_notation.sample_releases(parts, sampled)
    with outputs.working(None):
        found = explain([part.loss for part in parts for _ in range(part.times)], delta=failure)
    _check_finite(found)
    console.warn_of_delta(failure)
    releases = [(part.words, part.loss, part.times) for part in parts]
    outputs.write_report(lambda: pages.document(found, releases))
    best, adaptive = found.tightest, found.tightest_adaptive
    least = format_at_most(adaptive.epsilon)
    also: str = ""
    if format_at_most(best.epsilon) != least:
        also = Message("cli.epsilon.adaptive", epsilon=least, bound=adaptive.name)
    outputs.show(
        lambda: _facts(found, parts),
        lambda: _show(found, parts),
        say(
            "cli.epsilon.composed",
            releases=len(found.loss.parts),
            delta=failure,
            epsilon=format_at_most(best.epsilon),
            bound=best.name,
            also=also,
        ),
    )


def _check_finite(found: Explanation) -> None:
    from math import isinf

    if isinf(found.tightest.epsilon):
        raise PrivacyError("CEL-B010.no_promise", delta=found.delta, reason=found.bounds[0].reason)


def _textbook(parts: Sequence[release_notation.ReleaseGroup], delta: float) -> float | None:
    """The advanced composition theorem as textbooks print it; for releases of one kind only."""
    from celosia.accounting import ApproximateLoss, PureLoss, advanced

    if len(parts) != 1:
        return None
    loss, times = parts[0].loss, parts[0].times
    failure = loss.failure if isinstance(loss, ApproximateLoss) else 0.0
    slack = delta - times * failure
    if not isinstance(loss, PureLoss | ApproximateLoss) or not slack > 0:
        return None
    return advanced(times, float(loss.value), slack=slack, delta=failure).epsilon


def _facts(found: Explanation, parts: Sequence[release_notation.ReleaseGroup]) -> dict[str, Any]:
    return {
        "delta": found.delta,
        "releases": [part.as_dict() for part in parts],
        "count": len(found.loss.parts),
        "epsilon": found.tightest.epsilon,
        "epsilon_adaptive": _finite(found.tightest_adaptive.epsilon),
        "bounds": found.rows(),
        "textbook_advanced": _finite(_textbook(parts, found.delta)),
    }


def _finite(value: float | None) -> float | None:
    from math import isfinite

    return value if value is not None and isfinite(value) else None


def _show(found: Explanation, parts: Sequence[release_notation.ReleaseGroup]) -> None:
    for part in parts:
        console.show(str(part))
    rows = [
        [
            bound.name,
            f"{format_at_most(bound.epsilon):>9}",
            say("cli.word.yes" if bound.adaptive else "cli.epsilon.fixed"),
            say("cli.epsilon.tightest") if bound is found.tightest else bound.reason,
        ]
        for bound in found.bounds
    ]
    textbook = _finite(_textbook(parts, found.delta))
    if textbook is not None:
        remark = "Dwork & Roth 2014, Thm 3.20"
        known = [
            say("cli.epsilon.textbook"),
            f"{format_at_most(textbook):>9}",
            say("cli.epsilon.fixed"),
            remark,
        ]
        rows.insert(2, known)
    console.show_table(
        say("cli.epsilon.epsilon_all_together_at", delta=found.delta),
        console.columns("bound", "epsilon", "losses_chosen_way", ""),
        rows,
        numbers=False,
    )
