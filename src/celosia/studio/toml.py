"""Plain values as TOML, for recipes that people keep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def inline(value: Any) -> str:
    """One value on one line.

    >>> inline({"sex": ["F", "M"], "a b": 0.5})
    '{ sex = ["F", "M"], "a b" = 0.5 }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key_of(str(name))} = {inline(each)}" for name, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(inline, value))}]"
    return quoted(str(value))


def quoted(text: str) -> str:
    r"""A text in quotes; JSON writes all but one control character as TOML wants it.

    >>> quoted('say "hi"')
    '"say \\"hi\\""'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_of(name: str) -> str:
    """A name as a key: bare where TOML allows it.

    >>> key_of("marital-status"), key_of("pay (EUR)")
    ('marital-status', '"pay (EUR)"')
    """
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else quoted(name)
