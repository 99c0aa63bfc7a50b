"""Traces in the studio: samples, methods as cards, and the text that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from typing import Any

from celosia.core.notation import notation
from celosia.studio.parameters import MethodCard, controls
from celosia.studio.samples import Sample

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".gpx", ".geojson")
"""Kinds of files that hold points."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "Traces alike": ("glove", "trace-microaggregation"),
    "Cells and windows": ("generalisation",),
    "Noise on places": ("planar-laplace",),
    "True places, mixed": ("swap-locations",),
}
"""The methods, those of like idea together."""

CELLS, HOURS = (200, 500, 1000, 2000, 5000), (1, 6, 24)
"""What an attacker may know of a point: metres and hours."""
PEOPLE = {"town": (200, 7), "city": (1000, 14)}
"""Persons and days of each sample."""

SAMPLES: tuple[Sample, ...] = (
    Sample(
        name="town",
        title="A town for a week",
        about="200 invented persons with a home, work and favourite places; nine points a day.",
        rows=13_330,
        python="datasets.city(200, 7).traces",
    ),
    Sample(
        name="city",
        title="A city for two weeks",
        about="1,000 invented persons: enough for crowds in most cells.",
        rows=134_874,
        python="datasets.city(1000, 14).traces",
    ),
)


FIRST_PRIVATE: dict[str, Any] = {
    "statistic": "grid",
    "epsilon": 1.0,
    "per_person": 1,
    "size": 8,
    "budget": 3.0,
    "region": None,
}
"""The choices of a private release before anything is chosen."""


@cache
def cards() -> dict[str, MethodCard]:
    """Every method by its name, with its controls."""
    from celosia.traces import methods

    return {kind: MethodCard(kind, controls(method)) for kind, method in methods().items()}


def check(choice: Mapping[str, Any]) -> None:
    """Refuse a method that cannot be run.

    Raises:
        InputError: as `traces.method_from` says.
    """
    from celosia.traces import method_from

    method_from(choice["method"], choice["parameters"])


def code(
    sample: str | None, choice: Mapping[str, Any], *, seed: int | None = None
) -> list[tuple[str, str]]:
    """The command and the Python text that publish the same traces."""
    from celosia.traces import method_from

    known = next((each for each in SAMPLES if each.name == sample), None)
    method = notation(method_from(choice["method"], choice["parameters"]))
    parts = ["celosia", "trace", "publish", "points.csv", "--declare", "trace.toml"]
    parts += ["--method", method, "-o", "published.csv", "--report", "report.html"]
    parts += ["--key", "key.csv"]
    parts += [] if seed is None else ["--seed", str(seed)]
    made = 'traces.read("points.csv", "trace.toml")' if known is None else known.python
    names = ([] if seed is None else ["Seeded"]) + ([] if known is None else ["datasets"])
    drawn = "" if seed is None else f", rng=Seeded({seed})"
    python = [
        f"from celosia import {', '.join([*names, 'traces'])}",
        "",
        f"points = {made}",
        f"method = traces.method_from({choice['method']!r}, {dict(choice['parameters'])!r})",
        f"release = traces.publish(points, method{drawn})",
        'release.save("published.csv")',
        'release.report("report.html")',
        "print(release)",
    ]
    return [("Command line", " ".join(map(shlex.quote, parts))), ("Python", "\n".join(python))]


def private_code(
    sample: str | None, wanted: Mapping[str, Any], *, seed: int | None = None
) -> list[tuple[str, str]]:
    """The commands and the Python text that release the same privately, from the same budget."""
    known = next((each for each in SAMPLES if each.name == sample), None)
    statistic, size, budget = wanted["statistic"], int(wanted["size"]), wanted["budget"]
    sized = "size" if statistic in ("grid", "synthetic") else "grid"
    shared = f"epsilon={wanted['epsilon']}, per_person={int(wanted['per_person'])}, {sized}={size}"
    drawn = "" if seed is None else f", rng=Seeded({seed})"
    command = [
        f"celosia ledger declare points.ledger --epsilon {budget}",
        f"celosia trace release {statistic} points.csv --declare trace.toml "
        f"--epsilon {wanted['epsilon']} --per-person {int(wanted['per_person'])} --{sized} {size} "
        f"--ledger points.ledger -o private.csv" + ("" if seed is None else f" --seed {seed}"),
    ]
    asked = (
        f"private.synthetic(points, private.SyntheticTraces({shared}), budget=budget{drawn})"
        if statistic == "synthetic"
        else f"private.{statistic}(points, {shared}, budget=budget{drawn})"
    )
    names = ([] if seed is None else ["Seeded"]) + ([] if known is None else ["datasets"])
    made = 'traces.read("points.csv", "trace.toml")' if known is None else known.python
    python = [
        f"from celosia import {', '.join([*names, 'traces'])}",
        "from celosia.accounting.ledger import LedgerBudget",
        "from celosia.traces import private",
        "",
        f"points = {made}",
        f'budget = LedgerBudget.begin("points.ledger", dataset="points", epsilon={budget})',
        f"release = {asked}",
        'release.save("private.csv")',
        "print(release)",
    ]
    return [("Command line", "\n".join(command)), ("Python", "\n".join(python))]
