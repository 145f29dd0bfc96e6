"""One-shot networks: all choices of a space in one module, with one set of weights.

    one_shot = space.one_shot(task)
    one_shot.select(architecture)(x)          # by a path: only what the architecture uses is computed
    one_shot.mix(weights)(x)                  # by mixture weights, one vector per choice
    one_shot.mix(one_shot.draw(logits))(x)    # one-hot values, soft gradients: differentiable in the logits, twice
    one_shot.inherit(architecture)            # the stand-alone network, its weights in the same storage

`choices` names what is decided; weights are a mapping from a choice's name to a vector over its options. An option whose
weight is exactly zero is not computed where no gradient goes through it, so a path costs one network. A straight-through draw
costs all of them, for what is not drawn has a gradient too; `mix(draw, gradient="chosen")` does without it, and costs one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.partial import make_bypass, partially
from foresee.spaces.staged import Staged
from foresee.spaces.weighing import Live, Present, live, on_host
from foresee.spaces.weighing import Weights as Weights  # a word of one-shot networks too

A = TypeVar("A")
#: which options a gradient by the weights goes through: all of them, or those alone whose weight is not zero
GRADIENTS = ("all", "chosen")


@dataclass(frozen=True)
class Choice:
    """One decision: its name and its options, in the order of the weights."""

    name: str
    options: tuple[str, ...]


class OneShot(nn.Module, ABC, Generic[A]):
    """Base of all one-shot networks. A fresh one is set to the uniform mixture.

    A subclass sets `choices` and builds itself of modules that read their weights from `self.live(name)` while it runs, and
    says how weights and architectures translate. A choice of several options at once (the inputs of a vertex that reads
    two) has their number in `counts`.
    """

    choices: tuple[Choice, ...]
    counts: Mapping[str, int] = {}

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__()
        names = [choice.name for choice in choices]
        if len(set(names)) < len(names):
            raise InputError(f"choices {', '.join(names)}: a name occurs twice")
        self.choices = tuple(choices)
        self.mix(self.uniform())

    # -- what is evaluated --------------------------------------------------------------------------------------------
    def mix(self, weights: Weights, *, gradient: str = "all") -> Self:
        """Evaluate with these weights from now on; they may carry gradients.

        With `gradient="chosen"` an option of weight zero is not computed even where its weight carries a gradient, which is
        lost: a straight-through draw costs one network and has the gradient of what was drawn alone (GDAS, Dong & Yang 2019).
        """
        if gradient not in GRADIENTS:
            raise UnknownNameError("gradient", str(gradient), GRADIENTS)
        host = on_host(weights)
        self.check(host)
        lost = gradient == "chosen"
        kept = {name: vector * (vector.detach() != 0) if lost else vector for name, vector in weights.items()}
        self._now = Present(kept, host, self._device())
        self.gradient = gradient
        return self

    def _device(self) -> torch.device | None:
        """Where the network is; None while it is being made."""
        return next((one.device for one in self.parameters()), None)

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        """What torch calls to move a module: the weights move with it."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._now.place(self._device())
        return self

    def check(self, weights: Weights) -> None:
        """Refuse weights that are not a vector for each choice; a subclass may ask for more. They are on the host here."""
        expected = {choice.name: len(choice.options) for choice in self.choices}
        if weights.keys() != expected.keys():
            odd = sorted(weights.keys() ^ expected.keys())
            raise InputError(f"weights: {', '.join(odd)} missing or unknown")
        for name, vector in weights.items():
            if vector.shape[-1:] != (expected[name],):
                raise InputError(f"weights of {name}: shape {tuple(vector.shape)}, expected {expected[name]} options")

    def select(self, architecture: A) -> OneShot[A]:
        """Evaluate this architecture from now on."""
        return self.mix(self.path(architecture))

    def weight(self, choice: str) -> Tensor:
        """The present weights of a choice, where the network is."""
        return self._now[choice]

    def host(self, choice: str) -> Tensor:
        """The present weights of a choice where they can be read without waiting, without gradient."""
        return self._now.host(choice)

    def live(self, choice: str) -> Live:
        """The present weights of a choice's options, None for those that need not be computed now."""
        return live(self.weight(choice), self.gradient, self.host(choice))

    @property
    def weights(self) -> dict[str, Tensor]:
        """The present weights of all choices."""
        return dict(self._now.given)

    # -- weights and architectures ------------------------------------------------------------------------------------
    def uniform(self) -> dict[str, Tensor]:
        """Equal weights."""
        return {choice.name: torch.full((len(choice.options),), 1.0 / len(choice.options)) for choice in self.choices}

    def logits(self, scale: float = 0.0, generator: torch.Generator | None = None) -> dict[str, Tensor]:
        """Architecture parameters: `scale` times standard normal draws, with gradient."""
        sizes = {choice.name: len(choice.options) for choice in self.choices}
        if not scale:  # nothing is drawn, from no generator
            return {name: torch.zeros(size, requires_grad=True) for name, size in sizes.items()}
        return {name: (scale * torch.randn(size, generator=generator)).requires_grad_() for name, size in sizes.items()}

    def draw(
        self, logits: Weights, *, temperature: float = 1.0, generator: torch.Generator | None = None
    ) -> dict[str, Tensor]:
        """Straight-through weights of one architecture, drawn by the logits: see `straight_through`."""
        return straight_through(logits, temperature=temperature, generator=generator, counts=self.counts)

    @abstractmethod
    def path(self, architecture: A) -> dict[str, Tensor]:
        """The 0/1 weights whose evaluation is this architecture."""

    @abstractmethod
    def derive(self, weights: Weights) -> A:
        """The architecture these weights prefer, by the space's own rule. `derive(path(a))` equals `a` by identity."""

    @abstractmethod
    def inherit(self, architecture: A) -> nn.Module:
        """The stand-alone network of `architecture`; each of its parameters lies in the one-shot network's storage."""


