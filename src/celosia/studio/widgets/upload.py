"""Bring a file: its size is limited, its name is only shown, and it is read before it is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape
from pathlib import PurePath
from typing import Any

from nicegui import ui

from celosia.studio.language import _, number
from celosia.studio.running import studio
from celosia.studio.settings import MEGABYTE
from celosia.studio.visitors import Work

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".jsonl", ".ndjson", ".json")

_HEAD = """<div class="row items-center no-wrap q-pa-sm celosia-upload">
<div class="col" v-pre>{told}</div>
<q-spinner v-if="props.isUploading" size="1.5rem" aria-hidden="true"></q-spinner>
<q-btn v-else flat icon="upload_file" aria-label="{choose}" title="{choose}"
  @click="props.pickFiles">
<q-uploader-add-trigger></q-uploader-add-trigger></q-btn>
</div>"""
"""The head of the box; both texts are our own, and escaped."""


def upload(
    begin: Callable[[], Work],
    done: Callable[[Work, str, str], Awaitable[None] | None],
    *,
    suffixes: tuple[str, ...] = SUFFIXES,
    name: str = "upload",
    label: str | None = None,
) -> ui.upload:
    """A place to drop a file.

    Args:
        begin: gives the work that the file belongs to.
        done: called with the work, the file's name in it (ours: `upload` and a known suffix) and
            what the visitor called it (to be shown, never to be opened).
        suffixes: the kinds of files.
        name: what the file is called in its work, without a suffix.
        label: what is asked for.
    """
    most = studio().settings.most_upload

    async def arrived(event: Any) -> None:
        box.reset()  # so that another file can be brought
        shown = PurePath(str(event.file.name).replace("\\", "/")).name
        suffix = PurePath(shown).suffix.lower()
        if suffix not in suffixes:
            ui.notify(
                _(
                    "This kind of file is not read here. Known are: {kinds}",
                    kinds=", ".join(suffixes),
                ),
                type="negative",
            )
            return
        work = begin()
        file = f"{name}{suffix}"
        await event.file.save(work.path(file))
        result = done(work, file, shown[:100])
        if isinstance(result, Awaitable):
            await result

    told = label or _(
        "Drop a file here, or choose one (at most {size} MB)", size=number(most / MEGABYTE)
    )
    box = ui.upload(
        max_file_size=most,
        max_files=1,
        auto_upload=True,
        on_upload=arrived,
        on_rejected=lambda: ui.notify(
            _("The file is larger than {size} MB.", size=number(most / MEGABYTE)), type="negative"
        ),
        label=told,
    )
    # The toolkit's own head has a button without a name, and speaks of 0.0B and 0.00%.
    box.add_slot("header", _HEAD.format(told=escape(told), choose=escape(_("Choose a file"))))
    return box.props(f'accept="{",".join(suffixes)}" flat bordered').classes("w-full")
