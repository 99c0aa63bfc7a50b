"""The account of a published log or of published sets: attacks, utility, the checked promise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.frames.codes import encode
from celosia.logs import metrics
from celosia.logs.attacks.inference import association, known_items_of
from celosia.logs.attacks.publication import publication_of
from celosia.logs.attacks.result import LogAttack
from celosia.logs.attacks.unicity import Postings, known_items
from celosia.logs.log import Log
from celosia.logs.method import SetContext, SetMethod
from celosia.logs.readers import transactions_of
from celosia.logs.sets.disassociation import DisassociatedSets, Disassociation
from celosia.logs.sets.km_anonymity import KmAnonymity
from celosia.logs.sets.local_generalisation import LocalGeneralisation
from celosia.logs.sets.suppression import Coherence, RhoUncertainty
from celosia.logs.sets.transactions import Transactions
from celosia.logs.sets.verification import (
    certain_rules,
    incoherent_sets,
    rare_sets,
    smallest_group,
    work,
)

MOST_CHECKED = 5_000_000
"""Sets that the independent check counts; more of them would take minutes."""

MOST_RULES = 20_000
"""The same for models whose check looks at every transaction for every set."""

KNOWN = (1, 2, 3, 4)
"""How many items of a person the attacker knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAccount:
    """The comparison of a release with its original."""

    attacks: tuple[LogAttack, ...] = ()
    before: tuple[LogAttack, ...] = ()
    """The same attacks on the original itself, without names."""
    utility: Mapping[str, float] = field(default_factory=dict)
    violations: int | None = None
    """What the independent check of the promise found; None where it was not run."""

    def figures(self) -> dict[str, Any]:
        """What a certificate may hold: shares and counts."""
        return {
            "attacks": [
                {
                    "name": after.name,
                    "share_exposed_before": before.share_exposed,
                    "share_exposed_after": after.share_exposed,
                }
                for before, after in zip(self.before, self.attacks, strict=True)
            ],
            "utility": dict(self.utility),
            "violations": self.violations,
        }


def log_account(log: Log, now: Log, *, rng: Source, progress: Progress) -> LogAccount:
    """Attack a release with known queries, and measure what is left of the log."""
    progress(Step(Message("logs.stage.measure"), 0))
    has_people = log.declaration.unit == "person" and log.declaration.person is not None
    columns = log.declaration.columns
    if not has_people or log.item_role not in columns:
        return LogAccount(utility={"records_kept": now.records / log.records})
    original = transactions_of(log)
    release = release_postings(log, now)
    before = tuple(known_items(original, items=each, rng=rng) for each in KNOWN)
    after = tuple(known_items(original, release, items=each, rng=rng) for each in KNOWN)
    return LogAccount(
        attacks=after,
        before=before,
        utility={
            "records_kept": now.records / log.records,
            "queries_kept": float(np.mean(np.diff(release.starts) > 0)),
        },
    )


def release_postings(log: Log, now: Log) -> Postings:
    """Where the queries of the original are in a release, by what links its records.

    Records are linked by a pseudonym or a session that is published; otherwise each stands alone.
    """
    _codes, texts = log.queries
    place = {text: number for number, text in enumerate(texts)}
    found, names = now.queries
    number = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    items = number[found] if len(number) else np.empty(0, dtype=np.int64)
    units = linked_units(now)
    is_known = items >= 0
    if now.copies is not None:  # each person of a group is a candidate
        places = np.flatnonzero(is_known)
        each = now.copies[places]
        number_of_copy = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
        most = int(now.copies.max())
        copied = np.repeat(units[places], each) * most + number_of_copy
        return Postings.of(np.repeat(items[places], each), copied, count=len(texts))
    owners = None
    if now.units is not None:
        persons = np.flatnonzero(np.bincount(log.people))
        owners = np.zeros(int(units.max(initial=-1)) + 1, dtype=np.int64)
        owners[units] = np.searchsorted(persons, now.units)
    return Postings.of(items[is_known], units[is_known], count=len(texts), owners=owners)


def linked_units(now: Log) -> NDArray[np.int64]:
    """For each record the unit that a reader of the release can link it to."""
    shown = set(now.published.columns)
    for role in ("person", "session"):
        name = now.declaration.columns.get(role)
        others = [each for key, each in now.declaration.columns.items() if key != role]
        if name is not None and name in shown and name not in others:
            return encode(now.frame.get_column(name)).codes.astype(np.int64)
    if now.copies is not None and now.units is not None:
        return now.units.astype(np.int64)
    return np.arange(now.records, dtype=np.int64)


def set_account(
    original: Transactions,
    made: Transactions | DisassociatedSets,
    method: SetMethod[Any] | None,
    context: SetContext,
) -> LogAccount:
    """Check the promise by independent code, attack the release, and measure its use.

    Without a method no promise is known, and none is checked.
    """
    rng = context.rng
    context.progress(Step(Message("logs.stage.measure"), 0))
    violations = None if method is None else count_violations(made, method, context)
    read = publication_of(made, context.tree)
    before = [known_items(original, items=each, rng=rng) for each in KNOWN]
    after = [known_items_of(original, read, items=each, rng=rng) for each in KNOWN]
    if context.sensitive:
        secret = context.sensitive
        before.append(association(original, sensitive=secret, rng=rng))
        after.append(association(original, read, sensitive=secret, rng=rng))
    if isinstance(made, DisassociatedSets):
        utility = metrics.disassociated(original, made)
    else:
        utility = metrics.sets(original, made, context.tree)
    return LogAccount(
        attacks=tuple(after), before=tuple(before), utility=utility, violations=violations
    )


def count_violations(
    made: Transactions | DisassociatedSets,
    method: SetMethod[Any],
    context: SetContext,
    *,
    in_full: bool = False,
) -> int | None:
    """How often the promise is broken in what is published; None where it would take too long.

    With `in_full` it is counted however long it takes.
    """
    if isinstance(made, DisassociatedSets):
        assert isinstance(method, Disassociation)
        return sum(
            sum(1 for _ in rare_sets(chunk, k=method.k, m=method.m)) for chunk in made.chunks()
        ) + sum(cluster.records < method.k for cluster in made.clusters)
    sets = made.sets()
    found: Iterable[Any] | None = None
    match method:
        case LocalGeneralisation():
            return int(smallest_group(sets) < method.k)
        case KmAnonymity() if in_full or work(sets, method.m) <= MOST_CHECKED:
            found = rare_sets(sets, k=method.k, m=method.m)
        case Coherence() if in_full or work(sets, method.p) <= MOST_RULES:
            found = incoherent_sets(sets, context.sensitive, h=method.h, k=method.k, p=method.p)
        case RhoUncertainty() if in_full or work(sets, method.p) <= MOST_RULES:
            found = certain_rules(sets, context.sensitive, rho=method.rho, p=method.p)
    return None if found is None else sum(1 for _ in found)
