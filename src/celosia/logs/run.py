"""Publish a log or sets: apply methods, check the promise, and account for the result."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from celosia.core.errors import InputError, PrivacyError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.logs.account import LogAccount, log_account, set_account
from celosia.logs.declaration import LogDeclaration
from celosia.logs.fields import Fields
from celosia.logs.log import Log
from celosia.logs.method import LogMethod, SetContext, SetMethod
from celosia.logs.readers import read, read_sets, transactions_of
from celosia.logs.records.microaggregation import UserMicroaggregation
from celosia.logs.release import LogRelease, MethodOutcome, SetRelease
from celosia.logs.sets.item_tree import ItemTree
from celosia.logs.sets.transactions import Transactions
from celosia.tables.hierarchies import Hierarchy, read_hierarchy


def publish(
    data: Log | str | Path,
    methods: LogMethod | Iterable[LogMethod] = (),
    *,
    declare: LogDeclaration | str | Path | None = None,
    assess: bool = True,
    rng: Source | None = None,
    progress: Progress = silent,
) -> LogRelease:
    """The log after every method, with what risk and what use is left.

    Fields that identify by themselves are always treated: without a `Fields` method among them,
    by its defaults, first.

    Args:
        data: a log, or a file of one.
        methods: what is done, in order.
        declare: what the columns of a file are.
        assess: attack the release and compare it with the original, for the report.
        rng: where numbers and orders are drawn from; a seed makes it a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: the log or a parameter is wrong; CEL-U015 columns of plain hashes would be
            published; CEL-U023 methods that do not go together.
        PrivacyError: a method cannot keep its promise on this log.
    """
    rng = System() if rng is None else rng
    log = data if isinstance(data, Log) else read(data, declare)
    chosen = ordered(methods)
    hashes = KeptHashColumns(log.declaration)
    hashes.add(log.frame)
    hashed = hashes.columns()
    now, outcomes = _applied(log, chosen, rng, progress)
    notes = log_notes(log.declaration, _largest_share(log), hashed)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    measured = log_account(log, now, rng=rng, progress=progress) if assess else LogAccount()
    return LogRelease(
        data=now.published,
        guarantee=log_guarantee(chosen, log.declaration, simulation=rng.simulation),
        provenance=Provenance.now(
            "celosia.logs.publish",
            {"methods": [method.as_dict() for method in chosen]},
            seed=rng.seed,
        ),
        warnings=notes,
        methods=outcomes,
        account=measured,
        left_out=dict(log.unread),
    )


def apply_methods(
    log: Log, methods: LogMethod | Iterable[LogMethod], *, rng: Source, progress: Progress = silent
) -> Log:
    """The log after every method, with whose record is whose: for attacks, not to be published.

    Raises:
        InputError: CEL-U023 methods that do not go together.
        PrivacyError: a method cannot keep its promise on this log.
    """
    return _applied(log, ordered(methods), rng, progress)[0]


def _applied(
    log: Log, methods: tuple[LogMethod, ...], rng: Source, progress: Progress
) -> tuple[Log, tuple[MethodOutcome, ...]]:
    now, outcomes = log, []
    for number, method in enumerate(methods):
        progress(Step(method.method_name, number, len(methods)))
        done = method.apply(now, rng=rng, progress=progress)
        now = done.data
        outcomes.append(MethodOutcome(method.method_name, dict(done.facts)))
    return now, tuple(outcomes)


def ordered(methods: LogMethod | Iterable[LogMethod]) -> tuple[LogMethod, ...]:
    """The methods in the order in which they run.

    Raises:
        InputError: CEL-U023 they do not go together.
    """
    chosen = (methods,) if isinstance(methods, LogMethod) else tuple(methods)
    for method in chosen:
        if not isinstance(method, LogMethod):
            raise InputError("CEL-U023.sets", method=getattr(method, "method_name", ""))
    names = [method.method_name for method in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError("CEL-U023.twice", method=twice[0])
    groups = [n for n, each in enumerate(chosen) if isinstance(each, UserMicroaggregation)]
    if groups and groups[0] != len(chosen) - 1:
        raise InputError("CEL-U023.last", method=UserMicroaggregation.method_name)
    if not any(isinstance(method, Fields) for method in chosen):
        chosen = (Fields.default(), *chosen)
    return chosen


def _largest_share(log: Log) -> float:
    """The share of the records that the most active person has; 0 where there are no persons."""
    has_people = log.declaration.person is not None or log.units is not None
    if not has_people or log.declaration.unit != "person":
        return 0.0
    return float(np.bincount(log.people).max() / log.records)


_HASH = (
    r"^(?:(?:[0-9a-fA-F]{2}){16,64}"
    r"|[A-Za-z0-9+/_-]{22}==|[A-Za-z0-9+/_-]{27}=|[A-Za-z0-9+/_-]{43}=|[A-Za-z0-9+/_-]{86}==)$"
)
"""Sixteen bytes and more in hexadecimal digits, or the length of a hash in base64."""


class KeptHashColumns:
    """Which columns are kept as they are and hold mostly what looks like plain hashes.

    Mostly, because a sign for a missing value stands among them.
    """

    def __init__(self, declaration: LogDeclaration) -> None:
        self.declaration = declaration
        self.given: Counter[str] = Counter()
        self.hashes: Counter[str] = Counter()
        self.firsts: dict[str, int] = {}
        self.rows = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Look at a block of records."""
        for name in self.declaration.keep:
            values = frame.get_column(name)
            if values.dtype == pl.String:
                values = values.fill_null("").str.strip_chars()
                is_hash = values.str.contains(_HASH)
                self.given[name] += int((values != "").sum())
                self.hashes[name] += int(is_hash.sum())
                if name not in self.firsts and is_hash.any():
                    self.firsts[name] = self.rows + 1 + (is_hash.arg_max() or 0)
        self.rows += frame.height

    def columns(self) -> list[str]:
        """The columns.

        Raises:
            InputError: CEL-U015 there are some, and the declaration does not say that they stay.
        """
        names = [name for name, count in self.hashes.items() if count * 2 > self.given[name]]
        if names and self.declaration.hashes == "refuse":
            row = min(self.firsts[name] for name in names)
            raise InputError("CEL-U015", count=len(names), columns=names, row=row)
        return names


