"""The space, and cells of it."""

from __future__ import annotations

from hypothesis import strategies as st

from foresee.spaces.nasbench201 import OPS, Architecture, NASBench201

SPACE = NASBench201()
cells = st.tuples(*[st.sampled_from(OPS)] * 6).map(Architecture)


def uniform(op: str) -> Architecture:
    """The cell with one operation on all edges."""
    return Architecture((op,) * 6)
