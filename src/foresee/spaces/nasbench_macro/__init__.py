"""NAS-Bench-Macro: eight layers in three stages, each nothing or one of two inverted bottlenecks; 6,561 networks.

A digit for each layer: 0 the identity, 1 an inverted bottleneck of expansion 3 and kernel 3, 2 one of expansion 6 and kernel
5. The network: 3x3 stem, stages of 2, 3 and 3 layers whose first halves the map and doubles the channels, 1x1 convolution,
global average, linear.

>>> space = NASBenchMacro()
>>> space.counts(space.parse("00000001"), Task((3, 32, 32), 10))
Counts(params=791594, macs=14115328)
>>> space.canonical(space.parse("01001002"))
'01010020'

`architecture` is eight layers and their text, `network` and `counts` what is built and counted; `space` is the space, and
`one_shot` holds all layers at once.
"""

from __future__ import annotations

from foresee.spaces.nasbench_macro.architecture import OPS, STAGES, Architecture
from foresee.spaces.nasbench_macro.network import Network
from foresee.spaces.nasbench_macro.one_shot import NASBenchMacroOneShot
from foresee.spaces.nasbench_macro.space import NASBenchMacro
from foresee.task import Task

__all__ = ["Architecture", "NASBenchMacro", "NASBenchMacroOneShot", "Network", "OPS", "STAGES", "Task"]
