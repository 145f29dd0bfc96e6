"""The size space of NATS-Bench: one fixed cell, five widths; 32,768 networks.

Stem, cell, reduction, cell, reduction, cell, BN-ReLU, global average, linear: the text `c1:c2:c3:c4:c5` gives the channels
after each of the five blocks in the middle (the stem has c1 as well).

>>> space = NATSSize()
>>> one = space.parse("8:16:32:48:64")
>>> space.counts(one, Task((3, 32, 32), 10))
Counts(params=251394, macs=26780288)
>>> space.benchmark_flops(one, Task((3, 32, 32), 10))
26780298

`architecture` is five widths, `network` and `counts` what is built and counted; `space` is the space, and `one_shot` holds
all widths at once.
"""

from __future__ import annotations

from foresee.spaces.nats_size.architecture import Architecture
from foresee.spaces.nats_size.network import Network
from foresee.spaces.nats_size.one_shot import NATSSizeOneShot
from foresee.spaces.nats_size.space import NATSSize
from foresee.task import Task

__all__ = ["Architecture", "NATSSize", "NATSSizeOneShot", "Network", "Task"]
