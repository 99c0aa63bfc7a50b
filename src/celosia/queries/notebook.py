"""Private questions in a notebook: `%load_ext celosia.queries.notebook`, then `%%private`.

    %private shop.toml --epsilon 0.1

    %%private
    SELECT status, count(*) AS orders FROM orders GROUP BY status

The first line opens a policy, a service, or a vault that is a variable of the notebook, and sets
the price. A cell is one question; it shows its rows with their intervals. `--explain` shows the
plan and spends nothing; `--into NAME` also keeps the answer as a variable.
"""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.queries.dbapi.connection import Connection, connect
from celosia.queries.dbapi.exceptions import Error

if TYPE_CHECKING:
    from celosia.queries.answer import QueryAnswer
    from celosia.queries.planning import Plan
    from celosia.queries.service import RemotePlan

MAGIC = "private"


class Shell(Protocol):
    """What is needed of IPython."""

    user_ns: MutableMapping[str, Any]

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        """Make a function a magic."""


class _Options(ArgumentParser):
    """The options of a line, refused as an error of ours."""

    def __init__(self) -> None:
        super().__init__(prog=f"%{MAGIC}", add_help=False, exit_on_error=False, allow_abbrev=False)
        self.add_argument("target", nargs="?")
        self.add_argument("--epsilon", "-e", type=float)
        self.add_argument("--delta", type=float)
        self.add_argument("--confidence", type=float)
        self.add_argument("--analyst")
        self.add_argument("--token-variable", default="CELOSIA_TOKEN")
        self.add_argument("--into")
        self.add_argument("--explain", action="store_true")
        self.add_argument("--fresh", action="store_true")
        self.add_argument("--method")
        self.add_argument("--rank-intervals", action="store_true")

    def error(self, message: str) -> NoReturn:
        raise InputError("CEL-Q343.options")


class PrivateMagic:
    """The magic of one notebook, which remembers what is open and at what price."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._connection: Connection | None = None

    def __call__(
        self, line: str, cell: str | None = None
    ) -> QueryAnswer | Plan | RemotePlan | str | None:
        """Open what a line names and set its price; then answer the question of the cell.

        Raises:
            InputError: CEL-Q343 the line is wrong, or nothing is open; and what the vault raises.
        """
        options = self._read(line)
        if options.target is not None:
            self._open(options)
        if self._connection is None:
            raise InputError("CEL-Q343.nothing_open")
        self._set(self._connection, options)
        if cell is None:
            return say("queries.notebook.open", vault=self._connection.vault)
        return self._answer(self._connection, cell, options)

    @staticmethod
    def _read(line: str) -> Namespace:
        try:
            return _Options().parse_args(shlex.split(line))
        except (ArgumentError, ValueError):
            raise InputError("CEL-Q343.options") from None

    def _open(self, options: Namespace) -> None:
        target = self._shell.user_ns.get(options.target, options.target)
        token = os.environ.get(options.token_variable)
        try:
            opened = connect(target, token=token, analyst=options.analyst)
        except Error as error:
            raise error.error from None
        if self._connection is not None:
            self._connection.close()
        self._connection = opened

    @staticmethod
    def _set(connection: Connection, options: Namespace) -> None:
        """Keep what a line says for the cells that follow."""
        names = ("epsilon", "delta", "confidence", "analyst")
        given = {name: getattr(options, name) for name in names}
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        connection.request = replace(connection.request, **changes)

    def _answer(
        self, connection: Connection, cell: str, options: Namespace
    ) -> QueryAnswer | Plan | RemotePlan:
        request = replace(connection.request, query=cell, fresh=options.fresh)
        if options.method is not None:
            request = replace(request, method=options.method)
        if options.rank_intervals:
            request = replace(request, rank_intervals=True)
        if options.explain:
            return connection.vault.plan(replace(request, epsilon=request.epsilon or 1))
        if not request.epsilon:
            raise InputError("CEL-Q341.no_price")
        answer = connection.vault.ask(request)
        if options.into is not None:
            self._shell.user_ns[options.into] = answer
        return answer


def load_ipython_extension(shell: Shell) -> None:
    """Let a notebook ask: `%load_ext celosia.queries.notebook` calls this."""
    shell.register_magic_function(PrivateMagic(shell), "line_cell", MAGIC)
