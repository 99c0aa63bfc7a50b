"""The mechanisms of Celosía, each with neighbouring inputs near the worst known case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from math import log2
from typing import Any

import numpy as np

from celosia.assess.audit.pairs import Pair, key_rows, pairs_for, streams
from celosia.assess.audit.result import Audit
from celosia.assess.audit.trial import (
    FEWEST,
    UNCLAIMED,
    Auditable,
    Trial,
    audit,
    check_samples,
    claims_for,
)
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.mechanisms.additive.gaussian import Gaussian, GaussianCounts
from celosia.mechanisms.additive.laplace import Geometric, Laplace
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.responses.kary_response import KaryResponse
from celosia.mechanisms.responses.randomised_response import RandomisedResponse
from celosia.mechanisms.selection.exponential import Exponential
from celosia.mechanisms.selection.permute_and_flip import PermuteAndFlip
from celosia.mechanisms.selection.top_selection import NoisyMax, TopSelection
from celosia.mechanisms.sparse import (
    AboveThreshold,
    NumericSparse,
    Sparse,
    SparseMechanism,
    SparseVector,
)
from celosia.mechanisms.statistics.contributions import per_unit
from celosia.mechanisms.statistics.exponential_mean import ExponentialMean
from celosia.mechanisms.statistics.histogram import Histogram
from celosia.mechanisms.statistics.key_histogram import KeyHistogram
from celosia.mechanisms.statistics.mean import DirectMean, NormalisedMean, SumCountMean
from celosia.mechanisms.statistics.most_frequent import MostFrequent
from celosia.mechanisms.statistics.quantiles import Median, Quantile, Quantiles
from celosia.mechanisms.statistics.sums import Count, Sum
from celosia.mechanisms.statistics.variance import StandardDeviation, Variance


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


CANDIDATES = 20
"""With many candidates of equal score a choice loses nearly all of its epsilon at once."""


@dataclass(frozen=True, slots=True)
class EntrywiseMechanism:
    """A mechanism that treats every entry of a list by itself, asked about many equal entries.

    Each entry of such a release is an independent output on one entry, drawn by the same code: the
    answers of randomised response, the coordinates of additive noise. A mechanism that fixes its
    dimension is given a wider one, which must leave the law of a coordinate as it is.
    """

    mechanism: Mechanism[Any, Any]

    @property
    def __name__(self) -> str:
        return str(self.mechanism)

    def draw(self, data: Any, rng: Source, size: int) -> Any:
        """`size` independent outputs on one number or category."""
        wide = self.mechanism
        if any(item.name == "dimension" for item in fields(wide)):
            changed: dict[str, Any] = {"dimension": size, "one_coordinate": True}
            wide = replace(wide, **changed)
            assert wide.law == self.mechanism.law, "a wider release must not change the noise"  # type: ignore[attr-defined]
        equal = np.full(size, data) if isinstance(data, int | float) else [data] * size
        return wide.release(equal, rng=rng)


@dataclass(frozen=True, slots=True)
class StreamedMechanism:
    """A sparse vector mechanism asked one question at a time, as its users ask it."""

    mechanism: SparseMechanism

    @property
    def __name__(self) -> str:
        return Message("assess.pair.stream", mechanism=str(self.mechanism))

    def __call__(self, data: Any, rng: Source) -> tuple[Any, ...]:
        """The replies until the stream is exhausted."""
        replies = []
        with self.mechanism.stream(rng=rng) as stream:
            for answer in data:
                if stream.left:
                    replies.append(stream.ask(answer))
        return tuple(replies)


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism with example parameters and pairs of inputs to try it on."""

    mechanism: Mechanism[Any, Any]
    pairs: tuple[Pair, ...]
    run: Auditable | None = None
    """What is run instead of one release after the other; by default nothing."""

    @property
    def at_once(self) -> bool:
        """Whether many outputs are drawn by one call."""
        return isinstance(self.run, EntrywiseMechanism)

    def __str__(self) -> str:
        return (
            Message("assess.pair.stream", mechanism=str(self.mechanism))
            if self.streamed
            else str(self.mechanism)
        )

    @property
    def streamed(self) -> bool:
        """Whether questions are asked one at a time."""
        return isinstance(self.run, StreamedMechanism)

    def audit(
        self,
        *,
        samples: int = 100_000,
        confidence: float = 0.999,
        rng: Source | None = None,
        progress: Progress = silent,
    ) -> Audit:
        """The audit of the worst of its pairs, by what the mechanism says of itself."""
        return search(
            self.mechanism if self.run is None else self.run,
            self.pairs,
            claim=self.mechanism.privacy_loss(),
            samples=samples,
            confidence=confidence,
            rng=rng,
            progress=progress,
            name=str(self),
        )


