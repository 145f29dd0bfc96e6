"""Mobile networks: stages of inverted bottlenecks, as MnasNet, MobileNetV2, MobileNetV3 and once-for-all have them.

>>> space = Mobile(design="mobilenet_v2")
>>> one = space.named["MobileNetV2"]
>>> str(one)
'e6k3x2:e6k3x3:e6k3x4:e6k3x3:e6k3x3:e6k3'
>>> space.counts(one, Task((3, 224, 224), 1000))
Counts(params=3504872, macs=300774272)
>>> f"{Mobile(design='ofa').size:.2g}"
'2.2e+19'

`architecture` is layers and their text, `designs` the frames around them, `choices` what is decided, `network` and `counts`
what is built and counted; `space` is the space, and `one_shot` with `sliced` holds all sizes at once.
"""

from __future__ import annotations

from foresee.spaces.mobile.architecture import Architecture, Layer
from foresee.spaces.mobile.designs import DESIGNS, Design
from foresee.spaces.mobile.network import Network
from foresee.spaces.mobile.one_shot import MobileOneShot
from foresee.spaces.mobile.space import Mobile
from foresee.task import Task

__all__ = ["Architecture", "DESIGNS", "Design", "Layer", "Mobile", "MobileOneShot", "Network", "Task"]
