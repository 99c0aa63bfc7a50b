"""The studies by name."""

from __future__ import annotations

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.lab import (
    collect,
    graphs,
    logs,
    masking,
    mechanisms,
    sparql,
    sql,
    tables,
    texts,
    traces,
)
from celosia.lab.study import Study

_KNOWN: dict[str, Study] = {
    study.name: study
    for study in (
        *tables.STUDIES,
        *mechanisms.STUDIES,
        *sql.STUDIES,
        *sparql.STUDIES,
        *collect.STUDIES,
        *masking.STUDIES,
        *graphs.STUDIES,
        *texts.STUDIES,
        *traces.STUDIES,
        *logs.STUDIES,
    )
}


def studies() -> tuple[Study, ...]:
    """Every study, parts after the whole.

    >>> [study.name for study in studies()][:2]
    ['tables', 'tables/k-anonymity']
    """
    return tuple(_KNOWN.values())


def register(study: Study) -> Study:
    """Add a study, so that `find` and the command line know it.

    Raises:
        InputError: CEL-L002 the name is taken.
    """
    if study.name in _KNOWN:
        raise InputError("CEL-L002", study=study.name)
    _KNOWN[study.name] = study
    return study


def find(name: str) -> Study:
    """A study by its name.

    Raises:
        InputError: CEL-L001 there is none of that name.

    >>> find("tables/l-diversity").name
    'tables/l-diversity'
    """
    if name not in _KNOWN:
        raise InputError(
            "CEL-L001", hint=did_you_mean(name, _KNOWN), known=", ".join(_KNOWN), study=name
        )
    return _KNOWN[name]
