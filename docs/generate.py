"""Write the reference pages that follow from the code: `python docs/generate.py`.

The Python pages come from docstrings, those of the command line from `--help`, the page of error
codes from the catalogue of explanations. A test compares the files with what this script would
write.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from enum import EnumType
from itertools import groupby, pairwise
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

REFERENCE = Path(__file__).parent / "reference"
OWN_MODULES = {path.stem for path in (REFERENCE.parents[1] / "src" / "celosia").rglob("*.py")}

MODULES = {
    "celosia": "celosia.md",
    "celosia.tables": "tables.md",
    "celosia.graphs": "graphs.md",
    "celosia.graphs.attacks": "graphs-attacks.md",
    "celosia.graphs.metrics": "graphs-metrics.md",
    "celosia.graphs.verification": "graphs-verification.md",
    "celosia.graphs.kdegree": "graphs-kdegree.md",
    "celosia.graphs.uncertain": "graphs-uncertain.md",
    "celosia.graphs.generalisation": "graphs-generalisation.md",
    "celosia.graphs.private": "graphs-private.md",
    "celosia.texts": "texts.md",
    "celosia.texts.attacks": "texts-attacks.md",
    "celosia.traces": "traces.md",
    "celosia.traces.attacks": "traces-attacks.md",
    "celosia.traces.places": "traces-places.md",
    "celosia.traces.planar": "traces-planar.md",
    "celosia.traces.private": "traces-private.md",
    "celosia.logs": "logs.md",
    "celosia.logs.attacks": "logs-attacks.md",
    "celosia.logs.private": "logs-private.md",
    "celosia.frames": "frames.md",
    "celosia.tables.metrics": "tables-metrics.md",
    "celosia.tables.recoding.classic": "tables-classic.md",
    "celosia.tables.masking": "tables-masking.md",
    "celosia.tables.synthesis": "tables-synthesis.md",
    "celosia.tables.private": "tables-private.md",
    "celosia.tables.private.related": "tables-private-related.md",
    "celosia.tables.magnitude": "tables-magnitude.md",
    "celosia.assess": "assess.md",
    "celosia.assess.risk": "assess-risk.md",
    "celosia.assess.attacks": "assess-attacks.md",
    "celosia.assess.linkage": "assess-linkage.md",
    "celosia.assess.utility": "assess-utility.md",
    "celosia.assess.utility.numeric": "assess-utility-numeric.md",
    "celosia.assess.audit": "assess-audit.md",
    "celosia.mechanisms": "mechanisms.md",
    "celosia.mechanisms.noise": "mechanisms-noise.md",
    "celosia.mechanisms.sparse": "mechanisms-sparse.md",
    "celosia.accounting": "accounting.md",
    "celosia.accounting.ledger": "accounting-ledger.md",
    "celosia.sketches": "sketches.md",
    "celosia.collect": "collect.md",
    "celosia.queries": "queries.md",
    "celosia.queries.policy": "queries-policy.md",
    "celosia.queries.sql": "queries-sql.md",
    "celosia.queries.service": "queries-service.md",
    "celosia.queries.dbapi": "queries-dbapi.md",
    "celosia.engines": "engines.md",
    "celosia.datasets": "datasets.md",
    "celosia.lab": "lab.md",
}
"""Every public module with its page."""

FAMILIES = {
    "A": "Assess",
    "B": "Budgets and accounting",
    "C": "Cancelled",
    "D": "Data sets",
    "F": "Files and frames",
    "H": "Hierarchies",
    "I": "Input and files in general",
    "J": "Traces",
    "K": "Sketches",
    "L": "Lab",
    "M": "Mechanisms",
    "P": "Publish",
    "Q": "Queries",
    "R": "Reports and collecting",
    "S": "Schema",
    "T": "Tables",
    "V": "Masking",
    "X": "Faults of Celosía",
    "Y": "Synthetic and private tables",
}
"""What the letter of an error code stands for."""

WRITTEN = """\
<!-- Written by docs/generate.py: change the code, not this page. -->
<!-- fmt: off -->

