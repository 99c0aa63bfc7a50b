"""The page that asks for the password: plain HTML, because nothing else is open to strangers."""

from __future__ import annotations

from html import escape

from celosia.studio.language import Language

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "title": "Celosía studio",
        "ask": "Password or token, from whoever started this studio",
        "enter": "Enter",
        "wrong": "That is not the password. After some wrong ones, answers take longer.",
        "late": "Too many attempts at the same time. This one was not checked: try it again.",
        "left": "You have left. Your work in this studio is removed.",
    },
    "es": {
        "title": "Estudio Celosía",
        "ask": "Contraseña o código, de quien ha abierto este estudio",
        "enter": "Entrar",
        "wrong": "Esa no es la contraseña. Tras varios errores, la respuesta tarda más.",
        "late": "Demasiados intentos a la vez. Este no se ha comprobado: pruebe de nuevo.",
        "left": "Ha salido. Su trabajo en este estudio se ha eliminado.",
    },
}
_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: system-ui, sans-serif; max-width: 24rem; margin: 15vh auto; padding: 0 1rem; }}
input, button {{ font: inherit; padding: .6rem; width: 100%; box-sizing: border-box;
  margin-top: .6rem; }}
[role=alert] {{ color: #b3261e; }}
@media (prefers-color-scheme: dark) {{ [role=alert] {{ color: #f2b8b5; }} }}
</style></head><body><main><h1>{title}</h1>{text}
<form method="post" action="/enter"><label>{ask}
<input name="password" type="password" autocomplete="current-password" autofocus required></label>
<button>{enter}</button></form></main></body></html>"""


def page(language: Language, *, fault: str | None = None, note: str | None = None) -> str:
    """The page, with what went wrong at the last attempt or something else worth knowing."""
    words = WORDS[language]
    text = "" if fault is None else f'<p role="alert">{escape(words[fault])}</p>'
    if note is not None:
        text += f'<p role="status">{escape(words[note])}</p>'
    return _PAGE.format(
        language=language,
        title=escape(words["title"]),
        ask=escape(words["ask"]),
        enter=escape(words["enter"]),
        text=text,
    )
