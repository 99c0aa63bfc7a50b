r"""SQL of DuckDB that decodes canonical texts as `terms` does, for millions of terms at once.

Every cast is a TRY_CAST: a literal that is ill-formed has no value, and is no error.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.queries.rdf.terms import (
    DATE,
    DATE_FORM,
    DATE_TIME,
    DECIMAL,
    DECIMAL_FORM,
    DOUBLE,
    DOUBLE_FORM,
    ESCAPES,
    FLOAT,
    LANGUAGE_STRING,
    NAMELESS,
    STRING,
    TIME_FORM,
    WHOLE_FORM,
    WHOLE_TYPES,
    ZONE_FORM,
    term_number,
)

OBJECT_COLUMNS = (
    ("kind", "TINYINT"),
    ("text", "VARCHAR"),
    ("language", "VARCHAR"),
    ("datatype", "BIGINT"),
    ("number", "DOUBLE"),
    ("moment", "TIMESTAMP"),
)
"""Columns that are kept of the object of each fact, with their types."""


def number_sql(text: str) -> str:
    """`term_number` of an expression."""
    return f"CAST(md5_number_lower({text}) & 9223372036854775807::UBIGINT AS BIGINT)"


def decode_sql(relation: str) -> str:
    """A query: the `id` of each row of a relation of terms (id, text), and `OBJECT_COLUMNS`."""
    kind = f"""SELECT id, text AS written, CAST(
        CASE WHEN starts_with(text, '"') THEN 2 WHEN starts_with(text, '_') THEN 1 ELSE 0 END
        AS TINYINT) AS kind FROM {relation}"""  # noqa: S608 - here and below: words of ours only
    cut = f"""SELECT id, written, kind,
        CASE WHEN kind = 2 THEN string_split(written, '"')[-1] END AS suffix FROM ({kind})"""  # noqa: S608
    # Positions count characters, and the quotes are two of them.
    split = f"""SELECT id, kind,
        substr(written, 2, length(written) - length(suffix) - 2) AS escaped,
        CASE WHEN starts_with(suffix, '@') THEN lower(substr(suffix, 2)) END AS language,
        CASE WHEN suffix IS NULL THEN NULL WHEN starts_with(suffix, '@')
            THEN {_quoted(LANGUAGE_STRING)} WHEN suffix = '' THEN {_quoted(STRING)}
            ELSE substr(suffix, 3) END AS type FROM ({cut})"""  # noqa: S608
    # Most texts have no escape, and most of those that have one have no code: only few rows take
    # the long way.
    backslash = chr(92)
    named = f"""SELECT id, kind, language, type, escaped,
        CASE WHEN contains(escaped, {_quoted(backslash)})
        THEN {_unescape_letters("escaped")} END AS hidden
        FROM ({split})"""  # noqa: S608
    lexical = f"""SELECT id, kind, language, type,
        CASE WHEN hidden IS NULL THEN escaped
            WHEN contains(hidden, {_quoted(backslash + "u")}) THEN {_unescape_codes("hidden")}
            ELSE {_restore_backslashes("hidden")} END AS text FROM ({named})"""  # noqa: S608
    return f"""SELECT id, kind, text, language,
        CASE WHEN type = {_quoted(STRING)} THEN {term_number(STRING)}
            WHEN type IS NOT NULL THEN {number_sql("type")} END AS datatype,
        {_number()} AS number, {_moment()} AS moment FROM ({lexical})"""  # noqa: S608


def _number() -> str:
    whole = _full("text", WHOLE_FORM)
    any_value = f"""CASE WHEN type IN ({_list(WHOLE_TYPES)})
            THEN CASE WHEN {whole} THEN TRY_CAST(text AS DOUBLE) END
        WHEN type = {_quoted(DECIMAL)}
            THEN CASE WHEN {_full("text", DECIMAL_FORM)} THEN TRY_CAST(text AS DOUBLE) END
        WHEN type = {_quoted(DOUBLE)}
            THEN CASE WHEN {_full("text", DOUBLE_FORM)} THEN TRY_CAST(text AS DOUBLE) END
        WHEN type = {_quoted(FLOAT)} THEN CASE WHEN {_full("text", DOUBLE_FORM)}
            THEN CAST(TRY_CAST(TRY_CAST(text AS DOUBLE) AS FLOAT) AS DOUBLE) END
        END"""
    return f"list_filter([{any_value}], lambda value: isfinite(value))[1]"


def _moment() -> str:
    day = "CAST(TRY_CAST(substr(text, 1, 10) AS DATE) AS TIMESTAMP)"
    seconds = " + ".join(
        f"{weight} * TRY_CAST(substr(text, {start}, 2) AS BIGINT)"
        for start, weight in ((12, 3600), (15, 60), (18, 1))
    )
    part = "rpad(substr(regexp_extract(text, '[.]([0-9]+)', 1), 1, 6), 6, '0')"
    fine = f"to_microseconds(TRY_CAST({part} AS BIGINT))"
    minutes = """CASE WHEN regexp_matches(text, '[+-][0-9]{2}:[0-9]{2}$')
        THEN (60 * TRY_CAST(text[-5:-4] AS BIGINT) + TRY_CAST(text[-2:] AS BIGINT))
            * CASE text[-6] WHEN '+' THEN 1 ELSE -1 END
        ELSE 0 END"""
    any_value = f"""CASE WHEN type = {_quoted(DATE)} AND {_full("text", DATE_FORM + ZONE_FORM)}
            THEN {day} - to_minutes({minutes})
        WHEN type = {_quoted(DATE_TIME)} AND {_full("text", f"{DATE_FORM}T{TIME_FORM}{ZONE_FORM}")}
            THEN {day} + to_seconds({seconds}) + {fine} - to_minutes({minutes})
        END"""
    within = """value BETWEEN TIMESTAMP '0001-01-01 00:00:00'
        AND TIMESTAMP '9999-12-31 23:59:59.999999'"""
    return f"list_filter([{any_value}], lambda value: {within})[1]"


def _unescape_letters(column: str) -> str:
    """Escapes by letter undone; backslashes hide as U+0001, never in a canonical text as it is."""
    backslash = chr(92)
    found = f"replace({column}, {_quoted(backslash * 2)}, chr(1))"
    for mark, written in ESCAPES.items():
        if mark != backslash:
            found = f"replace({found}, {_quoted(written)}, chr({ord(mark)}))"
    return found


def _unescape_codes(column: str) -> str:
    """Escapes by code undone, and hidden backslashes shown.

    U+0001 itself comes last: its escapes are found while the backslashes of the text are hidden,
    and put in once these are shown.
    """
    found = column
    for mark in NAMELESS:
        if mark != "\x01":
            found = f"replace({found}, {_quoted(f'{chr(92)}u{ord(mark):04X}')}, chr({ord(mark)}))"
    pieces = f"string_split({found}, {_quoted(chr(92) + 'u0001')})"
    shown = f"list_transform({pieces}, lambda one: {_restore_backslashes('one')})"
    return f"array_to_string({shown}, chr(1))"


def _restore_backslashes(column: str) -> str:
    return f"replace({column}, chr(1), {_quoted(chr(92))})"


def _full(column: str, form: str) -> str:
    return f"regexp_full_match({column}, {_quoted(form)})"


def _list(texts: Sequence[str]) -> str:
    return ", ".join(map(_quoted, texts))


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
