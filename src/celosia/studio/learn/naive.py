"""Removal of names: the rest of a table is linked with a public list of names."""

from __future__ import annotations

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number, percent
from celosia.studio.learn import parts
from celosia.studio.learn.parts import control, key, settings, step, story, table, worded
from celosia.studio.learn.published_tables import raw, remaining, shown

SHARED = ("sex", "birth", "postal")
"""Columns that the table of patients and the list of voters both have."""
SEARCHED = ("birth", "postal", "sex")
"""The order in which the attacker looks at them."""
LEARNT = ("disease", "salary")


def compute(progress: Progress) -> parts.Facts:
    """The two tables, the search for one voter column by column, and every choice of columns."""
    from celosia.assess import attacks
    from celosia.datasets import weak_releases

    release, people = weak_releases.insured(), weak_releases.voters()
    found: parts.Facts = {"settings": {}, "insured": raw(release, []), "voters": raw(people, [])}
    identity, disease, salary = attacks.linkage(release, people, on=SHARED, learns=LEARNT)
    (who,) = identity.exposed[0].rows
    person = people.row(who, named=True)
    left = list(range(release.height))
    stages = []
    for name in SEARCHED:
        left = [row for row in left if release[name][row] == person[name]]
        stages.append(left)
    found["person"] = person | {"row": who}
    found["stages"] = stages
    found["learnt"] = [disease.exposed[0].learnt[0], salary.exposed[0].learnt[0]]
    found["prior"] = identity.exposed[0].prior
    for setting_name, chosen in settings(progress, "Linking two tables", *[(0, 1)] * len(SHARED)):
        names = [name for name, kept in zip(SHARED, chosen, strict=True) if kept]
        rest = release.drop(set(SHARED) - set(names))
        setting = raw(rest, names)
        sizes = [setting["classes"].count(each) for each in setting["classes"]]
        setting["unique"] = sizes.count(1) if names else 0
        setting["found"] = attacks.linkage(rest, people, on=names)[0].exposed_people if names else 0
        found["settings"][setting_name] = setting
    return found


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """The table without names."""
    given = facts["insured"]
    return (
        table(
            given["columns"],
            given["rows"],
            caption=_(
                "Seven insured people: names and numbers of identity were removed. Salaries are in "
                "pesos."
            ),
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """The linkage attack on one voter."""
    given, voters, person = facts["insured"], facts["voters"], facts["person"]
    name = person["name"]
    disease, salary = facts["learnt"]
    steps = [
        step(
            "What is published",
            "The insurer publishes the records of its patients without names.",
            table(given["columns"], given["rows"]),
        ),
        step(
            "What the attacker has",
            "A list of voters is public and has names. Sex, date of birth and postal code are "
            "in both tables. She looks for {name}.",
            remaining(voters, [person["row"]]),
            name=name,
        ),
    ]
    titles = {
        "birth": _("Which rows have the same date of birth"),
        "postal": _("Which of them have the same postal code"),
        "sex": _("Which of them have the same sex"),
    }
    for column, left in zip(SEARCHED, facts["stages"], strict=True):
        steps.append(
            step(
                titles[column],
                n_(
                    "{column} = {value}: {count} row remains.",
                    "{column} = {value}: {count} rows remain.",
                    len(left),
                    column=worded(column),
                    value=worded(person[column]),
                ),
                remaining(given, left),
            )
        )
    steps.append(
        step(
            "What she learns",
            "One row is left, so it is the record of {name}. A guess among all rows would have "
            "been right with a chance of {prior}.",
            remaining(given, facts["stages"][-1]),
            learnt=_(
                "{name} has {disease} and earns {salary} pesos.",
                name=name,
                disease=worded(disease),
                salary=number(int(salary)),
            ),
            name=name,
            prior=percent(facts["prior"]),
        )
    )
    return (story("Linkage", *steps),)


def controls() -> tuple[parts.Control, ...]:
    """Which of the shared columns are published."""
    choices = (_("left out"), _("published"))
    names = {"sex": _("Sex"), "birth": _("Date of birth"), "postal": _("Postal code")}
    return tuple(
        control(name, names[name], ("no", "yes"), choices=choices, first=1, slides=False)
        for name in SHARED
    )


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """Who is alone, and who is found, with these columns published."""
    found = facts["settings"][key(chosen)]
    people = len(found["rows"])
    if not any(chosen):
        text = _("Nothing is left to link by; nothing is left to study by age or place, either.")
    elif found["found"]:
        text = _("Whoever is alone with these values can be found by anyone who knows them.")
    else:
        text = _("No voter of the list is found; others who are alone could be, by another list.")
    return parts.View(
        text=text,
        figures=(
            figure(
                "Alone",
                _("{count} of {total}", count=number(found["unique"]), total=number(people)),
                "records that no other record shares these values with",
            ),
            figure(
                "Found",
                _("{count} of {total}", count=number(found["found"]), total=number(3)),
                "voters with exactly one record that fits, rightly or wrongly",
            ),
        ),
        parts=(shown(found, _("Records with the same values have the same colour.")),),
    )
