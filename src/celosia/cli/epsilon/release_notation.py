"""Releases as they are written on the command line: `0.1x100`, `sigma=10,sensitivity=2x50`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.methods import PlainValues

if TYPE_CHECKING:
    from celosia.accounting import Loss

NUMBER = re.compile(r"(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?(/\d{1,30})?", re.ASCII)
"""Short enough to be exact at once: 1e999999999 would fill the memory."""
LEAST, MOST = Fraction(1, 10**100), 10**9
MOST_RELEASES = 10**6
FIELDS: Mapping[str, tuple[str, ...]] = {
    "--pure": ("epsilon",),
    "--approximate": ("epsilon", "delta"),
    "--exponential": ("epsilon",),
    "--rho": ("rho",),
    "--laplace": ("scale", "sensitivity"),
    "--gaussian": ("sigma", "sensitivity"),
}
"""What each option says about a release, in order."""
OPTIONAL = {"sensitivity": Fraction(1)}


@dataclass(frozen=True, slots=True)
class ReleaseGroup(PlainValues):
    """Some releases of the same loss."""

    words: str
    loss: Loss
    times: int

    def __str__(self) -> str:
        return f"{self.times:,} x {self.words}" if self.times > 1 else self.words


def parse_releases(written: Mapping[str, Sequence[str] | None]) -> tuple[ReleaseGroup, ...]:
    """The releases of each option, in the order of `FIELDS`."""
    found = tuple(_all(written))
    total = sum(part.times for part in found)
    if not found:
        raise InputError("CEL-B011.no_release")
    if total > MOST_RELEASES:
        raise InputError("CEL-B083.too_many", most_releases=MOST_RELEASES, total=total)
    return found


def sample_releases(parts: Sequence[ReleaseGroup], rate: float) -> tuple[ReleaseGroup, ...]:
    """The same releases, each on a fresh Poisson sample."""
    from celosia.accounting import amplify_by_poisson_sampling

    return tuple(
        replace(
            part,
            words=Message("cli.loss.sampled", words=part.words, rate=rate),
            loss=amplify_by_poisson_sampling(part.loss, rate=rate),
        )
        for part in parts
    )


def _all(written: Mapping[str, Sequence[str] | None]) -> Iterator[ReleaseGroup]:
    for option in FIELDS:
        for text in written.get(option) or ():
            body, mark, times = text.rpartition("x")
            count = _times(times, text, option) if mark else 1
            values = _values(body if mark else text, text, option)
            yield ReleaseGroup(_words(option, values), _loss(option, values), count)


def _times(times: str, text: str, option: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", times.strip()):
        raise _unreadable(text, option, Message("cli.notation.times"))
    return int(times)


def _values(body: str, text: str, option: str) -> dict[str, Fraction]:
    names = FIELDS[option]
    found: dict[str, Fraction] = {}
    for place, piece in enumerate(body.split(",")):
        name, mark, value = piece.rpartition("=")
        name = name.strip() if mark else (names[place] if place < len(names) else "")
        if name not in names:
            raise _unreadable(text, option, _too_much(name, names))
        if name in found:
            raise _unreadable(text, option, Message("cli.notation.twice", name=name))
        found[name] = _number(value, text, option)
    missing = [name for name in names if name not in found and name not in OPTIONAL]
    if missing:
        raise _unreadable(text, option, Message("cli.notation.missing", name=missing[0]))
    return {name: found.get(name, OPTIONAL.get(name, Fraction(0))) for name in names}


def _number(value: str, text: str, option: str) -> Fraction:
    top, _, bottom = value.strip().partition("/")
    if NUMBER.fullmatch(value.strip()) and int(bottom or 1):
        number = Fraction(top) / int(bottom or 1)
        if LEAST <= number <= MOST:
            return number
    reason = Message("cli.notation.number", value=value.strip(), most=MOST)
    raise _unreadable(text, option, reason)


def _too_much(name: str, names: Sequence[str]) -> Message:
    if not name:
        return Message("cli.notation.more", names=names)
    return Message("cli.notation.other", names=names, name=name, hint=did_you_mean(name, names))


def _loss(option: str, values: Mapping[str, Fraction]) -> Loss:
    from celosia import accounting

    if option == "--gaussian":
        return accounting.GaussianLoss(values["sigma"] ** 2, _steps(values, option))
    if option == "--laplace":
        return accounting.LaplaceLoss(values["scale"], _steps(values, option))
    if option == "--approximate":
        return accounting.ApproximateLoss(values["epsilon"], float(values["delta"]))
    if option == "--rho":
        return accounting.ConcentratedLoss(values["rho"])
    kind = accounting.PureLoss if option == "--pure" else accounting.BoundedRangeLoss
    return kind(values["epsilon"])


def _steps(values: Mapping[str, Fraction], option: str) -> int:
    sensitivity = values["sensitivity"]
    if sensitivity.denominator != 1 or not sensitivity:
        raise InputError("CEL-B083.steps", option=option)
    return sensitivity.numerator


def _words(option: str, values: Mapping[str, Fraction]) -> str:
    from celosia.accounting.amounts import format_amount

    texts = {name: format_amount(value) for name, value in values.items()}
    if option == "--pure":
        return f"{texts['epsilon']}-DP"
    if option == "--approximate":
        return f"({texts['epsilon']}, {float(values['delta']):g})-DP"
    if option == "--rho":
        return f"{texts['rho']}-zCDP"
    if option == "--exponential":
        return Message("cli.loss.exponential", epsilon=texts["epsilon"])
    key = "cli.loss.gaussian" if option == "--gaussian" else "cli.loss.laplace"
    noise = Message(key, scale=texts["sigma" if option == "--gaussian" else "scale"])
    if values["sensitivity"] == 1:
        return noise
    return Message("cli.loss.sensitivity", noise=noise, sensitivity=texts["sensitivity"])


def _unreadable(text: str, option: str, reason: Message) -> InputError:
    names = FIELDS[option]
    example = ",".join(name.upper() for name in names if name not in OPTIONAL)
    return InputError(
        "CEL-B083.unreadable",
        option=option,
        text=text,
        reason=reason,
        form=example,
        example=_EXAMPLE[option],
    )


_EXAMPLE = {
    "--pure": "0.1x100",
    "--approximate": "0.5,1e-6x10",
    "--exponential": "0.2x10",
    "--rho": "0.01x5",
    "--laplace": "2x30",
    "--gaussian": "sigma=10x50",
}
