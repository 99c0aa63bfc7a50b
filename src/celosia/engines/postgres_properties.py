"""What PostgreSQL keeps beside the rows of a table: owner, grants, comments and indexes.

A release that takes the place of a table is read by the same people and found by the same indexes.
An index that the new columns or values do not allow, such as a unique one over generalised values,
is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

_OWNER = """
SELECT format('ALTER TABLE %%s OWNER TO %%I', c.oid::regclass, pg_get_userbyid(c.relowner))
FROM pg_class c WHERE c.oid = to_regclass(%(table)s) AND pg_get_userbyid(c.relowner) <> current_user
"""
_GRANTS = """
SELECT format('GRANT %%s ON %%s TO %%s%%s', a.privilege_type, c.oid::regclass,
  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
  CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class c, aclexplode(c.relacl) a
WHERE c.oid = to_regclass(%(table)s) AND a.grantee <> c.relowner
"""
_COLUMN_GRANTS = """
SELECT format('GRANT %%s (%%I) ON %%s TO %%s%%s', a.privilege_type, t.attname, c.oid::regclass,
  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
  CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND NOT t.attisdropped,
  aclexplode(t.attacl) a
WHERE c.oid = to_regclass(%(table)s)
"""
_COMMENTS = """
SELECT format('COMMENT ON TABLE %%s IS %%L', c.oid::regclass, obj_description(c.oid, 'pg_class'))
FROM pg_class c
WHERE c.oid = to_regclass(%(table)s) AND obj_description(c.oid, 'pg_class') IS NOT NULL
UNION ALL
SELECT format('COMMENT ON COLUMN %%s.%%I IS %%L', c.oid::regclass, t.attname,
  col_description(c.oid, t.attnum))
FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND NOT t.attisdropped
WHERE c.oid = to_regclass(%(table)s) AND col_description(c.oid, t.attnum) IS NOT NULL
"""
_INDEXES = """
SELECT CASE WHEN k.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
  ELSE format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', i.indrelid::regclass, k.conname,
    pg_get_constraintdef(k.oid)) END
FROM pg_index i LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
WHERE i.indrelid = to_regclass(%(table)s) ORDER BY i.indexrelid
"""


def read_properties(connection: psycopg.Connection[Any], table: str) -> list[str]:
    """The statements that give a table of the same name what this one has; none if it is not there.

    Args:
        connection: in the transaction that is about to replace the table.
        table: its quoted name.
    """
    found: list[str] = []
    for query in (_GRANTS, _COLUMN_GRANTS, _COMMENTS, _INDEXES, _OWNER):
        found += [row[0] for row in connection.execute(query.encode(), {"table": table})]
    return found


def restore_properties(connection: psycopg.Connection[Any], statements: list[str]) -> None:
    """Give the new table what the old one had, as far as it fits; the rest changes nothing."""
    import psycopg  # loaded already, by the caller who has a connection

    for statement in statements:
        try:
            with connection.transaction():
                connection.execute(statement.encode())
        except psycopg.Error:  # a column that is gone, or values that are no longer unique
            continue
