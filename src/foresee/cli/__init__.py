"""The front door: one file per command. Importing it is light; `start` says why."""

from foresee.cli.start import main

__all__ = ["main"]
