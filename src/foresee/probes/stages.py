"""Where a network can be cut: the outputs of its stages, and the maps before global pooling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.looks import Call, Watcher, first_tensor, watching


def stages_of(network: nn.Module, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Outputs of the stages of a network, in call order, with their graph where gradients are on.

    A network that has a method `stages(*inputs)` says itself. For any other, the stages are its blocks: its submodules,
    where a plain container (Sequential, ModuleList) stands for those inside. Of maps (samples, channels, height, width),
    tokens (samples, tokens, numbers) and vectors (samples, numbers) the kind that most blocks return is kept, so neither
    the patch embedding of a transformer nor the classifier of a convolutional network is in the way.
    """
    own = getattr(network, "stages", None)
    if callable(own):
        told = own(*inputs)
        if not isinstance(told, list | tuple) or not all(isinstance(one, Tensor) for one in told):
            raise UnsupportedError(f"the method `stages` returns {type(told).__name__}: expected a list of tensors")
        return [tensor for tensor in told if tensor.is_floating_point()]
    watcher = _Blocks(network)
    with watching(network, [watcher]):
        network(*inputs)
    if not watcher.seen:
        raise UnsupportedError("no stages: the network has neither a method `stages` nor blocks that return a tensor")
    kinds = [tensor.ndim for tensor in watcher.seen]
    most = max((4, 3, 2, 5), key=kinds.count)
    return [tensor for tensor in watcher.seen if tensor.ndim == most]


class _Blocks(Watcher[None]):
    """Keeps what each block returned; the network goes on with a copy, so that nothing is written over."""

    def __init__(self, network: nn.Module) -> None:
        self._blocks = {id(block) for block in _blocks(network)}
        self.seen: list[Tensor] = []

    def selects(self, call: Call) -> bool:
        """The blocks."""
        return id(call.module) in self._blocks

    def after(self, call: Call, output: Tensor) -> Tensor | None:
        """Keep it."""
        if not output.is_floating_point() or not 2 <= output.ndim <= 5:
            return None
        self.seen.append(output)
        return output.clone()


def _blocks(module: nn.Module) -> Iterator[nn.Module]:
    for child in module.children():
        if type(child) in (nn.Sequential, nn.ModuleList):
            yield from _blocks(child)
        else:
            yield child


def before_pooling(network: nn.Module) -> Callable[..., Tensor]:
    """A function of the inputs that gives the maps before global pooling: (samples, channels, ...).

    A network that has a method `pre_gap(*inputs)` says itself. For any other it is the input of the last module that pools
    all positions into one (an adaptive pooling to size 1, or any pooling that does so here).
    """
    own = getattr(network, "pre_gap", None)
    if callable(own):
        return lambda *inputs: _maps(own(*inputs))

    def run(*inputs: Tensor) -> Tensor:
        seen: list[Tensor] = []

        def note(module: nn.Module, args: Any, output: Any) -> None:
            before, after = first_tensor(args), first_tensor(output)
            if before is not None and after is not None and before.ndim > 2 and _one_position(module, after):
                seen.append(before.clone())

        pools = [m for m in network.modules() if "pool" in type(m).__name__.lower() and not list(m.children())]
        handles = [module.register_forward_hook(note) for module in pools]
        try:
            network(*inputs)
        finally:
            for handle in handles:
                handle.remove()
        if not seen:
            raise UnsupportedError(
                "no maps before global pooling: the network has neither a method `pre_gap` nor a module that pools all "
                "positions into one"
            )
        return _maps(seen[-1])

    return run


def _one_position(module: nn.Module, output: Tensor) -> bool:
    return output.ndim <= 2 or output.shape[2:].numel() == 1


def _maps(tensor: Any) -> Tensor:
    if not isinstance(tensor, Tensor) or tensor.ndim < 3:
        raise UnsupportedError("what comes before global pooling is no feature map")
    return tensor
