"""What measurements are made with: `Row` is what is measured, `How` how; the suite runs them, the history remembers them."""

from perf.harness.rows import How, Row, SkippedError, Times

__all__ = ["How", "Row", "SkippedError", "Times"]
