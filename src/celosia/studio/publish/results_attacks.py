"""The attacks of `celosia.assess.attacks` on a table before and after, against plain guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from celosia.assess.attacks import Attack, attack_release, categories_of
from celosia.assess.attacks.classes import Classes, texts_of
from celosia.assess.meaning import Meaning
from celosia.core.progress import Progress, silent
from celosia.frames import encode, pick
from celosia.tables import Role, Schema

MOST_PEOPLE = 20_000
"""People whom the linkage attack looks up; of a larger table, as many evenly spread ones."""


def attack_facts(
    frame: pl.DataFrame,
    released: pl.DataFrame,
    schema: Schema,
    explained: Mapping[str, Meaning],
    *,
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """Each attack with its success, that of the same attack on the raw table, and of a guess.

    The attacker of the linkage knows the raw quasi-identifiers of people in the table: the worst
    case. Values never leave this function, only counts and chances.
    """
    names = schema.named(Role.QUASI_IDENTIFIER)
    sensitive = [name for name in schema.named(Role.SENSITIVE) if _fits(frame[name])]
    known = pick(frame, names)
    people = known.gather_every(-(-known.height // MOST_PEOPLE))
    alike = {name: found for name in sensitive if (found := _alike(schema, frame, name))}
    both = [
        attack_release(
            table,
            names,
            sensitive,
            external=people,
            meanings=meaning,
            categories=alike,
            progress=progress,
        )
        for table, meaning in ((frame, None), (released, explained))
    ]
    return [_facts(after, before, released.height) for before, after in zip(*both, strict=True)]


def suppressed_facts(
    released: pl.DataFrame, names: Sequence[str], sensitive: Sequence[str]
) -> list[dict[str, Any]]:
    """For each sensitive column: the suppressed records, and how many share the commonest value.

    They are in no class, so the attacks on classes do not count them, but they keep their sensitive
    values: a person who fits no class must be among them.

    >>> table = pl.DataFrame({"age": ["2*", "2*", "*", "*"], "ill": ["a", "b", "c", "c"]})
    >>> suppressed_facts(table, ["age"], ["ill"])
    [{'column': 'ill', 'records': 2, 'commonest': 2}]
    """
    hidden = Classes.of(texts_of(released, names)).of_row < 0
    if not hidden.any():
        return []
    found = []
    for name in sensitive:
        values = released.get_column(name).alias("value").filter(pl.Series(hidden))
        counts = values.drop_nulls().value_counts(name="count")["count"]
        commonest = int(counts.to_numpy().max()) if counts.len() else 0
        found.append({"column": name, "records": int(hidden.sum()), "commonest": commonest})
    return found


def _fits(column: pl.Series) -> bool:
    return column.null_count() < column.len()


def _alike(schema: Schema, frame: pl.DataFrame, name: str) -> dict[str, str] | None:
    """Which sensitive values mean nearly the same: those that share a parent, if there are any."""
    column = next(each for each in schema.columns if each.name == name)
    if column.hierarchy is None:
        return None
    hierarchy = column.hierarchy_for(encode(frame[name]).values)
    if hierarchy.height < 2:
        return None
    return categories_of(hierarchy, hierarchy.labels[1])


def _facts(after: Attack, before: Attack, rows: int) -> dict[str, Any]:
    return {
        "name": after.name,
        "column": after.column,
        "assumption": after.assumption,
        "mitigation": after.mitigation,
        **_success(after),
        "before": _success(before),
        "baseline": _baseline(after, rows),
    }


def _success(attack: Attack) -> dict[str, Any]:
    return {
        "people": attack.people,
        "exposed": attack.exposed_people,
        "share": attack.share,
        "average": attack.average,
        "greatest": attack.greatest,
    }


def _baseline(attack: Attack, rows: int) -> float:
    """How often somebody without the classes is right: by the whole table, or by picking a row."""
    if attack.column is None or attack.prior is None:
        return 1 / rows if rows else 0.0
    total = int(attack.sizes.sum())
    return float(attack.prior @ attack.sizes) / total if total else 0.0
