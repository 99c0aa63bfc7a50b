"""Related tables in the studio: what is guessed, what is declared, and the text of it.

The form has an entry for each table: which one it hangs on, by which keys, how many of its rows
count, and what is done with each other column. `declaration` is the same as its file.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from celosia.core.errors import CelosiaError, InputError
from celosia.core.methods import Parameter
from celosia.studio.mask.model import cards
from celosia.studio.parameters import starting
from celosia.studio.samples import Sample
from celosia.studio.toml import inline, key_of

SAMPLES = (
    Sample(
        name="clinic",
        title="A clinic",
        about="Invented persons and their visits: how often, where and for how long follows their "
        "age.",
        rows=5_000,
        command="celosia datasets get clinic -o clinic",
    ),
)
METHOD = "adaptive-marginals"
DECLARED_BY_TABLE = ("domains", "bounds", "bins", "discover", "workload")
"""Parameters of the method that the form asks for table by table."""
LEFT_OUT, VALUES, BOUNDS, FIND = "left out", "values", "bounds", "find"
"""What is done with a column: it is not made; its values or its bounds are public; they are found
with noise."""
USUAL_ROWS = 5
"""Rows of one parent that count, until something else is declared."""
USUAL_BINS = 16
MOST_GIVEN = 2
"""Columns of the parent that a guess gives to a table: their combinations multiply."""
MOST_FOUND = 200
"""A column of text with more values is guessed to be a name or a remark, which no model repeats."""
FEW_FOUND = 20
"""As many values are no names, however short the table is."""
_ENDINGS = ("", "_id", "id", "_key", "_no", "_number")


def controls() -> tuple[Parameter, ...]:
    """What is asked for beside the tables: the budget and the size of the model."""
    return tuple(each for each in cards()[METHOD].controls if each.name not in DECLARED_BY_TABLE)


def first_parameters() -> dict[str, Any]:
    """Parameters to begin with: enough of the budget to find the values of several columns."""
    return starting(controls()) | {"delta": 1e-6, "discovery_share": 0.3}


def least_found(
    form: Mapping[str, Mapping[str, Any]],
    tables: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
) -> dict[str, int]:
    """How many persons must have a text, so that it is likely found, by table; no cell is seen.

    Tables without such columns are left out; nothing is told of choices that cannot be run.
    """
    from celosia.mechanisms import KeyHistogram
    from celosia.tables.private import AdaptiveMarginals
    from celosia.tables.private.related import RelatedTables
    from celosia.tables.private.related.run import discovery_plan

    try:
        declared = RelatedTables.from_table(declaration(form, tables))
        plan = discovery_plan(declared, AdaptiveMarginals(**parameters))
        columns = [name for name, each in declared.tables.items() for _ in each.discover or {}]
        return {
            name: ceil(mechanism.threshold)
            for name, mechanism in zip(columns, plan.mechanisms, strict=True)
            if isinstance(mechanism, KeyHistogram)
        }
    except CelosiaError:
        return {}


def guess(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A form to begin with: keys by their names, the columns by what they hold.

    A table hangs on another one where one of its columns is called like the key of the other, or
    like the other table. Names, remarks and other columns with many values are left out; the
    values of the rest are to be found with noise.

    >>> persons = {"name": "persons", "rows": 2, "columns": [
    ...     {"name": "id", "kind": "integer", "distinct": 2, "empty": 0},
    ...     {"name": "sex", "kind": "text", "distinct": 2, "empty": 0}]}
    >>> visits = {"name": "visits", "rows": 3, "columns": [
    ...     {"name": "person_id", "kind": "integer", "distinct": 2, "empty": 0},
    ...     {"name": "days", "kind": "integer", "distinct": 2, "empty": 0}]}
    >>> form = guess([visits, persons])
    >>> form["visits"]["parent"], form["visits"]["foreign_key"], form["persons"]["key"]
    ('persons', 'person_id', 'id')
    """
    links = {each["name"]: link for each in tables if (link := _link(each, tables)) is not None}
    for name in list(links):  # a guess without a beginning is none
        if name in set(_above(name, {child: link[0] for child, link in links.items()})):
            del links[name]
    form: dict[str, Any] = {}
    for table in tables:
        parent, _key, foreign_key = links.get(table["name"], (None, None, None))
        keys = {link[1] for link in links.values() if link[0] == table["name"]}
        own = next(iter(sorted(keys)), None) or _own_key(table, foreign_key)
        form[table["name"]] = _entry(table, parent, own, foreign_key)
    for entry in form.values():
        if entry["parent"]:
            above = made_columns(form[entry["parent"]])
            entry["given"] = [name for name in above if name][:MOST_GIVEN]
    return form


