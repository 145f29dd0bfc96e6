"""Networks that change something while they run: their inputs, themselves, random states, the process."""
# mypy: disable-error-code="operator,assignment,no-any-return,attr-defined,index,method-assign,var-annotated,no-untyped-call"
# Residents break the rules of types as well.

from __future__ import annotations

import functools
import random
from collections import Counter, defaultdict, deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from foresee.testing.zoo.plain import Plain, resident


# -- inputs and buffers -------------------------------------------------------------------------------------------------
@resident("writes into its input")
class InPlace(Plain):
    """As a ReLU in place would, as the first layer."""

    def forward(self, x: Tensor) -> Tensor:
        """The input is half of itself afterwards."""
        return self.logits(x.mul_(0.5))


@resident("works in place all the way")
def _in_place_layers() -> nn.Module:
    made = Plain()
    made.features[1], made.features[3] = nn.ReLU(inplace=True), nn.ReLU(inplace=True)
    return made


@resident("writes into its buffers")
class Buffers(Plain):
    """BatchNorm, and a running mean of its own that steers the outputs and remembers a graph."""

    def __init__(self) -> None:
        super().__init__()
        self.features.append(nn.BatchNorm2d(8))
        self.register_buffer("running", torch.ones(3))
        self.register_buffer("unseen", torch.zeros(()), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """The mean of all logits so far is added."""
        logits = self.logits(x)
        self.running.mul_(0.9).add_(logits.mean(0))  # with its graph: a common mistake
        self.unseen += 1
        return logits + self.running.detach() * self.unseen


@resident("has a sparse buffer")
class Sparse(Plain):
    """A sparse mask that grows, in both layouts."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.eye(8).to_sparse())
        self.register_buffer("rows", torch.eye(8).to_sparse_csr())

    def forward(self, x: Tensor) -> Tensor:
        """Maps through the mask."""
        self.mask.add_(torch.ones(8, 8).to_sparse())
        self.rows.mul_(2)
        maps = self.pool(self.features(x)).flatten(1)
        weight = (self.mask.to_dense() + self.rows.to_dense()).to(maps.dtype)
        found: Tensor = self.head(maps @ weight)
        return found


@resident("gives its buffers another shape")
class Resizing(Plain):
    """Storage, shape and type of buffers change in place."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("grows", torch.zeros(2))
        self.register_buffer("turns", torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        """Neither has an influence, but for its size."""
        self.grows.resize_(self.grows.numel() + 1).fill_(1)
        self.turns.data = torch.ones(3, dtype=torch.float64)
        return self.logits(x) * self.grows.numel()


# -- itself -------------------------------------------------------------------------------------------------------------
@resident("counts its calls in many places")
class Counting(Plain):
    """Attributes, containers in containers, objects, arrays, tensors and modules in containers."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.history: list[Any] = [[], {"deep": []}, (deque([0], maxlen=3),)]
        self.counts, self.by_name = Counter(), defaultdict(list)
        self.loose = SimpleNamespace(calls=0, inside=SimpleNamespace(seen=[]))
        self.numbers, self.ready = np.zeros(2), (torch.zeros(2), [torch.ones(1)])
        self.scratch = {"plain": torch.zeros(3), "modules": [nn.BatchNorm1d(3, affine=False)]}

    def forward(self, x: Tensor) -> Tensor:
        """Every count steers the outputs."""
        self.calls += 1
        self.history[0].append(x)
        self.history[1]["deep"].append(self.calls)
        self.history[2][0].append(self.calls)
        self.counts["x"] += 1
        self.by_name["x"].append(1)
        self.loose.calls += 1
        self.loose.inside.seen.append(1)
        self.numbers += 1
        self.ready[0].add_(1)
        self.ready[1][0].mul_(2)
        self.scratch["plain"].add_(1)
        self.new = self.calls
        logits = self.logits(x)
        self.scratch["modules"][0].to(logits.dtype)(logits)
        grown = len(self.history[0]) + len(self.history[1]["deep"]) + sum(self.history[2][0]) + self.counts["x"]
        grown += len(self.by_name["x"]) + self.loose.calls + len(self.loose.inside.seen) + float(self.numbers.sum())
        grown += float(self.ready[0].sum() + self.ready[1][0].sum() + self.scratch["plain"].sum())
        return logits * grown * (1 + float(self.scratch["modules"][0].running_mean.sum()))


@resident("keeps a cache by the size of the batch")
class Caching(Plain):
    """A table of what it made, and a cached function of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[tuple[int, ...], Tensor] = {}

    def forward(self, x: Tensor) -> Tensor:
        """Adds a constant that is made at the first call of a size, as position embeddings are."""
        key = tuple(x.shape)
        if key not in self.cache:
            self.cache[key] = torch.randn(3).to(x.dtype)
        return self.logits(x) + self.cache[key]


@resident("changes its own mode")
class Modes(Plain):
    """Switches itself to eval and its parts to train."""

    def forward(self, x: Tensor) -> Tensor:
        """Twice the logits at the first call."""
        factor = 2 if self.training else 1
        self.eval()
        self.features.train()
        return self.logits(x) * factor


@resident("registers hooks while it runs")
class Hooking(Plain):
    """On a module, on a weight, on every module there is."""

    def forward(self, x: Tensor) -> Tensor:
        """Each hook doubles what comes."""
        self.head.register_forward_hook(lambda module, args, output: output * 2)
        if self.head.weight.requires_grad:
            self.head.weight.register_hook(lambda gradient: gradient * 2)
        nn.modules.module.register_module_forward_pre_hook(lambda module, args: None)
        return self.logits(x)


@resident("replaces its own parts")
class Replacing(Plain):
    """Weights, a submodule, a new one."""

    def forward(self, x: Tensor) -> Tensor:
        """Weights are halved by a new parameter at each call."""
        self.head.weight = nn.Parameter(self.head.weight.detach() / 2)
        self.pool = nn.AdaptiveMaxPool2d(1)
        self.more = nn.Linear(1, 1)
        return self.logits(x)


@resident("trains itself")
class Training(Plain):
    """Writes into its weights and gradients, freezes a part."""

    def forward(self, x: Tensor) -> Tensor:
        """Weights shrink at each call."""
        with torch.no_grad():
            self.head.weight.mul_(0.5)
        self.features[0].weight.data.mul_(0.5)
        self.head.bias.grad = torch.ones_like(self.head.bias)
        self.features[2].requires_grad_(False)
        return self.logits(x)


@resident("parametrises itself")
class Parametrising(Plain):
    """Puts another class in the place of a layer's at its first call."""

    def forward(self, x: Tensor) -> Tensor:
        """The weights of the head count double."""
        parametrize.register_parametrization(self.head, "weight", nn.Softplus())
        return self.logits(x)


@resident("replaces its forward")
def _own_forward() -> nn.Module:
    made = Plain()
    calls = 0

    def forward(x: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return made.logits(x) * calls

    made.forward = forward
    return made


@resident("has a forward with arguments bound")
def _partial() -> nn.Module:
    made = Plain()

    def forward(scale: list[float], x: Tensor) -> Tensor:
        scale[0] += 1
        return made.logits(x) * scale[0]

    made.forward = functools.partial(forward, [1.0])
    return made


# -- random numbers and the process -------------------------------------------------------------------------------------
@resident("draws random numbers")
class Drawing(Plain):
    """From Python, numpy and torch."""

    def forward(self, x: Tensor) -> Tensor:
        """Noise from three sources."""
        noise = random.random() + np.random.rand() + float(torch.rand(()))  # noqa: NPY002
        return self.logits(x) + noise * torch.randn(3).to(x)


@resident("seeds the process")
class Seeding(Plain):
    """Puts all generators to 0."""

    def forward(self, x: Tensor) -> Tensor:
        """With noise."""
        random.seed(0), np.random.seed(0), torch.manual_seed(0)  # noqa: NPY002
        return self.logits(x) + torch.randn(3).to(x)


@resident("has generators of its own")
class OwnGenerators(Plain):
    """Four kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.torchs, self.pythons = torch.Generator().manual_seed(1), random.Random(1)
        self.numpys, self.old = np.random.default_rng(1), np.random.RandomState(1)

    def forward(self, x: Tensor) -> Tensor:
        """Noise from all of them."""
        noise = self.pythons.random() + self.numpys.random() + self.old.rand()
        return self.logits(x) + noise * torch.randn(3, generator=self.torchs).to(x)


@resident("changes settings of the process")
class Settings(Plain):
    """The default type, and whether gradients are recorded."""

    def forward(self, x: Tensor) -> Tensor:
        """The logits."""
        logits = self.logits(x)
        torch.set_default_dtype(torch.float16)
        torch.set_grad_enabled(False)
        return logits