class StagedOneShot(OneShot[A]):
    """A one-shot network that runs as one staged `network`, which a subclass sets."""

    network: Staged

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to the task's outputs."""
        out: Tensor = self.network(x)
        return out

    def stages(self, x: Tensor) -> list[Tensor]:
        """Outputs of what a map flows through, as in the stand-alone network."""
        return self.network.stages(x)

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling."""
        return self.network.pre_gap(x)


class Mixed(nn.Module):
    """A weighted sum of options; those without a weight are not computed.

    With `partial = k > 1`, only the first 1/k of the channels pass through the options; the rest goes by (pooled 2x2 where
    the options have a stride) and the channels are shuffled (see `partial`).
    """

    def __init__(self, options: Mapping[str, nn.Module], *, partial: int = 1, stride: int = 1) -> None:
        super().__init__()
        self.options = nn.ModuleDict(options)
        self.partial = partial
        self.bypass = make_bypass(stride)

    def forward(self, x: Tensor, weights: Live | Tensor) -> Tensor:
        """(B, C, H, W) and a weight per option to the sum; a plain vector of weights is read here."""
        known = live(weights) if isinstance(weights, Tensor) else weights
        if self.partial == 1:
            return self._sum(x, known)
        return partially(lambda first: self._sum(first, known), self.bypass, x, self.partial)

    def _sum(self, x: Tensor, weights: Live) -> Tensor:
        total: Tensor | None = None
        for option, weight in zip(self.options.values(), weights, strict=True):
            if weight is None:
                continue
            term = weight.times(option, x)
            total = term if total is None else total + term
        if total is None:  # nothing chosen: a zero of the right shape
            total = 0.0 * next(iter(self.options.values()))(x)
        return total


def straight_through(
    logits: Weights,
    *,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
    counts: Mapping[str, int] | None = None,
) -> dict[str, Tensor]:
    """A Gumbel-softmax draw per choice: ones and zeros in value, the gradient of the soft weights (Jang et al. 2017).

    Every option has a gradient, drawn or not, also in a double backward. `counts` says of which choices several options are
    drawn: the k of the largest perturbed logits are k draws without replacement.
    """
    drawn = {}
    for name, vector in logits.items():
        soft = torch.softmax((vector + gumbel(vector, generator)) / temperature, -1)
        best = soft.topk((counts or {}).get(name, 1)).indices
        drawn[name] = torch.zeros_like(soft).scatter_(-1, best, 1.0) + (soft - soft.detach())
    return drawn


def gumbel(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Standard Gumbel noise in a tensor's shape and type, drawn in float64."""
    uniform = torch.rand(like.shape, generator=generator, dtype=torch.float64).clamp(1e-12, 1 - 1e-12)
    return (-torch.log(-torch.log(uniform))).to(like)


def share(network: nn.Module, sources: Mapping[str, Tensor]) -> nn.Module:
    """Let each named parameter and buffer of `network` lie in a source's storage (the whole tensor or a view of it).

    Args:
        network: the stand-alone network, built anywhere (the meta device is cheapest).
        sources: name in `network` -> tensor of the one-shot network, already sliced to shape.
    """
    owners = dict(network.named_modules())
    for name, tensor in tensors(network).items():
        if name not in sources:
            raise InputError(f"no source for {name}")
        source = sources[name]
        if source.shape != tensor.shape:
            raise InputError(f"{name}: source of shape {tuple(source.shape)}, expected {tuple(tensor.shape)}")
        path, _, leaf = name.rpartition(".")
        if isinstance(tensor, nn.Parameter):
            shared: Any = source if isinstance(source, nn.Parameter) else nn.Parameter(source.detach())
            owners[path].register_parameter(leaf, shared)
        else:
            owners[path].register_buffer(
                leaf, source.detach(), persistent=leaf not in owners[path]._non_persistent_buffers_set
            )
    return network


def share_corners(network: nn.Module, whole: nn.Module) -> nn.Module:
    """Let each tensor of `network` be the first rows and columns of the tensor of the same name in `whole`."""
    held = tensors(whole)
    return share(network, {name: held[name][tuple(map(slice, mine.shape))] for name, mine in tensors(network).items()})


def tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name."""
    return dict([*module.named_parameters(), *module.named_buffers()])


def check_vectors(weights: Weights) -> None:
    """Refuse weights that are not one vector for each choice."""
    for name, vector in weights.items():
        if vector.ndim != 1:
            raise InputError(f"weights of {name}: shape {tuple(vector.shape)}, expected one vector")


def one_hot(index: int, size: int) -> Tensor:
    """A vector with a single 1."""
    vector = torch.zeros(size)
    vector[index] = 1.0
    return vector


def chosen(weights: Weights, choices: Sequence[Choice]) -> Iterator[tuple[str, str]]:
    """For each choice its name and the option of greatest weight (the first, in a tie)."""
    for choice in choices:
        yield choice.name, choice.options[int(weights[choice.name].detach().argmax())]