"""
"""The second line keeps Ruff from laying out examples otherwise than the docstrings have them."""


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    found = {REFERENCE / "api" / file: module_page(name) for name, file in MODULES.items()}
    found[REFERENCE / "errors.md"] = errors_page()
    found[REFERENCE / "methods.md"] = methods_page()
    found |= command_line_pages()
    found |= device_report_pages()
    return found


REGISTRIES = {
    "Privacy models": ("celosia.tables.models.notation", "MODELS"),
    "Metrics": ("celosia.tables.metrics", "METRICS"),
    "Hierarchies": ("celosia.tables.hierarchies.notation", "BUILDERS"),
    "Masking, synthetic and private tables": ("celosia.tables.masking.recipe", "methods"),
    "Graphs": ("celosia.graphs.method", "methods"),
    "Attacks on graphs": ("celosia.graphs.attacks.method", "ATTACKS"),
    "Traces": ("celosia.traces.registry", "methods"),
    "Attacks on traces": ("celosia.traces.attacks.registry", "ATTACKS"),
    "Actions on documents": ("celosia.texts.actions", "ACTIONS"),
    "Models of documents": ("celosia.texts.models", "MODELS"),
    "Logs and sets": ("celosia.logs.registry", "methods"),
    "Attacks on logs": ("celosia.logs.attacks.method", "ATTACKS"),
    "Attacks on tables": ("celosia.assess.attacks.summary", "ATTACKS"),
    "Classifiers": ("celosia.assess.utility.learning", "CLASSIFIERS"),
    "Protocols for devices": ("celosia.collect.registry", "PROTOCOLS"),
    "Secure aggregation": ("celosia.collect.secure.tasks", "TASKS"),
}
"""Where the methods of each sort are listed: a mapping by name, or a function that returns one."""


def methods_page() -> str:
    """Every method with its declared parameters."""
    parts = [
        WRITTEN,
        "# Methods and their parameters\n\n",
        "On the command line a method is written as `NAME`, or as `NAME:VALUE,...,KEY=VALUE,...`: "
        "values without a key come first, in the order of the table. In files its name is under "
        "the key `method`.\n",
    ]
    for title, (module, name) in REGISTRIES.items():
        found = getattr(importlib.import_module(module), name)
        known = found if isinstance(found, Mapping) else found()
        parts.append(f"\n## {title}\n")
        for each, kind in known.items():
            parts += _method_entry(each, kind)
    return "".join(parts)


def _method_entry(name: str, kind: type[Any]) -> Iterator[str]:
    """One method: what it does, and a row for each parameter."""
    from celosia.core.messages import read_family  # the package is imported late
    from celosia.core.methods import allowed, help_of, parameters

    words = read_family("methods").get(name, {})
    yield f"\n### `{name}` {{#{name}}}\n\n"
    summary = words["summary"]["text"]["en"] if "summary" in words else kind.__doc__ or ""
    yield f"{_cell(summary.partition(chr(10))[0])}\n"
    declared = parameters(kind)
    if declared:
        yield "\n| parameter | what it may be | default | what it is |\n|---|---|---|---|\n"
    for each in declared:
        default = "" if each.is_required else f"`{each.default!r}`"
        about = _cell(help_of(name, each.name))
        yield f"| `{each.name}` | {_cell(allowed(each))} | {default} | {about} |\n"


def device_report_pages() -> dict[Path, str]:
    """What holds for the reports of all protocols, and a page for each, for who writes a client."""
    from celosia.collect.clients.files import CONFORMANCE, shipped  # the package is imported late
    from celosia.core.messages import say

    told = tomllib.loads((REFERENCE.parent / "device_reports.toml").read_text("utf-8"))
    listed = json.loads(shipped(CONFORMANCE))["protocols"]
    index = [
        WRITTEN,
        told.pop("introduction"),
        "\n## Pages\n\n| protocol | what it is for |\n|---|---|\n",
    ]
    pages = {}
    for name, words in told.items():
        summary = say(f"methods.{name}.summary")
        index.append(f"| [`{name}`](device-reports/{name}.md) | {_cell(summary)} |\n")
        cases = [each for each in listed if each["parameters"]["protocol"] == name]
        page = REFERENCE / "device-reports" / f"{name}.md"
        pages[page] = "".join(_device_report_page(name, summary, words, cases))
    return {REFERENCE / "device-reports.md": "".join(index)} | pages


def _device_report_page(
    name: str, summary: str, words: Mapping[str, Any], cases: list[Any]
) -> Iterator[str]:
    yield f"{WRITTEN}# Reports of {name}\n\n{summary}\n\n"
    yield "Numbers, draws, tosses, digests, columns and memories are those of "
    yield "[all protocols](../device-reports.md).\n"
    for title, key in (
        ("Layout", "layout"),
        ("Keys", "keys"),
        ("Draws, in order", "draws"),
    ):
        yield f"\n## {title}\n\n"
        if key == "layout":
            yield "From the first bit on; widths in bits.\n\n"
        yield from (f"{at}. {each}\n" for at, each in enumerate(words[key], 1))
        if key == "keys" and "column" in words:
            yield _column_example(words["column"], cases[0])
    for number, case in enumerate(cases, 1):
        yield f"\n## Reports{f', parameters {number}' if len(cases) > 1 else ''}\n\n"
        yield f"Client parameters:\n\n```text\n{_wrapped(case['parameters'])}\n```\n\n"
        yield "A value, the random bytes (hexadecimal) and the bytes of the report:\n\n```text\n"
        yield "\n\n".join(_wrapped(vector) for vector in case["vectors"])
        yield "\n```\n"
        if case["refused"]:
            yield f"\nRefused: {_code(case['refused'])}\n"


def _column_example(column: Mapping[str, str], case: Any) -> str:
    from celosia.collect.clients.celosia_client import column as column_of
    from celosia.collect.clients.celosia_client import digest

    parameters = case["parameters"]
    key, width = column["key"].format(**parameters), parameters[column["width"]]
    value = digest("smile")
    found = [column_of(key, row, width, value) for row in (0, 1)]
    return (
        f"\nWith the key `{key}` and {width} columns, the digest of `smile` is {value}, and its "
        f"column in row 0 is {found[0]}, in row 1 of such a family {found[1]}.\n"
    )


def _wrapped(values: Mapping[str, Any]) -> str:
    lines = (
        line
        for key, value in values.items()
        for line in textwrap.wrap(f"{key}: {json.dumps(value, ensure_ascii=False)}", 110)
    )
    return "\n".join(lines)


def _code(values: list[Any]) -> str:
    return ", ".join(f"`{json.dumps(each, ensure_ascii=False)}`" for each in values)


def module_page(name: str) -> str:
    """The page of a public module: a table of its names, then each name."""
    module = importlib.import_module(name)
    parts = [WRITTEN, f"# {name}\n\n", _prose(module.__doc__ or ""), "\n"]
    parts += ["| name | what it is |\n|---|---|\n"]
    for public in module.__all__:
        first = _doc(module, public).partition("\n")[0]
        parts.append(f"| [`{public}`](#{_anchor(public)}) | {_cell(first)} |\n")
    for public in module.__all__:
        parts.append(f"\n## `{public}` {{#{_anchor(public)}}}\n\n")
        parts += _entry(module, public)
    return "".join(parts)


def _entry(module: ModuleType, public: str) -> Iterator[str]:
    thing = getattr(module, public)
    if inspect.ismodule(thing):
        page = MODULES.get(thing.__name__)
        yield _prose(_doc(module, public))
        if page is not None:
            yield f"\nSee [{thing.__name__}]({page}).\n"
        return
    if page := _other_page(module, public):
        yield _prose(_doc(module, public).partition("\n")[0])
        yield f"\nSee [{page.partition('.')[0]}.{public}]({page}#{_anchor(public)}).\n"
        return
    if not inspect.isclass(thing) and not inspect.isfunction(thing):
        yield f"```py\n{_definition(module, public)}\n```\n\n"
    elif _shows_signature(thing):
        yield f"```py\n{_signature(public, thing)}\n```\n\n"
    yield _prose(_doc(module, public))
    if inspect.isclass(thing):
        yield from _members(thing)


def _other_page(module: ModuleType, public: str) -> str | None:
    """Where a name that the top of the package only repeats is described."""
    if module.__name__ != "celosia":
        return None
    for name, page in MODULES.items():
        if name != "celosia" and public in importlib.import_module(name).__all__:
            return page
    return None


def _definition(module: ModuleType, public: str) -> str:
    """A constant as it is written in the source."""
    source = inspect.getsource(_home_of(module, public))
    for statement in ast.parse(source).body:
        target = getattr(statement, "target", None) or (getattr(statement, "targets", [None])[0])
        if isinstance(target, ast.Name) and target.id == public:
            return ast.get_source_segment(source, statement) or ""
    return ""


def _shows_signature(thing: Any) -> bool:
    """Values of an enumeration, protocols and plain errors say more by their members."""
    if isinstance(thing, EnumType) or getattr(thing, "_is_protocol", False):
        return False
    return not inspect.isclass(thing) or is_dataclass(thing) or "__init__" in vars(thing)


def _signature(name: str, thing: Any) -> str:
    """The call on as many lines as it needs, with annotations as they are written."""
    signature = inspect.signature(thing)
    words: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        words.append(_parameter(parameter))
    result = signature.return_annotation
    tail = "" if inspect.isclass(thing) or result is signature.empty else f" -> {_plain(result)}"
    line = f"{name}({', '.join(words)}){tail}"
    if len(line) <= 92:
        return line
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){tail}"


def _parameter(parameter: inspect.Parameter) -> str:
    kind = parameter.kind
    stars = "*" * ((kind is parameter.VAR_POSITIONAL) + 2 * (kind is parameter.VAR_KEYWORD))
    text = stars + parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {_plain(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return text
    default = parameter.default
    shown = str(default.__name__) if inspect.isfunction(default) else repr(default)
    return f"{text} = {shown}" if ":" in text else f"{text}={shown}"


def _plain(annotation: Any) -> str:
    """An annotation as it is written, without the names of our own modules."""
    if isinstance(annotation, str):
        return re.sub(r"\b(\w+)\.", lambda at: "" if at[1] in OWN_MODULES else at[0], annotation)
    return str(getattr(annotation, "__name__", annotation))


def _members(thing: type) -> Iterator[str]:
    """The fields, properties and methods that have a sentence of their own."""
    own = [thing] if issubclass(thing, Exception) else thing.__mro__
    rows: dict[str, str] = {}
    for part in own:
        if part.__module__.startswith("celosia"):
            rows = _own_members(part) | rows
    if rows:
        yield "\n| member | what it is |\n|---|---|\n"
        yield from (f"| `{name}` | {_cell(text)} |\n" for name, text in rows.items())


def _own_members(thing: type) -> dict[str, str]:
    rows = dict(_field_docs(thing))
    for name, member in vars(thing).items():
        if name.startswith("_") or name in rows:
            continue
        is_value = isinstance(member, property) or hasattr(member, "attrname")  # cached_property
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        function = getattr(function, "__func__", function)
        text = inspect.getdoc(function) if inspect.isfunction(function) else None
        if text:
            rows[name if is_value else f"{name}()"] = text.partition("\n")[0]
    return rows


def _field_docs(thing: type) -> dict[str, str]:
    """The fields of a class that have a string below them, and the members of an enumeration."""
    try:
        tree = ast.parse(dedent(inspect.getsource(thing)))
    except (OSError, TypeError):
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    return {name: " ".join(text.split()) for name, text in _strings_below(body)}


def _strings_below(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, following in pairwise(body):
        if isinstance(statement, ast.AnnAssign):
            target: ast.expr = statement.target
        elif isinstance(statement, ast.Assign):
            target = statement.targets[0]
        else:
            continue
        match target, following:
            case ast.Name(name), ast.Expr(ast.Constant(str(text))):
                yield name, text


def _doc(module: ModuleType, public: str) -> str:
    """The docstring of a name; for a constant, the string below its definition."""
    thing = getattr(module, public)
    if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isfunction(thing):
        return inspect.getdoc(thing) or ""
    home = _home_of(module, public)
    tree = ast.parse(inspect.getsource(home))
    return " ".join(dict(_strings_below(tree.body)).get(public, "").split())


def _home_of(module: ModuleType, public: str) -> ModuleType:
    """The module that a package takes a name from."""
    for statement in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(statement, ast.ImportFrom) or statement.module is None:
            continue
        if any((alias.asname or alias.name) == public for alias in statement.names):
            return _home_of(importlib.import_module(statement.module), public)
    return module


def _prose(docstring: str) -> str:
    """A docstring in Markdown: sections become lists, examples become blocks."""
    out: list[str] = []
    lines = inspect.cleandoc(docstring).splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(">>>"):
            end = next((n for n in range(at, len(lines)) if not lines[n].strip()), len(lines))
            out += ["```pycon", *lines[at:end], "```"]
            at = end
        elif line in ("Args:", "Raises:"):
            out += [{"Args:": "Arguments:", "Raises:": "Raises:"}[line], ""]
            end = at + 1
            while end < len(lines) and (lines[end].startswith(" ") or not lines[end].strip()):
                end += 1
            out += [*_listed(lines[at + 1 : end]), ""]
            at = end
        else:
            out.append(_escaped(line))
            at += 1
    text = "\n".join(out).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", text) + "\n" if text else ""


def _listed(lines: list[str]) -> Iterator[str]:
    """`name: text` entries, continued on deeper lines, as a list."""
    text = "\n".join(lines).rstrip()
    for entry in re.split(r"\n(?=    \S+: )", "\n" + text)[1:]:
        name, _, words = entry.strip().partition(": ")
        yield f"- `{name}`: {_escaped(' '.join(words.split()))}"


def _escaped(text: str) -> str:
    """Stars outside of code would be taken for emphasis."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("*", r"\*") for part in parts)


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split())).replace("|", r"\|")


