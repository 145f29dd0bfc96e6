"""The block spaces of ZenNAS, which ZiCo and AZ-NAS search too: MobileNetV2-like and ResNet-like networks."""

from __future__ import annotations

from foresee.spaces.plainnet.architecture import Architecture, Block
from foresee.spaces.plainnet.space import MobileNet, PlainNet, ResNet

__all__ = ["Architecture", "Block", "MobileNet", "PlainNet", "ResNet"]
