"""The probe: one look at one network. Everything a proxy may read is asked for here, and computed once.

    probe.sample     a pass over the first sample alone, in float64: for spectra
    probe.batch      a pass over the first batch, in the network's own type
    probe.batches    a pass over each batch

A pass runs when its first look is asked for, and then takes along all looks that the proxies of the call declared, so five
gradient proxies cost one forward and backward run. Graphs are released as soon as a pass ends; the network is left as it
was found after every single contact, and each contact starts from the same random numbers: no look depends on which others
were asked for before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from foresee.batch import Batch, as_batches
from foresee.counting import count_macs, count_params
from foresee.errors import InputError, UnknownNameError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.initialise import initialised
from foresee.probes.jets import taylor
from foresee.probes.looks import LOOKS, Feature, OverwrittenError, Pattern, Run, Watcher, watching
from foresee.probes.losses import Loss, choose
from foresee.probes.outputs import logits_of
from foresee.probes.splitting import can_split, joined
from foresee.probes.state import converted, double, untouched, use_batch_statistics

T = TypeVar("T")


class Probe:
    """One network with the batches to look at it with.

    Args:
        network: any module; inputs are passed as `network(*inputs)`.
        batches: a tensor, `(inputs, labels)`, a `Batch`, or a list of these; moved to the network's device and type.
        loss: None (chosen from labels and outputs), "cross_entropy", "bce", "mse", or a function of (outputs, labels).
        seed: decides every draw.
        looks: looks to take along, as declared by `Needs.looks`; `he:batch.patterns` is for weights that `he` draws.
        draws: random numbers, in place of those of the seed.

    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 10))
    >>> probe = Probe(net, (torch.randn(2, 3, 8, 8), torch.tensor([1, 7])), seed=1)
    >>> [feature.name for feature in probe.sample.features], probe.batch.jacobian.shape
    (['0', '1', '2', '3'], torch.Size([2, 3, 8, 8]))
    >>> sorted(probe.batch.gradients)
    ['0.bias', '0.weight', '3.bias', '3.weight']
    """

    def __init__(
        self,
        network: nn.Module,
        batches: Any,
        *,
        loss: Loss | str | None = None,
        seed: int = 0,
        looks: Iterable[str] = (),
        draws: Draws | None = None,
    ) -> None:
        self.network, self.seed, self.given_loss = network, seed, loss
        self.data: list[Batch] = as_batches(batches)
        if any(is_lazy(tensor) for tensor in _tensors(network)):
            raise UnsupportedError("the network has lazy layers without a size yet: run it once on a sample first")
        self.draws = draws or Draws(seed)
        #: numbers that a proxy made its value from, by name
        self.notes: dict[str, float] = {}
        self._declared = tuple(dict.fromkeys(looks))
        self._parts: dict[int, list[Pass]] = {}
        self._memory: dict[Any, tuple[Any, bool]] = {}
        self._initialised: dict[str, Probe] = {}

    @contextmanager
    def initialised(self, scheme: str) -> Iterator[Probe]:
        """A probe of the network with weights drawn by `scheme`, which the network has inside; "default": this probe.

        It has the same draws, and is shared by all who ask for it under these draws.
        """
        if scheme == "default":
            yield self
            return
        with initialised(self.network, scheme, self.draws):
            other = self._initialised.get(scheme)
            if other is None or other.draws.repeat != self.draws.repeat:
                own = [look.removeprefix(f"{scheme}:") for look in self._declared if look.startswith(f"{scheme}:")]
                other = Probe(self.network, self.data, loss=self.given_loss, seed=self.seed, looks=own)
                self._initialised[scheme] = other
            other.draws, other.notes = self.draws, self.notes
            yield other

    # -- passes ---------------------------------------------------------------------------------------------------------
    @cached_property
    def sample(self) -> Pass:
        """The first sample alone, the network in float64 (in its own type where it cannot run in float64)."""
        return Pass(self, self.data[0], self._looks("sample"), part=slice(0, 1), exact=True)

    @property
    def batch(self) -> Pass:
        """The first batch."""
        return self.batches[0]

    @cached_property
    def batches(self) -> list[Pass]:
        """Every batch; the first one is `batch`."""
        several = self._looks("batches") if len(self.data) > 1 else ()
        first = Pass(self, self.data[0], tuple(dict.fromkeys(self._looks("batch") + several)))
        return [first, *(Pass(self, batch, several) for batch in self.data[1:])]

    def at_least(self, count: int) -> list[Pass]:
        """The batches, or where there are fewer than `count`, equal parts of the first one (what is over is left out)."""
        if len(self.data) >= count:
            return self.batches
        if count not in self._parts:
            size = len(self.data[0]) // count
            if size == 0:
                raise UnsupportedError(
                    f"{count} batches are needed, and a batch of {len(self.data[0])} cannot be split into {count}"
                )
            looks = self._looks("batches")
            slices = [slice(i * size, (i + 1) * size) for i in range(count)]
            self._parts[count] = [Pass(self, self.data[0], looks, part=part) for part in slices]
        return self._parts[count]

    def _looks(self, where: str) -> tuple[str, ...]:
        return tuple(look.split(".", 1)[1] for look in self._declared if look.split(".", 1)[0] == where)

    # -- the network ----------------------------------------------------------------------------------------------------
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
    def weights(self) -> dict[str, Tensor]:
        """Trainable weights of convolutions and linear layers, by name; a shared one once; no biases, no normalisation."""
        names = {id(parameter): name for name, parameter in self.network.named_parameters()}
        found: dict[str, Tensor] = {}
        for name, module in self.network.named_modules():
            if not isinstance(module, nn.Linear | nn.modules.conv._ConvNd):
                continue
            if id(module.weight) not in names:
                raise UnsupportedError(
                    f"the weight of {name} is computed (parametrised): remove the parametrisation first"
                )
            if module.weight.requires_grad:
                found[names[id(module.weight)]] = module.weight.detach()
        if not found:
            raise UnsupportedError("the network has no trainable weights of convolutions or linear layers")
        return found

    @cached_property
    def params(self) -> int:
        """Number of parameters."""
        return count_params(self.network)

    @cached_property
    def macs(self) -> int:
        """Multiply-accumulates of one sample."""
        parts = (part[:1] for part in self.data[0].parts)
        sample = tuple(part.to(self.device, self.dtype if part.is_floating_point() else None) for part in parts)
        return count_macs(self.network, sample)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample, for proxies that make their own input; they need a single floating one."""
        parts = self.data[0].parts
        if len(parts) != 1 or not parts[0].is_floating_point():
            raise UnsupportedError("the input made here replaces one floating tensor; this network takes other inputs")
        return tuple(parts[0].shape[1:])

    @contextmanager
    def contact(self, convert: Callable[[Tensor], Tensor] | None = None) -> Iterator[nn.Module]:
        """The network, to be run: with batch statistics, its tensors converted if asked; as found again afterwards."""
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(untouched(self.network, self.seed, values=convert is None))
            use_batch_statistics(self.network)
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
        """`look(network, dtype)` with the network in float64, or in its own type where it cannot run in float64."""
        try:
            with self.contact(double) as network:
                return look(network, torch.float64)
        except (RuntimeError, TypeError) as error:
            if self.dtype == torch.float64 or out_of_memory(error):
                raise
        with self.contact() as network:
            return look(network, self.dtype)

    def taylor(self, point: Tensor, velocity: Tensor, acceleration: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Outputs along an input curve with this point, velocity and acceleration: theirs, each (samples, ...), float64."""

        def look(network: nn.Module, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
            curve = (part.to(self.device, dtype) for part in (point, velocity, acceleration))
            value, first, second = taylor(network, *curve)
            return value.double(), first.double(), second.double()

        return self.exactly(look)

    # -- memory ---------------------------------------------------------------------------------------------------------
    def remember(self, key: Any, compute: Callable[[], T]) -> T:
        """What `compute` gives, computed once for these draws: for parts that several proxies share."""
        key = (key, self.draws.repeat)
        if key not in self._memory:
            before, self.draws.used = self.draws.used, False
            self._memory[key] = compute(), self.draws.used
            self.draws.used = before
        found: T = self._memory[key][0]
        self.draws.used |= self._memory[key][1]  # who gets it from memory depends on the draws just the same
        return found

    def note(self, **numbers: Tensor | float) -> None:
        """Keep numbers that a value was made from; they come with the score as its parts."""
        self.notes.update({name: float(number) for name, number in numbers.items()})

    def choose_loss(self, outputs: Tensor) -> Loss:
        """The loss for these outputs, the same for all batches; the first touch of the labels."""
        if not hasattr(self, "_loss"):
            labels = [batch.labels for batch in self.data]
            if any(part is None for part in labels):
                raise UnsupportedError("no labels in the batch: hand over (inputs, labels)")
            self._loss = choose(self.given_loss, outputs, [part for part in labels if part is not None])
        return self._loss


class Pass:
    """One run of the network over one batch, or a part of it, and what was seen on the way; it runs when first asked."""

    def __init__(
        self,
        probe: Probe,
        batch: Batch,
        declared: tuple[str, ...] = (),
        *,
        part: slice = slice(None),
        exact: bool = False,
    ) -> None:
        self.probe = probe
        self.inputs = tuple(tensor[part] for tensor in batch.parts)
        # Labels are not even sliced before a loss asks for them: most proxies must never touch them.
        self._batch, self._part = batch, part
        self._declared, self._exact = declared, exact
        self._seen: dict[str, Any] = {}
        self._failed: dict[str, Exception] = {}

    def __len__(self) -> int:
        return len(self.inputs[0])

    def see(self, look: str) -> Any:
        """The look of this name, from a pass that is shared with the looks declared for it."""
        if look not in LOOKS:
            raise UnknownNameError("look", look, LOOKS)
        if look not in self._seen:
            if look in self._failed:
                raise self._failed[look]
            others = [name for name in self._declared if name != look and name not in self._seen]
            try:
                self._seen.update(self._run([look, *others]))
            except Exception as error:
                # What failed may be the company: no labels, or too little memory for all of it.
                if not others:
                    if out_of_memory(error) and self._splits(look):
                        self._seen[look] = self._in_halves(look)
                        return self._seen[look]
                    self._failed[look] = error.with_traceback(None)
                    raise
                self._declared = ()
                return self.see(look)
        return self._seen[look]

    def _splits(self, look: str) -> bool:
        return len(self) > 1 and can_split(self.probe.network, look, self.probe.given_loss)

    def _in_halves(self, look: str) -> Any:
        """The look from two smaller passes, which may split again: exact, because the samples are independent."""
        indices = range(len(self._batch))[self._part]
        middle = len(indices) // 2
        parts = [slice(half.start, half.stop) for half in (indices[:middle], indices[middle:])]
        halves = [Pass(self.probe, self._batch, part=part, exact=self._exact) for part in parts]
        return joined(look, [half.see(look) for half in halves], [len(half) for half in halves])

    @property
    def features(self) -> list[Feature]:
        """What each call of a leaf module made of the first sample."""
        found: list[Feature] = self.see("features")
        return found

    @property
    def patterns(self) -> list[Pattern]:
        """Signs of the inputs of each call of a ReLU-like module."""
        found: list[Pattern] = self.see("patterns")
        return found

    @property
    def outputs(self) -> Tensor:
        """Outputs (logits) of the network."""
        found: Tensor = self.see("outputs")
        return found

    @property
    def loss(self) -> Tensor:
        """The loss of the batch."""
        found: Tensor = self.see("loss")
        return found

    @property
    def gradients(self) -> dict[str, Tensor]:
        """Gradients of the loss by trainable parameters that have an influence on it."""
        found: dict[str, Tensor] = self.see("gradients")
        return found

    @property
    def weight_gradients(self) -> dict[str, Tensor]:
        """Those of `gradients` that belong to weights of convolutions and linear layers."""
        found = {name: self.gradients[name] for name in self.probe.weights if name in self.gradients}
        if not found:
            raise UnsupportedError("no weight of a convolution or linear layer has an influence on the loss")
        return found

    @property
    def jacobian(self) -> Tensor:
        """Gradient of the sum of all outputs by the inputs, (samples, ...)."""
        found: Tensor = self.see("jacobian")
        return found

    def loss_of(self, forward: Callable[..., Any]) -> Tensor:
        """The loss of `forward(*inputs)`, with its graph: for a look of a proxy's own, inside a contact."""
        if self._batch.labels is None:
            raise UnsupportedError("no labels in the batch: hand over (inputs, labels)")
        return self._loss(logits_of(forward(*(self._input(part, self.probe.dtype, False) for part in self.inputs))))

    def _run(self, looks: Sequence[str], careful: bool = False) -> dict[str, Any]:
        try:
            if self._exact:
                return self.probe.exactly(lambda network, dtype: self._watch(network, dtype, looks, careful))
            with self.probe.contact() as network:
                return self._watch(network, self.probe.dtype, looks, careful)
        except OverwrittenError:
            return self._run(looks, careful=True)

    def _watch(self, network: nn.Module, dtype: torch.dtype, looks: Sequence[str], careful: bool) -> dict[str, Any]:
        watchers = [LOOKS[look]() for look in looks]
        for watcher in watchers:
            watcher.careful = careful
        roots = {watcher.root for watcher in watchers}
        if "loss" in roots and self._batch.labels is None:
            raise UnsupportedError("no labels in the batch: hand over (inputs, labels)")
        with torch.set_grad_enabled(roots != {""}), watching(network, watchers):
            inputs = tuple(self._input(part, dtype, "outputs" in roots) for part in self.inputs)
            outputs = logits_of(network(*inputs))
            run = Run(network, inputs, outputs, self._loss(outputs) if "loss" in roots else None)
        gradients = _differentiate(run, watchers)
        return {watcher.name: watcher.result(run, gradients[watcher]) for watcher in watchers}

    def _input(self, part: Tensor, dtype: torch.dtype, differentiable: bool) -> Tensor:
        moved = part.detach().to(self.probe.device, dtype if part.is_floating_point() else None)
        if moved is part or moved.is_inference() or differentiable:
            moved = moved.clone()  # an in-place first layer must not write into the caller's batch
        return moved.requires_grad_(differentiable and moved.is_floating_point())

    def _loss(self, outputs: Tensor) -> Tensor:
        assert self._batch.labels is not None
        labels = self._batch.labels[self._part].to(self.probe.device)
        loss = self.probe.choose_loss(outputs)(outputs, labels)
        if not isinstance(loss, Tensor) or loss.numel() != 1:
            raise InputError("the loss must be a function of (outputs, labels) that returns one number")
        return loss


def _differentiate(run: Run, watchers: Sequence[Watcher[Any]]) -> dict[Watcher[Any], Sequence[Tensor | None]]:
    """One backward run per root serves all watchers; the graph is released with the last."""
    found: dict[Watcher[Any], Sequence[Tensor | None]] = dict.fromkeys(watchers, ())
    targets = {watcher: list(watcher.targets(run)) for watcher in watchers}
    roots = {"loss": run.loss, "outputs": run.outputs.sum() if run.outputs.requires_grad else run.outputs}
    asked = {root: [w for w in watchers if w.root == root and targets[w]] for root in roots}
    last = next((root for root in reversed(roots) if asked[root]), "")
    for root, askers in asked.items():
        start = roots[root]
        if not askers or start is None:
            continue
        if not start.requires_grad:
            raise UnsupportedError("the outputs do not depend on the weights or inputs in a differentiable way")
        together = [tensor for watcher in askers for tensor in targets[watcher]]
        gradients = torch.autograd.grad(start, together, retain_graph=root != last, allow_unused=True)
        for watcher in askers:
            found[watcher], gradients = gradients[: len(targets[watcher])], gradients[len(targets[watcher]) :]
    return found


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on any device."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def _tensors(network: nn.Module) -> Iterator[Tensor]:
    yield from network.parameters()
    yield from network.buffers()
