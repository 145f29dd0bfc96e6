"""What people see: reports of runs as one self-contained HTML file, and comparisons of runs."""

from foresee.report.compare import compare
from foresee.report.html import render, write
from foresee.report.info import Info, summarise

__all__ = ["render", "write", "compare", "summarise", "Info"]
