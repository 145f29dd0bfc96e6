"""DSS: synaptic diversity of attention and synaptic saliency of the other layers, for vision transformers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.gradients.synflow import flow, saliency


@proxy(
    "dss",
    needs=Needs(data=False, backward=True, held=8.0),
    paper="Zhou et al., Training-free Transformer Architecture Search, CVPR 2022",
    cost="1 forward + backward run of one sample in float64, and two spectra per attention layer",
    variants={"reference": {"by_shape": True}},
)
def dss(probe: Probe, *, by_shape: bool = False) -> Tensor:
    r"""Attention: nuclear norm of the weights times that of their gradient; other linear layers: sum of |w g|.

    $$
    \sum_{W \in \mathrm{attention}} \left\Vert \frac{\partial R}{\partial W} \right\Vert_{\ast} \Vert W \Vert_{\ast} +
    \sum_{w \in \mathrm{other}} \left\vert w \frac{\partial R}{\partial w} \right\vert
    $$

    Formula: sum over the linear layers of attention of ||dR/dW||_* ||W||_* + sum over all other linear layers of |W dR/dW|,
    R the summed outputs of the network of absolute values for one sample of ones. Only linear layers count: a patch
    embedding that is a convolution does not.

    A linear layer belongs to attention if it, or a module that it lies in, is named or typed after attention ("attn",
    "attention", "qkv"), unless an MLP comes in between; the joint weights of `nn.MultiheadAttention` count as such a layer.

    Settings: `by_shape` takes square layers and those named "qkv" instead, the public code's rule; variant `reference` does.

    Needs no data but the shape of the input, and a transformer: without attention it is `unsupported`. Float64 throughout.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), nn.Flatten(), nn.Linear(32, 2))
    >>> score(net, torch.zeros(1, 4, 8), "dss").ok
    True
    """
    layers = linear_layers(probe.network, by_shape=by_shape)
    if not any(layers.values()):
        raise UnsupportedError("no attention layer: DSS is defined for transformers, this network is none")
    pairs = flow(probe, layers, norm=True)
    diversities = [diversity(w, g) for name, (w, g) in pairs.items() if layers[name]]
    saliencies = [saliency(w.flatten(), g.flatten()) for name, (w, g) in pairs.items() if not layers[name]]
    if not diversities:
        raise UnsupportedError("no attention layer has an influence on the outputs")
    return torch.stack([*diversities, *saliencies]).sum()


def diversity(weights: Tensor, gradients: Tensor) -> Tensor:
    """Product of the nuclear norms: (..., m, n) and (..., m, n) to (...)."""
    first, second = (torch.linalg.svdvals(matrix.double()).sum(-1) for matrix in (weights, gradients))
    product: Tensor = first * second
    return product


def linear_layers(network: nn.Module, *, by_shape: bool = False) -> dict[str, bool]:
    """The trainable weights of linear layers by name, each once, and whether they belong to attention.

    >>> linear_layers(nn.Sequential(nn.MultiheadAttention(4, 2), nn.Linear(4, 4)))
    {'0.in_proj_weight': True, '0.out_proj.weight': True, '1.weight': False}
    """
    names = {id(parameter): name for name, parameter in network.named_parameters() if parameter.requires_grad}
    inside: dict[str, bool] = {}
    found: dict[str, bool] = {}
    for path, module in network.named_modules():
        above, _, own = path.rpartition(".")
        inside[path] = _in_attention(own, module, inside.get(above, False)) if path else False
        matrices: list[tuple[Tensor | None, bool]] = []
        if isinstance(module, nn.MultiheadAttention):
            parts = ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")
            matrices = [(module._parameters.get(part), True) for part in parts]
        elif isinstance(module, nn.Linear):
            square = module.in_features == module.out_features
            matrices = [(module._parameters.get("weight"), "qkv" in own or square if by_shape else inside[path])]
        for matrix, attention in matrices:
            if id(matrix) in names:
                found.setdefault(names[id(matrix)], attention)
    return found


def _in_attention(name: str, module: nn.Module, above: bool) -> bool:
    """Whether a module belongs to attention: by its own name or type, or else as the module above it."""
    words = f"{name} {type(module).__name__}".lower()
    if any(part in words for part in ("attn", "attention", "qkv")):
        return True
    return above and not any(part in words for part in ("mlp", "ffn", "feedforward", "feed_forward"))
