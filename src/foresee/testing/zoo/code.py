"""Networks of unusual code: what they return, what they raise, how they are called, copied and compiled."""
# mypy: disable-error-code="operator,assignment,override,no-any-return,attr-defined,index,var-annotated,no-untyped-call"
# Residents break the rules of types as well.

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from foresee.testing.zoo.plain import Plain, resident


# -- what they return ---------------------------------------------------------------------------------------------------
class _Returning(Plain):
    def __init__(self, change: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.change = change

    def forward(self, x: Tensor) -> Any:
        """Anything made of the logits."""
        return self.change(self.logits(x))


_ANSWERS: dict[str, Callable[[Tensor], Any]] = {
    "a dict with logits": lambda logits: {"logits": logits, "other": None},
    "a dict of something": lambda logits: {"answer": logits},
    "a tuple": lambda logits: (logits * 2, logits),
    "an empty tuple": lambda logits: (),
    "nothing": lambda logits: None,
    "a whole number": lambda logits: 3,
    "a text": lambda logits: "cat",
    "a single number": lambda logits: logits.sum(),
    "whole numbers": lambda logits: logits.argmax(1),
    "booleans": lambda logits: logits > 0,
    "no outputs": lambda logits: logits[:, :0],
    "one sample of many": lambda logits: logits[:1],
    "a sparse tensor": lambda logits: logits.to_sparse(),
    "nested tensors": lambda logits: torch.nested.as_nested_tensor(list(logits)),
    "a constant": lambda logits: torch.ones(len(logits), 3, dtype=logits.dtype, device=logits.device),
    "detached logits": lambda logits: logits.detach(),
    "infinite numbers": lambda logits: logits / 0,
    "huge numbers": lambda logits: logits * 1e30,
}


def _returns(change: Callable[[Tensor], Any]) -> Callable[[], nn.Module]:
    return lambda: _Returning(change)


for _name, _change in _ANSWERS.items():
    resident(f"returns {_name}")(_returns(_change))


@resident("returns its input")
class Same(nn.Module):
    """No parameters, no layers."""

    def forward(self, x: Tensor) -> Tensor:
        """As it came, but flat."""
        return x.flatten(1)


@resident("returns a weight")
class OwnWeight(Plain):
    """Looks at nothing."""

    def forward(self, x: Tensor) -> Tensor:
        """A row of the head for each sample."""
        return self.head.weight[:, 0].expand(len(x), 3)


# -- what they raise ----------------------------------------------------------------------------------------------------
class _SpeechlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("not even a message")


class _Raising(Plain):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Tensor) -> Tensor:
        """Half of the way."""
        self.features(x)
        raise self.error


def _raises(error: BaseException) -> Callable[[], nn.Module]:
    return lambda: _Raising(error)


_ERRORS = {
    "": KeyError("no such thing"),
    " without a word": RuntimeError(),
    " many lines": ValueError("one\ntwo\x1b[31m\nthree"),
    " a division by zero": ZeroDivisionError(),
    " what cannot be said": _SpeechlessError(),
    " a stop of an iteration": StopIteration(1),
    " an exit": SystemExit(3),
}
for _name, _error in _ERRORS.items():
    resident(f"raises{_name}")(_raises(_error))


@resident("raises sometimes")
class Sometimes(Plain):
    """At every third call, and by chance."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = [0]

    def forward(self, x: Tensor) -> Tensor:
        """Or not."""
        self.calls[0] += 1
        if self.calls[0] % 3 == 0 or random.random() < 0.2:
            raise OSError("not this time")
        return self.logits(x)


class _Backward(torch.autograd.Function):
    """Doubles; its gradient is written down wrongly on purpose, or fails."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, fails: bool) -> Tensor:
        ctx.fails = fails
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if ctx.fails:
            raise RuntimeError("no way back")
        return gradient * 3, None


class _Custom(Plain):
    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.fails = fails

    def forward(self, x: Tensor) -> Tensor:
        """Through the function."""
        found: Tensor = _Backward.apply(self.logits(x), self.fails)
        return found


