"""NAS-Bench-201: one cell of four nodes, repeated; 15,625 of them.

Six edges, each with one of five operations; a node is the sum of what comes in, the last node is the cell's output. The
network (C channels, N cells a stage): 3x3 stem, N cells, reduction to 2C, N cells, reduction to 4C, N cells, BN-ReLU,
global average, linear. The benchmark has C = 16, N = 5.

>>> space = NASBench201()
>>> cell = space.named["ResNet"]
>>> str(cell)
'|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|skip_connect~2|'
>>> space.counts(cell, Task((3, 32, 32), 10))
Counts(params=559386, macs=78561920)

`architecture` is a cell and its text, `identity` which of them are one, `network` and `counts` what is built and counted;
`space` is the space, and `one_shot` holds all operations at once.
"""

from __future__ import annotations

from foresee.spaces.four_nodes import EDGES, Cell
from foresee.spaces.nasbench201.architecture import OPS, Architecture
from foresee.spaces.nasbench201.network import Network
from foresee.spaces.nasbench201.one_shot import NASBench201OneShot
from foresee.spaces.nasbench201.space import NASBench201
from foresee.task import Task

__all__ = ["Architecture", "Cell", "EDGES", "NASBench201", "NASBench201OneShot", "Network", "OPS", "Task"]