def audit_all(
    samples: int = 100_000,
    *,
    rng: Source | None = None,
    confidence: float = 0.999,
    progress: Progress = silent,
    cases: Sequence[Case] | None = None,
) -> tuple[Audit, ...]:
    """The audits of all mechanisms that ship; all bounds hold together with `confidence`.

    Each audit is allowed an equal part of the error (Bonferroni), so that one false alarm among
    all of them is as improbable as one in a single audit.

    Args:
        samples: outputs drawn from each input.
        rng: a seeded source makes the audits repeatable.
        confidence: how surely all lower bounds hold.
        progress: reports how many mechanisms are done.
        cases: by default `SHIPPED`.
    """
    cases = SHIPPED if cases is None else cases
    rng = System() if rng is None else rng
    each = 1 - (1 - check_confidence(confidence)) / max(1, len(cases))
    found = []
    for done, case in enumerate(cases):
        progress(Step(Message("assess.stage.audit"), done, len(cases)))
        audit = case.audit(samples=samples, confidence=each, rng=rng)
        found.append(replace(audit, confidence=confidence))
    return tuple(found)


def _additive() -> Iterator[Case]:
    for mechanism in (
        Laplace(epsilon=1, sensitivity=1),
        Laplace(epsilon=0.1, sensitivity=100),
        Gaussian(epsilon=3, delta=0.01, sensitivity=1),
    ):
        moved = float(mechanism.sensitivity)
        pair = Pair(0.0, moved, Message("assess.pair.against", first=0.0, second=moved))
        yield Case(mechanism, (pair,), EntrywiseMechanism(mechanism))
    for whole in (
        Geometric(epsilon=1),
        Geometric(epsilon=0.5, sensitivity=3),
        GaussianCounts(rho=0.5),
    ):
        steps = int(whole.sensitivity)
        yield Case(
            whole,
            (Pair(0, steps, Message("assess.pair.against", first=0, second=steps)),),
            EntrywiseMechanism(whole),
        )
    vector = Laplace(epsilon=1, sensitivity=1, dimension=2)
    yield Case(vector, (Pair([0.0, 0.0], [0.5, 0.5], Message("assess.pair.halves")),))
    yes, first = (
        Pair(False, True, Message("assess.pair.no_yes")),
        Pair("a", "b", Message("assess.pair.against", first="a", second="b")),
    )
    for response in (RandomisedResponse.two_coins(), RandomisedResponse.for_epsilon(0.5)):
        yield Case(response, (yes,), EntrywiseMechanism(response))
    for names in (("a", "b"), tuple("abcdefgh")):
        kary = KaryResponse(epsilon=1, categories=names)
        yield Case(kary, (first,), EntrywiseMechanism(kary))


def _selections() -> Iterator[Case]:
    level = [0] * CANDIDATES
    words = Message("assess.pair.equal_raised", candidates=CANDIDATES)
    lowered = Message("assess.pair.equal_lowered", candidates=CANDIDATES)
    lead = Pair(level, [1, *[-1] * (CANDIDATES - 1)], lowered)
    alone = Pair(level, [1, *level[1:]], words)
    for kind in (Exponential, PermuteAndFlip, NoisyMax):
        yield Case(kind(epsilon=1), (lead,))
        yield Case(kind(epsilon=1, monotone=True), (alone,))
    two = Pair(level, [1, 1, *[-1] * (CANDIDATES - 2)], Message("assess.pair.two_raised"))
    yield Case(TopSelection(epsilon=1, count=2), (two,))


