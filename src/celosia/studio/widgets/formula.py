r"""Formulas in MathML, which browsers set by themselves: no script, no font, no network.

A formula is written in a small part of TeX: letters, numbers, `^`, `_`, braces, `\frac`, `\sqrt`,
`\hat`, `\bar`, `\text`, Greek letters and the signs below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

SIGNS = {
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "cap": "∩",
    "in": "∈",
    "sum": "∑",
    "prod": "∏",
    "dots": "…",
    "cdot": "·",
    "mid": "|",
    "Rightarrow": "⇒",
    "to": "→",
    "{": "{",
    "}": "}",
    "|": "|",
}
OPEN = "{"
NAMES = ("log", "max", "min", "deg", "Pr")
"""Signs that are words: set upright, with a thin space on both sides."""
GREEK = {"epsilon": "ε", "delta": "δ", "pi": "π", "lambda": "λ"}
DRAWN = {
    "hat": '<mover accent="true">{}<mo>^</mo></mover>',
    "bar": '<mover accent="true">{}<mo>¯</mo></mover>',
    "sqrt": "<msqrt>{}</msqrt>",
}
"""What goes around its argument."""
_TOKEN = re.compile(r"\\text\{[^{}]*\}|\\[A-Za-z]+|\\.|[0-9.]+|[^\s]")
_BLOCK = re.compile(r"^\$\$(.+?)\$\$$", re.MULTILINE | re.DOTALL)


def mathml(formula: str, *, label: str = "") -> str:
    r"""A formula as an element of its own line.

    Args:
        formula: in the small part of TeX.
        label: how it is read aloud, where the formula itself is not enough.

    Raises:
        ValueError: a command that is not known, or braces that do not fit.

    >>> mathml(r"e^\epsilon")
    '<math display="block"><mrow><msup><mi>e</mi><mi>ε</mi></msup></mrow></math>'
    """
    tokens = iter(_TOKEN.findall(formula))
    spoken = f' aria-label="{escape(label)}"' if label else ""
    return f'<math display="block"{spoken}>{_row(tokens, "")}</math>'


def with_formulas(text: str) -> Iterator[tuple[bool, str]]:
    r"""The parts of a text in their order: whether each is a formula, and what it is.

    >>> list(with_formulas("A\n\n$$x$$\n\nB"))
    [(False, 'A\n\n'), (True, 'x'), (False, '\n\nB')]
    """
    for place, part in enumerate(_BLOCK.split(text)):
        if part.strip():
            yield place % 2 == 1, part


def _row(tokens: Iterator[str], end: str) -> str:
    found: list[str] = []
    for token in tokens:
        if token == end:
            break
        if token in ("^", "_"):
            _script(found, token, _argument(tokens))
        else:
            found.append(_atom(token, tokens))
    else:
        if end:
            raise ValueError("a brace of a formula is not closed")
    return f"<mrow>{''.join(found)}</mrow>"


def _argument(tokens: Iterator[str]) -> str:
    token = next(tokens, "")
    return _row(tokens, "}") if token == OPEN else _atom(token, tokens)


def _script(found: list[str], sign: str, script: str) -> None:
    """Put a script on what stands last; a second one joins the first."""
    base = found.pop() if found else "<mrow></mrow>"
    wide = "∑" in base or "∏" in base
    under, over = ("munder", "mover") if wide else ("msub", "msup")
    name = under if sign == "_" else over
    earlier = re.fullmatch(rf"<{under}>(.*)</{under}>", base, re.DOTALL)
    if sign == "^" and earlier:
        name, base = ("munderover" if wide else "msubsup"), earlier[1]
    found.append(f"<{name}>{base}{script}</{name}>")


def _atom(token: str, tokens: Iterator[str]) -> str:
    if token == OPEN:
        return _row(tokens, "}")
    if token.startswith("\\"):
        return _command(token[1:], tokens)
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token.isalpha():
        return f"<mi>{token}</mi>"
    return _sign({"-": "\N{MINUS SIGN}", "'": "\N{PRIME}"}.get(token, token))


def _sign(text: str) -> str:
    """An operator; brackets keep the height of the line, and bars stand close."""
    how = ' stretchy="false"' if text in "()[]{}|" else ""
    if text == "|":
        how += ' lspace="0.1em" rspace="0.1em"'
    if text in NAMES:
        how = ' lspace="0.17em" rspace="0.17em"'
    return f"<mo{how}>{escape(text)}</mo>"


def _command(name: str, tokens: Iterator[str]) -> str:
    if name.startswith("text{"):
        return f"<mtext>{escape(name[5:-1])}</mtext>"
    if name == "frac":
        above, below = _argument(tokens), _argument(tokens)
        return f"<mfrac>{above}{below}</mfrac>"
    if name in DRAWN:
        return DRAWN[name].format(_argument(tokens))
    if name in GREEK:
        return f"<mi>{GREEK[name]}</mi>"
    if name == "quad":
        return '<mspace width="1.5em"></mspace>'
    if name in SIGNS or name in NAMES:
        return _sign(SIGNS.get(name, name))
    raise ValueError(f"no such command in a formula: {name}")
