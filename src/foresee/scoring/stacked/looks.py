"""All that is seen of a stack of architectures: each look is taken once, for all of them, when the first seat asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.errors import UnsupportedError
from foresee.probes.coverage import Coverage
from foresee.probes.draws import Draws, projection_of
from foresee.probes.exchanges import Exchanges
from foresee.probes.losses import choose
from foresee.probes.subject import NO_LABELS
from foresee.scoring.stacked.coverage import covered
from foresee.scoring.stacked.exchanges import StackedExchanges
from foresee.scoring.stacked.features import FeatureMaps
from foresee.scoring.stacked.gradients import StackedGradients
from foresee.scoring.stacked.layers import Curve, Samples
from foresee.scoring.stacked.network import Network, Watch
from foresee.scoring.stacked.patterns import StackedPatterns
from foresee.scoring.stacked.skeleton import Skeleton
from foresee.scoring.stacked.weights import Stream
from foresee.scoring.stacked.wiring import Wiring


class Stack:
    """Architectures that are looked at together.

    Args:
        skeleton: what their networks have in common.
        ops: what each of them chose.
        batches: what they are looked at with, the same for all.
        seed: decides every draw.
        stream: their weights, long enough for all of them.
        device: where they run.
        dtype: the networks' own type, for batches; single samples run in float64.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        ops: Sequence[Sequence[str]],
        batches: Sequence[Batch],
        seed: int,
        stream: Stream,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self._dtype = dtype
        self.data, self.seed, self.device = list(batches), seed, device
        self._wiring, self._stream = Wiring(skeleton, ops, device), stream
        self._draws: dict[int, Draws] = {}
        self._gradients: dict[int, list[StackedGradients]] = {}
        self._exchanges: dict[Any, StackedExchanges] = {}
        self._covered: dict[str, list[Coverage]] = {}
        self._curve: tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None = None

    def __len__(self) -> int:
        return self._wiring.count

    def draws(self, repeat: int) -> Draws:
        """The random numbers of a repeat: every seat has the same, so they are drawn once."""
        if repeat not in self._draws:
            self._draws[repeat] = _Kept(self.seed, repeat=repeat)
        return self._draws[repeat]

    def coverage(self, look: str) -> list[Coverage]:
        """How much of its weights a look sees of each of them."""
        if look not in self._covered:
            self._covered[look] = covered(self._wiring, look)
        return self._covered[look]

    @cached_property
    def features(self) -> FeatureMaps:
        """What each module makes of the first sample, in float64."""
        seen = FeatureMaps(len(self))
        sample = self.data[0].parts[0][:1].to(self.device, torch.float64)
        with torch.no_grad():
            Network(self._wiring, self._stream, torch.float64, Samples(), seen)(sample)
        return seen

    def taylor(self, point: Tensor, velocity: Tensor, acceleration: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Outputs along a curve, theirs: each (architectures, 1, outputs), float64 on the CPU."""
        curve = point, velocity, acceleration
        known = self._curve
        if known is None or not all(torch.equal(one, other) for one, other in zip(known[0], curve, strict=True)):
            entries = torch.cat(curve).to(self.device, torch.float64)
            with torch.no_grad():
                outputs = Network(self._wiring, self._stream, torch.float64, Curve())(entries).cpu()
            self._curve = known = curve, tuple(outputs[:, k : k + 1] for k in range(3))
        value, first, second = known[1]
        return value, first, second

    def exchanges(self, look: Exchanges, repeat: int) -> StackedExchanges:
        """What layers read and are told in the first batch, in the networks' own type."""
        key = look.identity, repeat
        if key not in self._exchanges:
            seen = StackedExchanges(look, len(self))
            with torch.enable_grad():
                outputs = self._run(self.data[0], seen)
                seen.finish(outputs, projection_of(self.draws(repeat), outputs[0]))
            self._exchanges = {key: seen}
        return self._exchanges[key]

    @cached_property
    def patterns(self) -> StackedPatterns:
        """On which activations the samples of the first batch agree."""
        seen = StackedPatterns(len(self))
        with torch.no_grad():
            seen.finish(self._run(self.data[0], seen))
        return seen

    def gradients(self, count: int) -> list[StackedGradients]:
        """Losses and gradients of at least `count` batches, or of equal parts of the first."""
        if count not in self._gradients:
            batches = self.data
            if len(batches) < count:
                size = len(batches[0]) // count
                if size == 0:
                    raise UnsupportedError(
                        f"{count} batches are needed, and a batch of {len(batches[0])} cannot be split into {count}"
                    )
                batches = [batches[0][i * size : (i + 1) * size] for i in range(count)]
            self._gradients[count] = [self._gradient(batch) for batch in batches]
        return self._gradients[count]

    def _gradient(self, batch: Batch) -> StackedGradients:
        if batch.labels is None:
            raise UnsupportedError(NO_LABELS)
        seen = StackedGradients(len(self))
        labels = [one.labels for one in self.data if one.labels is not None]
        with torch.enable_grad():
            outputs = self._run(batch, seen)
            seen.finish(outputs, batch.labels.to(self.device), choose(None, outputs[0], labels))
        return seen

    def _run(self, batch: Batch, watch: Watch) -> Tensor:
        inputs = batch.parts[0].to(self.device, self._dtype)
        return Network(self._wiring, self._stream, self._dtype, Samples(), watch)(inputs)


class _Kept(Draws):
    """Draws that are made once."""

    def draw(self, name, make):  # type: ignore[no-untyped-def]
        """As it was drawn before."""
        found = super().draw(name, make)
        self.given[name] = found
        return found
