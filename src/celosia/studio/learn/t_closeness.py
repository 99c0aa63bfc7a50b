"""t-closeness: classes that look like the whole table, and what two releases say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number
from celosia.studio.learn import parts, published_tables
from celosia.studio.learn.parts import control, key, settings, step, story, table, worded

if TYPE_CHECKING:
    import polars as pl

TS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 1.0)
K = 3
MOST = (0, 3)
"""Records that may be suppressed at most."""
GROUPS = ("age", "postal")
NEAR = 2
"""Thousands within which salaries count as known."""


def nine_salaries() -> pl.DataFrame:
    """The nine patients with salaries and problems: table 3 of Li et al. 2007 before publishing."""
    from celosia.datasets import examples, weak_releases

    more = weak_releases.similar_problems().select("salary", "problem")
    return examples.patients().select("zip", "age").hstack(more)


def distances(values: Sequence[int], classes: Sequence[int]) -> list[float]:
    """The ordered earth mover's distance between each class and all values.

    A class of -1 is of suppressed records: they count in the whole, and have no distance.

    >>> [round(each, 4) for each in distances([3, 4, 5, 6, 11, 8, 7, 9, 10], [0] * 3 + [1] * 6)]
    [0.375, 0.1875]
    """
    import numpy as np

    from celosia.tables import TCloseness  # compiled kernels
    from celosia.tables.models import Classes, Histogram, SensitiveColumn

    ranks = np.unique(np.asarray(values), return_inverse=True)[1].astype(np.int32)
    groups = np.asarray(classes, dtype=np.int64)
    column = SensitiveColumn("salary", np.bincount(ranks).astype(np.int64), is_ordered=True)
    kept = groups >= 0
    count = int(groups.max(initial=-1)) + 1
    rows = Histogram.of_rows(column, groups[kept], ranks[kept], count)
    found = Classes(np.bincount(groups[kept], minlength=count), {"salary": rows})
    return [float(each) for each in TCloseness(1, "ordered", "salary").distances(found)]


def compute(progress: Progress) -> parts.Facts:
    """The distances of two tables, what two releases give away, a release for every setting."""
    from celosia.assess import attacks
    from celosia.datasets import weak_releases
    from celosia.tables import KAnonymity, Schema, TCloseness
    from celosia.tables.hierarchies import Intervals, Mask

    found: parts.Facts = {"settings": {}}
    for name, each in (
        ("far", weak_releases.similar_problems()),
        ("near", weak_releases.close_salaries()),
    ):
        found[name] = published_tables.raw(each, GROUPS)
        found[name]["distances"] = distances(each["salary"].to_list(), found[name]["classes"])
    found |= _two_releases()
    people = nine_salaries()
    found["people"] = published_tables.raw(people, ["zip", "age"])
    schema = Schema.of(
        quasi_identifiers={"zip": Mask(), "age": Intervals(bounds=((20, 30, 40, 60),))},
        sensitive=["salary", "problem"],
    )
    for name, (t, most) in settings(progress, "Publishing the example", TS, MOST):
        models = [KAnonymity(K), TCloseness(t, "ordered", "salary")]
        setting = published_tables.published(people, schema, models, suppressed=most)
        setting["distances"] = distances(people["salary"].to_list(), setting["classes"])
        setting["near"] = attacks.near_numbers(
            published_tables.as_seen(setting), ["zip", "age"], "salary", NEAR
        ).exposed_people
        found["settings"][name] = setting
    return found


def _two_releases() -> parts.Facts:
    """Two releases of the same patients, and who is alone when they are joined."""
    from celosia.assess import attacks
    from celosia.datasets import weak_releases

    first, second = weak_releases.complementary_releases()
    names = first.columns[:-1]
    found = attacks.complementary(
        first, second, names, on="problem", meanings=weak_releases.release_hierarchies()
    )
    # Rows of an exposure are those of the first release; the second was made of the same rows.
    exposed = [each.rows[0] for each in found.exposed]
    row = min(exposed, key=lambda place: first["problem"].to_list().count(first["problem"][place]))
    joined = [
        place for place in range(second.height) if second["problem"][place] == first["problem"][row]
    ]
    return {
        "releases": [published_tables.raw(first, names), published_tables.raw(second, names)],
        "exposed": exposed,
        "one": {
            "row": row,
            "joined": joined,
            "problem": first["problem"][row],
            "first": list(first.row(row)),
            "second": list(second.row(row)),
        },
    }


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """The same nine patients in two groupings, with their distances."""
    far, near = (_spread(facts[name]) for name in ("far", "near"))
    return (
        published_tables.shown(
            facts["far"],
            _(
                "Classes by place and age alone. Distances of their salaries to the whole table: "
                "{distances}. The greatest counts: t = {t}.",
                **far,
            ),
        ),
        published_tables.shown(
            facts["near"],
            _(
                "Classes with low, middle and high salaries in each. Distances: {distances}; "
                "t = {t}.",
                **near,
            ),
        ),
    )


def _spread(found: parts.Facts) -> dict[str, str]:
    """The distances of the classes, and the greatest."""
    text = [number(each, 3) for each in found["distances"]]
    return {"distances": parts.listed(text), "t": number(max(found["distances"]), 3)}


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """Two releases joined by what they share."""
    first, second = facts["releases"]
    one = facts["one"]
    names = first["columns"][:-1]
    both = [
        one["second"][0] if one["first"][0] == "person" else one["first"][0],
        one["first"][1],
        one["first"][2],
        one["second"][3],
        one["problem"],
    ]
    finer = table(first["columns"], [both], caption=_("What both labels stand for"), marked=[0])
    return (
        story(
            "Two releases of the same people",
            step(
                "What is published",
                "A hospital publishes its patients for one study, and again for another. "
                "Each release was judged by itself, and no model for one table speaks "
                "about the next.",
                published_tables.shown(first, _("First release")),
                published_tables.shown(second, _("Second release")),
            ),
            step(
                "What the attacker has",
                "Both releases show the problem as it is. She takes one: {problem}.",
                published_tables.remaining(
                    first,
                    [one["row"]],
                    caption=_("First release"),
                ),
                published_tables.remaining(
                    second,
                    one["joined"],
                    caption=_("Second release"),
                ),
                problem=worded(one["problem"]),
            ),
            step(
                "Which labels remain",
                "The two rows are one person. Each hides what the other shows: of "
                "{columns} she keeps the finer label.",
                finer,
                columns=", ".join(worded(name) for name in names),
            ),
            step(
                "What she learns",
                "Groups of two or more in each release; alone in both together. Noise that "
                "is counted over all releases repairs this: differential privacy.",
                published_tables.remaining(
                    first,
                    facts["exposed"],
                    caption=_("First release"),
                ),
                learnt=n_(
                    "{count} patient stands alone, with problem and nearly all details.",
                    "{count} patients stand alone, with problem and nearly all details.",
                    len(facts["exposed"]),
                ),
            ),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """t, and how many records may be suppressed."""
    return (
        control("t", "t (greatest distance of a class)", TS, first=len(TS) - 1),
        control("suppress", "Records that may be suppressed", MOST, slides=False),
    )


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """The nine patients with k = 3 and this t."""
    found = facts["settings"][key(chosen)]
    kept = sorted({each for each in found["classes"] if each != published_tables.SUPPRESSED})
    text = _("Published with k = {k}: {levels}.", k=K, levels=published_tables.levels_text(found))
    return parts.View(
        text=f"{text} {published_tables.hidden_text(found)}".strip(),
        figures=(
            figure(
                "Greatest distance",
                number(max(found["distances"]), 3),
                "between the salaries of a class and those of the table, from 0 to 1",
            ),
            figure(
                "Given away",
                n_("{count} person", "{count} people", found["near"]),
                "whose salary is known to within {width} thousand",
                width=NEAR,
            ),
            *published_tables.measures(found),
        ),
        parts=(
            published_tables.shown(found, _("The published table; salaries in thousands.")),
            table(
                (_("distance to the whole table"),),
                [(number(found["distances"][each], 3),) for each in kept],
                classes=kept,
                caption=_("How far each class is from the table"),
            ),
        ),
    )
