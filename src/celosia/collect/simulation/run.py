"""A collection played through in one process: real reports, a real server, and the known truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt
from time import perf_counter
from typing import Any

import numpy as np

from celosia.collect.count_mean.aggregates import simulate_counts
from celosia.collect.estimates import Estimates
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle, FragmentPuzzleServer
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.numbers.one_bit_mean import OneBitMean, OneBitMeanServer
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.pure import Domain
from celosia.collect.protocol import Protocol, Server
from celosia.collect.rappor.rappor import Rappor, RapporServer
from celosia.collect.registry import described
from celosia.collect.simulation.results import TOP, Element, Simulation, Timing, measure
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded, Source, source

BATCH = 2**15
"""Reports that are made, counted and forgotten together."""
MOST_RUNS = 10_000
_FEW = 2**14
"""Values of a warm-up: enough that libraries for many are loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """What is asked of a simulated collection; `simulate` explains each of them.

    Raises:
        InputError: CEL-R100 the runs are no number from 1 to 10,000.
    """

    protocol: Protocol
    candidates: tuple[Hashable, ...] | None = None
    seed: int | None = None
    runs: int = 1
    aggregate: bool = False
    post: str = "raw"
    top: int = TOP
    pieces: int | None = None

    def __post_init__(self) -> None:
        often = whole(self.runs)
        if often is None or not 1 <= often <= MOST_RUNS:
            raise InputError("CEL-R100", most_runs=MOST_RUNS)
        object.__setattr__(self, "runs", often)


@dataclass(frozen=True, slots=True)
class _RunResult:
    """One run."""

    estimated: dict[Hashable, tuple[float, float]]
    """Counts and their standard errors."""
    timing: Timing

    @property
    def counts(self) -> dict[Hashable, float]:
        return {value: count for value, (count, _) in self.estimated.items()}


def simulate(
    values: Any,
    *,
    protocol: Protocol,
    candidates: Sequence[Hashable] | None = None,
    seed: int | None = None,
    runs: int = 1,
    aggregate: bool = False,
    post: str = "raw",
    top: int = TOP,
    pieces: int | None = None,
    progress: Progress = silent,
) -> Simulation:
    """Privatise values as devices would, collect the reports, and compare estimates with the truth.

    Args:
        values: one for each user: texts or whole numbers; for a mean, any numbers.
        protocol: how they are reported.
        candidates: the values to ask about. Without them those of the data; a protocol that finds
            values by itself is not given any. For dBitFlip, unless the values are
            numbers of buckets, their places are.
        seed: makes the simulation repeatable.
        runs: how often to play it, each time with other hash functions and coins.
        aggregate: draw what a server would have counted, by its exact law, without any reports;
            only some protocols can (CMS).
        post: as in `Server.estimate`.
        top: of how many most common values to tell the precision.
        pieces: for a fragment puzzle, how many tagged pieces to keep at each position; every text
            that they make is then kept, whether it stands out or not, as published runs did.
        progress: called now and then.

    Raises:
        InputError: CEL-R100 there are no values, or the runs are no number from 1 to 10,000;
            CEL-R016 the protocol has no aggregates to draw; or what the protocol refuses.

    >>> from celosia.collect.count_mean.count_mean import CountMean
    >>> found = simulate(["a"] * 900 + ["b"] * 100, protocol=CountMean(epsilon=8), seed=1)
    >>> [each.value for each in found.elements], found.metrics.values, found.runs
    (['a', 'b'], 2, 1)
    """
    options = SimulationOptions(
        protocol=protocol,
        candidates=None if candidates is None else tuple(candidates),
        seed=seed,
        runs=runs,
        aggregate=aggregate,
        post=post,
        top=top,
        pieces=pieces,
    )
    return simulate_collection(values, options, progress=progress)


