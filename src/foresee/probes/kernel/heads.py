"""Which gradients a kernel is made of: of which outputs, by which parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from foresee.errors import InputError, UnknownNameError, UnsupportedError
from foresee.probes.draws import projection_of
from foresee.probes.subject import Subject, refuse_complex

#: what is differentiated, per sample
OUTPUTS = {
    "sum": "the sum of the outputs (TE-NAS): one gradient per sample",
    "label": "the output of the sample's own class (HNAS): one gradient per sample, labels needed",
    "all": "every output (NASI): one gradient per sample and output",
    "loss": "the sample's loss (NASI's approximations): one gradient per sample, labels needed",
    "projection": "a random projection of the outputs, drawn for each sample: one gradient per sample",
}
#: what it is differentiated by
PARAMETERS = {
    "all": "every trainable parameter",
    "named_weight": 'trainable parameters with "weight" in their name, normalisation included (TE-NAS)',
    "conv_linear": "weights and biases of convolutions and linear layers (HNAS)",
}

#: how it is computed
METHODS = {
    "exact": "the way of the two below that takes fewer bytes, among those that apply",
    "layers": "contraction layer by layer; samples must not be coupled",
    "rows": "gradients one by one, by as many parameters at a time as fit",
    "stochastic": "random projections of the gradients",
}
#: what is wanted of the gradients: their products, their squared lengths, or themselves
Answer = Literal["matrix", "lengths", "rows"]
#: bytes that a kernel may take beside the network, where it can choose
MEMORY = 2**31


@dataclass(frozen=True)
class Question:
    """What is asked: the gradients of which outputs by which parameters, how, and what of them."""

    outputs: str
    parameters: str
    method: str = "exact"
    memory: float = MEMORY
    answer: Answer = "matrix"
    buckets: int = 0

    def __post_init__(self) -> None:
        for kind, known in (("outputs", OUTPUTS), ("parameters", PARAMETERS), ("method", METHODS)):
            if getattr(self, kind) not in known:
                raise UnknownNameError(f"{kind} of a kernel", getattr(self, kind), known)
        if self.method == "stochastic" and not self.matrix:
            raise InputError("method 'stochastic' for lengths of gradients: they are exact; estimate the trace instead")
        if not self.memory > 0:
            raise InputError(f"memory {self.memory}: expected a positive number of bytes")

    @property
    def matrix(self) -> bool:
        """Whether the products are wanted."""
        return self.answer == "matrix"


def selected(network: nn.Module, rule: str) -> dict[str, nn.Parameter]:
    """The trainable parameters of a rule, by name, a shared one once.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    >>> {rule: list(selected(net, rule)) for rule in PARAMETERS if rule != "all"}
    {'named_weight': ['0.weight', '1.weight'], 'conv_linear': ['0.weight', '0.bias']}
    """
    trainable = {name: p for name, p in network.named_parameters() if p.requires_grad}
    if rule == "named_weight":
        trainable = {name: p for name, p in trainable.items() if "weight" in name}
    elif rule == "conv_linear":
        layers = [m for m in network.modules() if isinstance(m, nn.Linear | nn.modules.conv._ConvNd)]
        own = {id(p) for layer in layers for p in layer.parameters(recurse=False)}
        trainable = {name: p for name, p in trainable.items() if id(p) in own}
    refuse_complex(trainable)
    if not trainable:
        raise UnsupportedError(f"the network has no parameters of this kind: {PARAMETERS[rule]}")
    return trainable


def directions(probe: Subject, outputs: Tensor, kind: str) -> Tensor:
    """Per sample the directions of the output to differentiate along: (samples, ...) to (samples, heads, outputs).

    The gradients of a kernel are those of `directions[i, h] . outputs[i]`. Labels are touched for "label" and "loss" only.
    """
    flat = outputs.detach().reshape(len(outputs), -1)
    samples, width = flat.shape
    if kind == "sum":
        return torch.ones_like(flat).unsqueeze(1)
    if kind == "all":
        return torch.eye(width, dtype=flat.dtype, device=flat.device).expand(samples, width, width)
    if kind == "projection":
        return projection_of(probe.draws, outputs).reshape(samples, 1, width)
    if kind == "label":
        return _own_class(probe, outputs).to(flat).unsqueeze(1)
    return _of_loss(probe, outputs).unsqueeze(1)


def _own_class(probe: Subject, outputs: Tensor) -> Tensor:
    labels = probe.told(probe.data[0])
    if outputs.ndim == 1 or outputs.shape[1:] == (1,):
        return torch.ones(len(outputs), 1)  # a single logit speaks for both classes, up to its sign
    if outputs.ndim != 2 or labels.is_floating_point() or labels.shape != outputs.shape[:1]:
        raise UnsupportedError(
            f"the true-class logit needs one class label per sample: labels are {tuple(labels.shape)} {labels.dtype}, "
            f"outputs {tuple(outputs.shape)}"
        )
    low, high, classes = int(labels.min()), int(labels.max()), outputs.shape[1]
    if low < 0 or high >= classes:
        raise InputError(
            f"labels from {low} to {high}, but the network has {classes} outputs: use labels 0 to {classes - 1}"
        )
    return torch.nn.functional.one_hot(labels.long(), classes)


def _of_loss(probe: Subject, outputs: Tensor) -> Tensor:
    """Gradient of each sample's loss by its own outputs."""
    labels, given = probe.told(probe.data[0]), outputs.detach()
    loss = probe.choose_loss(given)
    with torch.enable_grad():
        given = given.clone().requires_grad_()
        total = torch.stack([loss(given[i : i + 1], labels[i : i + 1]) for i in range(len(given))]).sum()
        return torch.autograd.grad(total, given)[0].reshape(len(given), -1)
