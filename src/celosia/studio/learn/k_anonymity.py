"""k-anonymity: a table generalised until everybody has company, and three ways around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celosia.core.progress import Progress
from celosia.studio.language import _, n_, percent
from celosia.studio.learn import parts
from celosia.studio.learn.parts import control, key, settings, step, story, table, worded
from celosia.studio.learn.published_tables import (
    coloured,
    levels_text,
    measures,
    published,
    raw,
    remaining,
    shown,
)

if TYPE_CHECKING:
    from celosia.assess.attacks import Attack
    from celosia.tables import Schema

KS = (2, 3, 4, 5, 6)
SUPPRESSED = (0, 1, 2, 3)
"""Records that may be suppressed at most."""
GROUPS = ("age", "postal")
OLDER = (">=50", "054**")
"""The class of the colleague in the background attack, who has no stomach complaint."""


def patients_schema() -> Schema:
    """Nine patients: zip codes masked from the right, ages in decades (worked example of 2007)."""
    from celosia.tables import Intervals, Mask, Schema

    return Schema.of(
        quasi_identifiers={"zip": Mask(), "age": Intervals(bounds=((20, 30, 40, 60),))},
        sensitive=["disease"],
    )


def five_schema() -> Schema:
    """Eleven people with five quasi-identifiers and their hierarchies."""
    from celosia.datasets import examples
    from celosia.tables import Hierarchy, Schema

    people = examples.five_attributes()
    ever = {"single": "never married"}
    paths: dict[str, list[tuple[str, ...]]] = {
        "ethnic": [(each, "person") for each in people["ethnic"].unique().sort()],
        "birth": [(day, day[3:], day[6:], "60-64") for day in people["birth"].unique().sort()],
        "sex": [(each, "not reported") for each in ("female", "male")],
        "postal": [(code, code[:4] + "0", "05300") for code in people["postal"].unique().sort()],
        "marital": [
            (each, ever.get(each, "ever married"), "not reported")
            for each in ("divorced", "married", "single", "widowed")
        ],
    }
    return Schema.of(
        quasi_identifiers={name: Hierarchy.from_paths(rows) for name, rows in paths.items()}
    )


def compute(progress: Progress) -> parts.Facts:
    """The worked example, what three attacks find, and a release for every setting."""
    from celosia.assess import attacks
    from celosia.datasets import examples, weak_releases
    from celosia.tables import KAnonymity
    from celosia.tables.hierarchies import Builder

    patients = examples.patients()
    ill = weak_releases.one_problem()
    same = attacks.homogeneity(ill, GROUPS, "problem")
    knows = attacks.background(ill, GROUPS, "problem", _ruled_out)
    first, second = weak_releases.in_order_releases()
    by_place = attacks.tuple_order(
        first, second, columns=first.columns, meanings=weak_releases.release_hierarchies()
    )
    found: parts.Facts = {
        "patients": raw(patients, ["zip", "age"]),
        "released": published(patients, patients_schema(), [KAnonymity(3)], suppressed=0),
        "ill": raw(ill, GROUPS),
        "homogeneity": [list(same.exposed[0].rows), same.exposed[0].learnt[0], same.share],
        "background": _exposure(knows, OLDER, ill.rows()),
        "releases": [raw(first, first.columns), raw(second, second.columns)],
        "recovered": [by_place.exposed_people, weak_releases.in_order().rows()],
        "trees": {
            column.name: column.hierarchy.build(patients[column.name]).paths()[:9]
            for column in patients_schema().columns
            if isinstance(column.hierarchy, Builder)
        },
        "settings": {},
    }
    people, schema = examples.five_attributes(), five_schema()
    found["people"] = raw(people, people.columns)
    for name, (k, most) in settings(progress, "Publishing the example", KS, SUPPRESSED):
        found["settings"][name] = published(people, schema, [KAnonymity(k)], suppressed=most)
    return found


def _ruled_out(labels: Mapping[str, str | None]) -> set[str]:
    """What the attacker knows: the older colleague has no trouble with his stomach."""
    return {"vomiting"} if tuple(labels[name] for name in GROUPS) == OLDER else set()


def _exposure(attack: Attack, labels: tuple[str, str], rows: list[tuple[str, ...]]) -> list[Any]:
    """The rows of one class, and what was learnt of it."""
    exposed = next(each for each in attack.exposed if rows[each.rows[0]][: len(labels)] == labels)
    return [list(exposed.rows), exposed.learnt[0]]


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """Nine patients before and after."""
    return (
        shown(facts["patients"], _("The private table: nobody shares zip code and age.")),
        shown(
            facts["released"],
            _("Published with k = 3: three classes of three, by two digits less and decades."),
        ),
        *(
            parts.Tree(
                paths=tuple(map(tuple, facts["trees"][name])),
                description=text,
            )
            for name, text in (
                ("zip", _("The hierarchy of the zip codes: each level hides one digit more.")),
                ("age", _("The hierarchy of the ages: decades, then everything.")),
            )
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """Homogeneity, background knowledge, and two releases in the same order."""
    return _homogeneity(facts), _background(facts), _order(facts)


def _homogeneity(facts: parts.Facts) -> parts.Story:
    ill = facts["ill"]
    rows, learnt, share = facts["homogeneity"]
    return story(
        "Homogeneity",
        step(
            "What is published",
            "Twelve patients in four classes of three: the table is 3-anonymous.",
            coloured(ill),
        ),
        step(
            "What the attacker knows",
            "Her neighbour was in that hospital. He is under 50 and lives in a postal code "
            "that begins with 054.",
            coloured(ill),
        ),
        step(
            "Which rows remain",
            "Three rows fit. Which of them is his, she cannot tell: k keeps its word.",
            coloured(ill, rows),
        ),
        step(
            "What she learns",
            "She need not tell: all three have the same problem. {share} of the people in "
            "this table are exposed like that.",
            coloured(ill, rows),
            learnt=_("Her neighbour has {disease}, for certain.", disease=worded(learnt)),
            share=percent(share, 0),
        ),
    )


def _background(facts: parts.Facts) -> parts.Story:
    ill = facts["ill"]
    rows, learnt = facts["background"]
    left = [row for row in rows if ill["rows"][row][-1] == learnt]
    return story(
        "Background knowledge",
        step(
            "What the attacker knows",
            "A colleague of 52 from postal code 05485 was in that hospital. She also knows "
            "that he has no trouble with his stomach.",
            coloured(ill),
        ),
        step(
            "Which rows remain",
            "Three rows fit his age and postal code, with two different problems.",
            coloured(ill, rows),
        ),
        step(
            "What she rules out",
            "The row with vomiting cannot be his.",
            coloured(ill, left),
        ),
        step(
            "What she learns",
            "What is left agrees.",
            coloured(ill, left),
            learnt=_("Her colleague has {disease}, for certain.", disease=worded(learnt)),
        ),
    )


def _order(facts: parts.Facts) -> parts.Story:
    first, second = facts["releases"]
    recovered, truth = facts["recovered"]
    both = (shown(first, _("First release")), shown(second, _("Second release")))
    return story(
        "Two releases in the same order",
        step(
            "What is published",
            "The same twelve people are released twice. Each release is 2-anonymous: one "
            "generalises the ethnic group, the other the postal code.",
            *both,
        ),
        step(
            "What the attacker sees",
            "Nobody shuffled the rows: row 1 of one release is row 1 of the other.",
            remaining(first, [0], caption=_("First release")),
            remaining(second, [0], caption=_("Second release")),
        ),
        step(
            "What she learns",
            "From each row she takes the finer label of the two. Shuffling the rows of "
            "every release would have prevented it; Celosía does so by default.",
            table(first["columns"], truth, marked=range(len(truth))),
            learnt=n_(
                "{count} record of the private table is back.",
                "All {count} records of the private table are back.",
                recovered,
            ),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """k, and how many records may be suppressed."""
    return (
        control("k", "k (records in each class)", KS),
        control("suppress", "Records that may be suppressed", SUPPRESSED),
    )


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """The eleven people published with this k."""
    found = facts["settings"][key(chosen)]
    before = shown(facts["people"], _("The private table: eleven people."))
    text = n_(
        "Of all generalisations that are {k}-anonymous with at most {count} record suppressed, the "
        "one that loses least: {levels}.",
        "Of all generalisations that are {k}-anonymous with at most {count} records suppressed, "
        "the one that loses least: {levels}.",
        SUPPRESSED[chosen[1]],
        k=KS[chosen[0]],
        levels=levels_text(found),
    )
    return parts.View(
        text=text,
        figures=measures(found),
        parts=(before, shown(found, _("The published table."))),
    )
