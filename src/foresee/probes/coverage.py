"""How much of a network a look saw: no score may pass for one of the whole network when most of it was out of sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

#: a score that saw a smaller share of the weights has the status `partial`
LEAST = 0.5
#: one that saw a smaller share says so beside its value
NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Coverage:
    """Share of the weights that a look saw, and the names of those it did not see, the largest first."""

    share: float = 1.0
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, network: nn.Module, seen: Iterable[Tensor], missing: Iterable[Tensor]) -> Coverage:
        """From the parameters that were seen and those that were not; each counts by how many numbers it holds.

        >>> layer = nn.Bilinear(2, 3, 4)
        >>> Coverage.of(layer, [layer.bias], [layer.weight])
        Coverage(share=0.14285714285714285, missing=('weight',))
        """
        inside = {id(one): one for one in seen}
        outside = {id(one): one for one in missing if id(one) not in inside}
        if not outside:
            return cls()
        names = {id(parameter): name for name, parameter in network.named_parameters(remove_duplicate=False)}
        there, gone = (sum(one.numel() for one in some.values()) for some in (inside, outside))
        largest = sorted(outside.values(), key=lambda one: -one.numel())
        return cls(there / (there + gone), tuple(names.get(id(one), "?") for one in largest))

    def __str__(self) -> str:
        more = f" and {len(self.missing) - 3} more" if len(self.missing) > 3 else ""
        return f"{self.share:.0%} of the weights were seen; not seen: {', '.join(self.missing[:3])}{more}"


#: what has to be said beside a value: a sentence, or how much of the network it saw
Remark = str | Coverage


def matrices(network: nn.Module) -> dict[str, Tensor]:
    """Parameters that may be weights of layers, by name: floating, with two axes or more; a shared one once."""
    return {name: parameter for name, parameter in network.named_parameters() if _is_matrix(parameter)}


def weights_of(module: nn.Module) -> list[Tensor | None]:
    """Weights of a module itself, if it is a layer; None for one that is computed (parametrised)."""
    if isinstance(module, torch.jit.ScriptModule):  # it remembers what it was by name only
        table = getattr(module, "original_name", "") in ("Embedding", "EmbeddingBag")
        return [
            p for name, p in module.named_parameters(recurse=False) if "weight" in name and _is_matrix(p) and not table
        ]
    own = module._parameters  # asking the module would compute a weight that is parametrised
    if isinstance(module, nn.Linear | _ConvNd):
        return [own.get("weight")]
    if isinstance(module, _TABLES):
        return []
    return [
        p for name, p in own.items() if p is not None and p.ndim == 2 and "weight" in name and p.is_floating_point()
    ]


def layered(network: nn.Module) -> Iterator[Tensor]:
    """All matrices of the network that are no tables to be looked up in."""
    for module in network.modules():
        if not isinstance(module, _TABLES):
            yield from (p for p in module._parameters.values() if p is not None and _is_matrix(p))


def _is_matrix(parameter: Tensor) -> bool:
    return parameter.ndim > 1 and parameter.is_floating_point()


_TABLES = (nn.Embedding, nn.EmbeddingBag)
