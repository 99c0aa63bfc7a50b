"""What commands say and how: results to standard output, talk to standard error.

Colours and bars appear only on a terminal, and never under NO_COLOR (Rich sees to both). Texts are
shown as they are: the name of a column or file is never taken for markup or for an order to the
terminal.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from celosia.core.errors import CelosiaError, DataWarning
from celosia.core.messages import current, localise, render, say
from celosia.core.progress import Progress, Step, cancellable, silent

if TYPE_CHECKING:
    from rich.console import Console

    from celosia.core.release import Guarantee

PATIENCE = 0.3
"""Seconds before a progress bar appears: quick work should not flicker."""


STOPPED = Event()
"""Set by Ctrl-C. Work that has not noticed, deep in a library, ends at its next step."""


def show(text: str, *, strong: bool = False) -> None:
    """Print a line of the result."""
    _console().print(visible(text), style="bold" if strong else None)


def note(text: str) -> None:
    """Say something beside the result."""
    _console(error=True).print(visible(text))


def warn_of_delta(delta: float, *, people: int | None = None) -> None:
    """Warn of a delta not below one in the number of people, or large where that is private."""
    from celosia.accounting.belief import delta_warning

    found = delta_warning(delta, people)
    if found is not None:
        note(say("cli.query.warning", warning=found))


@contextmanager
def noted_warnings(*, of_policy: bool = False) -> Iterator[None]:
    """Note warnings, each once: changes in the reading of a table, or all there are of a policy.

    A release has all other warnings itself.
    """
    found: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always" if of_policy else "ignore")
            warnings.simplefilter("always", DataWarning)
            yield
    finally:
        told = (each.message for each in found)
        for text in dict.fromkeys(_warning_text(each) for each in told):
            note(text)


def _warning_text(warning: Warning | str) -> str:
    if isinstance(warning, DataWarning):
        return str(render(warning.args[0]))
    return say("cli.policy.warning", message=warning)


def show_json(data: Any, *, bare: bool = False) -> None:
    """Print a result for machines: in the same envelope for every command, or bare."""
    _print_json(data if bare else {"ok": True, "data": data})


def show_error(error: CelosiaError, *, as_json: bool) -> None:
    """Say what is wrong, why it matters and what to do."""
    if as_json:
        _print_json({"ok": False, **error.as_dict()})
        return
    console = _console(error=True)
    console.print(error.code, style="bold red", end=" ")
    first, *problems = error.what.split("\n- ")  # several problems at once are a list
    console.print(visible(first))
    for problem in problems:
        console.print(f"  - {visible(problem)}")
    for line in (error.why, error.fix):
        if line:
            console.print(f"  {visible(line)}")


class Column(NamedTuple):
    """A column of a table: its title, and the form of its numbers."""

    title: str
    form: str = ""


def columns(*names: str) -> list[Column]:
    """Columns by their names in the catalogue (`cli.column`), each with the form of its numbers.

    >>> columns("records:,", "share:.2%")
    [Column(title='records', form=','), Column(title='share', form='.2%')]
    """
    parts = [name.partition(":") for name in names]
    return [Column(say(f"cli.column.{name}") if name else "", form) for name, _, form in parts]


def show_table(
    title: str,
    header: Sequence[str | Column],
    rows: Iterable[Sequence[object]],
    *,
    numbers: bool = True,
) -> None:
    """Print a table; numbers stand right, and the first column never holds them."""
    from rich.table import Table

    show(title, strong=True)
    table = Table()
    shown = [each if isinstance(each, Column) else Column(str(each)) for each in header]
    for place, column in enumerate(shown):
        # Folded, not cut: the end of a long name may be what tells it from another.
        justify: Literal["left", "right"] = "right" if numbers and place else "left"
        table.add_column(column.title, justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(each, column.form) for each, column in zip(row, shown, strict=True)))
    _console().print(table, soft_wrap=False)


def _cell(value: object, form: str) -> str:
    """A cell: a text as it is, a number in the form of its column, nothing for None."""
    if isinstance(value, str):
        return visible(value)
    return "" if value is None else localise(format(value, form), current())


FILES = {
    "release": "cli.file.data",
    "answer": "cli.file.data",
    "certificate": "cli.file.certificate",
    "report": "cli.file.report",
    "key": "cli.file.key",
    "candidates": "cli.file.candidates",
    "findings": "texts.file.findings",
    "names": "texts.file.names",
    "index": "texts.file.index",
    "plot": "cli.file.plot",
    "table": "cli.file.table",
    "risks": "cli.file.risks",
    "schema": "cli.file.schema",
    "hierarchy": "cli.file.hierarchy",
    "draft": "cli.file.draft",
}
"""The files that are told at the end of a command, and the line for each."""


def show_files(places: Mapping[str, Path | None]) -> None:
    """Print what was written, and where, by the names of `FILES`."""
    for name, path in places.items():
        if path is not None:
            show(say(FILES[name], path=path))


def show_guarantee(guarantee: Guarantee) -> None:
    """Print what is promised, what it protects, and what it assumes."""
    from celosia.core.messages import sentence

    key = "cli.query.promise_without_seed" if guarantee.simulation else "cli.query.promise"
    if guarantee.neighbours is None:  # public data has none
        show(say("cli.query.promise_of_public", promise=guarantee.promise))
    else:
        show(say(key, promise=guarantee.promise, neighbours=guarantee.neighbours))
    show(say("cli.query.meaning", protects=sentence(guarantee.protects)))
    for assumption in guarantee.assumes:
        show(say("cli.query.assumes", assumption=assumption))


def number(value: float, form: str = ",") -> str:
    """A number for the cell of a table, as the language writes it.

    >>> number(1200.5, ",.2f")
    '1,200.50'
    """
    return localise(format(value, form), current())


def visible(text: str) -> str:
    r"""The same text with line ends, escapes and other control characters written out.

    >>> print(visible("age\n\x1b[31m"))
    age\n\x1b[31m
    """
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in str(text))


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """A progress callback that draws a bar on a terminal once the work takes a moment.

    It also ends the work at the next step after Ctrl-C.
    """
    console = _console(error=True)
    if quiet or not console.is_interactive:
        yield cancellable(silent, STOPPED)
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        transient=True,
    )
    task = bar.add_task("", total=None, done="")
    # By the clock and not at a step: the first step may be the long one.
    start = Timer(PATIENCE, bar.start)
    start.daemon = True

    def step(step: Step) -> None:
        bar.update(
            task,
            description=str(step.stage),  # here: the thread that draws knows no language
            completed=step.done,
            total=step.total,
            done=_done(step),
        )

    start.start()
    try:
        yield cancellable(step, STOPPED)
    finally:
        start.cancel()
        start.join()
        bar.stop()


def _done(step: Step) -> str:
    """How far a stage has come: a share where the whole is known, else a count."""
    if step.total:
        return f"{step.done / step.total:.0%}"
    return f"{step.done:,}" if step.done else ""


def _console(*, error: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=error, highlight=False, markup=False, emoji=False, soft_wrap=True)


def _print_json(envelope: Any) -> None:
    narrow = "utf" not in (sys.stdout.encoding or "utf-8").lower() if sys.stdout else False
    print(json.dumps(envelope, indent=2, ensure_ascii=narrow))
