"""Cells of four nodes and six edges: those of NAS-Bench-201, of NATS-Bench's size space and of TransNAS-Bench-101.

`cell` is how they are wired, `network` the frame around them, `one_shot` holds all operations on every edge at once.
"""

from __future__ import annotations

from foresee.spaces.four_nodes.cell import EDGES, EDGES_INTO, NODES, Cell, loose_edges
from foresee.spaces.four_nodes.network import CellNetwork
from foresee.spaces.four_nodes.one_shot import CellOneShot, MixedCell

__all__ = ["EDGES", "EDGES_INTO", "NODES", "Cell", "CellNetwork", "CellOneShot", "MixedCell", "loose_edges"]
