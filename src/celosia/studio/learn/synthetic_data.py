"""Synthetic data: rows drawn from a model of a census, and real people who come back in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number, percent
from celosia.studio.learn import parts
from celosia.studio.learn.parts import control, key, narrowed, settings, step, story, table

if TYPE_CHECKING:
    import polars as pl

PEOPLE = 400
COLUMNS = ("sex", "age", "marital-status", "education")
LEAVES = (1, 5, 20, 50)
"""Real records behind each draw: the least a leaf of the trees may hold."""
DECADES = tuple(range(10, 100, 10))
SHOWN = 6
SEED = 1


def compute(progress: Progress) -> parts.Facts:
    """A synthetic census for each size of leaves, and who is repeated in it."""
    from celosia.core.randomness import Seeded
    from celosia.datasets import census
    from celosia.tables.synthesis import Trees

    people = census(PEOPLE).select(COLUMNS)
    found: parts.Facts = {
        "real": people.head(SHOWN).rows(),
        "decades": _decades(people),
        "settings": {},
    }
    for name, (leaf,) in settings(progress, "Drawing artificial people", LEAVES):
        made = Trees(leaf=leaf).apply(people, list(COLUMNS), rng=Seeded(SEED)).frame
        found["settings"][name] = _measured(people, made)
    return found


def _measured(people: pl.DataFrame, made: pl.DataFrame) -> parts.Facts:
    import polars as pl

    from celosia.assess.linkage import replicated_uniques

    again = replicated_uniques(people, made)
    known = list(COLUMNS[:-1])
    # Alone with what the attacker knows, and told one thing only by the artificial table.
    alone = people.filter(people.select(known).is_unique())
    repeated = made.join(alone, on=list(COLUMNS), how="semi")
    text = made.unique().group_by(known).len().filter(pl.col("len") == 1)
    clear = repeated.join(text, on=known, how="semi", maintain_order="left")
    return {
        "rows": made.head(SHOWN).rows(),
        "decades": _decades(made),
        "uniques": again.uniques,
        "repeated": again.repeated,
        "one": list(clear.row(0)) if clear.height else None,
    }


def _decades(frame: pl.DataFrame) -> list[int]:
    ages = frame["age"].to_list()
    return [sum(low <= age < low + 10 for age in ages) for low in DECADES]


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """Some real rows and some made ones."""
    return (
        table(COLUMNS, facts["real"], caption=_("The first people of a census of 400.")),
        table(
            COLUMNS,
            facts["settings"][key((1,))]["rows"],
            caption=_("The first of 400 artificial people, drawn from trees fitted to the census."),
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """A real person in an artificial table."""
    weak: dict[str, Any] = facts["settings"][key((0,))]
    one = weak["one"]
    others = [row for row in weak["rows"] if list(row) != one]
    rows = [*others[: SHOWN - 1], one]
    return (
        story(
            "A real person among artificial ones",
            step(
                "What is published",
                "An artificial census. The model behind it was allowed to learn single "
                "people by heart: a leaf may hold one record.",
                table(COLUMNS, rows, caption=_("Some rows of the artificial table.")),
            ),
            step(
                "What the attacker knows",
                "A neighbour: sex, age and marital status, which nobody else shares.",
                narrowed(COLUMNS, rows, [len(rows) - 1]),
            ),
            step(
                "What she learns",
                n_(
                    "{count} real person who was alone with these values is in the artificial "
                    "table, as is.",
                    "{count} real people who were alone with these values are in the "
                    "artificial table, as they are.",
                    weak["repeated"],
                ),
                narrowed(COLUMNS, rows, [len(rows) - 1]),
                learnt=_("The row of the neighbour is there, with the education as well."),
            ),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """How many real records a leaf must hold."""
    return (control("leaf", "Real records behind each draw, at least", LEAVES, first=1),)


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """The ages of real and artificial people, and who is repeated."""
    found = facts["settings"][key(chosen)]
    share = found["repeated"] / found["uniques"] if found["uniques"] else 0.0
    return parts.View(
        text=_(
            "Larger leaves repeat fewer people, but still some: without noise there is no promise. "
            "A simulation with a fixed seed."
        ),
        figures=(
            figure(
                "Repeated",
                _(
                    "{count} of {total}",
                    count=number(found["repeated"]),
                    total=number(found["uniques"]),
                ),
                "people alone in the real table who are in the artificial one, {share}; some "
                "by chance",
                share=percent(share, 0),
            ),
        ),
        parts=(
            parts.Bars(
                categories=tuple(f"{low}-{low + 9}" for low in DECADES),
                series=(
                    (_("real people"), tuple(map(float, facts["decades"]))),
                    (_("artificial people"), tuple(map(float, found["decades"]))),
                ),
                description=_(
                    "Ages of 400 real and 400 artificial people by decade: the two rows of bars "
                    "are nearly alike."
                ),
                x=_("age (years)"),
                y=_("people"),
            ),
            table(COLUMNS, found["rows"], caption=_("The first artificial people.")),
        ),
    )