def _anchor(public: str) -> str:
    return f"name-{public}"


def command_line_pages() -> dict[Path, str]:
    """A page for the commands of each door, with their help, and one that lists all of them."""
    from celosia.cli.app import PANELS  # the package is imported late

    commands = list(_commands())
    with ThreadPoolExecutor(2) as pool:
        helps = dict(zip(commands, pool.map(_help, commands), strict=True))
    index = [WRITTEN, "# Command line\n\n"]
    index.append(
        "What each command says under `--help`, by door. Results go to standard output, talk to "
        'standard error. `--json` prints the same facts for programs: `{"ok": true, "data": ...}`, '
        'or `{"ok": false, "code": ...}` when something is wrong. How commands end is on the page '
        "of [exit codes](exit-codes.md); `celosia --install-completion` teaches your shell to "
        "complete commands and options.\n"
    )
    pages = {}
    for door, summaries in PANELS.items():
        page = f"command-line/{door.lower().replace(' ', '-')}.md"
        index.append(f"\n## {door}\n\n| command | what it does |\n|---|---|\n")
        for name, summary in summaries.items():
            index.append(f"| [`celosia {name}`]({page}#celosia-{name}) | {_cell(summary)} |\n")
        parts = [WRITTEN, f"# Command line: {door.lower()}\n\n"]
        parts.append("What holds for all commands is on [the first page](../command-line.md).\n")
        own = (each for each in commands if each and each[0] in summaries)
        parts += [_help_section(command, helps[command]) for command in own]
        pages[REFERENCE / page] = "".join(parts)
    index.append(_help_section((), helps[()]))
    return {REFERENCE / "command-line.md": "".join(index)} | pages


