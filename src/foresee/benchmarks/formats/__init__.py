"""The files in which measured accuracies are in circulation, one file of ours for each kind; `files` chooses among them."""

from __future__ import annotations

from foresee.benchmarks.formats.base import File, Format
from foresee.benchmarks.formats.files import FORMATS, load, save, writer

__all__ = ["FORMATS", "File", "Format", "load", "save", "writer"]
