"""A pass: one run of the network over one batch, shared by all looks that were declared for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, TypeVar, overload

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.errors import InputError, UnsupportedError
from foresee.probes.coverage import Coverage, Remark
from foresee.probes.derivatives import refuse_dead_ends, twice_differentiable
from foresee.probes.draws import projection_of
from foresee.probes.features import Feature, Features
from foresee.probes.gradients import Gradients, Jacobian, LossValue, Outputs
from foresee.probes.kernel import sample_gradients
from foresee.probes.looks import Forward, OverwrittenError, Root, Watcher, look_called, watching
from foresee.probes.outputs import check_rows
from foresee.probes.patterns import Pattern, Patterns
from foresee.probes.quick import quick_backward
from foresee.probes.splitting import can_split, joined, out_of_memory
from foresee.probes.subject import NO_LABELS, Subject

R = TypeVar("R")


class Pass:
    """One run of the network over one batch, or a part of it, and what was seen on the way; it runs when first asked.

    Looks that depend on draws are remembered for each repeat. Where the subject is to be differentiated (`create_graph`),
    `outputs`, `loss`, `gradients`, `features`, `jacobian` and the looks of `see` come with their graph.
    """

    def __init__(
        self,
        probe: Subject,
        batch: Batch,
        declared: Sequence[Watcher[Any]] = (),
        *,
        part: slice = slice(None),
        exact: bool = False,
    ) -> None:
        self.probe = probe
        self.inputs = tuple(tensor[part] for tensor in batch.parts)
        # Labels are not even sliced before a loss asks for them: most proxies must never touch them.
        self._batch, self._part = batch, part
        self._declared, self._exact = tuple(declared), exact
        self._seen: dict[Any, Any] = {}
        self._failed: dict[Any, Exception] = {}
        self._coverage: dict[Any, Coverage | None] = {}
        self._remarks: set[Remark] = set()

    def __len__(self) -> int:
        return len(self.inputs[0])

    # -- looks ----------------------------------------------------------------------------------------------------------
    @overload
    def see(self, look: str) -> Any: ...

    @overload
    def see(self, look: Watcher[R]) -> R: ...

    def see(self, look: str | Watcher[Any]) -> Any:
        """A look, by name or made with settings, from a pass that is shared with the looks declared for it."""
        wanted = look_called(look) if isinstance(look, str) else look
        key = self._key(wanted)
        if key not in self._seen:
            if key in self._failed:
                raise self._failed[key]
            with self.probe.draws.apart():  # the company's draws are not this look's
                self._seen.update(self._found(wanted))
        self.probe.draws.used |= wanted.drawn
        self.probe.covered(self._coverage.get(key))
        self.probe.remarks |= self._remarks
        return self._seen[key]

    def _key(self, look: Watcher[Any]) -> Any:
        return look.identity, self.probe.draws.repeat if look.drawn else None

    def _found(self, wanted: Watcher[Any]) -> dict[Any, Any]:
        key = self._key(wanted)
        company = {self._key(one): one for one in self._declared if self._joins(one, wanted)}
        company.pop(key, None)
        try:
            return self._run([wanted, *company.values()])
        except Exception as error:
            if not company and not (out_of_memory(error) and self._splits(wanted.name)):
                self._failed[key] = error.with_traceback(None)
                raise
        # Out here the failed run and all it had in hand are let go.
        if not company:
            return {key: self._in_halves(wanted)}
        self._declared = ()  # what failed may be the company: no labels, or too little memory for all of it
        return self._found(wanted)

    def _joins(self, one: Watcher[Any], wanted: Watcher[Any]) -> bool:
        """Whether a declared look is taken along in the run for another."""
        network = self.probe.network
        return self._key(one) not in self._seen and not one.alone(network) and not wanted.alone(network)

    def _splits(self, look: str) -> bool:
        return len(self) > 1 and can_split(self.probe.network, look, self.probe.given_loss)

    def _in_halves(self, look: Watcher[Any]) -> Any:
        """The look from two smaller passes, which may split again: exact, because the samples are independent."""
        indices = range(len(self._batch))[self._part]
        middle = len(indices) // 2
        parts = [slice(half.start, half.stop) for half in (indices[:middle], indices[middle:])]
        halves = [Pass(self.probe, self._batch, part=part, exact=self._exact) for part in parts]
        return joined(look.name, [half.see(look) for half in halves], [len(half) for half in halves])

    @property
    def features(self) -> list[Feature]:
        """What each call of a leaf module made of the first sample."""
        return self.see(Features())

    @property
    def patterns(self) -> list[Pattern]:
        """Signs of the inputs of each call of a ReLU-like module or function."""
        return self.see(Patterns())

    @property
    def outputs(self) -> Tensor:
        """Outputs (logits) of the network."""
        return self.see(Outputs())

    @property
    def loss(self) -> Tensor:
        """The loss of the batch."""
        return self.see(LossValue())

    @property
    def gradients(self) -> dict[str, Tensor]:
        """Gradients of the loss by trainable parameters that have an influence on it."""
        return self.see(Gradients())

    @property
    def weight_gradients(self) -> dict[str, Tensor]:
        """Those of `gradients` that belong to weights of convolutions and linear layers."""
        gradients = self.gradients
        found = {name: gradients[name] for name in self.probe.weights if name in gradients}
        if not found:
            raise UnsupportedError("no weight of a convolution or linear layer has an influence on the loss")
        return found

    @property
    def jacobian(self) -> Tensor:
        """Gradient of the sum of all outputs by the inputs, (samples, ...)."""
        return self.see(Jacobian())

    # -- sample by sample -----------------------------------------------------------------------------------------------
    @property
    def sample_gradients(self) -> dict[str, Tensor]:
        """Gradients of each sample's own loss by the parameters that have an influence: (samples, ...) by name.

        The loss of one sample in the run of the whole batch, through the statistics of all samples where BatchNorm couples
        them; in the network's own type, without a graph. Holds samples times parameters numbers as long as the probe is
        there; the runs are those of `foresee.probes.kernel.sample_gradients`, not the shared one.
        """
        return sample_gradients(self._alone, outputs="loss")

    @property
    def sample_projections(self) -> dict[str, Tensor]:
        """As `sample_gradients`, of a random projection of each sample's outputs; no labels. Draws: `projection.<shape>`."""
        return sample_gradients(self._alone, outputs="projection")

    @property
    def _alone(self) -> Subject:
        """A subject whose first batch is this pass's."""
        if self._batch is self.probe.data[0] and len(self) == len(self._batch):
            return self.probe
        self._own.draws = self.probe.draws
        return self._own

    @cached_property
    def _own(self) -> Subject:
        def loss(outputs: Tensor, labels: Tensor) -> Tensor:  # chosen by the labels of all batches, not of this one
            return self.probe.choose_loss(outputs)(outputs, labels)

        probe = self.probe
        return Subject(
            probe.network,
            self._batch[self._part],
            loss=loss,
            seed=probe.seed,
            create_graph=probe.create_graph,
            outputs=probe.given_outputs,
            ours=probe.ours,
        )

    # -- the run --------------------------------------------------------------------------------------------------------
    def loss_of(self, forward: Callable[..., Any]) -> Tensor:
        """The loss of what `forward` answers to the inputs, with its graph: for a look of a proxy's own, inside a contact."""
        if self._batch.labels is None:
            raise UnsupportedError(NO_LABELS)
        return self._loss(self.probe.answer(forward, self.probe.moved(self.inputs)))

    def _run(self, looks: Sequence[Watcher[Any]], careful: bool = False) -> dict[Any, Any]:
        try:
            if self._exact:
                return self._run_exactly(looks, careful)
            with self.probe.contact() as network:
                return self._watch(network, self.probe.dtype, looks, careful)
        except OverwrittenError:
            return self._run(looks, careful=True)

    def _run_exactly(self, looks: Sequence[Watcher[Any]], careful: bool) -> dict[Any, Any]:
        """In float64; what is remarked on the way is this pass's, whoever asks for it later."""
        outside, self.probe.remarks = self.probe.remarks, set()
        try:
            return self.probe.exactly(lambda network, dtype: self._watch(network, dtype, looks, careful))
        finally:
            self._remarks |= self.probe.remarks
            self.probe.remarks = outside

    def _watch(
        self, network: nn.Module, dtype: torch.dtype, looks: Sequence[Watcher[Any]], careful: bool
    ) -> dict[Any, Any]:
        watchers = [look.again() for look in looks]
        for watcher in watchers:
            watcher.careful, watcher.differentiable = careful, self.probe.create_graph
        roots = {watcher.root for watcher in watchers}
        if "loss" in roots and self._batch.labels is None:
            raise UnsupportedError(NO_LABELS)
        with ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(self.probe.create_graph or roots != {""}))
            if self.probe.create_graph:
                stack.enter_context(twice_differentiable())
            else:
                stack.enter_context(quick_backward(network))
            with watching(network, watchers):
                forward = self._forward(network, dtype, roots, watchers)
            gradients = self._differentiate(forward, watchers)
            results = [watcher.result(forward, gradients[watcher]) for watcher in watchers]
        self._coverage.update({self._key(watcher): watcher.coverage for watcher in watchers})
        return {self._key(watcher): result for watcher, result in zip(watchers, results, strict=True)}

    def _forward(
        self, network: nn.Module, dtype: torch.dtype, roots: set[Root], watchers: Sequence[Watcher[Any]]
    ) -> Forward:
        named = network.named_parameters() if roots != {""} else ()  # nobody asks where nothing is differentiated
        trained = {name: parameter for name, parameter in named if parameter.requires_grad}
        for watcher in watchers:
            for parameter in watcher.wakes(network):
                parameter.requires_grad_()  # the contact puts frozen ones to sleep again
        inputs = given = self.probe.moved(self.inputs, dtype)
        if "outputs" in roots:
            inputs = tuple(part.requires_grad_(part.is_floating_point()) for part in inputs)
            given = tuple(part.clone() for part in inputs)  # a network that works in place may not write into a leaf
        outputs = self.probe.answer(network, given)
        return Forward(network, inputs, outputs, self._loss(outputs) if "loss" in roots else None, trained)

    def _loss(self, outputs: Tensor) -> Tensor:
        check_rows(outputs, len(self))
        loss = self.probe.choose_loss(outputs)(outputs, self.probe.told(self._batch, self._part))
        if not isinstance(loss, Tensor) or loss.numel() != 1:
            raise InputError("the loss must be a function of (outputs, labels) that returns one number")
        return loss

    def _differentiate(
        self, forward: Forward, watchers: Sequence[Watcher[Any]]
    ) -> dict[Watcher[Any], Sequence[Tensor | None]]:
        """One backward run per root serves all watchers; the graph is released with the last."""
        targets = {watcher: list(watcher.targets(forward)) for watcher in watchers}
        found: dict[Watcher[Any], Sequence[Tensor | None]] = {w: [None] * len(those) for w, those in targets.items()}
        asked = {root: [w for w in watchers if w.root == root and targets[w]] for root in _ROOTS}
        waiting = [root for root in _ROOTS if asked[root]]
        while waiting:
            root = waiting.pop(0)
            start, along = self._start(forward, root)
            if not start.requires_grad:
                continue
            together = [tensor for watcher in asked[root] for tensor in targets[watcher]]
            for watcher in asked[root]:
                watcher.listening = True
            gradients = torch.autograd.grad(
                start,
                together,
                along,
                retain_graph=bool(waiting) or self.probe.create_graph,
                create_graph=self.probe.create_graph,
                allow_unused=True,
            )
            for watcher in asked[root]:
                watcher.listening = False
                found[watcher], gradients = gradients[: len(targets[watcher])], gradients[len(targets[watcher]) :]
        if self.probe.create_graph:
            refuse_dead_ends(*(one for those in found.values() for one in those if one is not None))
        return found

    def _start(self, forward: Forward, root: Root) -> tuple[Tensor, Tensor | None]:
        """What is differentiated, and along which direction."""
        if root == "projection":
            if forward.outputs.ndim == 0:
                raise UnsupportedError("the outputs are a single number: there is no direction to project them on")
            return forward.outputs, projection_of(self.probe.draws, forward.outputs)
        if root == "loss":
            assert forward.loss is not None
            return forward.loss, None
        return forward.outputs.sum(), None


#: in the order in which they are differentiated
_ROOTS: tuple[Root, ...] = ("loss", "outputs", "projection")
