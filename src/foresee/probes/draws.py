"""The random numbers of a probe: each draw has a name and comes from the seed of the call and that name alone.

So a draw is the same for every network of one comparison, whatever else was asked for; `repeat` numbers further draws of
the same kind. Draws can be given instead, which is how reference values with known draws are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace

import torch
from torch import Tensor

from foresee.seeds import generator


class Draws:
    """Named random tensors, in float64 on the CPU.

    >>> draws = Draws(seed=1)
    >>> bool(torch.equal(draws.normal("input", 2, 3), Draws(seed=1).normal("input", 2, 3)))
    True
    >>> Draws(seed=1, given={"angle": torch.tensor(0.0)}).uniform("angle")
    tensor(0.)
    """

    def __init__(self, seed: int, *, repeat: int = 0, given: Mapping[str, Tensor] | None = None) -> None:
        self.seed, self.repeat, self.given = seed, repeat, dict(given or {})
        #: whether anything was drawn: a proxy that drew nothing has no spread
        self.used = False

    @contextmanager
    def apart(self) -> Iterator[SimpleNamespace]:
        """What is drawn inside is not counted here; `used` of what is yielded says afterwards whether anything was."""
        before, self.used, inside = self.used, False, SimpleNamespace(used=False)
        try:
            yield inside
        finally:
            inside.used, self.used = self.used, before

    def draw(self, name: str, make: Callable[[torch.Generator], Tensor]) -> Tensor:
        """The draw called `name`: as given, or made from its own generator."""
        self.used = True
        if name in self.given:
            return self.given[name]
        return make(generator(self.seed, "draw", name, self.repeat))

    def normal(self, name: str, *shape: int) -> Tensor:
        """Standard normal numbers."""
        return self.draw(name, lambda source: torch.randn(*shape, generator=source, dtype=torch.float64))

    def uniform(self, name: str, *shape: int) -> Tensor:
        """Uniform numbers in [0, 1)."""
        return self.draw(name, lambda source: torch.rand(shape, generator=source, dtype=torch.float64))

    def integers(self, name: str, high: int, *shape: int) -> Tensor:
        """Whole numbers in [0, high), with replacement."""
        return self.draw(name, lambda source: torch.randint(high, shape, generator=source))

    def plane(self, name: str, dimension: int) -> Tensor:
        """Two orthonormal vectors that span a random plane, as the columns of a (dimension, 2) tensor."""

        def make(source: torch.Generator) -> Tensor:
            first, second = torch.randn(2, dimension, generator=source, dtype=torch.float64)
            first = first / first.norm()
            second = second - (first @ second) * first
            return torch.stack([first, second / second.norm()], dim=1)

        return self.draw(name, make)


def projection_of(draws: Draws, outputs: Tensor) -> Tensor:
    """A random direction for each sample's outputs, as one tensor of their shape, type and device: `projection.<shape>`."""
    shape = tuple(outputs.shape)
    return draws.normal(f"projection.{'x'.join(map(str, shape))}", *shape).to(outputs)