@resident("has a derivative of its own")
def _custom() -> nn.Module:
    return _Custom(fails=False)


@resident("raises on the way back")
def _raises_backward() -> nn.Module:
    return _Custom(fails=True)


@resident("calls itself for ever")
class Endless(Plain):
    """A module that holds itself, too."""

    def __init__(self) -> None:
        super().__init__()
        self.me = [self]

    def forward(self, x: Tensor) -> Any:
        """Never comes back."""
        return self.me[0](x)


@resident("calls itself a few times")
class Recursive(Plain):
    """A module that is its own child."""

    def __init__(self) -> None:
        super().__init__()
        self._modules["me"] = self
        self.depth = 0

    def forward(self, x: Tensor) -> Any:
        """Three times."""
        self.depth += 1
        return self.logits(x) if self.depth % 3 == 0 else self.me(x)


# -- how they are written -----------------------------------------------------------------------------------------------
@resident("has any attribute")
class Anything(Plain):
    """Whatever is asked for is there."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            return lambda *args, **kwargs: None


@resident("uses functions only")
class Functional(nn.Module):
    """A plain parameter and functional calls."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 108) / 10)

    def forward(self, x: Tensor) -> Tensor:
        """A linear map and a ReLU."""
        return F.relu(F.linear(x.flatten(1), self.weight))


@resident("has layers in a plain list")
class Hidden(nn.Module):
    """Layers that no list of parameters knows."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Flatten(), nn.Linear(108, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)]

    def forward(self, x: Tensor) -> Tensor:
        """One after the other."""
        for layer in self.layers:
            x = layer(x)
        return x


@resident("has no parameters")
def _no_parameters() -> nn.Module:
    return nn.Sequential(nn.ReLU(), nn.Flatten())


@resident("has nothing inside")
def _nothing() -> nn.Module:
    return nn.Flatten()


@resident("takes no gradients")
class NoGrad(Plain):
    """Everything under `no_grad`."""

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """Without a graph."""
        return self.logits(x)


@resident("runs in inference mode")
class Inference(Plain):
    """Its outputs are inference tensors."""

    @torch.inference_mode()
    def forward(self, x: Tensor) -> Tensor:
        """Without a graph."""
        return self.logits(x)


@resident("is called with names only")
class Named(Plain):
    """Another signature."""

    def forward(self, *, image: Tensor) -> Tensor:
        """By name."""
        return self.logits(image)


@resident("cannot be copied")
class Single(Plain):
    """Holds a lock, and refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.lock, self.calls = threading.Lock(), 0

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("there is only one")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("there is only one")

    def forward(self, x: Tensor) -> Tensor:
        """One at a time."""
        with self.lock:
            self.calls += 1
            return self.logits(x) * self.calls


@resident("is its own copy")
class Selfish(Plain):
    """A copy of it is itself; counts, and draws."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def forward(self, x: Tensor) -> Tensor:
        """With a little noise."""
        self.calls += 1
        return self.logits(x) + torch.rand(()).to(x) + self.calls.to(x)


@resident("is scripted")
def _scripted() -> nn.Module:
    return torch.jit.script(_Scripted())


class _Scripted(nn.Module):
    """A buffer and a number that grow."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU())
        self.pool, self.head, self.calls = nn.AdaptiveAvgPool2d(1), nn.Linear(6, 3), 0
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        """Counts."""
        self.calls += 1
        logits = self.head(self.pool(self.features(x)).flatten(1))
        self.total += logits.detach().mean(0)
        return logits * self.calls + self.total


@resident("is traced")
def _traced() -> nn.Module:
    return torch.jit.trace(Plain(), torch.zeros(2, 3, 6, 6))


@resident("is compiled")
def _compiled() -> nn.Module:
    made = nn.Sequential(nn.Flatten(), nn.Linear(108, 3), nn.BatchNorm1d(3))
    return torch.compile(made, backend="eager")  # type: ignore[return-value]
