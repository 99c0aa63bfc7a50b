"""The audit of one pair: half of the samples choose an event, the other half bound epsilon by it.

The bound holds with the confidence asked for whatever was chosen, because the samples that give it
had no part in the choice (Jagielski, Ullman & Oprea 2020 bound epsilon the same way).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from math import inf
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

import numpy as np

from celosia.assess.audit.bounds import (
    LEAK,
    Detectable,
    Estimate,
    clopper_pearson,
    detectable,
    epsilon_below,
)
from celosia.assess.audit.events import SelectedEvent, select_event
from celosia.assess.audit.outputs import Encoder, Outputs
from celosia.assess.audit.result import Audit, Claim, claims_of
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.parameters import check_confidence

AT_ONCE = 1000
"""Outputs between two reports of progress."""


@runtime_checkable
class Sampler(Protocol):
    """Anything that draws many independent outputs at once.

    A function `f(data, rng, size)` is taken as one too; `f(data, rng)` is called once an output.
    """

    def draw(self, data: Any, rng: Source, size: int) -> Any:
        """`size` outputs: an array with a row for each, or a sequence."""


Auditable = Mechanism[Any, Any] | Sampler | Callable[..., Any]
"""What can be audited."""


def name_of(mechanism: Auditable) -> str:
    """A mechanism as one would write it, a function by its name."""
    if isinstance(mechanism, Mechanism):
        return str(mechanism)
    return str(getattr(mechanism, "__name__", None) or type(mechanism).__name__)


def draw(
    mechanism: Auditable, data: Any, size: int, rng: Source, progress: Progress = silent
) -> Any:
    """`size` independent outputs on one input.

    Raises:
        InputError: CEL-A102 it cannot be called; CEL-A103 it gave another number of outputs.
    """
    if isinstance(mechanism, Mechanism):
        return _one_by_one(lambda: _everything(mechanism.measure(data, rng=rng)), size, progress)
    if isinstance(mechanism, Sampler):
        return _check_outputs(mechanism.draw(data, rng, size), size)
    if not callable(mechanism):
        raise InputError("CEL-A102", name=type(mechanism).__name__)
    if _takes_size(mechanism):
        return _check_outputs(mechanism(data, rng, size), size)
    return _one_by_one(lambda: mechanism(data, rng), size, progress)


def _everything(measurement: Measurement[Any]) -> Any:
    """All that was released: the parts are paid for and may be published too."""
    value, parts = measurement.value, measurement.parts
    # The parts of a stream of replies repeat which of them are positive.
    return (value, parts) if parts and not isinstance(value, tuple) else value


def _one_by_one(output: Callable[[], Any], size: int, progress: Progress) -> list[Any]:
    found = []
    for done in range(size):
        if done % AT_ONCE == 0:
            progress(Step(Message("assess.stage.sample"), done, size))
        found.append(output())
    return found


def _takes_size(function: Callable[..., Any]) -> bool:
    """Whether a function has a third argument called `size`."""
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    plain = [parameter.name for parameter in parameters if parameter.kind in positional]
    return plain[2:3] == ["size"]


def _check_outputs(outputs: Any, size: int) -> Any:
    if not isinstance(outputs, np.ndarray | list | tuple):
        raise InputError("CEL-A103.no_list", size=size)
    if len(outputs) != size:
        raise InputError("CEL-A103.another_number", size=size, found=len(outputs))
    return outputs


FEWEST = 100
MOST = 10**8
MOST_GROWN = 4_000_000
"""Samples of each input where they grow until a violation can be detected."""
ANYTHING = Detectable(inf, inf)
UNCLAIMED = (Claim(0.0),)
"""Without a claim the largest bound at delta 0 is sought."""


def audit(
    mechanism: Auditable,
    first: Any,
    second: Any,
    *,
    claim: object = None,
    samples: int = 100_000,
    confidence: float = 0.999,
    rng: Source | None = None,
    progress: Progress = silent,
    name: str = "",
    pair: str = "",
    last_bits: bool = True,
    detect_epsilon: float | None = None,
    detect_delta: float | None = None,
) -> Audit:
    """An epsilon that a mechanism certainly has on a pair of neighbouring inputs.

    If the mechanism keeps its claim, the verdict is "violated" with a chance of at most
    1 - confidence. The event is sought in both directions among half-lines, intervals, single
    values, patterns, their beginnings, keys, and sets of large likelihood ratio.

    Args:
        mechanism: a mechanism of ours; a function `f(data, rng)` that returns one output; or, to be
            fast, `f(data, rng, size)` that returns `size` independent outputs, an array or a list.
        first: an input; which pairs are neighbours is for the caller to know.
        second: its neighbour.
        claim: an epsilon, a pair (epsilon, delta) or a loss; by default what a mechanism of ours
            says of itself. Without any, epsilon is bounded at delta 0 and no verdict is given.
        samples: outputs drawn from each input, at least 100; the first number of them where a
            violation is given that must be detectable.
        confidence: how surely the lower bound holds.
        rng: a seeded source makes the audit repeatable.
        progress: reports how many outputs were drawn.
        name: the mechanism in words.
        pair: the pair in words.
        last_bits: also look at the last digits of floats; False for a sketch of a mechanism that
            is meant to be about real numbers.
        detect_epsilon: draw more samples, twice as many each time, until a violation of this
            epsilon would be shown with a chance of 95 % (up to 4 million samples).
        detect_delta: the same for a leak of this chance.

    >>> import numpy as np
    >>> from celosia.core.randomness import Seeded
    >>> def tell(data, rng, size):  # the truth with chance 3/4
    ...     return np.where(rng.integers(4, size) < 3, data, 1 - data)
    >>> found = audit(tell, 0, 1, claim=0.5, samples=10_000, rng=Seeded(1))
    >>> found.verdict, found.event, 0.9 < found.lower < 1.0987
    ('violated', 'output is above 0', True)

    Raises:
        InputError: CEL-A100 no such claim; CEL-A104 not a number of samples.
    """
    started = perf_counter()
    check_confidence(confidence)
    check_samples(samples)
    rng = System() if rng is None else rng
    claims = claims_for(mechanism, claim)
    trial = Trial(mechanism, first, second, rng=rng, progress=progress)
    wanted = Detectable(detect_epsilon or inf, detect_delta or inf)
    # Every look may be wrong: each has half of the chance of error that was left before it.
    share = 1.0 if wanted == ANYTHING else 0.5
    while True:
        error = (1 - confidence) * share / 2  # two bounds, each of which may fail
        found = _look(trial, claims, samples, error, last_bits=last_bits)
        if claims == () or samples >= MOST_GROWN or found.verdict == "violated":
            break
        if found.detectable is None or _is_enough(found.detectable, wanted):
            break
        samples, share = min(2 * samples, MOST_GROWN), share / 2
    return replace(
        found,
        name=name or name_of(mechanism),
        pair=pair or Message("assess.pair.given"),
        confidence=confidence,
        seconds=perf_counter() - started,
        seed=rng.seed,
    )


def _bounded(
    selected: SelectedEvent, drawn: tuple[Outputs, Outputs], error: float
) -> tuple[tuple[Estimate, Estimate], float]:
    """How probable an event is under both inputs, and the epsilon that it shows."""
    counts = [selected.event.count(outputs) for outputs in drawn]
    seen, rare = counts[::-1] if selected.swapped else counts
    more, less = (clopper_pearson(each, len(drawn[0]), error=error) for each in (seen, rare))
    return (more, less), epsilon_below(more, less, delta=selected.claim.delta)


def _is_enough(found: Detectable, wanted: Detectable) -> bool:
    return found.epsilon <= wanted.epsilon and found.delta <= wanted.delta


def _look(
    trial: Trial, claims: tuple[Claim, ...], samples: int, error: float, *, last_bits: bool
) -> Audit:
    """One audit with fresh samples."""
    half = samples // 2
    selected = trial.select_event(
        samples - half, claims or UNCLAIMED, error=error, confirming=half, last_bits=last_bits
    )
    drawn = trial.draw(half)
    # The leak has a tenth of the chance of error, so that both bounds hold together.
    best, bounds, lower = selected, *_bounded(selected, drawn, (1 - LEAK) * error)
    if selected.leak is not None:
        leaking, bound = _bounded(selected.leak, drawn, LEAK * error)
        if bound - selected.leak.claim.epsilon > lower - best.claim.epsilon:
            best, bounds, lower = selected.leak, leaking, bound
    more, less = bounds
    kept = best.claim
    return Audit(
        name="",
        pair="",
        claim=kept if claims else None,
        lower=lower,
        event=best.event.words,
        more=more,
        less=less,
        swapped=best.swapped,
        samples=samples,
        confidence=1 - 2 * error,
        detectable=detectable(more.share, half, epsilon=kept.epsilon, delta=kept.delta, error=error)
        if claims
        else None,
        seconds=0.0,
        seed=None,
    )


class Trial:
    """The two inputs of one pair, from which fresh outputs can be drawn."""

    def __init__(
        self, mechanism: Auditable, first: Any, second: Any, *, rng: Source, progress: Progress
    ):
        self._mechanism = mechanism
        self._inputs = (first, second)
        self._rng = rng
        self._progress = progress
        self._encoder = Encoder()

    def draw(self, size: int) -> tuple[Outputs, Outputs]:
        """`size` fresh outputs of each input."""
        first, second = (
            self._encoder.encode(draw(self._mechanism, data, size, self._rng, self._progress))
            for data in self._inputs
        )
        return first, second

    def select_event(
        self,
        samples: int,
        claims: Sequence[Claim],
        *,
        error: float,
        confirming: int,
        last_bits: bool,
    ) -> SelectedEvent:
        """The most telling event by `samples` outputs of each input."""
        drawn = self.draw(samples)
        middle = samples // 2
        learn = drawn[0].part(0, middle), drawn[1].part(0, middle)
        pick = drawn[0].part(middle, samples), drawn[1].part(middle, samples)
        self._progress(Step(Message("assess.stage.event"), 0))
        return select_event(
            learn, pick, claims, error=error, confirming=confirming, last_bits=last_bits
        )


def claims_for(mechanism: Auditable, claim: object) -> tuple[Claim, ...]:
    """What a mechanism claims: as given, or by its own word; nothing for a mere function."""
    if claim is not None:
        return claims_of(claim)
    return claims_of(mechanism.privacy_loss()) if isinstance(mechanism, Mechanism) else ()


def check_samples(samples: object) -> int:
    """A number of samples that halves can be made of.

    Raises:
        InputError: CEL-A104 it is not.
    """
    number = whole(samples)
    if number is None or not FEWEST <= number <= MOST:
        raise InputError("CEL-A104", fewest=FEWEST, most=MOST, samples=samples)
    return number