def simulate_collection(
    values: Any,
    options: SimulationOptions,
    *,
    is_warm: bool = False,
    progress: Progress = silent,
) -> Simulation:
    """As `simulate`, with the options as one value.

    Args:
        values: one for each user.
        options: what is asked for.
        is_warm: whether the protocol was played in this process before, so that all is compiled.
        progress: called now and then.
    """
    protocol, runs = options.protocol, options.runs
    listed = _as_told(as_list(values), protocol)
    if not len(listed):
        raise InputError("CEL-R100", most_runs=MOST_RUNS)
    is_mean = isinstance(protocol, OneBitMean)
    real: dict[Hashable, float] = (
        {"mean": _true_mean(listed, protocol)}
        if isinstance(protocol, OneBitMean)
        else histogram(listed)
    )
    rng = source(options.seed)
    finds = options.candidates is None and protocol.server().finds
    given = tuple(real) if options.candidates is None else options.candidates
    queried = None if is_mean or finds else given
    stage = _Setup(listed, real, queried, options)
    if not is_warm:
        _warm_up(protocol, stage)
    played = []
    for run in range(runs):
        keyed = protocol if run == 0 else replace(protocol, key=run_key(protocol.key, run))
        played.append(stage.play(keyed, rng, _counted(progress, run, runs)))
    first = played[0]
    elements = [
        Element(value, real.get(value, 0), *found) for value, found in first.estimated.items()
    ]
    users = None if is_mean else len(listed)
    measured = [measure(real, run.counts, users=users, top=options.top) for run in played]
    notes = []
    if options.candidates is None and not finds and not is_mean:
        notes.append(Message("collect.note.from_data"))
    if finds:
        notes.append(Message("collect.note.found"))
    if options.aggregate:
        notes.append(Message("collect.note.aggregate"))
    if _too_many(protocol, queried):
        notes.append(Message("collect.note.selected"))
    return Simulation(
        protocol=described(protocol),
        report_epsilon=protocol.loss.epsilon(0),
        lasting_epsilon=protocol.lasting_epsilon,
        users=len(listed),
        elements=tuple(sorted(elements, key=lambda each: (-each.real, -each.estimated))),
        metrics=measured[0],
        pooled_rmse=sqrt(fsum(each.mse for each in measured) / runs),
        predicted_rmse=_predict_error(protocol, real, tuple(first.estimated), len(listed)),
        timing=first.timing,
        runs=runs,
        seed=options.seed,
        aggregate=options.aggregate,
        found=finds,
        is_mean=is_mean,
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _Setup:
    """What all runs share."""

    values: Any
    real: dict[Hashable, float]
    queried: tuple[Hashable, ...] | None
    """None where the server is not asked about given values."""
    options: SimulationOptions

    def play(self, protocol: Protocol, rng: Source, progress: Progress) -> _RunResult:
        """One collection from the values to the estimates."""
        values, queried = self.values, self.queried
        if isinstance(protocol, DBitFlip) and not _are_buckets(values, protocol):
            assert queried is not None
            places = Domain(queried)
            values, queried = places.places(values), tuple(range(len(places)))
        spent = [0.0, 0.0]
        start = perf_counter()
        if self.options.aggregate:
            counts = {value: int(count) for value, count in self.real.items()}
            server: Server = simulate_counts(protocol, counts, rng=rng, progress=progress)
        else:
            server = protocol.server()
            client = protocol.client(rng=rng)
            for begin in range(0, len(values), BATCH):
                progress(Step(Message("collect.stage.reporting"), begin, len(values)))
                marks = [perf_counter()]
                reports = client.privatise(values[begin : begin + BATCH])
                marks.append(perf_counter())
                server.absorb(reports)
                spent[0] += marks[1] - marks[0]
                spent[1] += perf_counter() - marks[1]
        drawn = perf_counter()
        progress(Step(Message("collect.stage.estimating"), 0))
        estimated = self._estimate(server, queried, progress)
        ended = perf_counter()
        each = 1e6 / len(values)
        return _RunResult(
            estimated,
            Timing(
                client_us=None if self.options.aggregate else spent[0] * each,
                server_us=None if self.options.aggregate else spent[1] * each,
                estimate_ms=1e3 * (ended - drawn),
                report_bits=protocol.report_bits,
                aggregate_ms=1e3 * (drawn - start) if self.options.aggregate else None,
            ),
        )

    def _estimate(
        self, server: Server, queried: tuple[Hashable, ...] | None, progress: Progress
    ) -> dict[Hashable, tuple[float, float]]:
        if isinstance(server, OneBitMeanServer):
            mean = server.mean()
            return {"mean": (mean.mean, mean.error)}
        pieces = self.options.pieces
        if queried is None and pieces is not None and isinstance(server, FragmentPuzzleServer):
            found = server.dictionary(
                top=pieces, significance=None, check_tags=False, progress=progress
            )
        elif queried is None:
            found = server.find(progress=progress)
        else:
            found = _many(server, queried, progress) or server.estimate(
                queried, post=self.options.post
            )
        # Buckets of dBitFlip have the names of the values again.
        names = found.candidates if self.queried is None else self.queried
        pairs = zip(found.counts.tolist(), found.errors.tolist(), strict=True)
        return dict(zip(names, pairs, strict=True))


def _too_many(protocol: Protocol, queried: tuple[Hashable, ...] | None) -> bool:
    """Whether RAPPOR is asked about so many values that few are without bias."""
    cells = protocol.cohorts * protocol.bits if isinstance(protocol, Rappor) else 0
    return cells > 0 and 2 * len(queried or ()) > cells


def _many(server: Server, queried: tuple[Hashable, ...], progress: Progress) -> Estimates | None:
    """What RAPPOR selects from more candidates than its bits could tell apart without bias."""
    if not isinstance(server, RapporServer) or not _too_many(server.protocol, queried):
        return None
    found = server.decode(queried, progress=progress).estimates
    # What was not selected is estimated as 0, and its error is at most that of a rare value.
    rare = sqrt(server.protocol.variance(server.users))
    return replace(found, errors=np.where(np.isfinite(found.errors), found.errors, rare))


def as_list(values: Any) -> Any:
    """Values that can be cut into batches: an array of numbers, or a list."""
    found = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(found, np.ndarray) and found.dtype.kind in "iuf":
        return found
    plain = found.tolist() if isinstance(found, np.ndarray) else list(found)
    if plain and all(type(each) is int for each in plain):
        return np.array(plain, dtype=np.int64)
    return plain


def _as_told(values: Any, protocol: Protocol) -> Any:
    """Texts as a fragment puzzle tells them: cut to its length, without padding at their end."""
    if not isinstance(protocol, FragmentPuzzle) or isinstance(values, np.ndarray):
        return values
    end = protocol.alphabet[-1]
    return [str(each)[: protocol.length].rstrip(end) for each in values]


def _are_buckets(values: Any, protocol: DBitFlip) -> bool:
    """Whether values are numbers of buckets already; else their places in the domain are taken."""
    whole_numbers = isinstance(values, np.ndarray) and values.dtype.kind in "iu"
    return whole_numbers and values.min() >= 0 and int(values.max()) < protocol.buckets


def histogram(values: Any) -> dict[Hashable, float]:
    """How many have each value, the most common first, then in order of the values."""
    if isinstance(values, np.ndarray):
        different, counts = np.unique(values, return_counts=True)
        found = dict(zip(different.tolist(), counts.tolist(), strict=True))
    else:
        found = Counter(values)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], str(pair[0]))))


