"""Statements of the papers, measured on networks: both sides, where each holds, and where a printed step does not.

One file per statement, one function in each, which gives a `Statement`. Exact steps of a proof hold on every network; bounds
that need infinite width or hide a constant are measured, and what is unknown of them is said.
"""

from __future__ import annotations

from foresee.insight.theory.statement import Condition, Statement, Step

__all__ = ["Statement", "Step", "Condition"]
