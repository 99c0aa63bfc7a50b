"""Masking in the studio: samples, methods as cards, a recipe, and the text that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from celosia.core.errors import InputError
from celosia.studio.parameters import MethodCard, controls, starting
from celosia.studio.samples import Sample
from celosia.studio.toml import inline, key_of, quoted

ROLES = ("identifier", "quasi-identifier", "sensitive", "insensitive")
"""What a column may be."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "Groups of similar records": (
        "mdav",
        "microaggregation",
        "v-mdav",
        "mdav-refined",
        "principal-component",
    ),
    "Noise and rounding": ("noise", "rounding", "resampling"),
    "Exchange of values": ("rank-swap", "probabilistic-k", "shuffling", "pram"),
    "Less detail": ("recoding", "top-bottom", "local-suppression", "sampling"),
}
"""The methods of a recipe, those of like idea together."""

FOR_CATEGORIES = frozenset({"pram", "local-suppression", "recoding", "sampling"})
"""Methods that start with the columns of categories; the others with those of numbers."""


SAMPLES: tuple[Sample, ...] = (
    Sample(
        name="incomes",
        title="Incomes",
        about="Invented people with income, tax and savings: three columns of numbers that belong "
        "together.",
        rows=1_000,
        python="import polars as pl\n\nfrom celosia.lab.masking.figures import incomes\n\n"
        "table = incomes().with_columns(pl.all().round(2))",
    ),
    Sample(
        name="census",
        title="Census",
        about="Invented people, distributed as in the 1994 US census: an age and eight columns of "
        "categories.",
        rows=2_000,
        command="celosia datasets get census --rows 2000 -o census.csv",
        python="from celosia import datasets\n\ntable = datasets.census(2000)",
    ),
)


@cache
def cards() -> dict[str, MethodCard]:
    """Every method by its name, with its controls; slow the first time, for kernels are loaded."""
    from celosia.tables.masking.recipe import methods

    return {
        kind: MethodCard(kind, controls(method), private=method.neighbours is not None)
        for kind, method in methods().items()
    }


def new_step(kind: str, columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A step with the method's usual parameters and the columns that it most likely means.

    >>> new_step("mdav", [{"name": "age", "numeric": True, "role": "quasi-identifier"}])
    {'method': 'mdav', 'columns': ['age'], 'parameters': {'k': 5}}
    """
    free = [each for each in columns if each["role"] != "identifier"]
    wanted = [each["name"] for each in free if each["numeric"] != (kind in FOR_CATEGORIES)]
    if kind == "local-suppression":
        wanted = [each["name"] for each in free if each["role"] == "quasi-identifier"]
    if kind == "pram":
        wanted = wanted[:1]
    parameters = starting(cards()[kind].controls)
    if kind == "recoding":
        wanted = [each["name"] for each in free if each["numeric"]][:1]
        parameters = {"breaks": [20, 40, 60]}
    return {"method": kind, "columns": wanted, "parameters": parameters}


def first_recipe(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A recipe to start from: groups of like records of the numbers; else of frequent keys."""
    numbers = [each for each in columns if each["numeric"] and each["role"] != "identifier"]
    kind = "mdav" if numbers else "local-suppression"
    step = new_step(kind, columns)
    return [step] if step["columns"] else []


def recipe_table(
    columns: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What `Recipe.from_table` reads: the role of each column, and the steps."""
    return {
        "columns": {each["name"]: {"role": each["role"]} for each in columns},
        "steps": [
            {"method": step["method"], "columns": list(step["columns"]), **step["parameters"]}
            for step in steps
        ],
    }


def recipe_text(table: Mapping[str, Any]) -> str:
    """The same as a file, for `celosia mask --recipe`.

    >>> print(recipe_text({"columns": {"age": {"role": "sensitive"}}, "steps": []}))
    [columns.age]
    role = "sensitive"
    <BLANKLINE>
    """
    lines: list[str] = []
    for name, about in table["columns"].items():
        lines += [f"[columns.{key_of(name)}]", f"role = {quoted(about['role'])}", ""]
    for step in table["steps"]:
        lines += ["[[steps]]", *(f"{key_of(key)} = {inline(value)}" for key, value in step.items())]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def check(columns: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a recipe that cannot be run, before it is.

    Raises:
        InputError: what `Recipe.from_table` says; CEL-W071 a step without columns; CEL-W072 one
            that names a file.
    """
    from celosia.tables.masking import Recipe

    for number, step in enumerate(steps, 1):
        if not step["columns"] and step["method"] != "sampling":
            raise InputError("CEL-W071", number=number, step=step["method"])
        hierarchy = step["parameters"].get("hierarchy")
        if isinstance(hierarchy, Mapping) and "file" in hierarchy:
            # A visitor must not name a path of the machine that runs the studio.
            raise InputError("CEL-W072", number=number, step=step["method"])
    Recipe.from_table(recipe_table(columns, steps))


def moved(steps: Sequence[Any], place: int, by: int) -> list[Any]:
    """The steps with one of them earlier or later.

    >>> moved(["a", "b", "c"], 2, -1)
    ['a', 'c', 'b']
    """
    found = list(steps)
    target = min(max(place + by, 0), len(found) - 1)
    found.insert(target, found.pop(place))
    return found


def code(name: str, sample: str | None, *, seed: int | None = None) -> list[tuple[str, str]]:
    """The command and the Python text that mask the same table by `recipe.toml`."""
    known = next((each for each in SAMPLES if each.name == sample), None)
    file, before, table = source_of(name, known)
    seeded = "" if seed is None else f" --seed {seed}"
    command = (
        f"{before}celosia mask {shlex.quote(file)} --recipe recipe.toml -o masked.csv "
        f"--report report.html{seeded}"
    )
    drawn = "" if seed is None else f", rng=Seeded({seed})"
    imported = "" if seed is None else "from celosia import Seeded\n"
    python = (
        f"{imported}from celosia.tables import masking\n{table}\n\n"
        'recipe = masking.Recipe.load("recipe.toml")\n'
        f"masked = masking.mask(table, recipe{drawn})\n"
        'masked.save("masked.csv")\nmasked.report("report.html")\nprint(masked)'
    )
    return [("Command line", command), ("Python", python)]


def source_of(name: str, sample: Sample | None) -> tuple[str, str, str]:
    """The file of a table, what comes before in a shell, and how Python gets the table."""
    if sample is None:
        return name, "", f"from celosia import frames\n\ntable = frames.read({name!r})"
    if not sample.command:
        # Handed out by the studio under this name.
        return "data.parquet", "", sample.python
    return f"{sample.name}.csv", f"{sample.command}\n", sample.python
