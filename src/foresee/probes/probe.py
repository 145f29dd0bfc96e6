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

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from foresee.batch import alike
from foresee.counting import count_macs, count_params
from foresee.errors import InputError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.initialise import Fresh, initialised
from foresee.probes.jets import taylor
from foresee.probes.looks import Declared, Watcher
from foresee.probes.losses import Loss
from foresee.probes.ours import Ours
from foresee.probes.outputs import Outputs
from foresee.probes.passes import Pass
from foresee.probes.splitting import out_of_memory
from foresee.probes.state import untouched
from foresee.probes.subject import Subject

__all__ = ["Pass", "Probe", "out_of_memory"]


class Probe(Subject):
    """One network with the batches to look at it with.

    Args:
        network: any module; inputs are passed as the batch holds them, in order or by name.
        batches: what `foresee.handed.as_batches` takes; moved to the network's device and type.
        loss: None (chosen from labels and outputs), "cross_entropy", "bce", "mse", or a function of (outputs, labels).
        seed: decides every draw.
        looks: looks to take along, as declared by `Needs.looks`; `he:batch.patterns` is for weights that `he` draws.
        draws: random numbers, in place of those of the seed.
        create_graph: looks come with their graph, so that a formula on them can be differentiated by whatever the network
            was mixed with. Everything is in the network's own type then, with the network's own weights, and the graphs are
            held as long as the probe is.
        outputs: which of the network's outputs counts: a function of what it returns, a key, an attribute or a place; None:
            the logits (see `foresee.probes.outputs`).
        ours: the network as one that foresee built for this look (`Ours.of(network)`), which nobody looks at afterwards: then
            it is not kept as found. The looks are the same.

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
        looks: Iterable[str | Declared] = (),
        draws: Draws | None = None,
        create_graph: bool = False,
        outputs: Outputs | None = None,
        ours: Ours | None = None,
    ) -> None:
        super().__init__(
            network, batches, loss=loss, seed=seed, draws=draws, create_graph=create_graph, outputs=outputs, ours=ours
        )
        #: numbers that a proxy made its value from, by name
        self.notes: dict[str, float] = {}
        self._declared = [Declared.read(look) if isinstance(look, str) else look for look in looks]
        self._parts: dict[int, list[Pass]] = {}
        self._initialised: dict[str, Probe] = {}
        #: weights that schemes drew under the draws of a repeat; one of ours is small, and a stranger's may be large
        self._drawn: tuple[int, dict[str, Fresh]] = (-1, {})

    @contextmanager
    def initialised(self, scheme: str) -> Iterator[Probe]:
        """A probe of the network with weights drawn by `scheme`, which the network has inside; "default": this probe.

        It has the same draws, and is shared by all who ask for it under these draws.
        """
        if scheme == "default":
            yield self
            return
        if self.create_graph:
            raise UnsupportedError(
                f"weights drawn by {scheme} for one look are gone when it is differentiated: draw the network's own"
            )
        if self._drawn[0] != self.draws.repeat:
            self._drawn = self.draws.repeat, {}
        with initialised(self.network, scheme, self.draws, kept=None if self.ours is None else self._drawn[1]):
            other = self._initialised.get(scheme)
            if other is None or other.draws.repeat != self.draws.repeat:
                own = [replace(one, scheme="") for one in self._declared if one.scheme == scheme]
                other = self._another(self.data, looks=own)
                self._initialised[scheme] = other
            other.draws, other.notes, other.remarks = self.draws, self.notes, self.remarks
            yield other

    def first(self, samples: int) -> Probe:
        """A probe of the first so many samples of the first batch, with the same draws."""
        if samples < 1:
            raise InputError(f"a batch of {samples} samples was asked for: at least 1 is needed")
        if samples > len(self.data[0]):
            raise UnsupportedError(f"{samples} samples are needed, and the batch at hand has {len(self.data[0])}")
        return self._another(self.data[0].first(samples), draws=self.draws)

    def forget(self) -> None:
        """Let go of all that was seen: passes and their probe hold each other, and would stay until they are collected."""
        for other in self._initialised.values():
            other.forget()
        self._initialised, self._parts, self._memory = {}, {}, {}
        for passes in ("sample", "batches"):
            vars(self).pop(passes, None)

    def _another(self, data: Any, **more: Any) -> Probe:
        how: dict[str, Any] = {"loss": self.given_loss, "seed": self.seed, "outputs": self.given_outputs}
        return Probe(self.network, data, ours=self.ours, **how, **more)

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
        several = self._looks("batches") if len(self.data) > 1 else []
        first = Pass(self, self.data[0], [*self._looks("batch"), *several])
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

    def _looks(self, where: str) -> list[Watcher[Any]]:
        return [one.look for one in self._declared if (one.scheme, one.where) == ("", where)]

    # -- the network ----------------------------------------------------------------------------------------------------
    @cached_property
    def params(self) -> int:
        """Number of parameters."""
        return count_params(self.network)

    @cached_property
    def macs(self) -> int:
        """Multiply-accumulates of one sample."""
        inputs = alike(self.data[0].inputs, self.moved(part[:1] for part in self.data[0].parts))
        with untouched(self.network, self.seed):  # a copy may share more with it than it should
            return count_macs(self.network, inputs)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample, for proxies that make their own input; they need a single floating one."""
        parts = self.data[0].parts
        if len(parts) != 1 or not parts[0].is_floating_point():
            raise UnsupportedError("the input made here replaces one floating tensor; this network takes other inputs")
        return tuple(parts[0].shape[1:])

    def taylor(self, point: Tensor, velocity: Tensor, acceleration: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Outputs along an input curve with this point, velocity and acceleration: theirs, each (samples, ...), float64."""

        def look(network: nn.Module, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
            value, first, second = taylor(
                network, *self.moved((point, velocity, acceleration), dtype), select=self.select
            )
            return value.double(), first.double(), second.double()

        return self.exactly(look)

    def note(self, **numbers: Tensor | float) -> None:
        """Keep numbers that a value was made from; they come with the score as its parts."""
        plain = {name: one.detach() if isinstance(one, Tensor) else one for name, one in numbers.items()}
        self.notes.update({name: float(number) for name, number in plain.items()})
