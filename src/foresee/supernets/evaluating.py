"""How good a network is on a data set, and batch statistics that fit its weights.

Shared weights leave a network with statistics of many others. They are estimated again on a copy: the mean over some
batches of each layer's mean and variance, with nothing trained, and what the copy was made of stays as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import islice

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from foresee.batch import Batch
from foresee.data import Data
from foresee.training.evaluations import Evaluation, evaluate, reestimate

#: batches that statistics are estimated on, and samples in each
BATCHES, SIZE = 20, 128


def own(network: nn.Module) -> nn.Module:
    """A copy with weights of its own, each as large as it looks (a view does not bring along what it is a view of).

    >>> whole = torch.rand(100, 100)
    >>> part = nn.Linear(2, 2)
    >>> part.weight = nn.Parameter(whole[:2, :2])
    >>> own(part).weight.untyped_storage().nbytes()
    16
    """
    tensors = [*network.parameters(), *network.buffers()]
    memo: dict[int, object] = {}
    for one in tensors:
        plain = one.detach().clone(memory_format=torch.contiguous_format)
        memo[id(one)] = nn.Parameter(plain, one.requires_grad) if isinstance(one, nn.Parameter) else plain
    return copy.deepcopy(network, memo)


def running(network: nn.Module) -> list[_BatchNorm]:
    """The layers that keep statistics of their batches."""
    return [one for one in network.modules() if isinstance(one, _BatchNorm) and one.running_mean is not None]


def settled(network: nn.Module, batches: Iterable[Batch]) -> nn.Module:
    """The network in evaluation mode with statistics of these batches, on a copy; itself where it has none to estimate."""
    if not running(network):
        return network.eval()
    copied = own(network).eval()
    device = next(copied.parameters()).device
    reestimate(copied, batches, moved=lambda batch: batch.to(device))
    return copied


def judge(network: nn.Module, data: Data, *, size: int = 256) -> Evaluation:
    """What a network does, as it is, on all samples of a data set."""
    device = next((one.device for one in network.parameters()), torch.device("cpu"))
    batches = data.epoch(min(size, data.epoch_samples), shuffle=False)
    return evaluate(network, batches, moved=lambda batch: batch.to(device))


def looks(data: Data, *, seed: int = 0, batches: int = BATCHES, size: int = SIZE) -> Iterable[Batch]:
    """Batches to estimate statistics on: the first of an epoch."""
    size = min(size, data.epoch_samples)
    return islice(data.epoch(size, seed=seed, drop_last=True), batches)
