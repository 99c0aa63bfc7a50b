"""The choice of mechanisms where a person is protected with all their rows."""

from __future__ import annotations

from dataclasses import replace

from celosia.core.errors import QueryRefused
from celosia.queries.bounds.caps import MOST
from celosia.queries.bounds.stability import Analyst
from celosia.queries.ownership import Owned, attach_owners
from celosia.queries.planning.people import PeopleStep
from celosia.queries.planning.plain import PlainStep
from celosia.queries.planning.races import RaceStep
from celosia.queries.planning.refusals import several_owners, too_many_groups, unfit
from celosia.queries.planning.situation import MOST_SPLIT, TYPICAL, Choice, Situation
from celosia.queries.planning.step import Scene, Step, group_count
from celosia.queries.planning.totals import Total, needs_of

CHOSEN_SHARE = 0.7
"""What a chosen cap leaves of epsilon for the answer, see `PrivateCap.share`."""
MOST_KEYS = 8
"""Groups that one person counts for, at most, where groups are found by their people."""


def person_choice(situation: Situation) -> Choice:
    """The method and its steps.

    Raises:
        QueryRefused: what cannot be promised.
    """
    situation.check_keys()
    owned = attach_owners(situation.question.source, policy=situation.policy)
    if owned.classes > 1:
        return of_several(situation, owned)
    rows = rows_per_person(situation, owned)
    scene = Scene(question=situation.question, target=situation.target, owned=owned)
    method = situation.method or _choice(rows)
    # A person is in at most as many groups as they have rows.
    per_unit = 1 if rows is None else min(rows, MOST_KEYS)
    steps = situation.key_steps(scene, per_unit, situation.delta)
    if situation.needs.totals:
        steps += _totals(method, situation, scene, rows)
    elif situation.method is None:
        method = "rank"
    steps += situation.rank_steps(scene, rows)
    return Choice(method=method, steps=steps, recipes=situation.needs.recipes, owned=owned)


def rows_per_person(situation: Situation, owned: Owned) -> int | None:
    """The most rows of the result that one person owns, if declared caps tell it."""
    analyst = Analyst(situation.facts, situation.neighbours)
    try:
        return analyst.frequency(owned.owners[0], owned.relation).limit
    except QueryRefused:
        return None


def _choice(rows: int | None) -> str:
    """The method of the smaller error: noise for the declared cap, or for a typical one."""
    return "capped" if rows is not None and rows <= TYPICAL / CHOSEN_SHARE else "chosen-cap"


def _totals(method: str, situation: Situation, scene: Scene, rows: int | None) -> list[Step]:
    if method == "capped":
        return [_capped(situation, scene, rows)]
    if method == "chosen-cap":
        return [_chosen(situation, scene, rows)]
    if method in ("race", "race-cap"):
        return races(situation, scene, rows, to_top=method == "race")
    raise unfit(method, "It protects single rows, and the policy protects people.")


def _capped(situation: Situation, scene: Scene, rows: int | None) -> Step:
    if rows is None:
        raise unfit(
            "capped",
            "No declared caps bound the rows of one person.",
            "Let the owner declare `most` or `unique` of the columns that lead to the person.",
        )
    unit = situation.policy.unit.name
    return PlainStep(
        scene=scene,
        totals=tuple(situation.needs.totals),
        shifts=tuple(situation.shift(each, max(1, rows)) for each in situation.needs.totals),
        epsilon=situation.share,
        bound=f"each {unit} has at most {rows} rows, by declared caps",
    )


def _chosen(situation: Situation, scene: Scene, rows: int | None) -> Step:
    return PeopleStep(
        scene=scene,
        totals=tuple(situation.needs.totals),
        most=tuple(most_of(situation, each, rows) for each in situation.needs.totals),
        epsilon=situation.share,
        halved=situation.changes,
        typical=TYPICAL,
    )


def races(
    situation: Situation,
    scene: Scene,
    rows: int | None,
    *,
    to_top: bool,
    several: bool = False,
) -> list[Step]:
    """One race for each total, and for each group of a few.

    Raises:
        QueryRefused: CEL-Q143 values below 0, CEL-Q147 too many groups, CEL-Q149 what a linear
            program does not answer.
    """
    name = "race" if to_top else "race-cap"
    groups = group_count(situation.keys.known) if situation.question.keys else 1
    if situation.finds_keys:
        raise unfit(name, "It needs groups whose keys are public.")
    if groups > MOST_SPLIT:
        raise too_many_groups(groups, MOST_SPLIT)
    made: list[Step] = []
    for total in situation.needs.totals:
        if several and total.kind == "distinct":
            raise several_owners(total.label, situation.policy.unit.name)
        if total.is_signed:
            raise unfit(
                name,
                f"{total.label} may add values below 0, which the race does not bound.",
                "Let the owner declare a lower bound of 0, or leave the method to the planner.",
            )
        made.append(
            RaceStep(
                scene=scene,
                total=total,
                most=most_of(situation, total, rows),
                epsilon=situation.share,
                groups=groups,
                to_top=to_top,
                several=several,
                halved=situation.changes,
                typical=TYPICAL,
            )
        )
    return made


def most_of(situation: Situation, total: Total, rows: int | None) -> int:
    """The most that one unit may add to a total, in steps."""
    limit = situation.policy.most_per_unit
    return min((limit if rows is None else max(1, min(limit, rows))) * total.reach, MOST)


def of_several(situation: Situation, owned: Owned) -> Choice:
    """Rows of several owners: a linear program shares them out.

    Raises:
        QueryRefused: CEL-Q149 what it does not answer, CEL-Q143 another method.
    """
    unit = situation.policy.unit.name
    if situation.needs.ranks:
        raise several_owners(situation.needs.ranks[0].label, unit)
    if situation.method not in (None, "race", "race-cap"):
        raise unfit(
            situation.method,
            f"A row of the result can belong to {owned.classes} different {unit}s.",
            "Take 'race-cap', or leave the method to the planner.",
        )
    # Only sums that never fall can be shared out, so values are not counted from their middle.
    plain = replace(situation, needs=needs_of(situation.question, situation.target, centred=False))
    for total in plain.needs.totals:
        # The program has a limit on all weights together: with values for weights, whether it is
        # passed would tell how large their exact sum is.
        if total.fixed is not None:
            raise several_owners(total.label, unit)
    scene = Scene(question=situation.question, target=situation.target, owned=owned)
    to_top = situation.method == "race"
    steps = races(plain, scene, None, to_top=to_top, several=True)
    method = "race" if to_top else "race-cap"
    return Choice(method=method, steps=steps, recipes=plain.needs.recipes, owned=owned)
