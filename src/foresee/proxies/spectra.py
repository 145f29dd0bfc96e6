"""Numbers from the spectra of feature maps, in float64. Every function broadcasts over leading axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from foresee.probes.features import Feature
from foresee.proxies.extremes import extremes

Formula = Callable[[Tensor], Tensor]


def inverse_condition(maps: Tensor) -> Tensor:
    """Least over greatest singular value of each map: (..., rows, columns) to (...).

    Singular values, not the Gram matrix's eigenvalues, which lose half the digits. Long maps are first reduced to a
    triangle with the same singular values, which is twice as fast. A zero map gives 0, a map with NaN or infinity NaN.

    On an accelerator, which decomposes small matrices one after the other, thousands at once: by the eigenvalues after
    all, where a ratio is within 1e-8 of what it is (a score adds ratios of which some are 1, and sees nothing of that).

    >>> inverse_condition(torch.tensor([[[4.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]]))
    tensor([0.5000, 0.0000], dtype=torch.float64)
    """
    maps = maps.double()
    rows, columns = maps.shape[-2:]
    if _in_one_go(maps):
        return _inverse_condition_by_products(maps)
    if rows != columns:
        maps = torch.linalg.qr(maps.mT if columns > rows else maps, mode="r").R
    finite = _all_finite(maps)  # NaN and infinity survive the reduction, which leaves less to look at
    maps = torch.where(finite[..., None, None], maps, 0.0)
    # Small matrices are the CPU's: an accelerator decomposes them one after the other, several times slower.
    values = torch.linalg.svdvals(maps.cpu() if maps.shape[-1] <= 256 else maps).to(maps.device)
    greatest, least = values[..., 0], values[..., -1]
    ratio = torch.where(greatest > 0, least / greatest, 0.0)
    return torch.where(finite, ratio, torch.nan)


def _in_one_go(maps: Tensor) -> bool:
    """Whether there are so many small maps on an accelerator that one kernel for all of them is worth it."""
    return not maps.is_cpu and min(maps.shape[-2:]) <= 256 and maps.shape[:-2].numel() >= 32


def _inverse_condition_by_products(maps: Tensor) -> Tensor:
    """As `inverse_condition`, by the eigenvalues of rows times rows, or columns times columns where these are fewer."""
    size = maps.abs().amax((-1, -2), keepdim=True)
    finite = size.isfinite()
    maps = torch.where(finite & (size > 0), maps / size, 0.0)  # squares of tiny numbers are none
    rows, columns = maps.shape[-2:]
    least, greatest = extremes(maps @ maps.mT if rows <= columns else maps.mT @ maps)
    ratio = torch.where(greatest > 0, least / greatest, 0.0).sqrt()
    return torch.where(finite[..., 0, 0], ratio, torch.nan)


def least_correlation(maps: Tensor) -> Tensor:
    """Least eigenvalue of the Pearson correlation matrix of the rows of each map: (..., rows, columns) to (...).

    A constant row has no correlation with anything, not even itself: its entries are 0 and so is the least eigenvalue then.
    As many rows as columns depend on each other once they are centred: 0 again, and nothing to decompose.

    >>> least_correlation(torch.tensor([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]])).round(decimals=6)
    tensor(1., dtype=torch.float64)
    """
    maps = maps.double()
    rows, columns = maps.shape[-2:]
    if rows >= columns > 1:
        return torch.where(_all_finite(maps), 0.0, torch.nan).to(maps)
    means = maps.mean(-1, keepdim=True)
    centred = maps - means
    products = centred @ centred.mT
    lengths = products.diagonal(dim1=-2, dim2=-1).sqrt()
    # What is left of a constant row after centring is rounding, and would correlate perfectly with itself.
    constant = lengths <= 1e-14 * means.squeeze(-1).abs() * columns**0.5
    scales = torch.where(constant, 0.0, 1 / lengths)
    finite = lengths.isfinite().all(-1)
    correlations = products * scales[..., :, None] * scales[..., None, :]
    correlations = torch.where(finite[..., None, None], correlations, 0.0)
    least = extremes(correlations)[0] if _in_one_go(maps) else torch.linalg.eigvalsh(correlations)[..., 0]
    return torch.where(finite, least, torch.nan)


def _all_finite(maps: Tensor) -> Tensor:
    """Whether no number of a map is NaN or infinite: (..., rows, columns) to (...); quicker than asking each number."""
    return (maps - maps).sum((-2, -1)) == 0  # what is not finite is not 0 less itself


def for_each(formula: Formula, maps: Sequence[Tensor]) -> Tensor:
    """`formula` of each map, as one tensor in the order of the maps: maps of one shape go through together.

    On a CPU equal maps go through once (what several layers make alike of one map; not where each has a gradient of its
    own), and in groups that stay in its cache, which is a third faster than all at once.
    """
    plain = maps[0].is_cpu and not any(one.requires_grad for one in maps)
    first = _first_equals(maps) if plain else list(range(len(maps)))
    shapes: dict[torch.Size, list[int]] = {}
    for index in dict.fromkeys(first):
        shapes.setdefault(maps[index].shape, []).append(index)
    found: dict[int, Tensor] = {}
    for shape, indices in shapes.items():
        most = max(1, (2**18 if maps[indices[0]].is_cpu else 2**26) // shape.numel())
        for group in (indices[start : start + most] for start in range(0, len(indices), most)):
            found.update(zip(group, formula(torch.stack([maps[i] for i in group])), strict=True))
    return torch.stack([found[index] for index in first])


def _first_equals(maps: Sequence[Tensor]) -> list[int]:
    """For each map the place of the first one that is equal to it, number by number.

    >>> _first_equals([torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0, 2.0]])])
    [0, 1, 0]
    """
    alike: dict[Any, list[int]] = {}  # those that agree in one column
    places: list[int] = []
    for place, one in enumerate(maps):
        others = alike.setdefault((one.shape, *one[:, one.shape[1] // 2].tolist()), [])
        same = next((other for other in others if torch.equal(maps[other], one)), place)
        if same == place:
            others.append(place)
        places.append(same)
    return places


class Layers(Protocol):
    """The feature maps of all layers of one network, as far as a formula has to know them."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        ...

    def maps(self) -> Layers:
        """Those with more than one column: no vectors."""
        ...

    def total(self, formula: Formula) -> Tensor:
        """The sum over the layers of what `formula` gives for their maps, a scalar."""
        ...


class _Seen:
    """The layers of a network that was looked at by itself."""

    def __init__(self, features: Sequence[Feature]) -> None:
        self._features = features

    def __bool__(self) -> bool:
        return bool(self._features)

    def maps(self) -> _Seen:
        return _Seen([feature for feature in self._features if feature.map.shape[1] > 1])

    def total(self, formula: Formula) -> Tensor:
        return for_each(formula, [feature.map for feature in self._features]).sum()


def layers_of(features: Sequence[Feature] | Layers) -> Layers:
    """What a look at features gave, as layers: of a network by itself, or of one that was looked at among many."""
    return _Seen(features) if isinstance(features, Sequence) else features