def log_notes(
    declaration: LogDeclaration, largest: float, hashed: Sequence[str] = ()
) -> tuple[str, ...]:
    """What a curator should know of a log.

    Args:
        declaration: what its columns are.
        largest: the share of its most active person.
        hashed: the columns that are published and look like plain hashes.
    """
    notes: list[str] = []
    if hashed:
        notes.append(Message("logs.note.hashes", columns=list(hashed)))
    if declaration.unit == "record":
        notes.append(Message("logs.open.unit_record"))
    if largest > 0.5:
        notes.append(Message("logs.note.one_person", share=largest))
    return tuple(notes)


def log_guarantee(
    methods: tuple[LogMethod, ...], declaration: LogDeclaration, *, simulation: bool
) -> Guarantee:
    """What methods promise together, and what they leave open."""
    promises = [text for method in methods if (text := method.promise()) is not None]
    promise: str = promises[-1] if promises else Message("logs.promise.none")
    for earlier in reversed(promises[:-1]):
        promise = Message("logs.promise.both", one=earlier, other=promise)
    gaps = [gap for method in methods for gap in method.leaves_open()]
    if declaration.keep:
        gaps.append(Message("logs.open.kept", columns=list(declaration.keep)))
    if declaration.text and not promises:
        gaps.append(Message("logs.open.text"))
    unit = "logs.unit.person" if declaration.unit == "person" else "logs.unit.record"
    return Guarantee(
        promise=promise,
        unit=Message(unit),
        protects=promise if promises else Message("logs.promise.measured"),
        assumes=(Message("logs.assumption.one_person"),),
        leaves_open=tuple(dict.fromkeys(gaps)),
        simulation=simulation,
    )


