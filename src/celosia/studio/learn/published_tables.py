"""Small tables published for a lesson: rows, classes, loss and risk of each setting."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from celosia.studio.language import Figure, _, figure, n_, number, percent
from celosia.studio.learn.parts import Facts, Table, listed, narrowed, table, worded

if TYPE_CHECKING:
    import polars as pl

    from celosia.tables import Model, Schema

SUPPRESSED = -1
"""The class of a record that was suppressed; it is shown as class 0."""


def classes_of(frame: pl.DataFrame, names: Sequence[str]) -> list[int]:
    """The class of each row, numbered as they come; suppressed rows have none.

    >>> import polars as pl
    >>> classes_of(pl.DataFrame({"age": ["2*", "3*", "2*", "*"]}), ["age"])
    [0, 1, 0, -1]
    """
    if not names:
        return [0] * frame.height  # nobody can be told from anybody
    known: dict[Any, int] = {}
    found = []
    for row in frame.select(names).iter_rows():
        hidden = all(value == "*" for value in row)
        found.append(SUPPRESSED if hidden else known.setdefault(row, len(known)))
    return found


def published(
    frame: pl.DataFrame, schema: Schema, models: Sequence[Model], *, suppressed: int
) -> Facts:
    """The release of least loss with its classes and measures, its rows left in their order.

    Args:
        frame: the private table.
        schema: its roles and hierarchies.
        models: what each class must meet.
        suppressed: how many records may be suppressed at most.
    """
    from celosia.core.errors import PrivacyError, PrivacyWarning
    from celosia.tables import publish  # compiled kernels

    with warnings.catch_warnings():
        # The rows stay in order so that a reader can compare them: this is no real release.
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            # Half a record more than whole ones: no rounding of the share matters then.
            share = min(1.0, (suppressed + 0.5) / frame.height) if suppressed else 0.0
            made = publish(frame, schema, models, suppression=share, keep_order=True)
        except PrivacyError:
            return {"possible": False}
    names = [column.name for column in made.solution.columns]
    classes = classes_of(made.data, names)
    everyone = all(level == column.height for level, column in _levels(made))
    if everyone and not made.solution.suppressed:
        classes = [0] * frame.height  # fully generalised, which looks like suppressed
    return {
        "possible": True,
        "columns": made.data.columns,
        "rows": made.data.rows(),
        "classes": classes,
        "names": names,
        "levels": list(made.solution.levels),
        "heights": [column.height for column in made.solution.columns],
        "loss": made.solution.loss,
        "suppressed": made.solution.suppressed,
        "average": made.risk.average,
        "maximum": made.risk.maximum,
        "smallest": made.risk.smallest,
    }


def as_seen(found: Facts) -> pl.DataFrame:
    """A release as an attacker groups it: suppressed records are one more class.

    Whole classes are suppressed, so whoever fits no class that is shown must be among them.
    """
    import polars as pl

    table = pl.DataFrame(found["rows"], schema=found["columns"], orient="row")
    hidden = pl.Series([each == SUPPRESSED for each in found["classes"]])
    return table.with_columns(
        pl.when(hidden).then(pl.lit("suppressed")).otherwise(pl.col(name)).alias(name)
        for name in found["names"]
    )


def _levels(made: Any) -> list[tuple[int | None, Any]]:
    return [(column.level, column) for column in made.solution.columns]


def raw(frame: pl.DataFrame, names: Sequence[str]) -> Facts:
    """A table as it is, with the classes that it has."""
    return {
        "columns": frame.columns,
        "rows": frame.rows(),
        "classes": classes_of(frame, names),
        "names": list(names),
    }


def shown(found: Facts, caption: str, **how: Any) -> Table:
    """A published table with coloured classes; suppressed rows step back."""
    hidden = [place for place, each in enumerate(found["classes"]) if each == SUPPRESSED]
    if hidden:
        caption = _("{caption} Class 0 was suppressed.", caption=caption)
        how.setdefault("faded", hidden)
    return table(found["columns"], found["rows"], caption=caption, classes=found["classes"], **how)


def coloured(found: Facts, left: Sequence[int] | None = None) -> Table:
    """A table with coloured classes, in which all rows or some of them remain."""
    if left is None:
        return table(found["columns"], found["rows"], classes=found["classes"])
    return narrowed(found["columns"], found["rows"], left, classes=found["classes"])


def remaining(found: Facts, left: Sequence[int], caption: str = "") -> Table:
    """A table without colours, in which some rows remain."""
    return narrowed(found["columns"], found["rows"], left, caption=caption)


def measures(found: Facts) -> tuple[Figure, ...]:
    """Loss, suppression, classes and risk as figures."""
    kept = {each for each in found["classes"] if each != SUPPRESSED}
    return (
        figure(
            "Information loss",
            percent(found["loss"]),
            "0 % is the private table, 100 % tells nothing",
        ),
        figure(
            "Suppressed",
            n_("{count} record", "{count} records", found["suppressed"]),
            "shown as * in every quasi-identifier",
        ),
        (
            _("Classes"),
            number(len(kept)),
            n_(
                "the smallest has {count} record",
                "the smallest has {count} records",
                found["smallest"],
            ),
        ),
        figure(
            "Risk",
            percent(found["average"]),
            "average chance of picking the right record; at most {most}",
            most=percent(found["maximum"]),
        ),
    )


def hidden_text(found: Facts) -> str:
    """A warning where suppressed records still show their secrets; nothing where none are."""
    if not found["suppressed"]:
        return ""
    return _(
        "Whoever fits no class is among the suppressed records, which still show their secrets; "
        "leaving them out of the table closes this."
    )


def levels_text(found: Facts) -> str:
    """How far each column was generalised."""
    words = [
        _("{column} at level {level} of {height}", column=worded(name), level=level, height=height)
        for name, level, height in zip(
            found["names"], found["levels"], found["heights"], strict=True
        )
    ]
    return listed(words)
