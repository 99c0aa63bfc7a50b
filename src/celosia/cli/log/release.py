"""`celosia log release` and `plan`: frequent queries with differential privacy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from celosia.cli import console, options
from celosia.cli.frame import AnswerOutputs, JsonOutputs
from celosia.cli.log.input_options import LogInput
from celosia.cli.payment import Payment
from celosia.core.messages import say, say_of

if TYPE_CHECKING:
    from celosia.logs.private import PlanRow


Of = Literal["queries", "clicks", "query-clicks", "pairs"]
"""What is named."""


KeyMethod = Literal["auto", "laplace", "optimal", "gaussian", "sips"]
"""The mechanism."""


Statistic = Literal["keys", "itemsets"]
"""What is released."""


MOST_SETS = 50
"""Sets of items that are released where no number is given."""

Delta = Annotated[float, "Chance that the promise fails; far below one in the persons."]


def release(
    statistic: Annotated[Statistic, "argument", "What to release: keys or itemsets."],
    log: Annotated[Path, "argument", "The log, as for celosia log publish."],
    given: LogInput,
    outputs: AnswerOutputs,
    payment: Payment,
    epsilon: options.Epsilon,
    delta: Delta,
    per_person: Annotated[
        int, "Distinct keys of a person that count; do not choose it from the data."
    ] = 1,
    of: Annotated[
        Of, "What is named: queries, clicks, both together, or pairs of items."
    ] = "queries",
    method: Annotated[
        KeyMethod,
        "laplace (with counts), optimal (names only), gaussian (many keys), sips (many "
        "keys in rounds, names only).",
    ] = "auto",
    top: Annotated[int | None, "Release so many keys at most, the most frequent ones."] = None,
    items: Annotated[int, "Of itemsets: how many items sets are made of, at most."] = 12,
    sets: Annotated[bool, "--sets", "The file has baskets; each is one person's."] = False,
    confidence: Annotated[float, "Probability that an interval holds the exact count."] = 0.95,
    seed: options.Seed = None,
) -> None:
    """Release the frequent queries, clicks, pairs or sets of items with differential privacy.

    The privacy unit is the person with all records. Which keys exist is private: a key is named
    only if its noisy number of persons is large.

    **Examples**

    `celosia log release keys searches.csv --declare log.toml --epsilon 1 --delta 1e-6`

    `celosia log release keys searches.csv --declare log.toml -e 1 --delta 1e-6 --per-person 20`

    `celosia log release keys searches.csv --declare log.toml -e 1 --delta 1e-6 --of pairs --top 50`

    `celosia log release keys searches.csv --declare log.toml -e 1 --delta 1e-6 --ledger log.ledger`

    `celosia log release itemsets baskets.txt --sets -e 1 --delta 1e-6 --per-person 10`
    """
    from celosia.cli.release import display
    from celosia.core.randomness import source
    from celosia.logs import Transactions, private

    outputs.check(inputs=(log, given.declare))
    with outputs.working(), payment.budget(epsilon) as budget:
        private.mechanism_for(epsilon, delta, per_person, method)  # before any work
        read = given.read_sets(log) if sets else given.read(log)
        if statistic == "itemsets":
            answer = private.itemsets(
                read,
                epsilon=epsilon,
                delta=delta,
                per_person=per_person,
                items=items,
                top=top or MOST_SETS,
                budget=budget,
                rng=source(seed),
            )
        else:
            answer = private.keys(
                read,
                epsilon=epsilon,
                delta=delta,
                per_person=per_person,
                of=of,
                method=method,
                top=top,
                confidence=confidence,
                budget=budget,
                rng=source(seed),
            )
        outputs.save(answer)
    _note_delta(read.count if isinstance(read, Transactions) else read.persons, delta)
    outputs.finish(answer, lambda: display.show_answer(answer))


def _note_delta(persons: int, delta: float) -> None:
    """For the curator alone: the number of persons is private, and in no release."""
    if delta * persons >= 1:
        console.note(say("logs.private.small_delta"))


def plan(
    outputs: JsonOutputs,
    people: Annotated[int, "Persons of the simulated log."],
    epsilon: options.Epsilon,
    delta: Delta,
    per_person: Annotated[
        list[int] | None, "Keys of a person that count; repeat it to compare. Default: 1 to 50."
    ] = None,
    runs: Annotated[int, "Runs that are averaged."] = 5,
    seed: Annotated[int, "Seed of the simulation."] = 1,
) -> None:
    """Show how many keys each mechanism would name, on a simulated log of a declared size.

    **Examples**

    `celosia log plan --people 5000 --epsilon 1 --delta 1e-5`

    `celosia log plan --people 20000 -e 0.5 --delta 1e-6 --per-person 5 --per-person 20 --json`
    """
    from dataclasses import asdict

    from celosia import datasets
    from celosia.logs import private

    with outputs.working(None) as progress:
        rows = private.plan(
            datasets.searches(people).log(),
            epsilon=epsilon,
            delta=delta,
            per_person=per_person or private.PER_PERSON,
            runs=runs,
            seed=seed,
            progress=progress,
        )
    best = max(rows, key=lambda row: row.keys)
    outputs.show(
        lambda: [asdict(row) for row in rows],
        lambda: _show_plan(rows),
        say_of("cli.log.plan_best", best),
    )


def _show_plan(rows: list[PlanRow]) -> None:
    console.show_table(
        say("cli.log.plan"),
        console.columns(
            "per_person:,", "method", "keys_named:,.1f", "share_of_records:.1%", "least_persons:,"
        ),
        [[row.per_person, row.method, row.keys, row.records, row.least_persons] for row in rows],
    )
