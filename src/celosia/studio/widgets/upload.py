"""Bring a file: its size is limited, its name is only shown, and it is read before it is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape
from pathlib import PurePath
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio import shell
from celosia.studio.error_page import Reason, explanation
from celosia.studio.language import _, number
from celosia.studio.runtime import studio
from celosia.studio.settings import MEGABYTE
from celosia.studio.visitors import Work

SUFFIXES = (
    *(".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".jsonl", ".ndjson", ".json"),
    *(".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"),
)

_HEAD = """<div class="row items-center no-wrap q-pa-sm celosia-upload">
<div class="col" v-pre>{text}</div>
<q-spinner v-if="props.isUploading" size="1.5rem" aria-hidden="true"></q-spinner>
<q-btn v-else flat icon="upload_file" aria-label="{choose}" title="{choose}"
  @click="props.pickFiles"></q-btn>
<div class="hidden"><q-uploader-add-trigger></q-uploader-add-trigger></div>
</div>"""
"""The head of the box; both texts are our own, and escaped.

The toolkit's field for the file has no name and would be a control inside a control: the button,
which has a name, opens it.
"""


def upload(
    begin: Callable[[], Work],
    done: Callable[[Work, str, str], Awaitable[None] | None],
    *,
    suffixes: tuple[str, ...] = SUFFIXES,
    name: str = "upload",
    label: str | None = None,
) -> ui.upload:
    """A place to drop a file, and below it what became of the last one.

    Args:
        begin: gives the work that the file belongs to.
        done: called with the work, the file's name in it (ours: `upload` and a known suffix) and
            what the visitor called it (to be shown, never to be opened). It draws below the box.
        suffixes: the kinds of files.
        name: what the file is called in its work, without a suffix.
        label: what is asked for.
    """
    most = studio().settings.most_upload

    async def arrived(event: Any) -> None:
        box.reset()  # so that another file can be brought
        shown = PurePath(str(event.file.name).replace("\\", "/")).name
        suffix = PurePath(shown).suffix.lower()
        place.clear()
        with place:
            if suffix not in suffixes:
                return _unknown_kind(suffixes)
            try:
                work = begin()
                file = f"{name}{suffix}"
                await event.file.save(work.path(file))
                result = done(work, file, shown[:100])
                if isinstance(result, Awaitable):
                    await result
            except CelosiaError as error:
                shell.show_error(error, attend=True)
            except Exception as error:  # such as a disk that is full
                shell.show_error(shell.fault(error), attend=True)

    def rejected(event: Any) -> None:
        place.clear()
        with place:
            if "accept" in event.args:
                _unknown_kind(suffixes)
            else:
                _too_large(most)

    def failed(event: Any) -> None:
        box.reset()
        place.clear()
        with place:
            _refused(int(event.args))

    text = label or _(
        "Drop a file here, or choose one (at most {size} MB)", size=number(most / MEGABYTE)
    )
    box = ui.upload(
        max_file_size=most, max_files=1, auto_upload=True, on_upload=arrived, label=text
    )
    # What the browser itself turned away, and what the server did.
    box.on(
        "rejected", rejected, js_handler="(all) => emit(all.map((one) => one.failedPropValidation))"
    )
    box.on("failed", failed, js_handler="(info) => emit(info.xhr ? info.xhr.status : 0)")
    # The toolkit's own head has a button without a name, and speaks of 0.0B and 0.00%.
    box.add_slot("header", _HEAD.format(text=escape(text), choose=escape(_("Choose a file"))))
    place = ui.element("div").classes("w-full q-mt-sm").props("data-test=upload-result")
    return box.props(f'accept="{",".join(suffixes)}" flat bordered').classes("w-full")


def _unknown_kind(suffixes: tuple[str, ...]) -> None:
    shell.show_problem(
        _("This kind of file is not read here."),
        _("The file format is recognised by the file extension."),
        _("Bring one of these kinds: {kinds}", kinds=", ".join(suffixes)),
    )


def _too_large(most: int) -> None:
    shell.show_problem(
        _("The file is larger than {size} MB.", size=number(most / MEGABYTE)),
        _("All visitors share the same machine."),
        _("Bring a smaller file, or use the command line, which has no such limit."),
    )


def _refused(status: int) -> None:
    """What the server said of a file that it did not take; 0 where it said nothing."""
    reasons: dict[int, Reason] = {413: "file-large", 429: "busy", 403: "no-page"}
    if status in reasons or status >= 500:
        found = explanation(reasons.get(status, "fault"))
        return shell.show_problem(found.what, found.why, found.fix)
    shell.show_problem(
        _("The upload failed."),
        _("The connection to the studio was lost during the upload."),
        _("See whether the studio still runs, then bring the file again."),
    )
