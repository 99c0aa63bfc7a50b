"""What commands advise where a hierarchy of the user's own would keep more detail."""

from __future__ import annotations

from collections.abc import Sequence

OWN_GROUPS = (
    "Groups of your own keep more detail, for example town, province, region. Write them as a CSV "
    "file with a row per value (Vigo;Pontevedra;Galicia;*), and name it under the column in the "
    'schema: hierarchy = { file = "FILE.csv" }.'
)


def no_groups(columns: Sequence[str]) -> str:
    """Say that the values of columns are kept or hidden, and what would keep more of them."""
    names = ", ".join(f"'{name}'" for name in columns)
    one = len(columns) == 1
    return (
        f"Column{'' if one else 's'} {names}: nothing in the values says which belong together, so "
        f"each is kept or becomes *. {OWN_GROUPS}"
    )
