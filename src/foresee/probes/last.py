"""The last layer of a network: what stays trainable where all else is frozen."""

from __future__ import annotations

from torch import nn

from foresee.errors import UnsupportedError


def last_layer(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters of the last layer by name: of what the network calls its `head`, or else of its last leaf with any.

    A head may be made of pieces (that of a NASRec network with inherited weights is): they are one layer.

    >>> list(last_layer(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))))
    ['2.weight', '2.bias']
    """
    head = getattr(network, "head", None)
    leaves = (
        [head] if isinstance(head, nn.Module) else [m for m in network.modules() if not any(True for _ in m.children())]
    )
    for module in reversed(leaves):
        own = {id(one) for one in module.parameters()}
        if own:
            return {name: one for name, one in network.named_parameters() if id(one) in own}
    raise UnsupportedError("the network has no last layer: nothing in it has parameters")
