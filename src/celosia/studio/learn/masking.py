"""Masking: averages of small groups and noise on amounts, and who is linked all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number, percent, short
from celosia.studio.learn import parts
from celosia.studio.learn.parts import control, key, narrowed, settings, step, story, table
from celosia.studio.learn.t_closeness import nine_salaries

if TYPE_CHECKING:
    import polars as pl

AMOUNTS = ("age", "salary")
KS = (2, 3, 4)
NOISE = (0.1, 0.5, 1.0)
"""Parts of a standard deviation, as strong as the groups are great."""
WAYS = ("groups", "noise")
TARGET = 4
"""The patient of 52 who earns most."""
SEED = 3


def compute(progress: Progress) -> parts.Facts:
    """Each way with each strength, and how many records are linked back."""
    from celosia.core.randomness import Seeded
    from celosia.tables.masking import MaskingMethod, Mdav, Noise

    people = nine_salaries().drop("zip")
    found: parts.Facts = {"columns": people.columns, "rows": people.rows(), "settings": {}}
    strengths = list(zip(KS, NOISE, strict=True))
    for name, (way, (k, amount)) in settings(progress, "Masking the example", WAYS, strengths):
        method: MaskingMethod = Mdav(k=k) if way == "groups" else Noise(amount=amount, integer=True)
        masked = method.apply(people, list(AMOUNTS), rng=Seeded(SEED)).frame
        found["settings"][name] = _measured(people, masked)
    return found


def _measured(people: pl.DataFrame, masked: pl.DataFrame) -> parts.Facts:
    """The masked table, its groups, its means, and the records that the nearest original tells."""
    from celosia.assess.linkage import align, distance_linkage
    from celosia.studio.learn.published_tables import classes_of

    linked = distance_linkage(align(people, masked, list(AMOUNTS)))
    return {
        "rows": [tuple(_short(value) for value in row) for row in masked.iter_rows()],
        "classes": classes_of(masked, AMOUNTS),
        "right": [row for row, chance in enumerate(linked.chances) if chance == 1],
        "share": linked.share,
        "nearest": [int(each) for each in linked.nearest],
        "means": [(_mean(people[name]), _mean(masked[name])) for name in AMOUNTS],
        "spreads": [(_spread(people[name]), _spread(masked[name])) for name in AMOUNTS],
    }


def _short(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


def _mean(column: pl.Series) -> float:
    return float(column.cast(float).to_numpy().mean())


def _spread(column: pl.Series) -> float:
    return float(column.cast(float).to_numpy().std(ddof=1))


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """Nine patients, and their ages and salaries averaged in groups of three."""
    groups = facts["settings"][key((0, 1))]
    return (
        table(
            facts["columns"],
            facts["rows"],
            classes=groups["classes"],
            caption=_("The private table; colours show who is alike in age and salary."),
        ),
        table(
            facts["columns"],
            groups["rows"],
            classes=groups["classes"],
            caption=_("Microaggregated with k = 3: each amount is the average of its group."),
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """Records with a little noise are linked by their distance."""
    weak = facts["settings"][key((1, 0))]
    columns, rows = facts["columns"], facts["rows"]
    age, salary, problem = rows[TARGET]
    return (
        story(
            "Linkage by distance",
            step(
                "What is published",
                "Ages and salaries have a little noise, a tenth of their spread. No value "
                "need be true any more.",
                table(columns, weak["rows"]),
            ),
            step(
                "What the attacker knows",
                "A colleague is {age} and earns {salary} thousand; she knows both exactly.",
                table(columns, weak["rows"]),
                age=age,
                salary=salary,
            ),
            step(
                "She takes the nearest record",
                "One record is far nearer than the others: noise moved it too little.",
                narrowed(columns, weak["rows"], [TARGET]),
            ),
            step(
                "What she learns",
                n_(
                    "Linked like that, {count} of 9 records finds its owner.",
                    "Linked like that, {count} of 9 records find their owners.",
                    len(weak["right"]),
                ),
                narrowed(columns, weak["rows"], weak["right"]),
                learnt=_("Her colleague has {disease}.", disease=_(problem)),
            ),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """The way, and how strong."""
    return (
        control(
            "way",
            "Method",
            WAYS,
            choices=(_("averages of groups (MDAV)"), _("noise")),
            slides=False,
        ),
        control(
            "strength",
            "Strength: records in a group, or noise in standard deviations",
            ("weak", "medium", "strong"),
            choices=tuple(
                _("{k} or {noise}", k=k, noise=short(noise))
                for k, noise in zip(KS, NOISE, strict=True)
            ),
            first=1,
        ),
    )


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """The masked table, what is kept, and who is linked."""
    found = facts["settings"][key(chosen)]
    groups = WAYS[chosen[0]] == "groups"
    measures = table(
        ("", _("before"), _("after")),
        [
            (_("average age (years)"), *(_value_text(each) for each in found["means"][0])),
            (_("average salary (thousand)"), *(_value_text(each) for each in found["means"][1])),
            (_("spread of age (years)"), *(_value_text(each) for each in found["spreads"][0])),
            (
                _("spread of salary (thousand)"),
                *(_value_text(each) for each in found["spreads"][1]),
            ),
        ],
        caption=_("What a study gets: averages and standard deviations."),
    )
    text = (
        _("Groups keep averages exactly and lose spread; nobody is alone with an age and salary.")
        if groups
        else _("Noise keeps single records useful, and single records in danger.")
    )
    return parts.View(
        text=text,
        figures=(
            figure(
                "Linked",
                percent(found["share"], 0),
                "of the records find their owners by the nearest age and salary",
            ),
        ),
        parts=(
            table(
                facts["columns"],
                found["rows"],
                classes=found["classes"] if groups else None,
                marked=[] if groups else found["right"],
                caption=_("The masked table.")
                if groups
                else _("The masked table; records that find their owners are marked."),
            ),
            measures,
        ),
    )


def _value_text(value: float) -> str:
    return number(value, 2)
