"""The baselines every proxy has to beat: size, work, and chance."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.seeds import derive

_NOTHING = Needs(data=False, batch=1, held=0)


@proxy("params", needs=_NOTHING, paper="baseline", cost="nothing")
def params(probe: Probe) -> Tensor:
    """Number of parameters; a shared one counts once, a frozen one too.

    >>> from foresee import score
    >>> score(torch.nn.Linear(3, 2), torch.zeros(1, 3), "params").value
    8.0
    """
    return torch.tensor(float(probe.params), dtype=torch.float64)


@proxy("macs", needs=_NOTHING, paper="baseline", cost="a forward run of shapes alone (meta device)")
def macs(probe: Probe) -> Tensor:
    """Multiply-accumulates of one sample at inference: convolutions, linear layers, matrix products. FLOPs are twice that.

    >>> from foresee import score
    >>> score(torch.nn.Linear(3, 2), torch.zeros(1, 3), "macs").value
    6.0
    """
    return torch.tensor(float(probe.macs), dtype=torch.float64)


@proxy("flops", needs=_NOTHING, paper="baseline", cost="a forward run of shapes alone (meta device)")
def flops(probe: Probe) -> Tensor:
    """Floating-point operations of one sample at inference: two per multiply-accumulate.

    >>> from foresee import score
    >>> score(torch.nn.Linear(3, 2), torch.zeros(1, 3), "flops").value
    12.0
    """
    return 2 * macs(probe)


@proxy("random", needs=_NOTHING, paper="baseline", cost="nothing")
def random(probe: Probe) -> Tensor:
    """A number between 0 and 1 that knows nothing: drawn from the seed and the identity of the network.

    Formula: uniform in [0, 1), from a fingerprint of the network's structure and weights, the seed and the repeat. So two
    networks of one comparison get different numbers, and the same network always the same.

    >>> from foresee import score
    >>> net = torch.nn.Linear(3, 2)
    >>> score(net, torch.zeros(1, 3), "random").value == score(net, torch.zeros(1, 3), "random").value
    True
    """
    fingerprint = hashlib.blake2b(repr(probe.network).encode(), digest_size=8)
    for name, tensor in probe.network.state_dict().items():
        if isinstance(tensor, Tensor):  # a module may add anything else, with an address in its text
            fingerprint.update(f"{name}{tuple(tensor.shape)}".encode())
            fingerprint.update(_numbers(tensor.detach()))
    network = int.from_bytes(fingerprint.digest(), "big")
    probe.draws.used = True
    return torch.tensor(derive(probe.seed, "random", network, probe.draws.repeat) / 2**63, dtype=torch.float64)


def _numbers(tensor: Tensor) -> bytes:
    """The numbers of a tensor of any kind; none on the meta device."""
    if tensor.is_meta:
        return b""
    plain = (
        tensor.int_repr() if tensor.is_quantized else tensor if tensor.layout is torch.strided else tensor.to_dense()
    )
    return plain.cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
