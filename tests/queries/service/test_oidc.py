"""Signed tokens of an identity provider: accepted by the book, and refused under every attack."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from celosia.core.errors import InputError
from celosia.queries.service import oidc as oidc_module
from celosia.queries.service.errors import AccessDenied
from celosia.queries.service.oidc import OidcSettings, OidcTokens

jwt = pytest.importorskip("jwt", reason="the extra celosia[service] is not installed")
ISSUER, AUDIENCE = "https://login.example.org", "celosia-shop"


@cache
def private_key(kind: str = "rsa", number: int = 0) -> Any:
    """A key of the tests; `number` tells others apart."""
    if kind == "ec":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def jwk(key: Any, kid: str, **changes: Any) -> dict[str, Any]:
    """The public part of a key, as an issuer lists it."""
    kind = jwt.algorithms.RSAAlgorithm if hasattr(key, "private_numbers") and isinstance(
        key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm  # fmt: skip
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig", **changes}


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u1", "iat": now, "exp": now + 600}
    return {name: value for name, value in (given | changes).items() if value is not None}


def signed(*, key: Any = None, alg: str = "RS256", kid: str | None = "k1", **changes: Any) -> str:
    headers = changes.pop("headers", {}) | ({} if kid is None else {"kid": kid})
    made: str = jwt.encode(claims(**changes), key or private_key(), algorithm=alg, headers=headers)
    return made


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    place = tmp_path / "jwks.json"
    listed = [
        jwk(private_key(), "k1"),
        jwk(private_key("ec"), "e1"),
        {"kty": "oct", "k": "c2VjcmV0"},
    ]
    place.write_text(json.dumps({"keys": listed}))
    return place


def tokens(place: Path | str, **changes: Any) -> OidcTokens:
    given = {"issuer": ISSUER, "audience": AUDIENCE, "keys": str(place), "analysts": {"u1": "ada"}}
    return OidcTokens(OidcSettings(**(given | changes)))


def test_a_good_token_stands_for_the_analyst_that_its_claim_names(keys: Path) -> None:
    settings = {"analysts": {"u1": "ada"}, "curators": {"c1": "carla"}}
    good = tokens(keys, algorithms=("RS256", "ES256"), **settings)
    ada, again = good.holder(signed()), good.holder(signed(aud=[AUDIENCE]))
    assert (ada.role, ada.name, ada.id) == ("analyst", "ada", again.id)
    assert good.holder(signed(alg="ES256", kid="e1", key=private_key("ec"))).name == "ada"
    carla = good.holder(signed(sub="c1"))
    assert (carla.role, carla.name) == ("curator", "carla")
    by_mail = tokens(keys, claim="email", analysts={"a@b.org": "ada"})
    assert by_mail.holder(signed(email="a@b.org", email_verified=True)).name == "ada"


def _with_header(text: str, **changes: Any) -> str:
    head, body, tail = text.split(".")
    header = json.loads(base64.urlsafe_b64decode(head + "=="))
    made = base64.urlsafe_b64encode(json.dumps(header | changes).encode()).rstrip(b"=").decode()
    return f"{made}.{body}.{tail}"


def _public_pem() -> bytes:
    encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    written: bytes = private_key().public_key().public_bytes(encoding, form)
    return written


def _hmac_with_the_public_key() -> str:
    import hmac
    from hashlib import sha256

    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    text = f"{part({'alg': 'HS256', 'kid': 'k1', 'typ': 'JWT'})}.{part(claims())}"
    mac = hmac.new(_public_pem(), text.encode(), sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


ATTACKS: dict[str, Callable[[], str]] = {
    "no signature": lambda: jwt.encode(claims(), None, algorithm="none", headers={"kid": "k1"}),
    "none in place of the algorithm": lambda: _with_header(signed(), alg="none"),
    "the signature left out": lambda: signed().rpartition(".")[0] + ".",
    "HS256 with the public key": _hmac_with_the_public_key,
    "an algorithm that is not allowed": lambda: signed(alg="RS512"),
    "the algorithm of another kind of key": lambda: _with_header(signed(), alg="ES256"),
    "another audience": lambda: signed(aud="celosia-clinic"),
    "several audiences": lambda: signed(aud=[AUDIENCE, "celosia-clinic"]),
    "no audience": lambda: signed(aud=None),
    "another issuer": lambda: signed(iss="https://login.example.com"),
    "no issuer": lambda: signed(iss=None),
    "expired": lambda: signed(iat=int(time.time()) - 7200, exp=int(time.time()) - 3600),
    "never ending": lambda: signed(exp=None),
    "too long a life": lambda: signed(exp=int(time.time()) + 10**7),
    "not yet": lambda: signed(nbf=int(time.time()) + 3600),
    "made tomorrow": lambda: signed(iat=int(time.time()) + 86_000, exp=int(time.time()) + 86_400),
    "no time of making": lambda: signed(iat=None),
    "an unknown key": lambda: signed(kid="k2", key=private_key("rsa", 1)),
    "no name of a key": lambda: signed(kid=None),
    "the name of another key": lambda: signed(key=private_key("rsa", 1)),
    "its own key": lambda: signed(
        key=private_key("rsa", 1), headers={"jwk": jwk(private_key("rsa", 1), "k1")}
    ),
    "an address of keys": lambda: signed(
        key=private_key("rsa", 1), headers={"jku": "http://127.0.0.1:9/jwks.json"}
    ),
    "a critical extension": lambda: signed(headers={"crit": ["b64"]}),
    "nobody": lambda: signed(sub=None),
    "a stranger": lambda: signed(sub="u9"),
    "a number as its name": lambda: signed(sub="u1", aud=7),
    "no token at all": lambda: "a.b.c",
    "a very long one": lambda: signed(pad="x" * 9000),
    "a changed claim": lambda: ".".join(
        (signed().split(".")[0], signed(sub="c1").split(".")[1], signed().split(".")[2])
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_is_refused_in_the_same_words(keys: Path, attack: str) -> None:
    with pytest.raises(AccessDenied) as refused:
        tokens(keys, algorithms=("RS256", "ES256"), curators={"c1": "carla"}).holder(
            ATTACKS[attack]()
        )
    assert refused.value.code == "CEL-Q171"
    assert not refused.value.details


def test_a_mail_address_that_is_not_verified_is_nobody(keys: Path) -> None:
    by_mail = tokens(keys, claim="email", analysts={"a@b.org": "ada"})
    with pytest.raises(AccessDenied):
        by_mail.holder(signed(email="a@b.org", email_verified=False))


def test_a_key_is_used_for_its_own_algorithm_only(tmp_path: Path) -> None:
    place = tmp_path / "jwks.json"
    listed = [jwk(private_key(), "k1", alg="RS256"), jwk(private_key(), "k2", use="enc")]
    place.write_text(json.dumps({"keys": listed}))
    good = tokens(place, algorithms=("RS256", "PS256"))
    assert good.holder(signed()).name == "ada"
    for text in (signed(alg="PS256"), signed(kid="k2")):
        with pytest.raises(AccessDenied):
            good.holder(text)


FILE = f"""
issuer = "{ISSUER}"
audience = "{AUDIENCE}"
keys = "jwks.json"
claim = "sub"
[analysts]
u1 = "ada"
"""


def test_a_file_describes_the_issuer(tmp_path: Path, keys: Path) -> None:
    place = tmp_path / "shop.oidc.toml"
    place.write_text(FILE)
    settings = OidcSettings.load(place)
    assert settings.keys == str(keys)
    assert OidcTokens(settings, named=("ada",)).holder(signed()).name == "ada"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("claim", "klaim", "unknown"),
        (f'audience = "{AUDIENCE}"', "", "missing"),
        ('claim = "sub"', 'claim = ""', "missing"),
        ('claim = "sub"', 'algorithms = ["none"]', "algorithm"),
        ('claim = "sub"', 'algorithms = ["HS256"]', "algorithm"),
        ('claim = "sub"', "algorithms = []", "missing"),
        ('claim = "sub"', "algorithms = 3", "not_text"),
        ('"ada"', "3", "not_text"),
        ('"jwks.json"', '"http://login.example.org/jwks"', "not_https"),
        ('"jwks.json"', '"other.json"', "no_keys"),
        ('[analysts]\nu1 = "ada"', "", "anybody"),
        ("=", "", "unread"),
    ],
)
def test_a_file_that_describes_none_is_refused(
    tmp_path: Path, keys: Path, old: str, new: str, key: str
) -> None:
    assert keys.exists()
    place = tmp_path / "shop.oidc.toml"
    place.write_text(FILE.replace(old, new))
    with pytest.raises(InputError) as refused:
        OidcTokens(OidcSettings.load(place))
    assert refused.value.key == f"CEL-Q191.{key}"
    assert refused.value.fix


def test_an_analyst_must_be_one_of_the_policy(keys: Path) -> None:
    settings = OidcSettings(
        issuer=ISSUER, audience=AUDIENCE, keys=str(keys), analysts={"u1": "adda"}
    )
    with pytest.raises(InputError, match="did you mean 'ada'"):
        OidcTokens(settings, named=("ada",))
    plain = OidcSettings(issuer=ISSUER, audience=AUDIENCE, keys=str(keys))
    named = OidcTokens(plain, named=("ada",))
    assert named.holder(signed(sub="ada")).name == "ada"
    with pytest.raises(AccessDenied):
        named.holder(signed(sub="ben"))


def test_keys_are_fetched_again_for_a_new_name_but_not_for_every_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, listed = list[str](), [jwk(private_key(), "k1")]

    class Issuer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            body = json.dumps({"keys": listed}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Issuer)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/jwks"
        good = tokens(address)
        assert good.holder(signed()).name == "ada"
        late = private_key("rsa", 1)
        listed.append(jwk(late, "k2"))
        for _ in range(3):
            with pytest.raises(AccessDenied):
                good.holder(signed(kid="k2", key=late))
        assert len(seen) == 1
        monkeypatch.setattr(oidc_module, "PAUSE", -1.0)
        assert good.holder(signed(kid="k2", key=late)).name == "ada"
        assert len(seen) == 2
        listed.clear()  # an issuer that fails takes no key away
        with pytest.raises(AccessDenied):
            good.holder(signed(kid="k3", key=late))
        assert good.holder(signed()).name == "ada"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
