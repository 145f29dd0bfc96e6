"""The network that is looked at, with the batches to look at it with: how it is touched, and how it is left.

Every run of it happens inside a `contact`, and every input goes through `moved`; after each contact the network is as it was
found, and each contact starts from the same random numbers: no look depends on which others were asked for before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from foresee.batch import Batch
from foresee.errors import UnsupportedError
from foresee.handed import as_batches
from foresee.probes.belongings import modules_of
from foresee.probes.coverage import Coverage, Remark, layered, weights_of
from foresee.probes.draws import Draws
from foresee.probes.losses import Loss, choose
from foresee.probes.ours import Ours, Remembered
from foresee.probes.outputs import Outputs, selecting
from foresee.probes.splitting import out_of_memory
from foresee.probes.state import (
    Convert,
    converted,
    copy_buffers,
    double,
    process_kept,
    uncompiled,
    untouched,
    use_batch_statistics,
)

T = TypeVar("T")
NO_LABELS = "no labels in the batch: hand over (inputs, labels)"


class Subject:
    """One network and its batches; the arguments are those of `Probe`, which adds the looks."""

    def __init__(
        self,
        network: nn.Module,
        batches: Any,
        *,
        loss: Loss | str | None = None,
        seed: int = 0,
        draws: Draws | None = None,
        create_graph: bool = False,
        outputs: Outputs | None = None,
        ours: Ours | None = None,
    ) -> None:
        self.network, self.seed, self.given_loss, self.create_graph = network, seed, loss, create_graph
        self.given_outputs, self.select = outputs, selecting(outputs)
        self.data: list[Batch] = as_batches(batches, seed=seed)
        modules = modules_of(network)
        weights = [one for module in modules for one in module._parameters.values() if one is not None]
        buffers = [one for module in modules for one in module._buffers.values() if one is not None]
        if any(map(is_lazy, chain(weights, buffers))):
            raise UnsupportedError("the network has lazy layers without a size yet: run it once on a sample first")
        self._without_numbers = any(weight.is_meta for weight in weights)
        self.draws = draws or Draws(seed)
        #: the network as one of ours, where it is; a stranger's is put back after each contact
        self.ours = None if create_graph else ours
        self._double: Convert = double if self.ours is None else Remembered(double)
        #: what has to be said beside a value made from what was asked for; whoever starts a new value empties it
        self.remarks: set[Remark] = set()
        self._memory: dict[Any, tuple[Any, bool, set[Remark]]] = {}

    @cached_property
    def device(self) -> torch.device:
        """Where the network is."""
        return next((t.device for t in _tensors(self.network)), self.data[0].parts[0].device)

    @cached_property
    def dtype(self) -> torch.dtype:
        """The network's own floating type."""
        tensors = chain(_tensors(self.network), self.data[0].parts)
        return next((t.dtype for t in tensors if t.is_floating_point()), torch.get_default_dtype())

    @cached_property
    def scripted(self) -> bool:
        """Whether some of the network is TorchScript, whose layers run without their hooks."""
        return any(isinstance(module, torch.jit.ScriptModule) for module in modules_of(self.network))

    @property
    def weights(self) -> dict[str, Tensor]:
        """Trainable weights of convolutions, linear layers and other layers with a weight matrix, by name; a shared one once.

        No biases, no normalisation, no tables that are looked up. Other layers are those that call a matrix of theirs a
        weight: packed projections of attention, recurrent layers, layers of other libraries.
        """
        found, coverage = self._weights
        self.covered(coverage)
        return found

    @cached_property
    def _weights(self) -> tuple[dict[str, Tensor], Coverage]:
        names = {id(parameter): name for name, parameter in self.network.named_parameters()}
        found: dict[str, Tensor] = {}
        for name, module in self.network.named_modules():
            for weight in weights_of(module):
                if weight is None or id(weight) not in names:
                    raise UnsupportedError(
                        f"the weight of {name} is computed (parametrised): remove the parametrisation first"
                    )
                if weight.requires_grad:
                    found[names[id(weight)]] = weight
        refuse_complex(found)
        if not found:
            raise UnsupportedError("the network has no trainable weights of convolutions or linear layers")
        coverage = Coverage.of(self.network, found.values(), (p for p in layered(self.network) if p.requires_grad))
        return {name: weight.detach() for name, weight in found.items()}, coverage

    def covered(self, coverage: Coverage | None) -> None:
        """Remember how much a look saw, where that was not all; a score tells it."""
        if coverage is not None and coverage.share < 1:
            self.remarks.add(coverage)

    def moved(self, parts: Iterable[Tensor], dtype: torch.dtype | None = None) -> tuple[Tensor, ...]:
        """Copies of these inputs where the network is, floating ones in its own type (or `dtype`), without a graph.

        The only door for inputs. Copies, because a network that works in place must not write into the caller's batch.
        """
        kind = dtype or self.dtype
        both = ((part.detach(), kind if part.is_floating_point() else None) for part in parts)
        return tuple(part.to(self.device, wanted, copy=True) for part, wanted in both)

    def told(self, batch: Batch, part: slice = slice(None)) -> Tensor:
        """A copy of these labels where the network is: the only door for labels, as `moved` is for inputs."""
        if batch.labels is None:
            raise UnsupportedError(NO_LABELS)
        return batch.labels[part].detach().to(self.device, copy=True)

    def answer(self, network: Callable[..., Any], parts: Iterable[Tensor]) -> Tensor:
        """The outputs that count (logits) for these inputs, handed over as the batch does: in order, or by their names."""
        outputs = self.select(self.data[0].call(network, parts))
        if outputs.is_complex():
            raise UnsupportedError("the outputs are complex numbers: there are looks at real ones only")
        if outputs.is_meta:
            raise UnsupportedError("the outputs are on the meta device: there are no numbers to look at")
        return outputs

    @contextmanager
    def contact(self, convert: Convert | None = None, *, tracking: bool = False) -> Iterator[nn.Module]:
        """The network, to be run: with batch statistics, its tensors converted if asked; as found again afterwards.

        Running statistics, which no other run sees, need not be kept by one of ours; who reads them says `tracking`.

        Where looks are to be differentiated (`create_graph`), a graph outlives its contact: the network then runs with
        copies of its buffers, since putting values back into the buffers would change what the graph remembers of them.
        """
        if convert is not None and self.create_graph:
            raise UnsupportedError("a look at converted weights cannot be differentiated: they are gone when it ends")
        if self._without_numbers:
            raise UnsupportedError("weights are on the meta device: there are no numbers to look at")
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(uncompiled())
            if self.scripted:  # after a few runs TorchScript would hide its operations in one
                stack.enter_context(torch.jit.optimized_execution(False))  # type: ignore[attr-defined]
            if self.ours is not None:
                stack.enter_context(process_kept(self.seed))
                stack.enter_context(self.ours.contact(convert))
                if tracking:
                    stack.enter_context(self.ours.tracking())
            else:
                stack.enter_context(untouched(self.network, self.seed, values=convert is None))
                use_batch_statistics(self.network)
                if self.create_graph:
                    copy_buffers(self.network)
                if convert is not None:
                    stack.enter_context(converted(self.network, convert))
            try:
                yield self.network
            except ValueError as error:
                if "more than 1 value per channel" not in str(error):
                    raise
                raise UnsupportedError(
                    "BatchNorm needs more than one value per channel for batch statistics; here a batch of one leaves it one"
                ) from error

    def exactly(self, look: Callable[[nn.Module, torch.dtype], T]) -> T:
        """`look(network, dtype)` with the network in float64, or in its own type where it cannot run in float64: a remark.

        A look that is to be differentiated is in the network's own type, too.
        """
        if not self.create_graph:
            try:
                with self.contact(self._double) as network:
                    return look(network, torch.float64)
            except (RuntimeError, TypeError) as error:
                if self.dtype == torch.float64 or out_of_memory(error):
                    raise
                own, why = str(self.dtype).removeprefix("torch."), (str(error).strip() or "no reason").splitlines()[0]
                self.remarks.add(f"in {own}: the network does not run in float64 ({type(error).__name__}: {why})")
        with self.contact() as network:
            return look(network, self.dtype)

    def remember(self, key: Any, compute: Callable[[], T]) -> T:
        """What `compute` gives, computed once for these draws: for parts that several proxies share."""
        key = (key, self.draws.repeat)
        if key not in self._memory:
            outside, self.remarks = self.remarks, set()
            try:
                with self.draws.apart() as apart:
                    found = compute()
                self._memory[key] = found, apart.used, self.remarks
            finally:
                self.remarks = outside
        value: T = self._memory[key][0]
        self.draws.used |= self._memory[key][1]  # who gets it from memory depends on the draws just the same
        self.remarks |= self._memory[key][2]
        return value

    def choose_loss(self, outputs: Tensor) -> Loss:
        """The loss for these outputs, the same for all batches; the first touch of the labels."""
        if not hasattr(self, "_loss"):
            labels = [batch.labels for batch in self.data]
            if any(part is None for part in labels):
                raise UnsupportedError(NO_LABELS)
            self._loss = choose(self.given_loss, outputs, [part for part in labels if part is not None])
        return self._loss


def refuse_complex(parameters: Mapping[str, Tensor]) -> None:
    """Gradients by complex numbers are no numbers that the formulas of proxies are about."""
    for name, parameter in parameters.items():
        if parameter.is_complex():
            raise UnsupportedError(f"{name} holds complex numbers: there are looks at gradients by real ones only")


def _tensors(network: nn.Module) -> Iterator[Tensor]:
    yield from network.parameters()
    yield from network.buffers()
