"""What commands say and how: results to standard output, talk to standard error.

Colours and bars appear only on a terminal, and never under NO_COLOR (Rich sees to both).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from celosia.core.errors import CelosiaError
from celosia.core.progress import Progress, Step, silent

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 0.3
"""Seconds before a progress bar appears: quick work should not flicker."""


def _console(*, error: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=error, highlight=False, soft_wrap=True)


def show(text: str) -> None:
    """Print a result line; Rich markup is understood."""
    _console().print(text)


def note(text: str) -> None:
    """Say something beside the result."""
    _console(error=True).print(text, markup=False)


def show_json(data: Any) -> None:
    """Print a result for machines: the same envelope for every command."""
    print(json.dumps({"ok": True, "data": data}, indent=2, ensure_ascii=False))


def show_error(error: CelosiaError, *, as_json: bool) -> None:
    """Say what is wrong, why it matters and what to do."""
    if as_json:
        print(json.dumps({"ok": False, **error.as_dict()}, indent=2, ensure_ascii=False))
        return
    console = _console(error=True)
    console.print(f"[bold red]{error.code}[/] ", end="")
    console.print(error.what, markup=False)
    for line in (error.why, error.fix):
        if line:
            console.print(f"  {line}", markup=False)


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all columns but the first are numbers and stand right."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold")
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    _console().print(table)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """A progress callback that draws a bar on a terminal once the work takes a moment."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = _console(error=True)
    if quiet or not console.is_terminal:
        yield silent
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("", total=None)
    started = time.monotonic()

    def step(step: Step) -> None:
        if time.monotonic() - started > PATIENCE:
            bar.start()
        bar.update(task, description=step.stage, completed=step.done, total=step.total)

    try:
        yield step
    finally:
        bar.stop()
