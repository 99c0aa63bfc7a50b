"""What `celosia audit` tries to break: every mechanism that ships, and published mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean

if TYPE_CHECKING:
    from celosia.assess.audit import Audit, Case
    from celosia.core.randomness import Source
    from celosia.lab.mechanisms.broken import BrokenMechanism

FEW, MANY = 1_500, 100_000
"""Samples of outputs that are drawn one by one, and many at once."""
MOST, TOGETHER = 20_000, 60_000
"""Samples one by one, of a single mechanism and of all together: half a minute is enough."""


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """Something to audit: what it is called, how, and whether it must be caught."""

    name: str
    audit: Callable[..., Audit]
    samples: int
    broken: bool = False


def find_audit_targets(only: Sequence[str] | None, *, broken: bool) -> list[AuditTarget]:
    """What ships and, with `broken`, published mistakes; all of them, or those of some names.

    Raises:
        InputError: CEL-A120 a name is not known.
    """
    from celosia.assess.audit import SHIPPED

    known = [_case(case) for case in SHIPPED]
    if broken:
        from celosia.lab.mechanisms.broken import BROKEN

        known += [_mistake(mistake) for mistake in BROKEN]
    return _with_enough_samples(_select(known, only) if only else known)


def _select(known: Sequence[AuditTarget], only: Sequence[str]) -> list[AuditTarget]:
    names = sorted({target.name for target in known})
    plain = {_plain(name): name for name in names}
    for name in only:
        if _plain(name) not in plain:
            raise InputError(
                "CEL-A120", name=name, hint=did_you_mean(name, names), names=", ".join(names)
            )
    wanted = {plain[_plain(name)] for name in only}
    return [target for target in known if target.name in wanted]


def _with_enough_samples(targets: list[AuditTarget]) -> list[AuditTarget]:
    """More samples for outputs that are drawn one by one, where few are to be audited."""
    slow = sum(target.samples == FEW for target in targets)
    room = min(MOST, max(FEW, TOGETHER // max(1, slow)))
    return [
        replace(target, samples=room) if target.samples == FEW else target for target in targets
    ]


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def _case(case: Case) -> AuditTarget:
    return AuditTarget(type(case.mechanism).__name__, case.audit, MANY if case.at_once else FEW)


def _mistake(mistake: BrokenMechanism) -> AuditTarget:
    from celosia.assess.audit import audit as audit_pair
    from celosia.lab.mechanisms.broken import BrokenFloatLaplace

    name = type(mistake).__name__

    def draw(data: Any, rng: Source, size: int) -> Any:
        return mistake.run(data, rng=rng, size=size)

    def run(**options: Any) -> Audit:
        return audit_pair(
            draw,
            *mistake.neighbours,
            claim=mistake.claimed_epsilon,
            name=name,
            pair="the neighbours that show its flaw",
            # All of them draw floats; the others must be caught by what they are an example of.
            last_bits=isinstance(mistake, BrokenFloatLaplace),
            **options,
        )

    return AuditTarget(name, run, MANY, broken=True)
