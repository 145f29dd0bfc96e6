"""What a network costs, counted on the network itself: parameters, and multiply-accumulates of one sample.

MACs are those of convolutions, linear layers, matrix products, attention and recurrent layers; normalisation, pooling and
activations are free. FLOPs are two per MAC.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from foresee.batch import Inputs, alike, call, parts_of
from foresee.errors import UnsupportedError
from foresee.seeds import random_states_kept

T = TypeVar("T")


def count_params(network: nn.Module) -> int:
    """Numbers in the parameters, each shared one counted once, frozen ones included.

    >>> count_params(nn.Linear(3, 2))
    8
    """
    parameters = list(network.parameters())
    if any(isinstance(parameter, nn.UninitializedParameter) for parameter in parameters):
        raise UnsupportedError("the network has lazy layers without a size yet: run it once on a sample first")
    return sum(parameter.numel() for parameter in parameters)


def count_macs(network: nn.Module, inputs: Inputs) -> int:
    """Multiply-accumulates that one sample costs at inference.

    `inputs` has the batch axis first (several tensors as a tuple or by name); its first sample is used, and of that the
    shape only: a copy of the network without weights runs on the meta device. A network that needs real numbers to run (it
    branches on them, or keeps tensors that are neither parameters nor buffers) is copied whole and run on its own device
    instead.

    >>> count_macs(nn.Conv2d(3, 8, 3), torch.zeros(1, 3, 10, 10)) == 8 * 8 * 8 * 3 * 9
    True
    """
    return _of_one_sample(_count, network, inputs)


def macs_by_module(network: nn.Module, inputs: Inputs) -> dict[str, int]:
    """Multiply-accumulates of one sample at inference, by the module in which they are done, each counted once.

    What a module does by itself stands beside its name, what its parts do beside theirs; the network's own is "". Modules
    that cost nothing are left out. The sum is `count_macs`.

    >>> macs_by_module(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.zeros(1, 4))
    {'0': 32, '2': 16}
    """
    return _of_one_sample(_by_module, network, inputs)


def stored_bytes(network: nn.Module, inputs: Inputs) -> int:
    """Bytes that one training forward of these inputs stores for a backward run, parameters left out.

    Nothing is computed: a copy without weights runs on the meta device, autograd says what it saves, and each storage counts
    once.

    >>> stored_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU()), torch.zeros(2, 4))  # the input and the output of the ReLU
    96
    """
    copied = _weightless(network).train()
    for parameter in copied.parameters():
        parameter.requires_grad_(parameter.is_floating_point())
    own = {id(tensor) for tensor in (*copied.parameters(), *copied.buffers())}
    saved: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        base = tensor if tensor._base is None else tensor._base  # a view stores nothing of its own
        if id(base) not in own:
            saved[id(base)] = base
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor)
    with random_states_kept(0), torch.enable_grad(), hooks:
        call(copied, alike(inputs, (part.detach().to("meta") for part in parts_of(inputs))))
    return sum(tensor.numel() * tensor.element_size() for tensor in saved.values())


def _of_one_sample(count: Callable[[nn.Module, Inputs], T], network: nn.Module, inputs: Inputs) -> T:
    """What is counted of the first sample: by shapes alone where the network runs so, else on a copy of it."""
    sample = [part[:1].detach() for part in parts_of(inputs)]
    with random_states_kept(0):
        try:
            return count(_weightless(network), alike(inputs, (part.to("meta") for part in sample)))
        except (RuntimeError, NotImplementedError, TypeError, ValueError):
            return count(_copy(network, {}), alike(inputs, sample))


def _count(network: nn.Module, sample: Inputs) -> int:
    network.eval()  # inference: no auxiliary heads, no batch statistics of a batch of one
    with torch.no_grad(), _countable(), FlopCounterMode(display=False) as counter:
        call(network, sample)
    return int(counter.get_total_flops()) // 2


def _by_module(network: nn.Module, sample: Inputs) -> dict[str, int]:
    network.eval()
    root = type(network).__name__
    with torch.no_grad(), _countable(), FlopCounterMode(display=False) as counter:
        call(network, sample)
    within = {key: sum(found.values()) for key, found in counter.get_flop_counts().items()}
    whole = {name: within[key] for name, _ in network.named_modules() if (key := f"{root}.{name}") in within}
    own = {"": within.get("Global", 0), **whole}
    for name, flops in whole.items():
        above = name.rpartition(".")[0]
        while above and above not in whole:  # a list of modules is not called itself
            above = above.rpartition(".")[0]
        own[above] -= flops
    return {name: flops // 2 for name, flops in own.items() if flops > 0}


@contextmanager
def _countable() -> Iterator[None]:
    """Fused kernels hide their products from the counter (it sees 0 on a CPU); use the plain ones."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about Intel GPUs whenever these flags are touched
            with sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False):
                yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _weightless(network: nn.Module) -> nn.Module:
    """A copy whose parameters and buffers are on the meta device, made without copying any weight."""
    memo: dict[int, object] = {}
    for parameter in network.parameters():
        memo[id(parameter)] = nn.Parameter(parameter.detach().to("meta"), requires_grad=False)
    for buffer in network.buffers():
        memo[id(buffer)] = buffer.detach().to("meta")
    return _copy(network, memo)


def _copy(network: nn.Module, memo: dict[int, object]) -> nn.Module:
    try:
        return copy.deepcopy(network, memo)
    except Exception as error:  # a stranger's module may refuse in its own way
        raise UnsupportedError(f"the network cannot be copied to count its MACs: {error}") from error
