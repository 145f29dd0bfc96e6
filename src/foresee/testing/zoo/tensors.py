"""Networks of unusual tensors: shared, frozen, of every type and layout, computed, without a size, without numbers."""
# mypy: disable-error-code="operator,assignment,override,no-any-return,attr-defined,index,var-annotated,no-untyped-call"
# Residents break the rules of types as well.

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize

from foresee.testing.zoo.plain import Plain, resident


@resident("shares weights")
def _shared() -> nn.Module:
    made = Plain()
    twice = nn.Linear(8, 8)
    other = nn.Linear(8, 8)
    other.weight = twice.weight
    made.head = nn.Sequential(twice, other, twice, nn.Linear(8, 3))
    return made


@resident("is frozen")
def _frozen() -> nn.Module:
    return Plain().requires_grad_(False)


@resident("is half frozen")
def _half_frozen() -> nn.Module:
    made = Plain()
    made.features.requires_grad_(False)
    return made


@resident("is float16")
def _half() -> nn.Module:
    return Plain().half()


@resident("is bfloat16")
def _bfloat() -> nn.Module:
    return Plain().bfloat16()


@resident("is of two types")
class Mixed(Plain):
    """A body in float32, a head in float64."""

    def __init__(self) -> None:
        super().__init__()
        self.head = self.head.double()

    def logits(self, x: Tensor) -> Tensor:
        """The maps are cast on their way."""
        found: Tensor = self.head(self.pool(self.features(x)).flatten(1).double())
        return found


@resident("has complex weights")
class Complex(Plain):
    """A filter in the frequencies, as operators learn."""

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.randn(6, 4, dtype=torch.complex64))

    def forward(self, x: Tensor) -> Tensor:
        """There and back."""
        return self.logits(torch.fft.irfft2(torch.fft.rfft2(x) * self.filter, s=(6, 6)))


@resident("returns complex numbers")
class ComplexOutputs(Plain):
    """Logits with a phase."""

    def forward(self, x: Tensor) -> Tensor:
        """Turned by a quarter."""
        return self.logits(x) * 1j


@resident("has a quantised buffer")
class Quantised(Plain):
    """A table of 8 bits."""

    def __init__(self) -> None:
        super().__init__()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch wants to be rid of them
            self.register_buffer("table", torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8))

    def forward(self, x: Tensor) -> Tensor:
        """Plus the table, which is negated each time."""
        logits = self.logits(x) + self.table.dequantize().to(x)
        self.table.copy_(-self.table.dequantize())
        return logits


@resident("is on the meta device")
def _meta() -> nn.Module:
    return Plain().to("meta")


@resident("has a buffer on the meta device")
class MetaBuffer(Plain):
    """Reads the shape of it only."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("shape", torch.empty(2, 3, device="meta"))

    def forward(self, x: Tensor) -> Tensor:
        """Times a number of its shape."""
        return self.logits(x) * self.shape.shape[0]


@resident("has lazy layers")
def _lazy() -> nn.Module:
    made = Plain()
    made.head = nn.LazyLinear(3)
    return made


@resident("has a parametrised weight")
def _parametrised() -> nn.Module:
    made = Plain()
    parametrize.register_parametrization(made.head, "weight", _Noisy())
    return made


class _Noisy(nn.Module):
    """Counts, and draws, whenever its weight is read."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("reads", torch.zeros(()))

    def forward(self, weight: Tensor) -> Tensor:
        """With noise."""
        self.reads += 1
        return weight + 0.1 * torch.randn(weight.shape).to(weight) * self.reads


@resident("has weight norm")
def _weight_norm() -> nn.Module:
    made = Plain()
    parametrizations.weight_norm(made.head)
    return made


@resident("has weight norm of the old kind")
def _old_weight_norm() -> nn.Module:
    made = Plain()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nn.utils.weight_norm(made.head)
    return made


@resident("has spectral norm")
def _spectral_norm() -> nn.Module:
    made = Plain()
    parametrizations.spectral_norm(made.head)
    parametrizations.spectral_norm(made.features[2])
    return made


@resident("has spectral norm of the old kind")
def _old_spectral_norm() -> nn.Module:
    made = Plain()
    nn.utils.spectral_norm(made.head)
    return made


@resident("has NaN for weights")
def _nan() -> nn.Module:
    made = Plain()
    for parameter in made.parameters():
        nn.init.constant_(parameter, math.nan)
    return made


@resident("has infinite activations that vanish")
class Vanishing(Plain):
    """Minus infinity before a ReLU: the outputs are as good as any."""

    def __init__(self) -> None:
        super().__init__()
        self.features[0].bias.data[0] = -math.inf


@resident("has a buffer that is one number many times")
class Expanded(Plain):
    """NaN at every place of one number in memory: neither equal to itself nor written to."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("empty", torch.tensor(math.nan).expand(4))


@resident("was made in inference mode")
def _inference() -> nn.Module:
    with torch.inference_mode():
        return Plain()