def _entry(
    table: Mapping[str, Any], parent: str | None, key: str | None, foreign_key: str | None
) -> dict[str, Any]:
    columns = {
        each["name"]: {"treatment": _treatment(each, int(table["rows"]))}
        for each in table["columns"]
    }
    return {
        "parent": parent,
        "key": key,
        "foreign_key": foreign_key,
        "most_rows": USUAL_ROWS,
        "keep": "random",
        "given": [],
        "bins": USUAL_BINS,
        "columns": columns,
    }


def _treatment(column: Mapping[str, Any], rows: int) -> str:
    most = min(MOST_FOUND, max(FEW_FOUND, rows / 2))
    many = column["kind"] == "text" and column["distinct"] > most
    return LEFT_OUT if many or column.get("role") == "identifier" else FIND


def _link(
    table: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]
) -> tuple[str, str, str] | None:
    """The table that one hangs on, the key there and the foreign key here."""
    names = {each["name"] for each in table["columns"]}
    for other in tables:
        if other["name"] == table["name"]:
            continue
        stem = str(other["name"]).removesuffix("s").removesuffix("e")
        like = {f"{one}{ending}" for one in (str(other["name"]), stem) for ending in _ENDINGS}
        for key in filter(lambda each: _is_key(each, other), other["columns"]):
            if key["name"] in names and not _is_key(_column(table, key["name"]), table):
                return other["name"], key["name"], key["name"]
            if found := sorted(names & (like - {"id"})):
                return other["name"], key["name"], found[0]
    return None


def _own_key(table: Mapping[str, Any], foreign_key: str | None) -> str | None:
    """A key that no table refers to: a column of one value a row that is called like one."""
    stem = str(table["name"]).removesuffix("s")
    known = {f"{one}{end}" for one in (str(table["name"]), stem) for end in _ENDINGS} | {"id"}
    return next(
        (
            each["name"]
            for each in table["columns"]
            if each["name"] != foreign_key
            and each["name"].lower() in known
            and _is_key(each, table)
        ),
        None,
    )


def _is_key(column: Mapping[str, Any], table: Mapping[str, Any]) -> bool:
    return bool(
        column["kind"] != "decimal"
        and column["empty"] == 0
        and column["distinct"] == table["rows"] > 0
    )


