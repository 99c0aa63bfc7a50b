"""The command line: one module per command, each a translation of one public function."""

from celosia.cli.main import main

__all__ = ["main"]
