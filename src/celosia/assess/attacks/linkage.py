"""Linkage: find people of a table with names among the records of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.classes import Classes, ValueCounts, number_combinations, texts_of
from celosia.assess.attacks.compatibility import CodedColumn, Meanings, fit, fitting_pairs
from celosia.assess.attacks.result import Attack, Members, singles
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent

_CHUNK = 50_000
"""Different people matched at once: bounds the memory where labels fit many of them."""
_ENTRIES = 2**20
"""Counts of values in classes that are looked at at once."""


def linkage(
    release: Any,
    external: Any,
    *,
    on: str | Sequence[str],
    learns: str | Sequence[str] = (),
    meanings: Meanings | None = None,
    classes: Classes | None = None,
    progress: Progress = silent,
) -> tuple[Attack, ...]:
    """Look every person of an external table up in the release.

    The first attack is on identity: a person with one candidate is re-identified, and with n of
    them the attacker is right with chance 1/n. One more follows for each column in `learns`: the
    value that most of a person's candidates have, exposed where all of them have it.

    Args:
        release: the table as published.
        external: a table with one row per person and raw values.
        on: the columns that both tables have.
        learns: columns of the release that the attacker wants to learn.
        meanings: what the labels of columns stand for; labels of others are compared as text.
        classes: those of the release by the columns `on`, where they are known.
        progress: called as the work proceeds; may raise `Cancelled`.

    Suppressed records are candidates for those who fit no other record: whole classes are
    suppressed, so a person whose class was kept was kept too. An empty cell fits an empty one.

    >>> released = pl.DataFrame({"age": ["29", "31"], "ill": ["flu", "cold"]})
    >>> people = pl.DataFrame({"name": ["Ana"], "age": [31]})
    >>> identity, ill = linkage(released, people, on=["age"], learns=["ill"])
    >>> identity.exposed_people, ill.exposed[0].learnt
    (1, ('cold',))

    Reference: Sweeney 2002.
    """
    names = [learns] if isinstance(learns, str) else list(dict.fromkeys(learns))
    known = texts_of(external, on, table=Message("assess.table.external"))
    found = Classes.of(texts_of(release, known.columns)) if classes is None else classes
    hidden_columns = texts_of(release, names) if names else pl.DataFrame()
    targets = _Targets.of(found, hidden_columns)
    sought = _People.of(known)
    matched = _match(sought, targets, meanings or {}, progress)
    return (
        _identity(sought, targets, matched),
        *(_attribute(sought, targets, matched, name) for name in names),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Targets:
    """The classes of the release; the last one holds the suppressed records, if there are any."""

    labels: pl.DataFrame
    sizes: NDArray[np.int64]
    suppressed: int
    spreads: dict[str, ValueCounts]

    @classmethod
    def of(cls, classes: Classes, columns: pl.DataFrame) -> _Targets:
        suppressed = classes.suppressed
        whole = classes
        if suppressed:
            last = classes.sizes.size
            whole = Classes(
                labels=classes.labels,
                of_row=np.where(classes.of_row < 0, last, classes.of_row),
                sizes=np.append(classes.sizes, suppressed),
            )
        spreads = {column.name: ValueCounts.of(whole, column) for column in columns}
        return cls(classes.labels, whole.sizes, suppressed, spreads)


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """The distinct combinations of raw values, and the people who have them."""

    combinations: pl.DataFrame
    of_person: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, known: pl.DataFrame) -> _People:
        of_person = number_combinations([CodedColumn.of(column).codes for column in known])
        _, first, sizes = np.unique(of_person, return_index=True, return_counts=True)
        return cls(known[first.tolist()], of_person, sizes.astype(np.int64))


def _match(
    sought: _People, targets: _Targets, meanings: Meanings, progress: Progress
) -> pl.DataFrame:
    """Each combination with each class that fits it, as `left` and `right`."""
    columns = sought.combinations.columns
    people = [CodedColumn.of(sought.combinations.get_column(name)) for name in columns]
    labels = [CodedColumn.of(targets.labels.get_column(name)) for name in columns]
    fits = [
        fit(ours, theirs, meanings.get(name), name, raw=True)
        for ours, theirs, name in zip(people, labels, columns, strict=True)
    ]
    parts = [pl.DataFrame(schema={"left": pl.Int64, "right": pl.Int64})]
    total = sought.sizes.size
    for start in range(0, total, _CHUNK):
        progress(Step(Message("assess.stage.look_up"), start, total))
        ours = [side.codes[start : start + _CHUNK] for side in people]
        found = fitting_pairs(ours, [side.codes for side in labels], fits)
        parts.append(found.with_columns(pl.col("left") + start))
    pairs = pl.concat(parts)
    if not targets.suppressed:
        return pairs
    lone = np.setdiff1d(np.arange(total), pairs["left"].to_numpy())
    last = np.full(lone.size, targets.sizes.size - 1, dtype=np.int64)
    return pl.concat([pairs, pl.DataFrame({"left": lone, "right": last})])


def _candidates(sought: _People, targets: _Targets, matched: pl.DataFrame) -> NDArray[np.int64]:
    found = np.zeros(sought.sizes.size, dtype=np.int64)
    np.add.at(found, matched["left"].to_numpy(), targets.sizes[matched["right"].to_numpy()])
    return found


def _identity(sought: _People, targets: _Targets, matched: pl.DataFrame) -> Attack:
    candidates = _candidates(sought, targets, matched)
    confidence = np.where(candidates > 0, 1 / np.maximum(candidates, 1), 0.0)
    rivals = np.zeros(targets.sizes.size, dtype=np.int64)
    np.add.at(rivals, matched["right"].to_numpy(), sought.sizes[matched["left"].to_numpy()])
    alone = matched.filter(
        pl.Series(candidates[matched["left"].to_numpy()] == 1)
        & pl.Series(rivals[matched["right"].to_numpy()] == 1)
    )
    records = int(targets.sizes.sum())
    return Attack(
        name=Message("assess.attack.linkage"),
        assumption=Message("assess.knows.linkage"),
        mitigation=Message("assess.prevent.linkage"),
        column=None,
        people=sought.of_person.size,
        sizes=sought.sizes,
        confidence=confidence,
        hit=candidates == 1,
        learnt=singles(pl.Series([""]), np.full(candidates.size, -1, dtype=np.int64)),
        members=Members.of(sought.of_person, sought.sizes.size),
        prior=np.where(candidates > 0, 1 / max(records, 1), 0.0),
        facts={
            "unmatched_people": int(sought.sizes[candidates == 0].sum()),
            "unique_on_both_sides": alone.height,
            "fewest_candidates": int(candidates[candidates > 0].min()) if matched.height else None,
        },
    )


def _attribute(sought: _People, targets: _Targets, matched: pl.DataFrame, name: str) -> Attack:
    spread = targets.spreads[name]
    candidates = _candidates(sought, targets, matched)
    entries = pl.DataFrame({"right": spread.owner, "value": spread.value, "count": spread.count})
    best = _commonest(matched, entries)
    groups, value = best["left"].to_numpy(), np.full(candidates.size, -1, dtype=np.int64)
    count = np.zeros(candidates.size, dtype=np.int64)
    value[groups], count[groups] = best["value"].to_numpy(), best["count"].to_numpy()
    return Attack(
        name=Message("assess.attack.attribute_linkage"),
        assumption=Message("assess.knows.linkage"),
        mitigation=Message("assess.prevent.attribute_linkage"),
        column=name,
        people=sought.of_person.size,
        sizes=sought.sizes,
        confidence=count / np.maximum(candidates, 1),
        hit=(candidates > 0) & (count == candidates),
        learnt=singles(spread.values, value),
        members=Members.of(sought.of_person, sought.sizes.size),
        prior=np.append(spread.overall, 0.0)[value],
        facts={"unmatched_people": int(sought.sizes[candidates == 0].sum())},
    )


def _commonest(matched: pl.DataFrame, entries: pl.DataFrame) -> pl.DataFrame:
    """For each `left` the value that most records of its classes have, and how many have it.

    Many people fit the same classes, so each set of classes is looked at once, and no more than
    `_ENTRIES` counts at a time: all people times all values could be more than memory holds.
    """
    if matched.is_empty():
        return entries.clear().rename({"right": "left"})
    sets = matched.sort("left", "right").group_by("left", maintain_order=True).agg("right")
    distinct = sets.group_by("right", maintain_order=True).agg("left").with_row_index("set")
    sizes = entries.group_by("right").len("size")
    members = distinct.select("set", "right").explode("right")
    members = members.join(sizes, on="right", how="left", maintain_order="left")
    chunk = members["size"].fill_null(0).cum_sum() // _ENTRIES
    # A set stays in one chunk: that of its first class.
    members = members.with_columns(chunk.alias("chunk")).with_columns(
        pl.col("chunk").first().over("set")
    )
    found = [
        part.join(entries, on="right")
        .group_by("set", "value")
        .agg(pl.col("count").sum())
        .sort("set", "count", "value", descending=[False, True, False])
        .group_by("set", maintain_order=True)
        .first()
        for part in members.partition_by("chunk")
    ]
    people = distinct.select("set", "left").explode("left")
    return people.join(pl.concat(found), on="set").select("left", "value", "count")