def _column(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(each for each in table["columns"] if each["name"] == name)
    return found


def _above(name: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    """The tables above one; it comes again where they go round."""
    seen = set[str]()
    above = parents.get(name)
    while above is not None and above not in seen:
        seen.add(above)
        yield above
        above = parents.get(above)


def keys_of(entry: Mapping[str, Any]) -> list[str]:
    """The columns of a table that hold keys."""
    foreign = entry["foreign_key"] if entry["parent"] else None
    return [each for each in (entry["key"], foreign) if each]


def made_columns(entry: Mapping[str, Any]) -> list[str]:
    """The columns of a table that are made, apart from keys."""
    return [
        name
        for name, each in entry["columns"].items()
        if each["treatment"] != LEFT_OUT and name not in keys_of(entry)
    ]


def ordered(form: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The tables with parents before their children, else as they came."""
    parents = {name: entry["parent"] for name, entry in form.items()}
    return sorted(form, key=lambda name: sum(1 for _ in _above(name, parents)))


def declaration(
    form: Mapping[str, Mapping[str, Any]], tables: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What `RelatedTables.from_table` reads.

    Raises:
        InputError: CEL-W073 a column whose values or bounds were not declared.
    """
    kinds = {
        (table["name"], each["name"]): each["kind"] for table in tables for each in table["columns"]
    }
    files = {table["name"]: table["file"] for table in tables}
    found: dict[str, Any] = {}
    for name in ordered(form):
        entry = form[name]
        table: dict[str, Any] = {"file": files[name]} if files[name] != f"{name}.csv" else {}
        table |= {"key": entry["key"]} if entry["key"] else {}
        if entry["parent"]:
            table |= {each: entry[each] for each in ("parent", "foreign_key", "most_rows")}
            table |= {"keep": entry["keep"]} if entry["keep"] != "random" else {}
            above = made_columns(form[entry["parent"]]) if entry["parent"] in form else []
            given = [each for each in entry["given"] if each in above]
            table |= {"given": given} if given else {}
        table |= _domains(name, entry, kinds)
        found[name] = table
    return {"tables": found}


def _domains(
    name: str, entry: Mapping[str, Any], kinds: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    domains, bounds, discover = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for column in made_columns(entry):
        each = entry["columns"][column]
        if each["treatment"] == FIND:
            discover[column] = kinds.get((name, column), "text")
            continue
        kept = domains if each["treatment"] == VALUES else bounds
        kept[column] = list(each.get(each["treatment"]) or ())
        if not kept[column] or None in kept[column]:
            raise InputError("CEL-W073", column=f"{name}.{column}")
    found = {"domains": domains, "bounds": bounds, "discover": discover}
    bins = {"bins": entry["bins"]} if entry["bins"] != USUAL_BINS and (bounds or discover) else {}
    return {key: value for key, value in found.items() if value} | bins


def form_of(declared: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The form that a declaration file fills; columns that it does not name are left out."""
    form: dict[str, Any] = {}
    for table in tables:
        given = declared["tables"].get(table["name"])
        if given is None:
            continue
        entry = _entry(table, given.get("parent"), given.get("key"), given.get("foreign_key"))
        entry |= {name: given[name] for name in ("most_rows", "keep", "given") if given.get(name)}
        bins = given.get("bins", USUAL_BINS)
        entry["bins"] = bins if isinstance(bins, int) else USUAL_BINS
        for column, each in entry["columns"].items():
            each["treatment"] = LEFT_OUT
            for treatment, key in ((VALUES, "domains"), (BOUNDS, "bounds")):
                if column in (given.get(key) or {}):
                    each.update({"treatment": treatment, treatment: list(given[key][column])})
            if column in (given.get("discover") or {}):
                each["treatment"] = FIND
        form[table["name"]] = entry
    return form


def parsed_values(text: str, kind: str) -> list[str] | list[int]:
    """The values that somebody typed, with commas between them; of whole numbers where they are.

    >>> parsed_values("surgery, medicine", "text"), parsed_values("1, 2, x", "integer")
    (['surgery', 'medicine'], [1, 2])
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if kind == "integer":
        return [int(part) for part in parts if part.lstrip("-").isdecimal()]
    return parts


def declaration_text(declared: Mapping[str, Any]) -> str:
    """The declaration as its file has it.

    >>> print(declaration_text({"tables": {"persons": {"key": "id", "bounds": {"age": [0, 99]}}}}))
    [tables.persons]
    key = "id"
    bounds = { age = [0, 99] }
    <BLANKLINE>
    """
    lines: list[str] = []
    for name, table in declared["tables"].items():
        lines += [f"[tables.{key_of(name)}]"]
        lines += [f"{key} = {inline(value)}" for key, value in table.items()]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def code(
    sample: str | None, parameters: Mapping[str, Any], *, seed: int | None = None
) -> list[tuple[str, str]]:
    """The command and the Python text that make the same tables by `related.toml`."""
    known = next((each for each in SAMPLES if each.name == sample), None)
    folder = "tables" if known is None else known.name
    before = "" if known is None else f"{known.command}\n"
    method = ",".join(f"{key}={inline(value)}" for key, value in parameters.items())
    parts = ["celosia", "synthesise", folder, "--tables", "related.toml"]
    parts += ["--method", f"{METHOD}:{method}", "-o", "made", "--report", "report.html"]
    parts += [] if seed is None else ["--seed", str(seed)]
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    drawn = "" if seed is None else f", rng=Seeded({seed})"
    python = "\n".join(
        [
            *([] if seed is None else ["from celosia import Seeded"]),
            "from celosia.tables.private import AdaptiveMarginals",
            "from celosia.tables.private.related import RelatedTables, synthesise_tables",
            "",
            'declaration = RelatedTables.load("related.toml")',
            f"method = AdaptiveMarginals({given})",
            f'tables = declaration.read("{folder}", method)',
            f"made = synthesise_tables(tables, declaration, method{drawn})",
            'made.save("made")',
            'made.report("report.html")',
            "print(made)",
        ]
    )
    return [("Command line", before + " ".join(map(shlex.quote, parts))), ("Python", python)]