def _help_section(command: tuple[str, ...], text: str) -> str:
    return f"\n## `{' '.join(('celosia', *command))}`\n\n```text\n{text}\n```\n"


def _commands() -> Iterator[tuple[str, ...]]:
    import typer.main  # only these pages need it

    from celosia.cli.app import app

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield path
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*path, name))

    yield from walk(typer.main.get_command(app), ())


def _help(command: tuple[str, ...]) -> str:
    """The help of a command, as a terminal of 100 letters shows it."""
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PYTHONUTF8": "1"}
    program = Path(sys.executable).parent / "celosia"
    done = subprocess.run(  # noqa: S603 - our own command
        [program, *command, "--help"],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | plain,
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def errors_page() -> str:
    """Every error code with its explanation."""
    from celosia.core.catalogue import explanations

    parts = [WRITTEN, "# Error codes\n\n"]
    parts.append(
        "Every error has a stable code. `celosia explain CODE` prints what stands here; in Python "
        "it is `error.code`, beside `error.what`, `error.why`, `error.fix` and `error.details`. "
        "No message holds a cell value: columns, rows and counts only.\n"
    )
    known = explanations().values()
    for letter, group in groupby(known, key=lambda entry: entry.code.removeprefix("CEL-")[0]):
        parts.append(f"\n## {FAMILIES.get(letter, letter)} (CEL-{letter})\n")
        for entry in group:
            parts.append(f"\n### {entry.code}: {entry.title} {{#{entry.code.lower()}}}\n\n")
            parts.append(f"{_escaped(entry.text)}\n")
    return "".join(parts)


def main() -> None:
    """Write every page that is not up to date."""
    for path, text in pages().items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
