"""Differential privacy: counts with and without one person, beliefs, and what a budget is for."""

from __future__ import annotations

from math import ceil, exp
from typing import TYPE_CHECKING

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number, percent, short
from celosia.studio.learn import parts
from celosia.studio.learn.parts import control, key, settings, step, story, table
from celosia.studio.learn.published_tables import remaining

if TYPE_CHECKING:
    from celosia.mechanisms import Geometric

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
PRIORS = (0.01, 0.1, 0.5, 0.9)
TRIES = 2000
"""Answers of which the histogram is made."""
REACH = 12
"""How far from the true count answers are drawn; those beyond are put at the ends."""
TAIL = 400
"""Beyond this the noise has a chance below 1e-17, even at the least epsilon."""
BOB = 2
"""The row of the patient of whom the attacker wants to know: zip 47678, aged 27."""
ASKED = (1, 10, 100, 1000)
"""How often the same question is asked."""
SPENT = 0.5
"""Epsilon of each of these questions."""
ALLOWANCE = 1.0
DISEASE = "Heart Disease"


def compute(progress: Progress) -> parts.Facts:
    """Counts, noisy answers and beliefs for every epsilon, and two attacks."""
    from celosia.accounting import belief_interval
    from celosia.core.randomness import Seeded
    from celosia.datasets import examples
    from celosia.mechanisms import Geometric

    patients = examples.patients()
    ill = [row for row, each in enumerate(patients["disease"]) if each == DISEASE]
    with_bob, without = len(ill), len([row for row in ill if row != BOB])
    found: parts.Facts = {
        "columns": patients.columns,
        "rows": patients.rows(),
        "ill": ill,
        "counts": [with_bob, without],
        "settings": {},
    }
    for name, (epsilon,) in settings(progress, "Drawing noisy answers", EPSILONS):
        place = EPSILONS.index(epsilon)
        mechanism = Geometric(epsilon=epsilon)
        drawn = [
            (count + mechanism.law.draw(TRIES, Seeded(100 * place + side))).tolist()
            for side, count in enumerate((with_bob, without))
        ]
        found["settings"][name] = {
            "answers": drawn,
            "error": mechanism.accuracy(0.95),
            "beliefs": [
                (each.prior, each.low, each.high)
                for each in (belief_interval(prior, epsilon) for prior in PRIORS)
            ],
            "differencing": _differenced(mechanism),
        }
    found["repeated"] = _repeated(with_bob)
    found["payments"] = _payments(with_bob)
    return found


def _differenced(mechanism: Geometric) -> float:
    """The chance that the difference of two noisy counts is right about one person.

    The noise of both counts agrees with chance `tie`; else it errs to either side alike.
    """
    tie = sum(mechanism.law.mass(place) ** 2 for place in range(-TAIL, TAIL + 1))
    return (1 + tie) / 2


def _repeated(count: int) -> list[tuple[int, float, float]]:
    """How many answers, their average, and what they cost together."""
    from celosia.core.randomness import Seeded
    from celosia.mechanisms import Geometric

    answers = count + Geometric(epsilon=SPENT).law.draw(max(ASKED), Seeded(5))
    return [(many, float(answers[:many].mean()), many * SPENT) for many in ASKED]


