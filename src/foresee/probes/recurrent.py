"""Recurrent layers in the open: run step by step, so that each of their products is in the graph."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.backends import cudnn, mkldnn


def has_recurrent(network: nn.Module) -> bool:
    """Whether a module of the network is recurrent (RNN, LSTM, GRU); their cells are always step by step."""
    return any(isinstance(module, nn.RNNBase) for module in network.modules())


@contextmanager
def step_by_step(network: nn.Module) -> Iterator[None]:
    """Inside, recurrent modules compute the same with plain products instead of one fused kernel."""
    layers = [module for module in network.modules() if isinstance(module, nn.RNNBase)]
    own = [vars(layer).get("forward") for layer in layers]
    try:
        for layer in layers:
            vars(layer)["forward"] = _plain(layer.forward)
        yield
    finally:
        for layer, forward in zip(layers, own, strict=True):
            vars(layer).pop("forward", None)
            if forward is not None:
                vars(layer)["forward"] = forward


def _plain(forward: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(forward)
    def run(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about Intel GPUs whenever these flags are touched
            with mkldnn.flags(enabled=False), cudnn.flags(enabled=False):
                return forward(*args, **kwargs)

    return run