def _columns() -> Iterator[Case]:
    bounds: dict[str, Any] = {"epsilon": 1, "lower": 0, "upper": 1, "may_be_empty": True}
    nothing = Pair([], [1.0], Message("assess.pair.upper_bound"))
    changed = Pair([0.0], [1.0], Message("assess.pair.bound_changed"))
    for relation, pair in ((ADD_REMOVE, nothing), (CHANGE_ONE, changed)):
        for kind in (Sum, NormalisedMean, SumCountMean, DirectMean, Variance, StandardDeviation):
            yield Case(kind(**bounds, neighbours=relation), (pair,))
    shifted = {**bounds, "lower": 100, "upper": 101}
    high = Pair([], [101.0], Message("assess.pair.far_bound"))
    yield Case(SumCountMean(**shifted), (high,))
    yield Case(
        Count(epsilon=1, may_be_empty=True), (Pair([], [True], Message("assess.pair.no_row")),)
    )
    yield from _quantiles(bounds)
    bins: dict[str, Any] = {"epsilon": 1, "categories": ("a", "b"), "may_be_empty": True}
    yield Case(Histogram(**bins), (Pair([], ["a"], Message("assess.pair.no_row")),))
    moved = Pair(["a"], ["b"], Message("assess.pair.a_to_b"))
    yield Case(Histogram(**bins, neighbours=CHANGE_ONE), (moved,))
    for relation, pair in (
        (ADD_REMOVE, Pair([], ["a"], Message("assess.pair.no_row"))),
        (CHANGE_ONE, moved),
    ):
        yield Case(MostFrequent(**bins, neighbours=relation), (pair,))
    for relation in (ADD_REMOVE, CHANGE_ONE):
        # A delta that samples can see: at 1e-6 no audit could detect a threshold that is a little
        # low.
        keys = KeyHistogram(epsilon=1, delta=0.05, may_be_empty=True, neighbours=relation)
        yield Case(keys, tuple(key_rows(neighbours=relation)))
    units = per_unit(Count(epsilon=1, may_be_empty=True), 3)
    yield Case(units, (Pair([], [True] * 3, Message("assess.pair.customer")),))


def _quantiles(bounds: dict[str, Any]) -> Iterator[Case]:
    """Where few points of the range gain and many lose, the chances move by nearly all of it."""
    many = [0.0] * 20
    for relation in (ADD_REMOVE, CHANGE_ONE):
        added = relation is ADD_REMOVE
        step = Message("assess.pair.one_more" if added else "assess.pair.one_changed")
        before = [0.1] if added else [0.1, 1.0]
        low = Pair(before, [0.1, 0.0], Message("assess.pair.near_end", step=step))
        before = [1.0] if added else [1.0, 0.0]
        near = Pair(before, [1.0, 0.9], Message("assess.pair.at_end", step=step))
        before = many if added else [*many, 0.0]
        last = Pair(before, [*many, 1.0], Message("assess.pair.other_end", step=step))
        yield Case(Median(**bounds, neighbours=relation), (low,))
        yield Case(Quantile(**bounds, q=0.9, neighbours=relation), (near,))
        yield Case(Quantiles(**bounds, neighbours=relation), (low,))
        yield Case(ExponentialMean(**bounds, neighbours=relation), (last,))


def _sparse() -> Iterator[Case]:
    first = AboveThreshold(1, threshold=0)
    several = SparseVector(1, threshold=0, positives=2)
    for mechanism in (
        first,
        Sparse(1, threshold=0, positives=2),
        several,
        SparseVector(1, threshold=0, positives=1, monotone=True),
        SparseVector(1, threshold=0, positives=1, numeric=0.5),
        NumericSparse(1, threshold=0, positives=1),
    ):
        monotone = getattr(mechanism, "monotone", False)
        pairs = tuple(streams(mechanism.limit, monotone=monotone, lengths=(1, 3)))
        yield Case(mechanism, pairs)
        if mechanism in (first, several):
            yield Case(mechanism, pairs, StreamedMechanism(mechanism))


SHIPPED: tuple[Case, ...] = (*_additive(), *_selections(), *_columns(), *_sparse())
