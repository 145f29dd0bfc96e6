"""When memory runs out: what can be computed in parts exactly, and what a pass will need before it runs.

A batch can be cut where its samples do not influence each other, which batch statistics (BatchNorm) make them do, and where
the look is a sum or a list over samples: the loss, its gradients, the outputs and the input Jacobian.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from foresee.counting import stored_bytes
from foresee.handed import as_batches

#: looks that the parts of a batch add up to, or line up to
MEANS, LISTS = ("loss", "gradients"), ("outputs", "jacobian")


def can_split(network: nn.Module, look: str, given_loss: Any) -> bool:
    """Whether a look at a batch is exactly that of its parts together; a loss handed over need not be a mean."""
    if any(isinstance(module, _BatchNorm) for module in network.modules()):
        return False
    return look in LISTS or (look in MEANS and (given_loss is None or isinstance(given_loss, str)))


def joined(look: str, found: Sequence[Any], sizes: Sequence[int]) -> Any:
    """One look from those at the parts of a batch.

    >>> joined("loss", [torch.tensor(1.0), torch.tensor(4.0)], [2, 1])
    tensor(2.)
    """
    if look in LISTS:
        return torch.cat(list(found))
    if look == "loss":
        return _mean(found, sizes)
    shares = [(part, size) for part, size in zip(found, sizes, strict=True)]
    names = dict.fromkeys(name for part in found for name in part)
    return {
        name: _mean([p[name] for p, _ in shares if name in p], [s for p, s in shares if name in p], sum(sizes))
        for name in names
    }


def _mean(parts: Sequence[Tensor], sizes: Sequence[int], total: int | None = None) -> Tensor:
    weighted = [part * (size / (total or sum(sizes))) for part, size in zip(parts, sizes, strict=True)]
    return torch.stack(weighted).sum(0)


def predicted_bytes(network: nn.Module, batch: Any) -> int:
    """What a forward + backward run over a batch will hold at most, beside the network: activations and gradients.

    Known beforehand: the network runs without numbers, on the meta device. `batch` is what `score` takes; of several batches
    the largest counts, since they run one after the other.

    >>> predicted_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU()), torch.zeros(2, 4)) == 96 + 4 * (4 * 8 + 8)
    True
    """
    return gradient_bytes(network) + max(stored_bytes(network, one.inputs) for one in as_batches(batch))


def gradient_bytes(network: nn.Module) -> int:
    """What the gradients of all trainable parameters take."""
    return sum(p.numel() * p.element_size() for p in network.parameters() if p.requires_grad)


#: what allocators say, of CPUs (Linux, Windows, C++) and of devices
_NO_MEMORY = (
    "can't allocate memory",
    "DefaultCPUAllocator",
    "not enough memory",
    "bad_alloc",
    "out of memory",
    "ALLOC_FAILED",
)


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on any device."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and any(words in str(error) for words in _NO_MEMORY)
    )