def _true_mean(values: Any, protocol: OneBitMean) -> float:
    """Of values within the public range: beyond it, nothing can be told."""
    numbers = np.asarray(values, dtype=np.float64)
    return float(np.clip(numbers, float(protocol.lower), float(protocol.upper)).mean())


def _predict_error(
    protocol: Protocol, real: dict[Hashable, float], queried: tuple[Hashable, ...], users: int
) -> float | None:
    if isinstance(protocol, OneBitMean):
        return sqrt(protocol.variance(users))
    if not queried:
        return None
    if isinstance(protocol, HadamardResponse):
        return sqrt(fsum(_beside(protocol, real, queried, users)) / len(queried))
    squares = fsum(count**2 for count in real.values())
    counts = Counter(real.get(value, 0) for value in queried)  # many values have the same count
    total = fsum(
        often * protocol.variance(users, count=count, squares=squares - count**2)
        for count, often in counts.items()
    )
    return sqrt(total / len(queried))


def _beside(
    protocol: HadamardResponse,
    real: dict[Hashable, float],
    queried: tuple[Hashable, ...],
    users: int,
) -> Iterator[float]:
    """The variance of each value, which depends on who else is in its block."""
    blocks = protocol.values.places(queried) % protocol.blocks
    held = np.bincount(
        protocol.values.places(list(real)) % protocol.blocks,
        weights=list(real.values()),
        minlength=protocol.blocks,
    )
    for value, block in zip(queried, blocks.tolist(), strict=True):
        count = real.get(value, 0)
        yield protocol.variance(users, count=count, beside=float(held[block]) - count)


def _warm_up(protocol: Protocol, stage: _Setup) -> None:
    """Compile what is compiled when first needed, so that it is not timed."""
    few = replace(stage, values=stage.values[:_FEW], real=dict(list(stage.real.items())[:2]))
    if few.queried is None and protocol.server().finds:
        few = replace(few, queried=tuple(few.real))
    few.play(protocol, Seeded(0), silent)


def run_key(key: str, run: int) -> str:
    """Other hash functions for each run; keys have 48 bytes at most."""
    end = f"/{run}"
    return key.encode()[: 48 - len(end)].decode("utf-8", "ignore") + end


def _counted(progress: Progress, run: int, runs: int) -> Progress:
    if runs == 1:
        return progress

    def counted(step: Step) -> None:
        stage = Message("collect.stage.of_runs", stage=step.stage, run=run + 1, runs=runs)
        progress(Step(stage, step.done, step.total))

    return counted
