"""NAS-Bench-1Shot1: three spaces of NAS-Bench-101 cells, and their one-shot network."""

from __future__ import annotations

from foresee.spaces.nasbench1shot1.one_shot import ChoiceBlocks, PathNetwork
from foresee.spaces.nasbench1shot1.space import (
    NASBench1Shot1,
    NASBench1Shot1S1,
    NASBench1Shot1S2,
    NASBench1Shot1S3,
)

__all__ = [
    "ChoiceBlocks",
    "NASBench1Shot1",
    "NASBench1Shot1S1",
    "NASBench1Shot1S2",
    "NASBench1Shot1S3",
    "PathNetwork",
]
