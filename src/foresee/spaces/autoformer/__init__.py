"""AutoFormer: vision transformers whose width, depth, heads and hidden layers are chosen; tiny, small and base."""

from __future__ import annotations

from foresee.spaces.autoformer.architecture import Architecture
from foresee.spaces.autoformer.one_shot import AutoFormerOneShot
from foresee.spaces.autoformer.space import AutoFormer, AutoFormerBase, AutoFormerSmall, AutoFormerTiny

__all__ = [
    "Architecture",
    "AutoFormer",
    "AutoFormerBase",
    "AutoFormerOneShot",
    "AutoFormerSmall",
    "AutoFormerTiny",
]
