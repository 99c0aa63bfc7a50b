"""What a request says of itself, read with suspicion: hosts, cookies, lengths, bodies."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

_COOKIE = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")


def host_of(address: str) -> tuple[str, str]:
    """The name of the host, and the name with its port; empty where there is none."""
    try:
        found = urlsplit(address)
        return found.hostname or "", found.netloc
    except ValueError:  # such as a bracket that is not closed
        return "", ""


def neighbourhood(address: str) -> str:
    """Whose attempts are counted together: one machine may have a whole network of IPv6."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address) or found.ipv4_mapped is not None:
        return address
    return found.exploded[:19]


def length_of(headers: Headers) -> int:
    """How long a body says it is; 0 where it does not say."""
    length = headers.get("content-length", "")
    return int(length[:20]) if length.isascii() and length.isdigit() else 0


def is_address(name: str) -> bool:
    """Whether a host is called by its number."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def cookies_of(headers: Headers) -> dict[str, str]:
    """The cookies as they are; ours have no quotes, and to undo those can take long."""
    found: dict[str, str] = {}
    for part in headers.get("cookie", "").split(";"):
        name, _sign, value = part.strip().partition("=")
        found.setdefault(name, value)
    return found


def cookie_names(headers: Headers) -> list[str]:
    """The names of the cookies, as far as they can be names: none can end a header."""
    known = (part.partition("=")[0].strip() for part in headers.get("cookie", "").split(";"))
    return [name for name in dict.fromkeys(known) if _COOKIE.fullmatch(name)]


def wants_page(scope: Scope, headers: Headers) -> bool:
    """Whether somebody looks at a page, rather than a page fetching what it needs."""
    return scope["method"] == "GET" and "text/html" in headers.get("accept", "")


async def body_of(receive: Receive) -> bytes:
    """The body of a small form."""
    found = b""
    while len(found) < 10_000:
        message = await receive()
        found += message.get("body", b"")
        if not message.get("more_body"):
            break
    return found


def bounded(receive: Receive, most: int) -> Receive:
    """The same body, cut off as soon as it is longer than it may be, whatever it said before."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            return {"type": "http.disconnect"}
        return message

    return bounded
