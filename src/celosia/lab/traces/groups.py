"""Which methods make traces alike, by the verifier that shares no code with them."""

from __future__ import annotations

from collections.abc import Iterator

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded
from celosia.datasets import city
from celosia.lab.findings import Row, compare
from celosia.lab.traces.tubes import tube
from celosia.traces import (
    Glove,
    PublishOptions,
    TraceMethod,
    TraceMicroaggregation,
    publish,
    verify,
)
from celosia.traces.verification import owners_of

K = 5


def rows(progress: Progress = silent) -> Iterator[Row]:
    """Whether every published sequence is that of k persons: provable of two, false of a tube."""
    traces = city(300, 7, seed=1).traces
    run = Message("lab.traces.alike", k=K)
    methods: tuple[TraceMethod, ...] = (Glove(k=K), TraceMicroaggregation(k=K))
    for method in methods:
        options = PublishOptions(assess=False)
        release = publish(traces, method, options=options, rng=Seeded(1))
        assert release.samples is not None
        holds = verify(release.data, owners_of(release.samples)).holds(K)
        yield _yes_no(run, method.method_name, "yes", holds)
    samples = tube(traces, k=K, metres=500)
    frame = samples.frame(traces.plane, traces.declaration.zone)
    yield _yes_no(run, Message("lab.traces.tube"), "no", verify(frame, owners_of(samples)).holds(K))


def _yes_no(run: str, cell: str, expected: str, holds: bool) -> Row:
    return compare(run, cell, expected, "yes" if holds else "no", kind="promise")
