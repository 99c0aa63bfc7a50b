"""A copy of the source in a temporary folder, in which mutations are planted and taken back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutations.mutations import PACKAGE, Mutation

KERNEL = "njit("


@dataclass(frozen=True)
class SourceCopy:
    """The folder to import from, with the compiled code of the original.

    Python and Numba recognise compiled code by the size and the time of its source file. The copy
    keeps these times, so only what a mutation changes is compiled again.
    """

    folder: Path

    @contextmanager
    def planted(self, mutation: Mutation) -> Iterator[dict[str, str]]:
        """Plant a mutation until the end of the block; yields variables for the environment.

        Raises:
            StaleMutationError: it does not fit the source.
        """
        path = self.folder / "celosia" / mutation.file
        original, times = path.read_text("utf-8"), path.stat()
        text = mutation.apply(original)
        try:
            path.write_text(text, "utf-8")
            _forget_bytecode(path)
            with TemporaryDirectory(prefix="celosia-kernels-") as kernels:
                # Numba does not notice that a function in another file has changed, so after a
                # change in a kernel all kernels are compiled again.
                yield {"NUMBA_CACHE_DIR": kernels} if KERNEL in original else {}
        finally:
            path.write_text(original, "utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            _forget_bytecode(path)


def _forget_bytecode(path: Path) -> None:
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


@contextmanager
def copied_source() -> Iterator[SourceCopy]:
    """Copy `src`, with the times of its files; the copy is removed at the end of the block."""
    with TemporaryDirectory(prefix="celosia-mutations-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(PACKAGE.parent, copy, ignore=shutil.ignore_patterns("*.egg-info"))
        yield SourceCopy(copy)
