"""Refusals of the planner: decided from the policy and the question, before any data is touched."""

from __future__ import annotations

from celosia.core.errors import InputError, QueryRefused
from celosia.core.wording import did_you_mean, plural

METHODS = ("capped", "chosen-cap", "r2t", "r2t-cap", "global", "elastic")


def check_method(method: object) -> str | None:
    """The name of a method, or None for the planner's choice.

    Raises:
        InputError: CEL-Q142 there is no such method.
    """
    if method is None or method in METHODS:
        return None if method is None else str(method)
    raise InputError(
        "CEL-Q142",
        f"there is no method {method!r}{did_you_mean(method, METHODS)}.",
        why="A method is a way to bound what one unit adds to an answer.",
        fix=f"Leave it out, or take one of {', '.join(METHODS)}.",
    )


def unsuitable_method(
    method: str, why: str, fix: str = "Leave the method to the planner."
) -> QueryRefused:
    """A method that cannot answer this question."""
    return QueryRefused(
        "CEL-Q143", f"the method {method!r} cannot answer this question.", why=why, fix=fix
    )


def no_bounds(label: str) -> QueryRefused:
    """A sum of values that have no declared bounds."""
    return QueryRefused(
        "CEL-Q144",
        f"{label} has no bounds that follow from the policy.",
        why="Values are clipped to declared bounds, so that one row cannot move a sum without end.",
        fix="Clip it yourself: GREATEST(LEAST(x, 100), 0). Or let the owner declare `lower` and "
        "`upper` of each column in it; products, sums, differences and CASE of such columns are "
        "bounded by them.",
    )


def uncapped_facts(table: str, column: str) -> QueryRefused:
    """A join of facts of a graph of which any number may share a term."""
    return QueryRefused(
        "CEL-Q060",
        f"nothing is declared of how many facts of {table} share {_a(column)}.",
        why="One fact may meet all of them in the pattern, and the noise must cover that.",
        fix=f"Let the owner declare most_per_{column} of {table}, allow measured frequencies with "
        "elastic = true, or protect entities instead of single facts: what each of them adds is "
        "bounded without declarations.",
        table=table,
        column=column,
    )


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def unbounded_rows(label: str) -> QueryRefused:
    """A rank over rows of which one row of a table may bring any number."""
    return QueryRefused(
        "CEL-Q145",
        f"{label} is answered only where the rows of the result that one row brings are bounded.",
        why="A row that a join repeats without end could put the answer anywhere.",
        fix="Let the owner declare `most` or `unique` of the columns that are joined; or take a "
        "person as unit, whose rows are bounded without declarations.",
    )


def no_keys(name: str) -> QueryRefused:
    """Groups whose keys are private, without a delta."""
    return QueryRefused(
        "CEL-Q146",
        f"the groups of {name!r} have no declared public keys, and delta is 0.",
        why="A group that exists because of one person would reveal that person. Without "
        "declared keys only groups of many people can be shown, which fails with a chance of "
        "delta.",
        fix="Ask with a delta, such as 1e-8, or let the owner declare `keys` of the column.",
    )


def fractions_as_keys(name: str) -> QueryRefused:
    """Groups by numbers that need not be whole."""
    return QueryRefused(
        "CEL-Q154",
        f"the groups of {name!r} are numbers that need not be whole.",
        why="The same fraction can be written in several ways, so groups could not be separated "
        "safely.",
        fix=f"Group by whole numbers: CAST(FLOOR({name}) AS INTEGER).",
    )


def too_many_groups(number: int, most: int) -> QueryRefused:
    """More groups than one answer may have."""
    return QueryRefused(
        "CEL-Q147",
        f"the answer would have {number} groups, more than {most}.",
        why="Every combination of declared keys is shown, with noise.",
        fix="Group by fewer columns, or ask for a part of the groups after the other.",
    )


def delta_needed(what: str) -> QueryRefused:
    """A mechanism that keeps its promise only but for a chance."""
    return QueryRefused(
        "CEL-Q148",
        f"{what} needs a delta above 0.",
        why="Its noise hides its own scale only but for a chance of delta.",
        fix="Ask with a delta such as 1e-8, or let the owner declare caps (`most`) of join keys.",
    )


def several_owners(what: str, unit: str) -> QueryRefused:
    """What the linear program does not answer."""
    return QueryRefused(
        "CEL-Q149",
        f"{what} is not answered where a row can belong to several {plural(unit)}.",
        why="Counts and sums can be shared out among owners; a rank has nothing to share out.",
        fix="Ask for a count, a sum or a mean, or without the join of rows of different owners.",
    )


UNBOUNDED_FIX = (
    "Then the same epsilon gives an error of about that many rows divided by epsilon. Or let the "
    "owner take a person as unit: what each adds is bounded without declarations."
)
"""What a declaration would buy, after the refusal of a join of rows that nothing bounds."""
