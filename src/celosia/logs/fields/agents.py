"""User agents: the family with its major version, or the class of the device."""

from __future__ import annotations

import re

OTHER = "other"

_FAMILIES: tuple[tuple[str, str], ...] = (
    (r"(?i)(googlebot|bingbot|yandexbot|duckduckbot|baiduspider|applebot)[/ ]?(\d+)?", "{0}"),
    (r"(?i)\b\w*(?:bot|crawler|spider)\b", "bot"),
    (r"\b(?:EdgA|EdgiOS|Edg|Edge)/(\d+)", "Edge {0}"),
    (r"\b(?:OPR|OPiOS)/(\d+)", "Opera {0}"),
    (r"\bOpera/(\d+)", "Opera {0}"),
    (r"\bSamsungBrowser/(\d+)", "Samsung Internet {0}"),
    (r"\bVivaldi/(\d+)", "Vivaldi {0}"),
    (r"\b(?:Firefox|FxiOS)/(\d+)", "Firefox {0}"),
    (r"\b(?:CriOS|Chrome|Chromium)/(\d+)", "Chrome {0}"),
    (r"\bVersion/(\d+)[\d.]* .*?Safari/", "Safari {0}"),
    (r"\bMSIE (\d+)", "Internet Explorer {0}"),
    (r"\bTrident/.*rv:(\d+)", "Internet Explorer {0}"),
    (r"^(?i:curl)/(\d+)", "curl {0}"),
    (r"^(?i:wget)/(\d+)", "Wget {0}"),
    (r"^python-(?:requests|urllib3?)/(\d+)", "Python client {0}"),
    (r"^okhttp/(\d+)", "OkHttp {0}"),
    (r"^Go-http-client/(\d+)", "Go client {0}"),
)
_COMPILED = tuple((re.compile(pattern), shown) for pattern, shown in _FAMILIES)

_DEVICES: tuple[tuple[str, str], ...] = (
    (r"(?i)bot\b|crawler|spider|slurp", "bot"),
    (r"iPad|Tablet|PlayBook|Silk|Android(?!.*Mobile)", "tablet"),
    (r"(?i)mobile|iPhone|iPod|Windows Phone|Opera Mini", "mobile"),
    (r"Windows NT|Macintosh|X11|CrOS|Linux", "desktop"),
    (r"(?i)^(?:curl|wget|python|okhttp|go-http|java|libwww)", "program"),
)
_DEVICES_COMPILED = tuple((re.compile(pattern), shown) for pattern, shown in _DEVICES)

_LONGEST = 2_000


def family(text: str) -> str:
    """The family and the major version of a user agent.

    >>> family("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
    'Firefox 128'
    """
    for pattern, shown in _COMPILED:
        found = pattern.search(text[:_LONGEST])
        if found:
            return shown.format(*(each or "" for each in found.groups()))
    return OTHER


def device(text: str) -> str:
    """The class of the device: desktop, mobile, tablet, bot, program or other.

    >>> device("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile/15E148")
    'mobile'
    """
    for pattern, shown in _DEVICES_COMPILED:
        if pattern.search(text[:_LONGEST]):
            return shown
    return OTHER
