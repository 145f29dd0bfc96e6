"""DARTS: a normal and a reduction cell, stacked; the space of DARTS, NAS-Bench-301, NASI, NESBS and HNAS.

>>> from foresee import spaces
>>> space = spaces.get("darts")
>>> space.counts(space.named["DARTS_V2"], Task((3, 32, 32), 10)).params
3349342

`cells` are the architectures, `text` their written forms, `named` the published ones; `operations` and `network` are what
is built and counted; `space` and `nasi` are the two spaces, and `one_shot` holds all operations at once.
"""

from __future__ import annotations

from foresee.spaces.darts.cells import OPS, Architecture, Cell, depth, width
from foresee.spaces.darts.nasi import DARTSNASI, NASIOneShot
from foresee.spaces.darts.network import DropPath, Network
from foresee.spaces.darts.one_shot import DARTSOneShot
from foresee.spaces.darts.space import DARTS
from foresee.spaces.darts.text import to_config, to_pairs
from foresee.task import Task

__all__ = [
    "Architecture",
    "Cell",
    "DARTS",
    "DARTSNASI",
    "DARTSOneShot",
    "DropPath",
    "NASIOneShot",
    "Network",
    "OPS",
    "Task",
    "depth",
    "to_config",
    "to_pairs",
    "width",
]
