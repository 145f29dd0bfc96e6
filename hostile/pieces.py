"""Hostile pieces of networks: each takes a network and makes one of it that misbehaves in a way people's networks do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

Piece = Callable[[nn.Module, random.Random], nn.Module]
#: all pieces, in the order they stand here
PIECES: list[Piece] = []


def piece(make: Piece) -> Piece:
    """Decorator: a piece of the box."""
    PIECES.append(make)
    return make


class Around(nn.Module):
    """A network with something done before its inputs, and something done to its outputs."""

    def __init__(self, inner: nn.Module, before: Callable[..., Any] | None = None, after: Any = None) -> None:
        super().__init__()
        self.inner, self.before, self.after = inner, before, after

    def forward(self, *parts: Tensor, **named: Tensor) -> Any:
        """As the inner network, with the things done."""
        if self.before is not None:
            parts = self.before(self, *parts)
        outputs = self.inner(*parts, **named)
        return outputs if self.after is None else self.after(self, outputs)

    def having(self, **attributes: Any) -> Around:
        """The same with attributes of its own."""
        for name, value in attributes.items():
            setattr(self, name, value)
        return self


def composed(inner: nn.Module, rng: random.Random) -> tuple[nn.Module, list[str]]:
    """The network with one to three pieces around and in it, and their names."""
    chosen = rng.sample(PIECES, rng.choice([1, 1, 2, 3]))
    for make in chosen:
        inner = make(inner, rng)
    return inner, [getattr(make, "__name__", "?") for make in chosen]


# -- in place -----------------------------------------------------------------------------------------------------------
@piece
def overwrites_inputs(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Writes into what it is given."""
    how = rng.choice([lambda part: part.relu_(), lambda part: part.mul_(2), lambda part: part.add_(1), Tensor.zero_])
    return Around(inner, lambda own, *parts: tuple(how(part) if part.is_floating_point() else part for part in parts))


