"""A search for the pair of neighbouring inputs with the greatest privacy loss."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

from celosia.assess.audit.pairs import Pair, pairs_for
from celosia.assess.audit.result import Audit
from celosia.assess.audit.sampling import Auditable
from celosia.assess.audit.trial import (
    FEWEST,
    UNCLAIMED,
    Trial,
    audit,
    check_samples,
    claims_for,
)
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.parameters import check_confidence


def search(
    mechanism: Auditable,
    pairs: Iterable[Pair] | None = None,
    *,
    claim: object = None,
    samples: int = 100_000,
    confidence: float = 0.999,
    rng: Source | None = None,
    progress: Progress = silent,
    name: str = "",
    last_bits: bool = True,
) -> Audit:
    """The audit of the worst of many pairs.

    Pairs that promise little fall away round by round, while the others get more samples. The one
    that is left is audited on samples of its own, so the bound needs no correction for the search.

    Args:
        mechanism: as in `audit`.
        pairs: neighbouring inputs; by default those that are known for a mechanism of ours.
        claim: as in `audit`.
        samples: outputs that each input of the last pair is audited by. The rounds before draw
            about as many again, spread over all pairs.
        confidence: as in `audit`.
        rng: as in `audit`.
        progress: reports how many pairs of a round were tried.
        name: the mechanism in words.
        last_bits: as in `audit`.

    Raises:
        InputError: CEL-A105 no pairs are known for it; CEL-A106 no pairs were given.
    """
    left = list(_pairs(mechanism) if pairs is None else pairs)
    if not left:
        raise InputError("CEL-A106.none_given")
    rng = System() if rng is None else rng
    half = check_samples(samples) // 2
    error = (1 - check_confidence(confidence)) / 2
    claims = claims_for(mechanism, claim) or UNCLAIMED
    rounds = max(1, round(log2(len(left)) / 2))
    while len(left) > 1:
        share = min(half, max(FEWEST, samples // (rounds * len(left))))
        promised: list[float] = []
        for done, pair in enumerate(left):
            progress(Step(Message("assess.stage.worst_pair"), done, len(left)))
            trial = Trial(mechanism, pair.first, pair.second, rng=rng, progress=silent)
            selected = trial.select_event(
                share, claims, error=error, confirming=half, last_bits=last_bits
            )
            promised.append(selected.excess)
        best = sorted(range(len(left)), key=lambda place: -promised[place])
        left = [left[place] for place in best[: max(1, len(left) // 4)]]
    (worst,) = left
    return audit(
        mechanism,
        worst.first,
        worst.second,
        claim=claim,
        samples=samples,
        confidence=confidence,
        rng=rng,
        progress=progress,
        name=name,
        pair=worst.words,
        last_bits=last_bits,
    )


def _pairs(mechanism: Auditable) -> tuple[Pair, ...]:
    if isinstance(mechanism, Mechanism):
        return pairs_for(mechanism)
    raise InputError("CEL-A106.function")