def _payments(count: int) -> list[tuple[int, int | None]]:
    """The same question under a budget: an answer as long as it can be paid."""
    from celosia.accounting import Budget
    from celosia.core.errors import BudgetExceeded
    from celosia.core.randomness import Seeded
    from celosia.mechanisms import Geometric, release

    mechanism, budget, rng = Geometric(epsilon=SPENT), Budget(epsilon=ALLOWANCE), Seeded(6)
    paid: list[tuple[int, int | None]] = []
    for question in (1, 2, 3):
        try:
            paid.append((question, int(release(mechanism, count, budget=budget, rng=rng).value)))
        except BudgetExceeded:
            paid.append((question, None))
    return paid


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """The question, and its answer with and without one patient."""
    with_bob, without = facts["counts"]
    return (
        remaining(
            facts,
            facts["ill"],
            caption=_("How many patients have a heart disease? The marked rows."),
        ),
        table(
            (_("table"), _("exact count")),
            [(_("with Bob (zip 47678, 27 years)"), with_bob), (_("without Bob"), without)],
            caption=_(
                "Two neighbouring tables: they differ by one person. A private answer must be "
                "nearly as likely from the one as from the other."
            ),
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """Two exact counts, and one question asked again and again."""
    return _differencing(facts), _again(facts)


def _differencing(facts: parts.Facts) -> parts.Story:
    with_bob, without = facts["counts"]
    heads = (_("question"), _("answer"))
    first = (_("patients with a heart disease"), with_bob)
    second = (_("patients with a heart disease and another zip code than 47678"), without)
    low = facts["settings"][key((0,))]
    noisy = [low["answers"][0][0], low["answers"][1][0]]
    return story(
        "Two exact counts",
        step(
            "What is allowed",
            "A hospital answers counts over many patients, exactly, and never shows a row. "
            "The attacker knows that Bob is a patient, and his zip code.",
            remaining(
                facts,
                facts["ill"],
                caption=_("What the hospital has, and does not show."),
            ),
        ),
        step(
            "She asks twice",
            "Both counts are over many people; neither is about Bob alone.",
            table(heads, [first, second]),
        ),
        step(
            "She subtracts",
            "The two questions differ by one person.",
            table(heads, [first, second], marked=[0, 1]),
            learnt=n_(
                "The difference is {count}: Bob has a heart disease.",
                "The difference is {count}: Bob has a heart disease.",
                with_bob - without,
            ),
        ),
        step(
            "The same with noise",
            "With noise at epsilon {epsilon} for each count, the difference is right in "
            "{share} of all cases; throwing a coin, in 50 %.",
            table(
                (_("question"), _("answer with noise")),
                [(first[0], noisy[0]), (second[0], noisy[1])],
            ),
            learnt=_("Whether Bob is ill stays his own business."),
            epsilon=short(EPSILONS[0]),
            share=percent(low["differencing"], 2),
        ),
    )


def _again(facts: parts.Facts) -> parts.Story:
    rows = facts["repeated"]
    heads = (_("times asked"), _("average answer"), _("epsilon in all"))
    text = [(many, round(average, 2), spent) for many, average, spent in rows]
    paid = [
        (question, _("refused: nothing is left") if value is None else value)
        for question, value in facts["payments"]
    ]
    return story(
        "The same question again and again",
        step(
            "What the attacker does",
            "Each answer has fresh noise (epsilon {epsilon}). She asks for the same count "
            "once and gets something near {count}.",
            table(heads, text[:1]),
            epsilon=short(SPENT),
            count=number(facts["counts"][0]),
        ),
        step(
            "She averages",
            "Noise has no side: in the average of many answers it is gone.",
            table(heads, text, marked=[len(text) - 1]),
            learnt=_("With enough answers she has the exact count, and subtracts again."),
        ),
        step(
            "What a budget does",
            "Epsilons add up. A budget of {allowance} pays for two such answers and "
            "refuses the third, whoever asks.",
            table((_("question"), _("answer with noise")), paid, marked=[len(paid) - 1]),
            allowance=short(ALLOWANCE),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """Epsilon."""
    return (control("epsilon", "epsilon (smaller is more private)", EPSILONS, first=3),)


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """Answers with and without Bob, and what they can do to a belief."""
    found = facts["settings"][key(chosen)]
    epsilon = EPSILONS[chosen[0]]
    with_bob, without = facts["counts"]
    places = list(range(without - REACH, with_bob + REACH + 1))
    with_counts, without_counts = (_histogram(each, places) for each in found["answers"])
    low, high = next((low, high) for prior, low, high in found["beliefs"] if prior == 0.5)
    bars = parts.Bars(
        categories=(
            f"≤ {number(places[0])}",
            *(number(each) for each in places[1:-1]),
            f"≥ {number(places[-1])}",
        ),
        series=((_("with Bob"), with_counts), (_("without Bob"), without_counts)),
        description=_(
            "Histogram of {tries} noisy answers from each of the two tables, around {first} and "
            "{second}: the more they overlap, the less an answer says about Bob.",
            tries=number(TRIES),
            first=number(with_bob),
            second=number(without),
        ),
        x=_("noisy answer (patients)"),
        y=_("how often in {tries} answers", tries=number(TRIES)),
    )
    beliefs = table(
        (_("believed before"), _("afterwards at least"), _("at most")),
        [tuple(percent(each, 2) for each in row) for row in found["beliefs"]],
        caption=_(
            "What anybody may believe of Bob after one answer, whatever else she knows: the bound "
            "holds for every attacker."
        ),
    )
    return parts.View(
        text=_(
            "No answer is more than {factor} times as likely with Bob as without him, or the other "
            "way round. Noise of a simulation with a fixed seed.",
            factor=number(ceil(1000 * exp(epsilon)) / 1000, 3),
        ),
        figures=(
            figure(
                "Error",
                n_("± {count} patient", "± {count} patients", int(found["error"])),
                "noise that 95 % of the answers do not exceed",
            ),
            figure(
                "Belief",
                _("{low} to {high}", low=percent(low), high=percent(high)),
                "where a belief of 50 % can move after one answer",
            ),
            figure(
                "Differencing attack",
                percent(found["differencing"], 1),
                "chance that the attacker is right about Bob; a coin is right in 50 %",
            ),
        ),
        parts=(bars, beliefs),
    )


def _histogram(answers: list[int], places: list[int]) -> tuple[float, ...]:
    counts = dict.fromkeys(places, 0)
    for each in answers:
        counts[min(max(each, places[0]), places[-1])] += 1
    return tuple(float(each) for each in counts.values())