@piece
def overwrites_activations(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Every activation works in place."""
    for module in inner.modules():
        if hasattr(module, "inplace"):
            vars(module)["inplace"] = True
    return inner


@piece
def overwrites_outputs(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Changes its outputs after they were made."""
    return Around(inner, after=lambda own, outputs: outputs.mul_(0.5))


# -- random -------------------------------------------------------------------------------------------------------------
@piece
def draws(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Adds noise from one of the global generators while it runs."""
    sources: list[Callable[[], float]] = [lambda: float(torch.rand(())), random.random]
    sources += [lambda: float(np.random.rand())]  # noqa: NPY002
    source = rng.choice(sources)
    return Around(inner, after=lambda own, outputs: outputs + source())


@piece
def seeds_everything(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Seeds the global generators while it runs, as careless code does."""

    def before(own: nn.Module, *parts: Tensor) -> tuple[Tensor, ...]:
        torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        return parts

    return Around(inner, before)


@piece
def drops_out(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Dropout, on whatever its mode says."""
    return Around(inner, after=lambda own, outputs: nn.functional.dropout(outputs, 0.5, training=True))


# -- state --------------------------------------------------------------------------------------------------------------
@piece
def sparse_buffer(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Has a sparse buffer."""
    made = Around(inner)
    made.register_buffer("sparse", torch.eye(3, dtype=torch.float64).to_sparse())
    return made


@piece
def changes_buffers(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Counts its runs in a buffer, in an attribute and in nested containers, and its answer follows them."""

    def after(own: Any, outputs: Any) -> Any:
        own.runs += 1
        own.count += 1
        own.nested["list"][0].append(own.count)
        return outputs * (1 + own.runs + own.count + len(own.nested["list"][0]))

    made = Around(inner, after=after).having(count=0, nested={"list": [[]], "tensor": torch.zeros(2)})
    made.register_buffer("runs", torch.zeros((), dtype=torch.float64))
    return made


@piece
def grows_a_buffer(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Registers a buffer when it first runs."""

    def after(own: Any, outputs: Tensor) -> Tensor:
        if not hasattr(own, "late"):
            own.register_buffer("late", torch.ones(2))
        return outputs

    return Around(inner, after=after)


@piece
def spectral(inner: nn.Module, rng: random.Random) -> nn.Module:
    """One of its layers has a spectral norm, whose vectors move whenever it runs in training."""
    layers = [
        one for one in inner.modules() if type(one) is nn.Linear and not nn.utils.parametrize.is_parametrized(one)
    ]
    if layers:
        nn.utils.parametrizations.spectral_norm(rng.choice(layers))
    return inner


@piece
def switches_mode(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Changes its own mode while it runs."""

    def before(own: nn.Module, *parts: Tensor) -> tuple[Tensor, ...]:
        own.train(not own.training)
        return parts

    return Around(inner, before)


@piece
def writes_weights(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Changes its weights while it runs."""

    def before(own: nn.Module, *parts: Tensor) -> tuple[Tensor, ...]:
        with torch.no_grad():
            next(iter(own.parameters())).mul_(1.1)
        return parts

    return Around(inner, before)


@piece
def hooked(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Has hooks of its own, one of which changes what passes."""
    modules = list(inner.modules())
    rng.choice(modules).register_forward_hook(lambda module, args, output: None)
    rng.choice(modules).register_forward_pre_hook(lambda module, args: None)
    made = Around(inner)
    made.register_forward_hook(lambda module, args, output: output * 2 if isinstance(output, Tensor) else output)
    return made


@piece
def frozen(inner: nn.Module, rng: random.Random) -> nn.Module:
    """No gradient for some or all of its weights, and gradients left over from before."""
    every = rng.random() < 0.5
    for parameter in inner.parameters():
        parameter.grad = torch.ones_like(parameter) if rng.random() < 0.5 else None
        if every or rng.random() < 0.5:
            parameter.requires_grad_(False)
    return inner


@piece
def tied(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Two names for one weight, and one network in two places."""
    return Around(inner).having(again=inner, weight=next(iter(inner.parameters())))


# -- numbers ------------------------------------------------------------------------------------------------------------
@piece
def bad_weights(inner: nn.Module, rng: random.Random) -> nn.Module:
    """NaN, infinite, huge or zero weights in one tensor or in all."""
    value, every = rng.choice([float("nan"), float("inf"), 1e300, 0.0]), rng.random() < 0.5
    with torch.no_grad():
        for place, parameter in enumerate(inner.parameters()):
            if every or place == 0:
                parameter.fill_(value)
    return inner


_ODD_OUTPUTS: tuple[Callable[[Any], Any], ...] = (
    lambda y: (y, y), lambda y: {"logits": y}, lambda y: None, lambda y: y.sum(), lambda y: y * float("nan"),
    lambda y: y * 1e308 * 10, lambda y: y.detach(), lambda y: y.long(), lambda y: [y], lambda y: "logits", lambda y: y[None],
    lambda y: y[:0], lambda y: y.to_sparse(), lambda y: y.half(), lambda y: y.to(torch.complex64),
    lambda y: y.expand(3, *y.shape),
)  # fmt: skip


@piece
def bad_outputs(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Answers with something else than a tensor of logits."""
    after = rng.choice(_ODD_OUTPUTS)
    return Around(inner, after=lambda own, outputs: after(outputs))


# -- failures -----------------------------------------------------------------------------------------------------------
class _UnspeakableError(RuntimeError):
    """An error whose text cannot be had."""

    def __str__(self) -> str:
        raise ValueError("no words")


_ERRORS: tuple[Exception, ...] = (
    RuntimeError("broken\nin two lines"), KeyError("x"), RecursionError(), _UnspeakableError(), MemoryError(),
    AssertionError(), StopIteration(), NotImplementedError("not here"),
)  # fmt: skip


@piece
def raises(inner: nn.Module, rng: random.Random) -> nn.Module:
    """Raises at its first, second or third run."""
    error = rng.choice(_ERRORS)
    most = rng.randrange(3)

    def after(own: Any, outputs: Any) -> Any:
        own.calls += 1
        if own.calls > most:
            raise error
        return outputs

    return Around(inner, after=after).having(calls=0)
