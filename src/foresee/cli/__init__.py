"""The front door: one file per command."""

from foresee.cli.app import main

__all__ = ["main"]
