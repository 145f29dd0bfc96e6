"""The networks that people build stages of inverted bottlenecks into: all that a search does not decide, and what it does.

| design | network of its own | widths | decided for each |
|---|---|---|---|
| `mnasnet` | MnasNet-A1 (Tan et al., CVPR 2019) | 24 to 320 | stage |
| `mnasnet_b1` | MnasNet-B1, without squeeze-and-excitation | 24 to 320 | stage |
| `mobilenet_v2` | MobileNetV2 (Sandler et al., CVPR 2018) | 24 to 320 | stage |
| `mobilenet_v3` | MobileNetV3-Large (Howard et al., ICCV 2019) | 24 to 160 | layer |
| `mobilenet_v3_small` | MobileNetV3-Small | 16 to 96 | layer |
| `ofa` | once-for-all (Cai et al., ICLR 2020): the frame of MobileNetV3-Large | 24 to 160 | layer |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

#: whether channels are re-weighted in a stage
SQUEEZES = ("no", "yes", "free")
#: of what one decision is
EACH = ("stage", "layer")
ACTIVATIONS = ("relu", "relu6", "hard_swish", "swish")


@dataclass(frozen=True)
class Design:
    """All sizes of a network but those of its layers, and what there is to choose from.

    Args:
        widths: channels of each stage.
        strides: of each stage's first layer.
        expansions: factors to choose from.
        kernels: sides to choose from.
        layers: numbers of layers to choose from.
        squeeze: for each stage `no`, `yes` or `free`.
        each: whether expansion, kernel and squeeze are decided for each `stage` or for each `layer`.
        stem: channels of the first convolution.
        stem_stride: its stride.
        first: channels of a separable layer behind it, of kernel 3 and no expansion; 0 where there is none.
        head: channels of the last convolution.
        features: units of a hidden layer before the classifier; 0 where there is none.
        features_bias: whether they have a bias.
        activation: one of `ACTIVATIONS`.
        relu_stages: stages, from the front, that have ReLUs whatever the activation is, and so has the first layer.
        squeeze_of: whether the gate's inner width is a quarter of the `hidden` channels, rounded to eights, or of the
            `inputs`.
        hard_gate: whether the gate is the cheap form of the sigmoid.
        named: published networks by name.
    """

    widths: tuple[int, ...]
    strides: tuple[int, ...]
    expansions: tuple[float, ...] = (3.0, 6.0)
    kernels: tuple[int, ...] = (3, 5)
    layers: tuple[int, ...] = (1, 2, 3, 4)
    squeeze: tuple[str, ...] = ("free",) * 6
    each: str = "stage"
    stem: int = 32
    stem_stride: int = 2
    first: int = 16
    head: int = 1280
    features: int = 0
    features_bias: bool = True
    activation: str = "relu"
    relu_stages: int = 0
    squeeze_of: str = "inputs"
    hard_gate: bool = False
    named: Mapping[str, str] = field(default_factory=dict, hash=False)


_MNASNET = Design(
    widths=(24, 40, 80, 112, 160, 320),
    strides=(2, 2, 2, 1, 2, 1),
    named={"MnasNet_A1": "e6k3x2:e3k5sx3:e6k3x4:e6k3sx2:e6k5sx3:e6k3"},
)
_LARGE = Design(
    widths=(24, 40, 80, 112, 160),
    strides=(2, 2, 2, 1, 2),
    expansions=(2.3, 2.5, 3.0, 4.0, 6.0),
    layers=(2, 3, 4),
    squeeze=("no", "yes", "no", "yes", "yes"),
    each="layer",
    stem=16,
    head=960,
    features=1280,
    activation="hard_swish",
    relu_stages=2,
    squeeze_of="hidden",
    hard_gate=True,
    named={"MobileNetV3_Large": "e4k3+e3k3:e3k5sx3:e6k3+e2.5k3+e2.3k3x2:e6k3sx2:e6k5sx3"},
)

DESIGNS: dict[str, Design] = {
    "mnasnet": _MNASNET,
    "mnasnet_b1": replace(
        _MNASNET,
        widths=(24, 40, 80, 96, 192, 320),
        squeeze=("no",) * 6,
        named={"MnasNet_B1": "e3k3x3:e3k5x3:e6k5x3:e6k3x2:e6k5x4:e6k3"},
    ),
    "mobilenet_v2": Design(
        widths=(24, 32, 64, 96, 160, 320),
        strides=(2, 2, 2, 1, 2, 1),
        squeeze=("no",) * 6,
        activation="relu6",
        named={"MobileNetV2": "e6k3x2:e6k3x3:e6k3x4:e6k3x3:e6k3x3:e6k3"},
    ),
    "mobilenet_v3": _LARGE,
    "mobilenet_v3_small": replace(
        _LARGE,
        widths=(16, 24, 40, 48, 96),
        strides=(2, 2, 2, 1, 2),
        expansions=(1.0, 3.0, 3.67, 4.0, 4.5, 6.0),
        layers=(1, 2, 3),
        squeeze=("yes", "no", "yes", "yes", "yes"),
        first=0,
        head=576,
        features=1024,
        named={"MobileNetV3_Small": "e1k3s:e4.5k3+e3.67k3:e4k5s+e6k5sx2:e3k5sx2:e6k5sx3"},
    ),
    "ofa": replace(
        _LARGE,
        expansions=(3.0, 4.0, 6.0),
        kernels=(3, 5, 7),
        features_bias=False,
        named={
            "greatest": "e6k7x4:e6k7sx4:e6k7x4:e6k7sx4:e6k7sx4",
            "smallest": "e3k3x2:e3k3sx2:e3k3x2:e3k3sx2:e3k3sx2",
        },
    ),
}