def publish_sets(
    data: Transactions | Log | Iterable[Iterable[str]] | str | Path,
    method: SetMethod[Any],
    *,
    hierarchy: ItemTree | Hierarchy | str | Path | None = None,
    sensitive: Collection[str] = (),
    declare: LogDeclaration | str | Path | None = None,
    assess: bool = True,
    rng: Source | None = None,
    progress: Progress = silent,
) -> SetRelease:
    """The transactions after a method, in random order, with what risk and what use is left.

    Args:
        data: transactions, a log (the set of items of each person), sets of texts, or a file.
        method: what is done.
        hierarchy: of the items, for methods that generalise; a file of it, as of a table.
        sensitive: the items that must not be learnt of a person.
        declare: what the columns of a file are; a hierarchy and sensitive items that it names are
            used where none are given.
        assess: check the promise, attack the release and compare it with the original.
        rng: where orders are drawn from; a seed makes it a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: the data, the hierarchy or a parameter is wrong; CEL-U023 not a method for sets.
        PrivacyError: CEL-U040 fewer than k transactions.
    """
    rng = System() if rng is None else rng
    if not isinstance(method, SetMethod):
        raise InputError("CEL-U023.records", method=getattr(method, "method_name", ""))
    declaration = LogDeclaration.load(declare) if isinstance(declare, str | Path) else declare
    sets = transactions(data, declaration)
    empty = int((np.diff(sets.offsets) == 0).sum())
    if empty:
        sets = Transactions.from_pairs(sets.owners, sets.items, sets.labels)
    context = set_context(hierarchy, sensitive, declaration)
    context = replace(context, rng=rng, progress=progress)
    progress(Step(method.method_name, 0))
    done = method.apply(sets, context)
    made = done.data
    if isinstance(made, Transactions):
        made = made.taken(rng.permutation(made.count))
    measured = LogAccount()
    if assess:
        measured = set_account(sets, made, method, context)
        if measured.violations:
            raise PrivacyError("CEL-U042", count=measured.violations)
    left_out = dict(sets.unread) | ({"empty_sets": empty} if empty else {})
    return SetRelease(
        data=made,
        guarantee=Guarantee(
            promise=method.promise(),
            unit=Message("logs.unit.transaction"),
            protects=method.promise(),
            assumes=(Message("logs.assumption.one_transaction"),),
            leaves_open=method.leaves_open(),
            simulation=rng.simulation,
        ),
        provenance=Provenance.now(
            "celosia.logs.publish_sets", {"methods": [method.as_dict()]}, seed=rng.seed
        ),
        methods=(MethodOutcome(method.method_name, dict(done.facts)),),
        account=measured,
        left_out=left_out,
    )


def transactions(
    data: Transactions | Log | Iterable[Iterable[str]] | str | Path,
    declaration: LogDeclaration | None = None,
) -> Transactions:
    """Whatever is given as transactions.

    Raises:
        InputError: as `read_sets` says.
    """
    if isinstance(data, Transactions):
        return data
    if isinstance(data, Log):
        return transactions_of(data)
    if isinstance(data, str | Path):
        return read_sets(data, declaration)
    return Transactions.of(data)


def set_context(
    hierarchy: ItemTree | Hierarchy | str | Path | None,
    sensitive: Collection[str],
    declaration: LogDeclaration | None,
) -> SetContext:
    """The hierarchy and the sensitive items, as given or as declared."""
    if hierarchy is None and declaration is not None:
        hierarchy = declaration.hierarchy
    if isinstance(hierarchy, str | Path):
        hierarchy = read_hierarchy(hierarchy)
    tree = ItemTree.of(hierarchy) if isinstance(hierarchy, Hierarchy) else hierarchy
    items = set(sensitive)
    if not items and declaration is not None:
        for name in declaration.sensitive:
            items |= read_items(name)
    return SetContext(tree=tree, sensitive=frozenset(items))


def read_items(path: str | Path) -> set[str]:
    """The items of a file, one a line.

    Raises:
        InputError: CEL-U036 it cannot be read.
    """
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError("CEL-U036", path=str(path)) from None
    return {item for line in lines if (item := line.strip())}
