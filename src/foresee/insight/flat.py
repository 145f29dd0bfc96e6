"""A network as a function of one vector: all its trainable parameters, in float64, on one batch.

    flat = Flat(network, (inputs, labels))
    outputs = flat.outputs(flat.weights)           # (samples, outputs)
    rows = flat.jacobian(flat.weights)             # (samples x outputs, parameters): the tangent kernel is rows @ rows.T

What statements about networks are made of: gradients, Hessians met in products, plain gradient descent. It works on a
copy, so the network is left as it is. For small networks: a Jacobian holds as many numbers as outputs times
parameters.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from foresee.errors import InputError, UnsupportedError
from foresee.handed import as_batches
from foresee.probes.outputs import logits_of
from foresee.probes.state import use_batch_statistics

#: bytes that the rows of a Jacobian may take
MEMORY = 2**31


class Flat:
    """A network and the first batch of what is handed over (as for `score`), in float64, with batch statistics.

    `weights` are the parameters as found, `targets` the labels as numbers (classes: ones and zeros), both without a graph.

    >>> flat = Flat(nn.Linear(2, 1, bias=False), (torch.tensor([[1.0, 2.0], [3.0, 0.0]]), torch.tensor([0.0, 1.0])))
    >>> flat.kernel()
    tensor([[5., 3.],
            [3., 9.]], dtype=torch.float64)
    """

    def __init__(self, network: nn.Module, batch: Any, *, seed: int = 0) -> None:
        self.batch = as_batches(batch, seed=seed)[0].to("cpu", torch.float64)
        self.network = copy.deepcopy(network).cpu().double()
        use_batch_statistics(self.network)
        chosen = {name: p.detach() for name, p in self.network.named_parameters() if p.requires_grad}
        if not chosen:
            raise UnsupportedError("the network has no trainable parameters: there is nothing to differentiate by")
        self._shapes = {name: p.shape for name, p in chosen.items()}
        self.weights = torch.cat([p.flatten() for p in chosen.values()]).clone()
        self._seed = seed

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def size(self) -> int:
        """Trainable parameters."""
        return len(self.weights)

    def outputs(self, weights: Tensor, inputs: tuple[Tensor, ...] | None = None) -> Tensor:
        """The outputs under these weights: (samples, outputs); of other inputs than the batch's, if given."""
        sizes = [math.prod(shape) for shape in self._shapes.values()]
        parts = zip(self._shapes.items(), torch.split(weights, sizes), strict=True)
        named = {name: part.view(shape) for (name, shape), part in parts}
        given = tuple(part.clone() for part in (self.batch.parts if inputs is None else inputs))

        def run(*arguments: Tensor) -> Any:
            return functional_call(self.network, named, arguments)

        with torch.random.fork_rng(devices=()):
            torch.manual_seed(self._seed)
            return logits_of(run(*given)).flatten(1)

    @property
    def targets(self) -> Tensor:
        """What the outputs should be: (samples, outputs)."""
        labels = self.batch.labels
        if labels is None:
            raise UnsupportedError("no labels in the batch: hand over (inputs, labels)")
        shape = self.outputs(self.weights).shape
        if labels.numel() == shape.numel():
            return labels.double().reshape(shape)
        if labels.is_floating_point() or labels.shape != shape[:1]:
            raise InputError(f"labels of shape {tuple(labels.shape)} do not fit outputs of shape {tuple(shape)}")
        return torch.nn.functional.one_hot(labels.long(), shape[1]).double()

    def jacobian(self, weights: Tensor | None = None) -> Tensor:
        """The gradients of all outputs, ordered by sample and output: (samples x outputs, parameters)."""
        point = (self.weights if weights is None else weights).detach().requires_grad_()
        found = self.outputs(point).flatten()
        needed = 8 * len(found) * self.size
        if needed > MEMORY:
            raise UnsupportedError(
                f"the gradients of {len(found)} outputs by {self.size:,} parameters take {needed / 2**30:.1f} GiB, "
                f"at most {MEMORY / 2**30:.0f} are taken: fewer samples, or a narrower network"
            )
        return torch.stack([_gradient(one, point) for one in found])

    def kernel(self, weights: Tensor | None = None) -> Tensor:
        """The tangent kernel of all outputs: (samples x outputs, samples x outputs)."""
        rows = self.jacobian(weights)
        return rows @ rows.mT

    def losses(self, weights: Tensor, loss: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """`loss(outputs, labels)` of each sample in the run of the whole batch: (samples,)."""
        outputs, labels = self.outputs(weights), self.batch.labels
        if labels is None:
            raise UnsupportedError("no labels in the batch: hand over (inputs, labels)")
        return torch.stack([loss(outputs[i : i + 1], labels[i : i + 1]) for i in range(len(self))])

    def descent(self, rate: float, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Gradient descent on half the sum of squared errors: weights and outputs before each step, and after the last."""
        goal, weights = self.targets, self.weights
        for step in range(steps + 1):
            point = weights.detach().requires_grad_()
            found = self.outputs(point)
            yield point.detach(), found.detach()
            if step < steps:
                weights = point.detach() - rate * _gradient((found - goal).square().sum() / 2, point)


def _gradient(value: Tensor, point: Tensor) -> Tensor:
    if not value.requires_grad:
        return torch.zeros_like(point)
    (found,) = torch.autograd.grad(value, point, retain_graph=True, allow_unused=True)
    return torch.zeros_like(point) if found is None else found.detach()


def product_with_hessian(loss: Callable[[Tensor], Tensor], point: Tensor, along: Tensor) -> Tensor:
    """H v, H the Hessian of a number by a vector, at a point: (size,) and (size,) to (size,).

    >>> product_with_hessian(lambda w: (w**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    tensor([ 6., 12.])
    """
    at = point.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(at), at, create_graph=True)
    return _gradient((slope * along).sum(), at)
