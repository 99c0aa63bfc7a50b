"""Golden pairs for addresses, web addresses and user agents (check 21)."""

from __future__ import annotations

import polars as pl
import pytest

from celosia.core.pseudonyms.crypto_pan import CryptoPan
from celosia.logs.fields import addresses, agents, urls
from celosia.logs.fields.urls import UrlRule

DOMAIN, PATH = UrlRule(), UrlRule(depth=2)
KEYS = UrlRule(depth=1, keys=True, values=("lang",))

URLS: list[tuple[str, UrlRule, str | None]] = [
    ("https://www.example.org/", DOMAIN, "https://example.org"),
    ("HTTPS://WWW.Example.ORG/A", DOMAIN, "https://example.org"),
    ("https://ann:secret@shop.example.com/a", DOMAIN, "https://example.com"),
    ("https://ann@shop.example.com:8443/a", DOMAIN, "https://example.com"),
    ("https://mail.example.co.uk/inbox", DOMAIN, "https://example.co.uk"),
    ("https://a.b.example.com.mx", DOMAIN, "https://example.com.mx"),
    ("https://user.github.io/me", DOMAIN, "https://github.io"),
    ("https://münchen.example.org/a", DOMAIN, "https://example.org"),
    ("https://bücher.example/a", DOMAIN, "https://xn--bcher-kva.example"),
    ("https://xn--bcher-kva.example/a", DOMAIN, "https://xn--bcher-kva.example"),
    ("http://192.0.2.77/a", DOMAIN, "http://192.0.2.0/24"),
    ("http://[2001:db8:1:2::9]:8080/a", DOMAIN, "http://2001:db8:1::/48"),
    ("//cdn.example.net/x.js", DOMAIN, "example.net"),
    ("example.org/path", DOMAIN, "example.org"),
    ("example.org:8080/path", DOMAIN, "example.org"),
    ("/local/page?id=7", DOMAIN, "/"),
    ("data:text/html;base64,QUJD", DOMAIN, None),
    ("JavaScript:alert(1)", DOMAIN, None),
    ("mailto:ann@example.org", DOMAIN, "mailto:"),
    ("ftp://files.example.org/pub", DOMAIN, "ftp://example.org"),
    ("https://example.org/a/b/c", PATH, "https://example.org/a/b"),
    ("https://example.org/a//b/", PATH, "https://example.org/a/b"),
    ("https://example.org/u/ann%40example.org/x", PATH, "https://example.org/u/*"),
    ("https://example.org/order/123456", PATH, "https://example.org/order/*"),
    ("https://example.org/t/0123456789abcdef0123", PATH, "https://example.org/t/*"),
    ("https://example.org/a;jsessionid=8F3A/b", PATH, "https://example.org/a/b"),
    ("https://example.org/a%2Fb/c", PATH, "https://example.org/*/c"),
    ("https://example.org/caf%C3%A9", PATH, "https://example.org/café"),
    ("https://example.org/a%2540b", PATH, "https://example.org/a%40b"),
    ("https://example.org/a#ann", PATH, "https://example.org/a"),
    ("/local/page?id=7", PATH, "/local/page"),
    ("https://example.org/a?q=leukemia&lang=es", KEYS, "https://example.org/a?lang=es&q"),
    ("https://example.org/a?q=x;lang=es#f", KEYS, "https://example.org/a?lang=es&q"),
    ("https://example.org/a?ann%40example.org=1", KEYS, "https://example.org/a"),
    ("https://example.org/a?", KEYS, "https://example.org/a"),
    ("https:///nohost", DOMAIN, None),
    ("", DOMAIN, None),
    ("https://exa mple.org/", DOMAIN, None),
    ("https://example.org/" + "a" * 100_001, DOMAIN, None),
]

ADDRESSES: list[tuple[str, str | None]] = [
    ("192.0.2.77", "192.0.2.0/24"),
    ("192.0.2.77:8080", "192.0.2.0/24"),
    (" 198.51.100.1 ", "198.51.100.0/24"),
    ("::ffff:192.0.2.77", "192.0.2.0/24"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
    ("[::1]:80", "::/48"),
    ("[2001:db8::1]", "2001:db8::/48"),
    ("fe80::1%eth0", None),
    ("192.0.02.1", None),
    ("192.0.2", None),
    ("unknown", None),
]

AGENTS = [
    ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128"),
    ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36",
     "Chrome 140"),
    ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.1", "Edge 140"),
    ("Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1",
     "Safari 18"),
    ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
    ("Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.0)", "Internet Explorer 8"),
    ("Mozilla/5.0 (Windows NT 6.1; Trident/7.0; rv:11.0) like Gecko", "Internet Explorer 11"),
    ("Opera/9.80 (X11) OPR/99.0", "Opera 99"),
    ("curl/8.4.0", "curl 8"),
    ("AnnsOwnBrowser 0.1 of ann@example.org", "other"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "rule", "published"), URLS, ids=lambda each: str(each)[:40])
def test_web_addresses(given: str, rule: UrlRule, published: str | None) -> None:
    assert urls.published(given, rule) == published


@pytest.mark.parametrize(("given", "published"), ADDRESSES)
def test_addresses(given: str, published: str | None) -> None:
    assert addresses.truncate(pl.Series([given]), (24, 48)).to_list() == [published]


@pytest.mark.parametrize(("given", "published"), AGENTS, ids=lambda each: str(each)[:25])
def test_agents(given: str, published: str) -> None:
    assert agents.family(given) == published


def test_there_are_sixty_golden_pairs() -> None:
    assert len(URLS) + len(ADDRESSES) + len(AGENTS) >= 60


def test_prefix_preserving_addresses_keep_what_two_have_in_common() -> None:
    texts = pl.Series(["192.0.2.1", "192.0.2.200", "2001:db8::1", None, "nobody"])
    one, other, six, *others = addresses.encrypt(texts, CryptoPan(bytes(range(32)))).to_list()
    assert one.rpartition(".")[0] == other.rpartition(".")[0]
    assert ":" in six
    assert others == [None, None]


@pytest.mark.parametrize("mark", ["a", "9", "@.", "%25", "x;", "(", "[::"])
def test_long_texts_take_no_time(mark: str) -> None:
    """Check 47: 100 kB each; what is slower than 50 ms by far would be quadratic."""
    text = (mark * 100_000)[:100_000]
    urls.published("https://example.org/" + text[:90_000], UrlRule(depth=3, keys=True))
    agents.family(text)
    agents.device(text)
    addresses.parse_address(text)
