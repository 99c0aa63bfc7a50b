"""How well one colour is read on another, by the formula of WCAG 2.2, and letters that are."""

from __future__ import annotations

from collections.abc import Sequence

LIGHT, DARK = "#ffffff", "#000000"


def contrast(one: str, other: str) -> float:
    """The contrast of two colours such as #0f5c6e, from 1 (none) to 21 (black on white).

    Reference: WCAG 2.2, "contrast ratio" and "relative luminance".
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def letters_on(colour: str) -> str:
    """White or black, whichever is read better: at least 4.58 to 1 on any colour.

    The worst colour has a luminance L with 1.05 / (L + 0.05) = (L + 0.05) / 0.05; the ratio is
    then the root of 21.
    """
    return max(LIGHT, DARK, key=lambda letters: contrast(letters, colour))


def between(ramp: Sequence[str], share: float) -> str:
    """The colour at a share from 0 to 1 of the way along some colours, as a chart blends them."""
    steps = len(ramp) - 1
    place = min(1.0, max(0.0, share)) * steps
    first = min(int(place), steps - 1)
    pairs = zip(_parts(ramp[first]), _parts(ramp[first + 1]), strict=True)
    mixed = (round(low + (place - first) * (high - low)) for low, high in pairs)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _parts(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def _luminance(colour: str) -> float:
    linear = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (each / 255 for each in _parts(colour))
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
