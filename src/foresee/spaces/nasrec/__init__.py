"""NASRec: recommender networks of blocks that mix dense and sparse features.

>>> from foresee.spaces.nasrec import NASRecFull, criteo_task
>>> space, task = NASRecFull(), criteo_task(100)
>>> network = space.build(space.named["Criteo_Full_best"], task)
>>> network(*task.example(batch=2)).shape
torch.Size([2, 1])
"""

from __future__ import annotations

from foresee.spaces.nasrec.architecture import Architecture, Block
from foresee.spaces.nasrec.network import Network
from foresee.spaces.nasrec.one_shot import NASRecOneShot
from foresee.spaces.nasrec.space import NASRec, NASRecFull, NASRecSmall, avazu_task, criteo_task, kdd_task

__all__ = [
    "Architecture",
    "Block",
    "NASRec",
    "NASRecFull",
    "NASRecOneShot",
    "NASRecSmall",
    "Network",
    "avazu_task",
    "criteo_task",
    "kdd_task",
]
