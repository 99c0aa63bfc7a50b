"""The choice of mechanisms where a person is protected with all their rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from celosia.core.errors import QueryRefused
from celosia.core.wording import plural
from celosia.queries.algebra import Match
from celosia.queries.bounds.caps import MOST
from celosia.queries.bounds.stability import Analyst
from celosia.queries.ownership import Owned, attach_owners
from celosia.queries.planning.partners import (
    foreign_partners,
    sides_with_partners,
    with_plain_names,
)
from celosia.queries.planning.plain import PlainStep
from celosia.queries.planning.refusals import several_owners, too_many_groups, unfit
from celosia.queries.planning.situation import TYPICAL, Choice, Situation
from celosia.queries.planning.step import Scene, Step, group_count
from celosia.queries.planning.totals import Total, needs_of

if TYPE_CHECKING:
    from celosia.queries.planning.programs import Side

CHOSEN_SHARE = 0.7
"""What a chosen cap leaves of epsilon for the answer, see `PrivateCap.share`."""
MOST_RACES = 256
"""Groups that each have a race of their own."""
MOST_KEYS = 8
"""Groups that one person counts for, at most, where groups are found by their people."""


def person_choice(situation: Situation) -> Choice:
    """The method and its steps.

    Raises:
        QueryRefused: what cannot be promised.
    """
    if situation.method == "elastic" and situation.policy.graph is not None:
        from celosia.queries.planning.stars import star_choice  # noqa: PLC0415 - only where the plan needs it

        return star_choice(situation)
    if situation.method in ("global", "elastic"):
        raise unfit(situation.method, "It protects single rows, and the policy protects people.")
    situation.check_keys()
    foreign = foreign_partners(situation.question.source, policy=situation.policy)
    if foreign:
        return of_partners(situation, foreign)
    owned = attach_owners(situation.question.source, policy=situation.policy)
    if owned.classes > 1:
        return of_several(situation, owned)
    rows = 1 if _counts_people(situation, owned) else rows_per_person(situation, owned)
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
    """The most rows of the result that one person owns, if declared caps tell it.

    Where rows belong to several people, a person has some as each of the owners.
    """
    analyst = Analyst(situation.facts, situation.neighbours)
    rows = 0
    for owner in owned.owners:
        try:
            limit = analyst.frequency(owner, owned.relation).limit
        except QueryRefused:
            return None
        if limit is None:
            return None
        rows += limit
    return rows


def _counts_people(situation: Situation, owned: Owned | None) -> bool:
    """Whether only people are counted, each once: COUNT(DISTINCT key of the person)."""
    if owned is None or situation.question.keys or situation.needs.ranks:
        return False
    totals = situation.needs.totals
    return all(each.kind == "distinct" and owned.is_named_by(each.argument) for each in totals)


def _choice(rows: int | None) -> str:
    """The method of the smaller error: noise for the declared cap, or for a typical one."""
    return "capped" if rows is not None and rows <= TYPICAL / CHOSEN_SHARE else "chosen-cap"


def _totals(method: str, situation: Situation, scene: Scene, rows: int | None) -> list[Step]:
    if method == "capped":
        return [_capped(situation, scene, rows)]
    if method == "chosen-cap":
        return [_chosen(situation, scene, rows)]
    return races(situation, scene, rows, to_top=method == "race")


def _capped(situation: Situation, scene: Scene, rows: int | None) -> Step:
    if rows is None:
        raise unfit(
            "capped",
            "No declared caps bound the rows of one person.",
            "Let the owner declare `most` or `unique` of the columns that lead to the person.",
        )
    unit = situation.policy.unit.name
    what = "rows" if situation.policy.graph is None else "solutions"
    bound = f"each {unit} has at most {rows} {what}, by declared caps"
    if _counts_people(situation, scene.owned):
        bound = f"each {unit} counts once"
    totals = tuple(situation.needs.totals)
    return PlainStep(
        scene=scene,
        totals=totals,
        shifts=tuple(situation.shift(each, max(1, rows)) for each in totals),
        epsilon=situation.share,
        bound=(bound,) * len(totals),
    )


def _chosen(situation: Situation, scene: Scene, rows: int | None) -> Step:
    from celosia.queries.planning.people import PeopleStep  # noqa: PLC0415 - only where the plan needs it

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
    sides: Callable[[Total], tuple[Side, ...]] | None = None,
) -> list[Step]:
    """One race for each total, and for each group of a few; of programs, where there are sides.

    Raises:
        QueryRefused: CEL-Q143 values below 0, or groups to find, CEL-Q147 too many groups.
    """
    from celosia.queries.planning.races import RaceStep  # noqa: PLC0415 - only where the plan needs it

    name = "race" if to_top else "race-cap"
    groups = group_count(situation.keys.known) if situation.question.keys else 1
    if situation.finds_keys:
        raise unfit(name, "It needs groups whose keys are public.")
    if groups > MOST_RACES:
        raise too_many_groups(groups, MOST_RACES)
    made: list[Step] = []
    for total in situation.needs.totals:
        if total.is_signed and sides is None:
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
                # A person is in at most as many groups as they have rows.
                per_unit=groups if rows is None else max(1, min(rows, groups)),
                to_top=to_top,
                sides=() if sides is None else sides(total),
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
    from celosia.queries.planning.programs import Side  # noqa: PLC0415 - only where the plan needs it

    unit = situation.policy.unit.name
    plain = _for_programs(
        situation, f"A row of the result can belong to {owned.classes} different {plural(unit)}."
    )
    scene = Scene(question=plain.question, target=plain.target, owned=owned)
    rows = None if plain.policy.unit.is_row else rows_per_person(plain, owned)
    return _raced(plain, scene, rows, lambda total: (Side(scene=scene, total=total),))


def of_partners(situation: Situation, foreign: tuple[Match, ...]) -> Choice:
    """Rows with, or without, partners of other owners: programs share out what they are joined to.

    Raises:
        QueryRefused: CEL-Q149, CEL-Q093 what they do not answer, CEL-Q143 another method.
    """
    unit = situation.policy.unit.name
    plain = _for_programs(
        situation, f"A row depends on partners (IN, EXISTS) that belong to other {plural(unit)}."
    )
    question, target = plain.question, plain.target
    sides = {
        total.name: sides_with_partners(question, total, foreign, target=target)
        for total in plain.needs.totals
    }
    scene = next(iter(sides.values()))[-1].scene
    made = _raced(plain, scene, None, lambda total: sides[total.name])
    assert scene.owned is not None
    shown = with_plain_names(scene.owned, question.source, foreign, policy=plain.policy)
    return replace(made, owned=shown)


def _for_programs(situation: Situation, why: str) -> Situation:
    """The situation in terms of totals that programs share out.

    Raises:
        QueryRefused: CEL-Q149 ranks, CEL-Q143 another method.
    """
    if situation.needs.ranks:
        raise several_owners(situation.needs.ranks[0].label, situation.policy.unit.name)
    if situation.method not in (None, "race", "race-cap"):
        raise unfit(situation.method, why, "Take 'race-cap', or leave the method to the planner.")
    # Values below 0 take a second program, so none are made by counting from the middle.
    return replace(situation, needs=needs_of(situation.question, situation.target, centred=False))


def _raced(
    situation: Situation,
    scene: Scene,
    rows: int | None,
    sides: Callable[[Total], tuple[Side, ...]],
) -> Choice:
    to_top = situation.method == "race"
    steps = races(situation, scene, rows, to_top=to_top, sides=sides)
    method = "race" if to_top else "race-cap"
    return Choice(method=method, steps=steps, recipes=situation.needs.recipes, owned=scene.owned)
