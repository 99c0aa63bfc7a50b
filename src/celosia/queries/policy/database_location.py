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
        key = "CEL-Q019.not_set" if missing else "CEL-Q019.no_url"
        raise InputError(key, names=missing)
    return _VARIABLE.sub(lambda hit: known[_name(hit)], database.url)


def _name(hit: re.Match[str]) -> str:
    return hit[1] or hit[2]


def check_database(policy: Policy, problems: Problems) -> None:
    """Note settings of [database] that do not go together, or that would give a secret away."""
    database = policy.database
    if database.kind == "postgres":
        if database.path is not None or database.files:
            problems.add("CEL-Q017.postgres_files")
        if not database.url:
            problems.add("CEL-Q017.no_url")
        elif _holds_password(database.url):
            problems.add("CEL-Q017.password")
        return
    if database.kind == "spark":
        _check_spark(policy, problems)
        return
    if database.url is not None:
        problems.add("CEL-Q017.duckdb_url")
    for written in (database.path, *(path for _, path in database.files)):
        if written is not None and (not written or "\0" in written or _is_remote(written)):
            problems.add("CEL-Q017.not_a_path")
    _check_files(policy, problems)


def _check_spark(policy: Policy, problems: Problems) -> None:
    database = policy.database
    if database.path is not None:
        problems.add("CEL-Q017.spark_path")
    if database.url is not None and _holds_password(database.url):
        problems.add("CEL-Q017.password")
    if any(not written or "\0" in written for _, written in database.files):
        problems.add("CEL-Q017.not_a_path_of_spark")
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
            problems.add("CEL-Q017.unknown_table", name=name, hint=did_you_mean(name, names))
        if seen.count(name.lower()) > 1:
            problems.add("CEL-Q017.repeated_table", name=name)
        # Spark reads folders of Parquet files, which may have any name.
        if database.kind != "spark" and not path.lower().endswith(FILE_ENDINGS):
            problems.add("CEL-Q017.file_ending", name=name, file_endings=", ".join(FILE_ENDINGS))
    # A Spark elsewhere has tables of its own, in its catalogue.
    if database.path is None and not (database.kind == "spark" and database.url is not None):
        for name in names:
            if name.lower() not in seen:
                problems.add("CEL-Q017.no_place", name=name)
