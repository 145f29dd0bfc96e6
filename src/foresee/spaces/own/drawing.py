"""A picture of any network, found by running it once, at a granularity that can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torch import nn

from foresee.batch import Inputs
from foresee.spaces.own.boxes import Drawing
from foresee.spaces.own.folding import folded
from foresee.spaces.own.tracing import IsBox, trace

#: a picture with so many boxes can be read; with more of them, parts are drawn as one box
READABLE = 24
#: modules of torch that only hold others
CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.Transformer, nn.TransformerEncoder, nn.TransformerDecoder)


def drawing_of(network: nn.Module, inputs: Inputs) -> Drawing:
    """The network as boxes and lines: its layers, or where these are too many its parts, as few levels up as needed.

    >>> import torch
    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
    >>> [box.title for box in drawing_of(net, torch.zeros(1, 3, 8, 8)).boxes]
    ['input', 'Conv2d 3×3, 3 → 8', 'Linear 288 → 10', 'output']
    """
    found: Drawing | None = None
    for is_box in _levels(network):
        made = folded(trace(network, inputs, is_box))
        if found is None or len(made.boxes) < len(found.boxes):
            found = made
        if len(found.boxes) <= READABLE:
            break
    assert found is not None
    return found


def _levels(network: nn.Module) -> Iterator[IsBox]:
    """What is a box, from the finest to the coarsest: layers; blocks that occur several times; all at a depth."""
    yield lambda name, module: is_layer(module)
    kinds = Counter(type(module) for module in network.modules() if not is_layer(module))
    blocks = {kind for kind, many in kinds.items() if many > 1 and kind not in CONTAINERS}
    yield lambda name, module: is_layer(module) or type(module) in blocks
    deepest = max((name.count(".") for name, _ in network.named_modules()), default=0)
    for depth in range(deepest - 1, -1, -1):
        yield lambda name, module, depth=depth: is_layer(module) or name.count(".") >= depth  # type: ignore[misc]


def is_layer(module: nn.Module) -> bool:
    """Whether a module is one thing to a reader: it holds no other, or torch made it so."""
    of_torch = type(module).__module__.startswith("torch.nn.") and not isinstance(module, CONTAINERS)
    return of_torch or next(module.children(), None) is None
