"""Counters of the service for the owner's monitoring, in the text format of Prometheus.

Guarantee: every number is made of replies that were sent, of the ledger and of the limits, never of
rows. How often the database failed or was late depends on rows; it is in `Ledger.incidents`, for
the curator alone, and not here, because numbers of a monitoring system travel far. Times of answers
are left out: they are the deadlines of plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock

from celosia.accounting.filters import Price

CONTENT = "text/plain; version=0.0.4; charset=utf-8"
Labels = tuple[tuple[str, str], ...]
Samples = Mapping[Labels, float]


class Metrics:
    """Counts replies; safe for threads."""

    def __init__(self, policy: str | None = None) -> None:
        """Begin to count.

        Args:
            policy: the label of every sample, where a server has several.
        """
        self._own: Labels = () if policy is None else (("policy", policy),)
        self._replies: Counter[Labels] = Counter()
        self._lock = Lock()

    def count(self, action: str, outcome: str) -> None:
        """Count a reply, by what was wanted and `ok` or the code of an error."""
        with self._lock:
            self._replies[("action", action), ("outcome", outcome)] += 1

    def text(
        self, *, spent: Price, remaining: Price, charges: int, inside: int, places: int
    ) -> str:
        """All metrics, as Prometheus reads them.

        Args:
            spent: the sum of all charges.
            remaining: of the whole budget.
            charges: how many answers were charged.
            inside: questions that are being answered or wait for a place.
            places: questions that may be answered at once.
        """
        with self._lock:
            replies = dict(self._replies)
        families: list[tuple[str, str, str, Samples]] = [
            ("celosia_replies_total", "counter", "Replies sent.", replies),
            ("celosia_charges_total", "counter", "Answers charged.", {(): charges}),
            ("celosia_spent", "gauge", "Budget spent.", _amounts(spent)),
            ("celosia_remaining", "gauge", "Budget left.", _amounts(remaining)),
            ("celosia_questions", "gauge", "Questions answered or waiting.", {(): inside}),
            ("celosia_places", "gauge", "Questions answered at once.", {(): places}),
        ]
        return "".join(
            _family(name, kind, meaning, {(*self._own, *key): n for key, n in samples.items()})
            for name, kind, meaning, samples in families
        )


def _amounts(price: Price) -> Samples:
    known = {name: amount for name, amount in price.amounts.items() if amount is not None}
    samples: dict[Labels, float] = {
        (("kind", name),): float(amount) for name, amount in known.items()
    }
    if price.promise is not None:
        samples[("kind", "as_epsilon"),] = price.promise[0]
    return samples


def _family(name: str, kind: str, meaning: str, samples: Samples) -> str:
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    lines += [f"{name}{_labels(labels)} {value:.15g}" for labels, value in samples.items()]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    """The labels of a sample; their values are words of ours, which need no escape."""
    listed = ",".join(f'{name}="{value}"' for name, value in labels)
    return f"{{{listed}}}" if listed else ""
