"""l-diversity: several secrets in each class, and two ways to learn one all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number, percent, short
from celosia.studio.learn import parts, published_tables
from celosia.studio.learn.k_anonymity import patients_schema
from celosia.studio.learn.parts import control, key, narrowed, settings, step, story, table, worded

if TYPE_CHECKING:
    import polars as pl

    from celosia.tables import Model

LS = (1, 2, 3)
KINDS = ("distinct", "entropy", "recursive")
C = 2
"""The c of recursive (c, l)-diversity."""
K = 3
SUPPRESSED = (0, 3)
GROUPS = ("age", "postal")


def _models(kind: str, least: int) -> list[Model]:
    from celosia import tables

    found: list[Model] = [tables.KAnonymity(K)]
    if least > 1:
        makers: dict[str, Model] = {
            "distinct": tables.DistinctDiversity(least, "disease"),
            "entropy": tables.EntropyDiversity(least, column="disease"),
            "recursive": tables.RecursiveDiversity(C, least, "disease"),
        }
        found.append(makers[kind])
    return found


def compute(progress: Progress) -> parts.Facts:
    """The diversity of a table's classes, what two attacks find, a release for every setting."""
    from celosia.assess import attacks
    from celosia.datasets import examples, weak_releases

    diverse, alike = weak_releases.distinct_diverse(), weak_releases.similar_problems()
    tests = weak_releases.skewed_tests()
    similar = attacks.similarity(alike, GROUPS, "problem", weak_releases.problem_categories())
    skewed = attacks.skewness(tests, ["age"], "test", watched={"positive"})
    found: parts.Facts = {
        "diverse": published_tables.raw(diverse, GROUPS),
        "diversity": [
            [part.get_column("problem").n_unique(), _effective(part)]
            for part in diverse.partition_by(GROUPS, maintain_order=True)
        ],
        "similar": published_tables.raw(alike, GROUPS),
        "similarity": [list(similar.exposed[0].rows), similar.exposed[0].learnt[0]],
        "salaries": sorted(alike["salary"].gather(list(similar.exposed[0].rows)).to_list()),
        "tests": tests.group_by("age", "test", maintain_order=True).len().rows(),
        "skewness": [
            tests["age"][skewed.exposed[0].rows[0]],
            skewed.exposed[0].prior,
            skewed.exposed[0].confidence,
        ],
        "settings": {},
    }
    patients, schema = examples.patients(), patients_schema()
    found["patients"] = published_tables.raw(patients, ["zip", "age"])
    every = settings(progress, "Publishing the example", LS, KINDS, SUPPRESSED)
    for name, (least, kind, most) in every:
        setting = published_tables.published(
            patients, schema, _models(kind, least), suppressed=most
        )
        if setting["possible"]:
            known = attacks.homogeneity(
                published_tables.as_seen(setting), ["zip", "age"], "disease"
            )
            setting["exposed"] = known.exposed_people
            setting["surest"] = known.greatest
        found["settings"][name] = setting
    return found


def _effective(part: pl.DataFrame) -> float:
    from celosia.assess.attacks import effective_values

    counts = part.get_column("problem").value_counts()["count"]
    return effective_values(counts.to_list())


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """Sixteen patients, and how diverse each of the four classes is."""
    diverse = facts["diverse"]
    return (
        published_tables.shown(
            diverse, _("Sixteen patients: each class has three different problems.")
        ),
        table(
            (_("different problems"), _("effective number of problems")),
            [(distinct, short(round(effective, 3))) for distinct, effective in facts["diversity"]],
            classes=range(len(facts["diversity"])),
            caption=_(
                "Distinct 3-diversity holds. Entropy 3-diversity does not: one problem is more "
                "common than the others in its class, so that they count as 2.83 problems."
            ),
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """Similarity and skewness."""
    return _similarity(facts), _skewness(facts)


def _similarity(facts: parts.Facts) -> parts.Story:
    given = facts["similar"]
    rows, learnt = facts["similarity"]
    salaries = facts["salaries"]
    return story(
        "Similarity",
        step(
            "What is published",
            "Nine patients in three classes, each with three different problems and three "
            "different salaries (in thousands): 3-diverse.",
            published_tables.coloured(given),
        ),
        step(
            "What the attacker knows",
            "Her neighbour is about 40 and lives in a postal code like 0538*.",
            published_tables.coloured(given),
        ),
        step(
            "Which rows remain",
            "Three rows fit; their problems have three different names.",
            published_tables.coloured(given, rows),
        ),
        step(
            "What she learns",
            "The names differ, their meaning does not; and the salaries are the least.",
            published_tables.coloured(given, rows),
            learnt=_(
                "Her neighbour has a {category} and earns {low} to {high} thousand.",
                category=worded(learnt),
                low=number(salaries[0]),
                high=number(salaries[-1]),
            ),
        ),
    )


def _skewness(facts: parts.Facts) -> parts.Story:
    rows = facts["tests"]
    age, prior, confidence = facts["skewness"]
    ages = list(dict.fromkeys(each[0] for each in rows))
    classes = [ages.index(each[0]) for each in rows]
    columns = ("age", "test", _("people"))
    left = [place for place, each in enumerate(rows) if each[0] == age]
    positive = [place for place in left if rows[place][1] == "positive"]
    return story(
        "Skewness",
        step(
            "What is published",
            "A thousand people were tested for a disease that few have.",
            table(columns, rows, classes=classes),
        ),
        step(
            "What the attacker knows",
            "Ten of the thousand are positive: about anybody she believes so with a chance "
            "of {prior}. A friend of 25 was among those tested.",
            table(columns, rows, classes=classes),
            prior=percent(prior, 0),
        ),
        step(
            "Which rows remain",
            "The class of her friend has both results, as often as can be: it is as "
            "diverse as two values allow.",
            narrowed(columns, rows, left, classes=classes),
        ),
        step(
            "What she learns",
            "Diversity counts values; it does not ask which of them became likelier.",
            narrowed(columns, rows, positive, classes=classes),
            learnt=_(
                "Her friend is positive with a chance of {after}; before it was {before}.",
                after=percent(confidence, 0),
                before=percent(prior, 0),
            ),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """l, how it is counted, and how many records may be suppressed."""
    kinds = {
        "distinct": _("distinct values"),
        "entropy": _("entropy"),
        "recursive": _("recursive, c = {c}", c=C),
    }
    return (
        control("l", "l (secrets in each class)", LS),
        control(
            "kind",
            "How secrets are counted",
            KINDS,
            choices=tuple(kinds[kind] for kind in KINDS),
            slides=False,
        ),
        control("suppress", "Records that may be suppressed", SUPPRESSED, slides=False),
    )


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """The nine patients with k = 3 and this diversity."""
    found = facts["settings"][key(chosen)]
    before = published_tables.shown(facts["patients"], _("The private table: nine patients."))
    if not found["possible"]:
        return parts.View(
            text=_(
                "Impossible: even one class of everybody is not that diverse, for one disease is "
                "too common. Ask for less."
            ),
            parts=(before,),
        )
    text = _("Published with k = {k}: {levels}.", k=K, levels=published_tables.levels_text(found))
    warning = published_tables.hidden_text(found)
    exposed = figure(
        "Given away",
        n_("{count} person", "{count} people", found["exposed"]),
        "whose disease is certain to whoever knows zip code and age; the attacker is at most "
        "{share} sure of anybody",
        share=percent(found["surest"], 0),
    )
    return parts.View(
        text=f"{text} {warning}".strip(),
        figures=(exposed, *published_tables.measures(found)),
        parts=(before, published_tables.shown(found, _("The published table."))),
    )
