"""The location of a policy's tables: checks of the setting, and the address at run time."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.queries.policy.problems import Problems
from celosia.queries.policy.values import Database, Policy

FILE_ENDINGS = (".csv", ".csv.gz", ".parquet")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_PASSWORDS = (
    re.compile(r"//[^:@/]*:(.+)@"),
    re.compile(r"password\s*=\s*([^&\s]*)", re.I),
    re.compile(r";\s*token\s*=\s*([^;\s]*)", re.I),  # of Spark Connect
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def database_url(database: Database, *, environment: Mapping[str, str] | None = None) -> str:
    """The address of PostgreSQL or Spark with each `$NAME` or `${NAME}` read from the environment.

    It may hold a password, so it belongs in no message, log or policy.

    Raises:
        InputError: CEL-Q019 a variable is not set, or there is no address.

    >>> database_url(Database(kind="postgres", url="$SHOP"), environment={"SHOP": "postgresql://"})
    'postgresql://'
    """
    known = os.environ if environment is None else environment
    missing = sorted({_name(hit) for hit in _VARIABLE.finditer(database.url or "")} - set(known))
    if missing or database.url is None:
        raise InputError(
            "CEL-Q019",
            f"the environment does not set {', '.join(missing)}."
            if missing
            else "the policy has no url under [database].",
            why="The address of the database is read from there.",
            fix="Set it before starting, or write url in the policy.",
        )
    return _VARIABLE.sub(lambda hit: known[_name(hit)], database.url)


def _name(hit: re.Match[str]) -> str:
    return hit[1] or hit[2]


def check_database(policy: Policy, problems: Problems) -> None:
    """Note settings of [database] that do not go together, or that would give a secret away."""

    def note(what: str, why: str, fix: str) -> None:
        problems.add("CEL-Q017", what, why=why, fix=fix)

    database = policy.database
    if database.kind == "postgres":
        if database.path is not None or database.files:
            note(
                "[database] of kind postgres has a path or files.",
                "Its tables are in the server.",
                'Leave them out, or write kind = "duckdb".',
            )
        if not database.url:
            note(
                "[database] of kind postgres has no url.",
                "The server could not be found.",
                'Write url = "$SHOP_DATABASE" and set that variable where the service runs.',
            )
        elif _holds_password(database.url):
            note(
                "url of [database] holds a password.",
                "A policy is public, and is stored with every release.",
                "Write $NAME in its place, and set that variable where the service runs.",
            )
        return
    if database.kind == "spark":
        _check_spark(policy, problems)
        return
    if database.url is not None:
        note(
            "[database] of kind duckdb has a url.",
            "DuckDB reads files; nothing is fetched from elsewhere.",
            'Write path or files, or kind = "postgres".',
        )
    for written in (database.path, *(path for _, path in database.files)):
        if written is not None and (not written or "\0" in written or _is_remote(written)):
            note(
                "a path of [database] is not the path of a file.",
                "Nothing is fetched from elsewhere.",
                "Give a path from the folder of the policy.",
            )
    _check_files(policy, problems)


def _check_spark(policy: Policy, problems: Problems) -> None:
    database = policy.database
    if database.path is not None:
        problems.add("CEL-Q017.check_spark")
    if database.url is not None and _holds_password(database.url):
        problems.add("CEL-Q017.check_spark_2")
    if any(not written or "\0" in written for _, written in database.files):
        problems.add("CEL-Q017.check_spark_3")
    _check_files(policy, problems)


def _holds_password(url: str) -> bool:
    written = [hit[1] for each in _PASSWORDS for hit in each.finditer(url)]
    return any(_VARIABLE.fullmatch(word) is None for word in written)


def _is_remote(written: str) -> bool:
    # One letter and a colon is a drive of Windows.
    return _SCHEME.match(written) is not None


def _check_files(policy: Policy, problems: Problems) -> None:
    database = policy.database
    names = [table.name for table in policy.tables]
    seen = [name.lower() for name, _ in database.files]
    for name, path in database.files:
        if policy.table(name) is None:
            problems.add("CEL-Q017.check_files", name=name, hint=did_you_mean(name, names))
        if seen.count(name.lower()) > 1:
            problems.add("CEL-Q017.check_files_2", name=name)
        # Spark reads folders of Parquet files, which may have any name.
        if database.kind != "spark" and not path.lower().endswith(FILE_ENDINGS):
            problems.add("CEL-Q017.check_files_3", name=name, file_endings=", ".join(FILE_ENDINGS))
    # A Spark elsewhere has tables of its own, in its catalogue.
    if database.path is None and not (database.kind == "spark" and database.url is not None):
        for name in names:
            if name.lower() not in seen:
                problems.add("CEL-Q017.check_files_4", name=name)
