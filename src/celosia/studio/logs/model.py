"""Logs in the studio: samples, what is done with each field, and the text that does the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from string import punctuation
from typing import TYPE_CHECKING, Any

from celosia.core.methods import Method, Parameter
from celosia.core.notation import notation
from celosia.studio.language import Words, _
from celosia.studio.parameters import MethodCard, controls
from celosia.studio.samples import Sample

if TYPE_CHECKING:
    from celosia.logs.private import Of

SUFFIXES = (".csv", ".tsv", ".txt", ".log", ".jsonl", ".ndjson", ".parquet", ".dat", ".baskets")
"""Kinds of files that hold a log or baskets."""
PEOPLE = {"searches": 1000, "baskets": 2000}
"""Persons of each sample."""
BASKET_ITEMS, BASKET_LENGTH = 200, 6
"""Items of the sample of baskets, and of one basket on average."""
THRESHOLDS = tuple(range(2, 101))
"""Thresholds whose effect is counted when a log is read."""
LISTED = (2, 5, 10, 20, 50)
"""Those that a page always lists."""
MOST_SHOWN = 200
"""Keys that a page lists; the file has all."""
LONGEST = 40
"""Characters of a shape."""

SAMPLES: tuple[Sample, ...] = (
    Sample(
        name="searches",
        title="Searches of two weeks",
        about="1,000 invented persons, with habits, clicks, addresses, and searches for oneself.",
        rows=28_159,
        python="datasets.searches(1000).log()",
    ),
    Sample(
        name="baskets",
        title="Shopping baskets",
        about="2,000 invented baskets that repeat patterns of 200 items, with groups of items.",
        rows=2_000,
        python="datasets.baskets(2000, 200, 6)",
    ),
)

SET_FAMILIES: dict[str, tuple[str, ...]] = {
    "Known items": ("km-anonymity", "local-generalisation", "disassociation"),
    "Sensitive items": ("coherence", "rho-uncertainty"),
}
KEY_FAMILIES: dict[str, tuple[str, ...]] = {
    "With numbers": ("laplace-keys", "gaussian-keys", "itemsets"),
    "Names only": ("optimal-keys", "sips-keys"),
}
FIRST_PLAN: dict[str, Any] = {"people": 1000, "epsilon": 1.0, "delta": 1e-5}
PLAN_RUNS = 3
"""Runs that a plan is the mean of."""
KEYS: tuple[Of, ...] = ("queries", "clicks", "query-clicks", "pairs")


@cache
def set_cards() -> dict[str, MethodCard]:
    """The methods for baskets."""
    from celosia.logs.registry import set_methods

    return {name: MethodCard(name, controls(kind)) for name, kind in set_methods().items()}


def key_methods() -> dict[str, type[Method]]:
    """The mechanisms that name frequent keys, and sets of items, by their names."""
    from celosia.logs import private

    kinds: tuple[type[Method], ...] = (*private.METHODS.values(), private.PrivateItemsets)
    return {kind.method_name: kind for kind in kinds}


@cache
def key_cards() -> dict[str, MethodCard]:
    """The same as cards."""
    return {
        name: MethodCard(
            name,
            tuple(each for each in controls(kind) if each.name != "rounds"),
            private=True,
        )
        for name, kind in key_methods().items()
    }


KEY_NAMES = Words(
    {
        "queries": "queries or items",
        "clicks": "clicked addresses",
        "query-clicks": "queries with clicked addresses",
        "pairs": "pairs of items",
    }
)
"""What is named."""


def sensitive_items(text: str) -> list[str]:
    """The items that were written down, one a line or separated by commas.

    >>> sensitive_items("beer, wine")
    ['beer', 'wine']
    """
    return [item for each in re.split(r"[,\n]", text) if (item := each.strip())]


@cache
def field_controls() -> tuple[Parameter, ...]:
    """What may be chosen of the treatment of fields; files are named on the command line only."""
    from celosia.logs import Fields

    return tuple(
        replace(each, choices=tuple(word for word in each.choices if word != "table"))
        for each in controls(Fields)
        if each.name != "networks"
    )


def shape(value: object) -> str:
    """The form of a cell, without what it says.

    >>> shape("Ana 47, Málaga"), shape("10.0.1.7")
    ('aaa 99, aaaaaa', '99.9.9.9')
    """
    text = "" if value is None else str(value)
    made = "".join(_sign(sign) for sign in text[:LONGEST])
    return made + "…" if len(text) > LONGEST else made


def _sign(sign: str) -> str:
    if sign.isdigit():
        return "9"
    return sign if sign == " " or sign in punctuation else "a"


ROLE_NAMES = Words(
    {
        "person": "person",
        "time": "time",
        "text": "query or item",
        "url": "web address",
        "ip": "IP address",
        "agent": "user agent",
        "session": "session",
        "referrer": "referrer",
        "bytes": "size in bytes",
        "keep": "other column",
        "": "not declared",
    }
)
"""What a column is."""


def treatment(roles: Sequence[str], parameters: Mapping[str, Any]) -> str:
    """What is published of a column, in the language of the page."""
    from celosia.logs import Fields

    if not roles:
        return _("not published")
    if "keep" in roles:
        return _("published as it is")
    role = roles[-1]  # an address that is also the person is treated as an address
    if role == "text":
        return _("published where enough persons have it")
    role = "url" if role == "referrer" else role
    how = getattr(Fields(**parameters), role)
    if how == "drop":
        return _("not published")
    return {
        "person:pseudonym": _("a random number in each period"),
        "session:pseudonym": _("a random number"),
        "session:length": _("how many records it has"),
        "ip:truncate": _("the network, /24 or /48"),
        "ip:truncate-more": _("the network, /16 or /32"),
        "ip:prefix-preserving": _("encrypted; equal beginnings stay equal"),
        "url:domain": _("the domain"),
        "url:path": _("the domain and the first parts of the path"),
        "url:parameters": _("domain, parts of the path and names of parameters"),
        "agent:family": _("family and version, where several persons have it"),
        "agent:device": _("kind of device, where several persons have it"),
        "time:hour": _("the hour"),
        "time:day": _("the day"),
        "bytes:powers-of-two": _("rounded down to a power of two"),
    }[f"{role}:{how}"]


def check(k: int, parameters: Mapping[str, Any]) -> None:
    """Refuse a choice that cannot be run.

    Raises:
        InputError: as `logs.method_from` says.
    """
    from celosia.logs import method_from

    method_from("fields", parameters)
    method_from("user-threshold", {"k": k})


def code(
    sample: str | None,
    file: str,
    k: int,
    parameters: Mapping[str, Any],
    *,
    seed: int | None = None,
) -> list[tuple[str, str]]:
    """The command and the Python text that publish the same log."""
    from celosia.logs import Fields

    known = next((each for each in SAMPLES if each.name == sample), None)
    parts = ["celosia", "log", "publish", file, "--declare", "log.toml"]
    parts += ["--method", notation(Fields(**parameters))] if parameters else []
    parts += ["--min-people", str(k), "-o", "published.csv", "--report", "report.html"]
    parts += [] if seed is None else ["--seed", str(seed)]
    made = f'logs.read("{file}", "log.toml")' if known is None else known.python
    names = ([] if seed is None else ["Seeded"]) + ([] if known is None else ["datasets"])
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    drawn = "" if seed is None else f", rng=Seeded({seed})"
    python = [
        f"from celosia import {', '.join([*names, 'logs'])}",
        "",
        f"log = {made}",
        f"methods = [logs.Fields({given}), logs.UserThreshold(k={k})]",
        f"release = logs.publish(log, methods{drawn})",
        'release.save("published.csv")',
        'release.report("report.html")',
        "print(release)",
    ]
    return [("Command line", " ".join(map(shlex.quote, parts))), ("Python", "\n".join(python))]


_LENIENT = 'logs.LogDeclaration(layout="baskets", damaged="drop")'


def set_code(
    state: Mapping[str, Any], choice: Mapping[str, Any], *, seed: int | None = None
) -> list[tuple[str, str]]:
    """The command and the Python text that publish the same baskets."""
    from celosia.logs import method_from

    method = notation(method_from(choice["method"], choice["parameters"]))
    goal = "published.json" if choice["method"] == "disassociation" else "published.txt"
    secrets = sensitive_items(state["sensitive"])
    parts = ["celosia", "log", "publish", state["file"], "--sets", "--method", method]
    parts += ["--damaged", "drop"] if state.get("lenient") else []
    parts += ["--hierarchy", "items.csv"] if state["has_hierarchy"] else []
    parts += ["--sensitive", "sensitive.txt"] if secrets else []
    parts += ["-o", goal, "--report", "report.html"]
    parts += [] if seed is None else ["--seed", str(seed)]
    given = ['hierarchy="items.csv"'] if state["has_hierarchy"] else []
    given += [f"declare={_LENIENT}"] if state.get("lenient") else []
    given += [f"sensitive={secrets!r}"] if secrets else []
    given += [] if seed is None else [f"rng=Seeded({seed})"]
    python = [
        f"from celosia import {'logs' if seed is None else 'Seeded, logs'}",
        "",
        f"method = logs.method_from({choice['method']!r}, {dict(choice['parameters'])!r})",
        f"release = logs.publish_sets({', '.join([repr(state['file']), 'method', *given])})",
        f'release.save("{goal}")',
        'release.report("report.html")',
        "print(release)",
    ]
    return [("Command line", " ".join(map(shlex.quote, parts))), ("Python", "\n".join(python))]


def key_code(
    state: Mapping[str, Any], choice: Mapping[str, Any], of: str, *, seed: int | None = None
) -> list[tuple[str, str]]:
    """The command and the Python text that name the same keys."""
    is_sets, itemsets = state["kind"] == "sets", choice["method"] == "itemsets"
    given = dict(choice["parameters"])
    parts = ["celosia", "log", "release", "itemsets" if itemsets else "keys", state["file"]]
    parts += ["--sets"] if is_sets else ["--declare", "log.toml"]
    parts += ["--damaged", "drop"] if is_sets and state.get("lenient") else []
    for name, value in given.items():
        parts += [f"--{name.replace('_', '-')}", str(value)]
    if not itemsets:
        given |= {"of": of, "method": choice["method"].removesuffix("-keys")}
        parts += ["--of", of, "--method", given["method"]]
    parts += ["-o", "keys.csv"] + ([] if seed is None else ["--seed", str(seed)])
    read = (
        f'logs.read_sets("{state["file"]}"{f", {_LENIENT}" if state.get("lenient") else ""})'
        if is_sets
        else (f'logs.read("{state["file"]}", "log.toml")')
    )
    shown = [f"{name}={value!r}" for name, value in given.items()]
    shown += [] if seed is None else [f"rng=Seeded({seed})"]
    called = "itemsets" if itemsets else "keys"
    python = [
        f"from celosia import {'logs' if seed is None else 'Seeded, logs'}",
        "",
        f"data = {read}",
        f"answer = logs.private.{called}(data, {', '.join(shown)})",
        'answer.save("keys.csv")',
        "print(answer)",
    ]
    return [("Command line", " ".join(map(shlex.quote, parts))), ("Python", "\n".join(python))]
