"""Signed tokens of an identity provider (OpenID Connect): who is an analyst is said elsewhere.

A token (JWT) is accepted if its signature is by a key of the issuer that the owner named, with an
algorithm that the owner allows, and if issuer, audience and times are right. Nothing in a token
says which key or which algorithm to trust: addresses of keys in it (`jku`, `x5u`, `jwk`) are not
looked at, `none` and algorithms with a shared secret (HS256) cannot be allowed at all. Every
refusal is the same (CEL-Q171).
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from celosia.core.errors import CelosiaError, InputError
from celosia.core.messages import did_you_mean
from celosia.queries.service.errors import missing_extra, no_token
from celosia.queries.service.tokens import Role, Token

ALGORITHMS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}
"""Algorithms that may be allowed, with the type of their keys: public keys only."""
LONGEST = 8192
"""Characters of a token."""
LEEWAY = 60
"""Seconds that clocks may differ."""
LONGEST_LIFE = 86_400
"""Seconds from the making of a token to its end: it cannot be revoked before."""
FRESH = 300.0
"""Seconds that fetched keys are used without a look for new ones."""
PAUSE = 60.0
"""Seconds between two looks, whatever keys tokens name."""
LARGEST_KEYS = 2**20
_KEYS = frozenset({"issuer", "audience", "keys", "algorithms", "claim", "analysts", "curators"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """What the owner says of an issuer.

    Args:
        issuer: the address that tokens name as theirs.
        audience: what tokens must be made for: one for each policy.
        keys: the file, or the https address, of the issuer's public keys (JWKS).
        algorithms: which signatures are accepted.
        claim: which claim of a token says who somebody is.
        analysts: what the claim says, with the analyst of the policy; empty where the claim is the
            name of the analyst.
        curators: what the claim says, with the name of the curator.
    """

    issuer: str
    audience: str
    keys: str
    algorithms: tuple[str, ...] = ("RS256",)
    claim: str = "sub"
    analysts: Mapping[str, str] = field(default_factory=dict)
    curators: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("issuer", "audience", "keys", "claim"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError("CEL-Q191.missing", name=name)
        if not self.algorithms:
            raise InputError("CEL-Q191.missing", name="algorithms")
        for each in self.algorithms:
            if each not in ALGORITHMS:
                hint = did_you_mean(str(each), list(ALGORITHMS))
                known = ", ".join(ALGORITHMS)
                raise InputError("CEL-Q191.algorithm", name=each, hint=hint, known=known)
        if self.is_address and not _is_safe(self.keys):
            raise InputError("CEL-Q191.not_https")

    @property
    def is_address(self) -> bool:
        """Whether the keys are fetched."""
        return "://" in self.keys

    @classmethod
    def load(cls, path: str | Path) -> OidcSettings:
        """Read a file in TOML; a relative path of keys starts at its folder.

        Raises:
            InputError: CEL-Q191 it cannot be read, or is no description of an issuer.
        """
        place = Path(path)
        try:
            values = tomllib.loads(place.read_text("utf-8"))
        except (OSError, ValueError):
            raise InputError("CEL-Q191.unread", path=place) from None
        unknown = sorted(set(values) - _KEYS)
        if unknown:
            hint = did_you_mean(unknown[0], sorted(_KEYS))
            raise InputError("CEL-Q191.unknown", name=unknown[0], hint=hint)
        tables = [values.get(name, {}) for name in ("analysts", "curators")]
        listed = values.get("algorithms", ["RS256"])
        are_tables = isinstance(listed, list) and all(isinstance(each, dict) for each in tables)
        texts = [text for each in tables for text in each.values()] if are_tables else [None]
        if not all(isinstance(each, str) for each in texts):
            raise InputError("CEL-Q191.not_text")
        keys = values.get("keys", "")
        if isinstance(keys, str) and keys and "://" not in keys:
            keys = str(place.parent / keys)
        return cls(
            issuer=values.get("issuer", ""),
            audience=values.get("audience", ""),
            keys=keys,
            algorithms=tuple(listed),
            claim=values.get("claim", "sub"),
            analysts=tables[0],
            curators=tables[1],
        )


def _is_safe(address: str) -> bool:
    from celosia.core.server import is_this_machine

    parts = urlsplit(address)
    return parts.scheme == "https" or (
        parts.scheme == "http" and is_this_machine(parts.hostname or "")
    )


class OidcTokens:
    """Who a signed token stands for.

    Args:
        settings: what the owner says of the issuer.
        named: the analysts of the policy; empty where anybody may ask.

    Raises:
        InputError: CEL-Q170 the extra is missing; CEL-Q191 the keys cannot be read, an analyst is
            none of the policy, or anybody at all would be one.
    """

    def __init__(self, settings: OidcSettings, *, named: tuple[str, ...] = ()) -> None:
        try:
            import jwt  # noqa: F401 - part of an extra
        except ImportError as error:
            raise missing_extra(error.name) from None
        if not named and not settings.analysts:
            raise InputError("CEL-Q191.anybody")
        for analyst in settings.analysts.values():
            if named and analyst not in named:
                hint = did_you_mean(analyst, list(named))
                raise InputError("CEL-Q191.analyst", name=analyst, hint=hint)
        self.settings = settings
        self._named = named
        self._lock = Lock()
        self._keys: dict[str, _Key] = {}
        self._looked = float("-inf")
        if not self._look():
            raise InputError("CEL-Q191.no_keys", path=settings.keys)

    @property
    def has_curator(self) -> bool:
        """Whether somebody may be a curator."""
        return bool(self.settings.curators)

    def holder(self, text: str) -> Token:
        """Whoever a token stands for.

        Raises:
            AccessDenied: CEL-Q171 it is none that is good now; which of the reasons is not told.
        """
        import jwt

        if len(text) > LONGEST:
            raise no_token()
        try:
            return self._holder(text)
        except (jwt.PyJWTError, CelosiaError, ValueError, TypeError, KeyError, RecursionError):
            raise no_token() from None

    def _holder(self, text: str) -> Token:
        import jwt

        settings = self.settings
        header = jwt.get_unverified_header(text)
        algorithm, kid = header.get("alg"), header.get("kid")
        # Before any key is looked for: the token does not choose how it is checked.
        if algorithm not in settings.algorithms or "crit" in header or not isinstance(kid, str):
            raise no_token()
        key = self._key(kid)
        if key is None or not key.fits(algorithm):
            raise no_token()
        claims = jwt.decode(
            text,
            key.public,
            algorithms=[algorithm],
            audience=settings.audience,
            issuer=settings.issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iat", "aud", "iss", settings.claim]},
        )
        # One that is made for several services could be sent on by another one of them.
        if claims["aud"] not in (settings.audience, [settings.audience]):
            raise no_token()
        made, ends, who = float(claims["iat"]), float(claims["exp"]), claims[settings.claim]
        if not isinstance(who, str) or not who or not 0 <= ends - made <= LONGEST_LIFE:
            raise no_token()
        if settings.claim == "email" and claims.get("email_verified") is False:
            raise no_token()
        role, name = self._role(who)
        name_of_holder = sha256(f"{settings.issuer}\n{who}".encode()).hexdigest()[:16]
        return Token(id=name_of_holder, role=role, name=name, created=made, expires=ends)

    def _role(self, who: str) -> tuple[Role, str]:
        if who in self.settings.curators:
            return "curator", self.settings.curators[who]
        name = self.settings.analysts.get(who) if self.settings.analysts else who
        if name is None or (self._named and name not in self._named):
            raise no_token()
        return "analyst", name

    def _key(self, kid: str) -> _Key | None:
        """The key of a name; keys are looked for again where it is new, but not too often."""
        with self._lock:
            waited = time.monotonic() - self._looked
            if waited > FRESH or (kid not in self._keys and waited > PAUSE):
                self._look()
            return self._keys.get(kid)

    def _look(self) -> bool:
        """Read the keys; those that are known stay where that fails."""
        self._looked = time.monotonic()
        try:
            place = self.settings.keys
            text = self._fetch() if self.settings.is_address else Path(place).read_text("utf-8")
            found = _read_keys(json.loads(text))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            found = {}
        self._keys = found or self._keys
        return bool(found)

    def _fetch(self) -> str:
        import httpx  # part of the extra

        try:
            with httpx.stream(
                "GET", self.settings.keys, timeout=10.0, follow_redirects=False
            ) as response:
                if response.status_code != httpx.codes.OK:
                    raise ValueError
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if len(body) > LARGEST_KEYS:
                        raise ValueError
                return body.decode()
        except (httpx.HTTPError, httpx.InvalidURL):
            raise ValueError from None


@dataclass(frozen=True, slots=True)
class _Key:
    """A public key, and what it is for."""

    public: Any
    kind: str
    algorithm: str | None

    def fits(self, algorithm: str) -> bool:
        """Whether signatures of an algorithm may be checked with it."""
        return self.kind == ALGORITHMS[algorithm] and self.algorithm in {None, algorithm}


def _read_keys(written: Any) -> dict[str, _Key]:
    """The public keys by their names; one that cannot be used is left out."""
    import jwt

    found: dict[str, _Key] = {}
    for each in written["keys"]:
        # A secret is no public key: whoever reads the list could sign with it.
        if not isinstance(each, dict) or each.get("kty") not in set(ALGORITHMS.values()):
            continue
        kid = each.get("kid")
        if not isinstance(kid, str) or kid in found or "d" in each or each.get("use") == "enc":
            continue
        try:
            found[kid] = _Key(jwt.PyJWK(each).key, each["kty"], each.get("alg"))
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            continue
    return found
