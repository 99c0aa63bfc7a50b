"""Web addresses: the domain, a part of the path, the names of parameters; never the secrets."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import unquote

from celosia.logs.fields.addresses import parse_address, truncated

LONGEST = 100_000
"""Characters of an address; a longer one is no address, and is dropped."""

_SCHEME = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*):(//)?")
_WEB = ("http", "https", "ftp", "ws", "wss")
_CONTENT = ("data", "javascript", "vbscript")
"""Schemes of what is content or a program, not an address."""
_NAMES = re.compile(r"@|\d{5,}|[0-9a-fA-F]{16,}|[A-Za-z0-9_-]{24,}")
"""What a part of a path looks like that may be about one person: e-mail, number, token."""
_HIDDEN = "*"
_ADDRESS_BITS = (24, 48)


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRule:
    """What of an address is published.

    Args:
        depth: how many parts of the path; 0 for none.
        keys: whether the names of the parameters are published.
        values: the parameters whose values are, too.
    """

    depth: int = 0
    keys: bool = False
    values: Collection[str] = ()


@cache
def _suffixes() -> frozenset[str]:
    """Suffixes of two labels below which names are registered (`co.uk`).

    One that is not listed makes the published domain shorter, never longer.
    """
    return frozenset(
        files("celosia.logs.fields").joinpath("public_suffixes.txt").read_text("utf-8").split()
    )


def registrable_domain(host: str) -> str:
    """The domain that somebody registered; a network for an address.

    >>> registrable_domain("mail.example.co.uk"), registrable_domain("192.0.2.9")
    ('example.co.uk', '192.0.2.0/24')
    """
    address = parse_address(host)
    if address is not None:
        return truncated(address, _ADDRESS_BITS)
    labels = [label for label in host.lower().strip(".").split(".") if label]
    wanted = 3 if ".".join(labels[-2:]) in _suffixes() else 2
    return ".".join(_ascii(label) for label in labels[-wanted:])


def _ascii(label: str) -> str:
    """A label as it is on the wire: an international name in punycode."""
    if label.isascii():
        return label
    try:
        return label.encode("idna").decode("ascii")
    except UnicodeError:
        return _HIDDEN


def published(text: str, rule: UrlRule) -> str | None:
    """An address as it may be published; None where it is none.

    Credentials, ports, fragments and path parameters (`;jsessionid=`) are always dropped.

    >>> published("https://ann:pw@shop.example.com/a/b?q=x#top", UrlRule(depth=1, keys=True))
    'https://example.com/a?q'
    """
    given = text.strip()
    if not given or len(given) > LONGEST or "\0" in given:
        return None
    found = _SCHEME.match(given)
    is_port = bool(found) and given[found.end() :].split("/")[0].isdigit() if found else False
    scheme = "" if found is None or is_port else found[1].lower()
    if scheme in _CONTENT:
        return None
    if scheme and scheme not in _WEB:
        return f"{scheme}:"  # what follows mailto: or android-app: is no place on the web
    rest = given[found.end() :] if scheme and found else given
    is_relative = not scheme and given.startswith("/") and not given.startswith("//")
    if not scheme and given.startswith("//"):
        rest = given[2:]
    rest = rest.partition("#")[0]
    before, _, query = rest.partition("?")
    host, slash, path = ("", "/", before.lstrip("/")) if is_relative else before.partition("/")
    shown = "" if is_relative else _host(host)
    if shown is None:
        return None
    start = f"{scheme}://{shown}" if scheme else shown
    return start + _path(path if slash else "", rule, is_relative=is_relative) + _query(query, rule)


def _host(host: str) -> str | None:
    """The domain of a host with credentials and a port."""
    bare = host.rpartition("@")[2]
    bare = unquote(bare)
    if bare.startswith("["):
        bare = bare.partition("]")[0].lstrip("[")
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    if not bare or re.search(r"[\s<>\"\\@]", bare):
        return None
    return registrable_domain(bare)


def _path(path: str, rule: UrlRule, *, is_relative: bool) -> str:
    parts = [part.partition(";")[0] for part in path.split("/")]
    shown = []
    for part in [each for each in parts if each][: rule.depth]:
        decoded = unquote(part)  # once: what is still encoded after stays as it is
        hides = _NAMES.search(decoded) or any(mark in decoded for mark in "/?#;=&")
        shown.append(_HIDDEN if hides else decoded)
    if not shown:
        return "/" if is_relative else ""
    return "/" + "/".join(shown)


def _query(query: str, rule: UrlRule) -> str:
    if not query or not rule.keys:
        return ""
    shown = {}
    for part in re.split("[&;]", query):
        name, _, value = part.partition("=")
        key = unquote(name.replace("+", " "))
        if not key or _NAMES.search(key):
            continue
        is_allowed = key in rule.values
        shown[key] = f"{key}={unquote(value.replace('+', ' '))}" if is_allowed else key
    return "?" + "&".join(shown[key] for key in sorted(shown)) if shown else ""
