"""NAS-Bench-101: its cells, their published hash, its networks, and the list of all cells."""

from __future__ import annotations

from foresee.spaces.nasbench101.cell import OPS, Architecture, published_hash
from foresee.spaces.nasbench101.network import Network
from foresee.spaces.nasbench101.space import NASBench101

__all__ = ["OPS", "Architecture", "NASBench101", "Network", "published_hash"]
