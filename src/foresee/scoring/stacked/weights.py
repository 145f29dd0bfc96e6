"""First weights without networks: whatever a seed draws for a network is a piece of one stream of numbers.

torch draws the first weights of convolutions and linear layers from uniform distributions, number by number from the seed's
generator. So the weights of any network are slices of the numbers that the generator gives, each scaled by its layer's
bound, and what differs between architectures is where the slices begin.

Normal numbers it makes of sixteen uniform ones at a time, counted from where a layer begins. So there is one stream of them
for each place in a sixteen where layers begin, and where these are the same for all architectures a layer is one gather too.

Truncated normal numbers are normal ones, of which those that lie outside are drawn anew; here none do, because the bounds
are a hundred deviations away. Older versions of torch bend uniform numbers instead, each by itself.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor, nn


class Stream:
    """The numbers that a seed gives to layers, drawn once for each width of the filters.

    Args:
        seed: as handed to `torch.manual_seed` before a network is built.
        length: how many numbers there are at most.
        device: where the weights are wanted.

    >>> layer = (torch.manual_seed(3), nn.Conv2d(4, 2, 3))[1]
    >>> stream = Stream(3, 100, torch.device("cpu"))
    >>> torch.equal(stream.weights(torch.tensor([0]), 2, 36)[0].view(2, 4, 3, 3), layer.weight)
    True
    >>> torch.equal(stream.biases(torch.tensor([72]), 2, 36)[0], layer.bias)
    True
    """

    def __init__(self, seed: int, length: int, device: torch.device) -> None:
        self._seed, self._length, self._device = seed, length, device
        self._drawn: dict[tuple[str, float], Tensor] = {}

    def weights(self, starts: Tensor, filters: int, fan: int) -> Tensor:
        """The weights of a layer that begin at `starts`, (n,): (n, filters, fan), `fan` the numbers that a filter reads."""
        return self._pieces(("weight", fan), starts, filters * fan).view(-1, filters, fan)

    def biases(self, starts: Tensor, filters: int, fan: int) -> Tensor:
        """The biases of a layer that begin at `starts`: (n, filters)."""
        return self._pieces(("bias", fan), starts, filters)

    def normals(self, starts: Tensor, filters: int, fan: int, phase: int, deviation: float) -> Tensor:
        """Weights of this standard deviation that begin at `starts`, all of which are `phase` beyond a multiple of 16.

        (n, filters, fan), at least 16 numbers each. Where sixteens do not fit, torch draws the last 16 anew behind them.

        >>> layer = (torch.manual_seed(3), nn.Conv2d(3, 2, 3, bias=False))[1]
        >>> stream, deviation = Stream(3, 200, torch.device("cpu")), math.sqrt(2) / math.sqrt(2 * 9)
        >>> expected = nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu").detach()
        >>> torch.equal(stream.normals(torch.tensor([54]), 2, 27, 54 % 16, deviation).view(2, 3, 3, 3), expected)
        True
        """
        size = filters * fan
        found = self._pieces(("normal", phase), starts - phase, size)
        if size % 16:
            later = (phase + size) % 16
            found[:, -16:] = self._pieces(("normal", later), starts + size - later, 16)
        return found.mul_(deviation).view(-1, filters, fan)

    def truncated(self, starts: Tensor, size: int, deviation: float) -> Tensor:
        """Truncated normal numbers of this standard deviation that begin at `starts`, anywhere: (n, size), at least 16 each.

        >>> layer = (torch.manual_seed(3), nn.Linear(4, 5))[1]
        >>> stream, expected = Stream(3, 200, torch.device("cpu")), nn.init.trunc_normal_(layer.weight, std=0.02).detach()
        >>> torch.equal(stream.truncated(torch.tensor([25]), 20, 0.02).view(5, 4), expected)
        True
        """
        if not _from_normal():
            return self._pieces(("truncated", deviation), starts, size)
        found = torch.empty(len(starts), size, device=self._device)
        phases = starts % 16
        for phase in torch.unique(phases).tolist():
            own = (phases == phase).nonzero()[:, 0]
            found[own] = self.normals(starts[own], 1, size, phase, deviation)[:, 0]
        return found

    def _pieces(self, key: tuple[str, float], starts: Tensor, size: int) -> Tensor:
        if key not in self._drawn:
            self._drawn[key] = self._made(*key).to(self._device)
        return self._drawn[key].unfold(0, size, 1).index_select(0, starts)

    def _made(self, kind: str, which: float) -> Tensor:
        """A whole stream, by its phase, deviation or fan."""
        if kind == "normal":
            return self._normal(int(which))
        if kind == "truncated":
            source = torch.Generator().manual_seed(self._seed)
            return nn.init.trunc_normal_(torch.empty(self._length), std=which, generator=source)
        return self._draw(kind, int(which))

    def _normal(self, phase: int) -> Tensor:
        """Standard normal numbers, beginning at this place of the stream."""
        source = torch.Generator().manual_seed(self._seed)
        torch.empty(phase).uniform_(generator=source)
        return torch.empty(-(-self._length // 16) * 16).normal_(generator=source)

    def _draw(self, kind: str, fan: int) -> Tensor:
        """As the layers of torch do it: the scaling has to be theirs to the last bit."""
        source = torch.Generator().manual_seed(self._seed)
        numbers = torch.empty(-(-self._length // fan), fan)
        if kind == "weight":
            return nn.init.kaiming_uniform_(numbers, a=math.sqrt(5), generator=source).flatten()
        bound = 1 / math.sqrt(fan)
        return numbers.uniform_(-bound, bound, generator=source).flatten()


class Drawn:
    """What has weights: `outputs` filters, each of which reads `inputs` numbers at each place of its kernel."""

    inputs: int
    outputs: int
    kernel: int

    @property
    def numbers(self) -> int:
        """How many weights it has, a bias apart."""
        return self.inputs * self.outputs * self.kernel**2


def normals(numbers: int) -> int:
    """How many numbers of its stream torch takes for so many normal ones: the last 16 come anew where sixteens do not fit.

    >>> normals(64), normals(70)
    (64, 86)
    """
    return numbers + 16 * (numbers % 16 != 0)


def truncated(numbers: int) -> int:
    """How many numbers of its stream torch takes for so many truncated normal ones, at least 16.

    >>> truncated(64)
    64
    """
    return normals(numbers) if _from_normal() else numbers


@cache
def _from_normal() -> bool:
    """Whether this torch takes truncated normal numbers from normal ones, not from uniform ones."""
    one, other = (torch.Generator().manual_seed(0) for _ in range(2))
    found = nn.init.trunc_normal_(torch.empty(16), generator=one, std=0.02)
    return torch.equal(found, torch.empty(16).normal_(0, 0.02, generator=other))
