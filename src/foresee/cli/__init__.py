"""The front door: one file per command."""

from foresee.cli.entry import main

__all__ = ["main"]
