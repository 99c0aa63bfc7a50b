"""Synthetic tables in the studio: methods, what private ones must be told, and the text."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from celosia.core.errors import InputError
from celosia.studio.mask.model import SAMPLES, cards, source_of
from celosia.studio.parameters import starting
from celosia.studio.toml import inline

PLAIN = ("copula", "trees", "bayesian-network", "distribution")
"""Methods that promise nothing: what they give away is measured."""
PRIVATE = (
    "adaptive-marginals",
    "marginals",
    "noisy-histogram",
    "contingency",
    "private-microaggregation",
    "safe-pub",
)
"""Methods with a privacy loss, which must be told of the columns what is public."""
MOST_CELLS = 3
"""Columns of a contingency table to begin with: its cells multiply."""


def first_choice(kind: str, columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A method with its usual parameters and the columns that it can work on."""
    free = [each for each in columns if each["role"] != "identifier"]
    if kind in ("private-microaggregation", "distribution"):
        free = [each for each in free if each["numeric"]]
    if kind == "contingency":
        free = sorted(free, key=lambda each: int(each["distinct"]))[:MOST_CELLS]
    names = [each["name"] for each in columns if each in free]
    parameters = starting(cards()[kind].controls)
    if kind == "contingency":
        parameters["output"] = "rows"
    return {"method": kind, "columns": names, "parameters": parameters}


def method_parameters(
    choice: Mapping[str, Any], declared: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The parameters of the method with what is declared of its columns.

    >>> choice = {"method": "marginals", "columns": ["age"], "parameters": {"epsilon": 1}}
    >>> method_parameters(choice, {"age": {"bounds": [0, 100]}})
    {'epsilon': 1, 'bounds': {'age': [0, 100]}}
    """
    found = dict(choice["parameters"])
    if choice["method"] not in PRIVATE:
        return found
    domains: dict[str, Any] = {}
    bounds: dict[str, Any] = {}
    for name in declared_columns(choice):
        declaration = declared.get(name, {})
        if declaration.get("bounds"):
            bounds[name] = list(declaration["bounds"])
        elif declaration.get("values") and choice["method"] != "private-microaggregation":
            domains[name] = list(declaration["values"])
        else:
            raise InputError("CEL-W073", column=name)
    if domains:
        found["domains"] = domains
    if bounds:
        found["bounds"] = bounds
    return found


def declared_columns(choice: Mapping[str, Any]) -> list[str]:
    """The columns that must be declared: not the weight, nor those whose domains are to be found.

    >>> declared_columns({"columns": ["age", "w"], "parameters": {"weight": "w", "discover": None}})
    ['age']
    """
    parameters = choice["parameters"]
    known = {parameters.get("weight"), *(parameters.get("discover") or {})}
    return [name for name in choice["columns"] if name not in known]


def left_out(columns: Sequence[Mapping[str, Any]], choice: Mapping[str, Any]) -> list[str]:
    """The columns that are not made."""
    return [each["name"] for each in columns if each["name"] not in choice["columns"]]


def code(
    name: str,
    sample: str | None,
    columns: Sequence[Mapping[str, Any]],
    choice: Mapping[str, Any],
    declared: Mapping[str, Mapping[str, Any]],
    *,
    holdout: bool = False,
    seed: int | None = None,
) -> list[tuple[str, str]]:
    """The command and the Python text that make the same synthetic table."""
    known = next((each for each in SAMPLES if each.name == sample), None)
    file, before, table = source_of(name, known)
    parameters = method_parameters(choice, declared)
    gone = left_out(columns, choice)
    sensitive = [
        each["name"]
        for each in columns
        if each["role"] == "sensitive" and each["name"] in choice["columns"]
    ]
    if holdout:
        # The two parts that the studio made, under these names.
        file, before = "members.parquet", ""
        table = 'from celosia import frames\n\ntable = frames.read("members.parquet")'
    method = ",".join(f"{key}={inline(value)}" for key, value in parameters.items())
    method = f"{choice['method']}:{method}" if method else choice["method"]
    parts = ["celosia", "synthesise", file, "--method", method]
    for each in gone:
        parts += ["--identifier", each]
    for each in sensitive:
        parts += ["--sensitive", each]
    parts += ["--holdout", "outsiders.parquet"] if holdout else []
    parts += ["-o", "synthetic.csv", "--report", "report.html"]
    parts += [] if seed is None else ["--seed", str(seed)]
    return [
        ("Command line", before + " ".join(map(shlex.quote, parts))),
        (
            "Python",
            _python(table, choice, parameters, gone, sensitive, holdout=holdout, seed=seed),
        ),
    ]


def _python(
    table: str,
    choice: Mapping[str, Any],
    parameters: Mapping[str, Any],
    gone: Sequence[str],
    sensitive: Sequence[str],
    *,
    holdout: bool,
    seed: int | None,
) -> str:
    more = ', holdout=frames.read("outsiders.parquet")' if holdout else ""
    more += "" if seed is None else f", rng=Seeded({seed})"
    return "\n".join(
        [
            *([] if seed is None else ["from celosia import Seeded"]),
            "from celosia.tables import Schema, masking",
            table,
            "",
            f"method = masking.method_from({choice['method']!r}, {dict(parameters)!r})",
            "schema = Schema.of(",
            f"    quasi_identifiers=(), identifiers={list(gone)!r}, sensitive={list(sensitive)!r},",
            '    other_columns="insensitive",',
            ")",
            f"recipe = masking.Recipe.of(schema, [(method, {list(choice['columns'])!r})])",
            f"made = masking.mask(table, recipe{more})",
            'made.save("synthetic.csv")',
            'made.report("report.html")',
            "print(made)",
        ]
    )
