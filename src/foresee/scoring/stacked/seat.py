"""One architecture of a stack, as a formula sees it: what a probe would say of its network, from what was seen of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.exchanges import Exchanges
from foresee.probes.looks import Watcher
from foresee.proxies.patterns.naswot import Agreed, Measure
from foresee.proxies.spectra import Formula
from foresee.scoring.stacked.gradients import StackedGradients
from foresee.scoring.stacked.looks import Stack

T = TypeVar("T")


class Seat:
    """The place of one architecture in a stack; it has what formulas read of `Probe`, and small numbers on the CPU."""

    scripted = False

    def __init__(self, stack: Stack, place: int) -> None:
        self.stack, self.place = stack, place
        self.seed, self.device = stack.seed, torch.device("cpu")
        self.notes: dict[str, float] = {}
        self.remarks: set[Any] = set()
        self._draws = stack.draws(0)

    @property
    def draws(self) -> Draws:
        """The random numbers of the present repeat."""
        return self._draws

    @draws.setter
    def draws(self, draws: Draws) -> None:
        self._draws = self.stack.draws(draws.repeat)  # the same numbers, drawn once for all seats
        self._draws.used = False

    @contextmanager
    def initialised(self, scheme: str) -> Iterator[Seat]:
        """Itself: weights are those of the seed."""
        if scheme != "default":
            raise UnsupportedError(f"weights drawn by {scheme}: a stack has its networks' own")
        yield self

    @property
    def sample(self) -> SeatPass:
        """What is seen of the first sample."""
        return SeatPass(self)

    @property
    def batch(self) -> SeatPass:
        """What is seen of the first batch."""
        return SeatPass(self)

    def at_least(self, count: int) -> list[SeatGradients]:
        """What is seen of every batch, or of equal parts of the first where there are fewer than `count`."""
        self.covered("weights")
        self._runs = [SeatGradients(one, self.place) for one in self.stack.gradients(count)]
        return self._runs

    @property
    def weights(self) -> set[str]:
        """Names of the weights of layers, once gradients were asked for."""
        return {name for name, _ in self._runs[0].named_parameters() if name in self._runs[0].weights}

    @property
    def network(self) -> SeatGradients:
        """What knows the network's parameters by name, once gradients were asked for."""
        return self._runs[0]

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return tuple(self.stack.data[0].parts[0].shape[1:])

    def taylor(self, point: Tensor, velocity: Tensor, acceleration: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Outputs along an input curve, each (1, outputs)."""
        value, first, second = self.stack.taylor(point, velocity, acceleration)
        return value[self.place], first[self.place], second[self.place]

    def covered(self, look: str) -> None:
        """Remember how much a look saw, where that was not all; a score tells it."""
        seen = self.stack.coverage(look)[self.place]
        if seen.share < 1:
            self.remarks.add(seen)

    def remember(self, key: Any, compute: Callable[[], T]) -> T:
        """What `compute` gives; the stack remembers what is worth it."""
        return compute()

    def note(self, **numbers: Tensor | float) -> None:
        """Keep numbers that a value was made from."""
        self.notes.update({name: float(number) for name, number in numbers.items()})


class SeatGradients:
    """Loss and gradients of one architecture of a stack on one batch, and its parameters as those of a network."""

    def __init__(self, seen: StackedGradients, place: int) -> None:
        self._seen, self._place = seen, place
        self.weights = seen.weights
        self.gradients = seen.gradients(place)

    @property
    def weight_gradients(self) -> dict[str, Tensor]:
        """Those of `gradients` that belong to weights of convolutions and linear layers."""
        return self._seen.gradients(self._place, self.weights.__contains__)

    @property
    def loss(self) -> Tensor:
        """The loss of the batch."""
        return self._seen.loss(self._place)

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """All parameters, as those of a network."""
        return ((name, one.requires_grad_()) for name, one in self._seen.parameters(self._place))

    def named_modules(self) -> Iterator[tuple[str, Any]]:
        """No module of a stacked network has anything to say about itself."""
        return iter(())


class SeatPass:
    """What is seen of one architecture in a run of its stack."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def __len__(self) -> int:
        return len(self._seat.stack.data[0])

    def see(self, look: str | Watcher[Any]) -> Any:
        """A look, by name or with its settings."""
        name = look if isinstance(look, str) else look.name
        if name == "features":
            self._seat.covered(name)
            return SeatLayers(self._seat)
        if name == "patterns":
            return SeatPatterns(self._seat)
        if isinstance(look, Exchanges):
            self._seat.covered(name)
            self._seat.draws.used = True  # the projection that was drawn once for all seats is this one's too
            return self._seat.stack.exchanges(look, self._seat.draws.repeat).of(self._seat.place)
        raise UnsupportedError(f"{name}: not seen in a stack")


class SeatPatterns(Agreed):
    """The activation patterns of one architecture of a stack."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def measured(self, formula: Measure) -> tuple[Tensor, ...]:
        """What a formula gives for how many activations each two samples agree on."""
        return self._seat.stack.patterns.measured(formula, self._seat.place)


class SeatLayers:
    """The layers of one architecture of a stack."""

    def __init__(self, seat: Seat, vectors: bool = True) -> None:
        self._seat, self._vectors = seat, vectors

    def __bool__(self) -> bool:
        return True

    def maps(self) -> SeatLayers:
        """Those that are no vectors."""
        return SeatLayers(self._seat, vectors=False)

    def total(self, formula: Formula) -> Tensor:
        """The sum over the layers of what `formula` gives for their maps."""
        return self._seat.stack.features.totals(formula, self._vectors)[self._seat.place]
