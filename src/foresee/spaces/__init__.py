"""What can be built: spaces of architectures, their networks and their counts.

>>> from foresee import spaces
>>> "nasbench201" in spaces.names()
True
"""

from __future__ import annotations

from foresee.spaces.autoformer import AutoFormerBase, AutoFormerSmall, AutoFormerTiny
from foresee.spaces.base import Candidate, Counts, Graph, Space, get, spaces
from foresee.spaces.darts import DARTS, DARTSNASI
from foresee.spaces.mlp import MLP
from foresee.spaces.nasbench1shot1 import NASBench1Shot1S1, NASBench1Shot1S2, NASBench1Shot1S3
from foresee.spaces.nasbench101 import NASBench101
from foresee.spaces.nasbench201 import NASBench201
from foresee.spaces.nasrec import NASRecFull, NASRecSmall
from foresee.spaces.nats_size import NATSSize
from foresee.spaces.own import OwnSpace, load_object, own
from foresee.spaces.plainnet import MobileNet, ResNet
from foresee.spaces.robnet import RobNet
from foresee.spaces.transnas import TransNASMacro, TransNASMicro

__all__ = [
    "AutoFormerBase",
    "AutoFormerSmall",
    "AutoFormerTiny",
    "Candidate",
    "Counts",
    "DARTS",
    "DARTSNASI",
    "Graph",
    "MLP",
    "MobileNet",
    "NASBench101",
    "NASBench1Shot1S1",
    "NASBench1Shot1S2",
    "NASBench1Shot1S3",
    "NASBench201",
    "NASRecFull",
    "NASRecSmall",
    "NATSSize",
    "OwnSpace",
    "ResNet",
    "RobNet",
    "Space",
    "TransNASMacro",
    "TransNASMicro",
    "get",
    "load_object",
    "names",
    "own",
    "spaces",
]


def names(pattern: str = "*") -> list[str]:
    """Names of the registered spaces that match a wildcard pattern."""
    return spaces.names(pattern)
